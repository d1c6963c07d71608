//! The list of runs, as markup: whole without its script, which sorts, filters and puts in what has changed.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use sottovoce_report::live;
use sottovoce_report::text::{digits, escape};

use super::Listing;
use super::found::{Found, Status};
use super::words::moment;

pub(super) const STYLE: &str = include_str!("serve.css");
pub(super) const SCRIPT: &str = include_str!("serve.js");
const FRAME: &str = include_str!("list.html");

/// Columns: what they are called, and whether rows can be sorted by them.
const COLUMNS: [(&str, bool); 10] = [
    ("Choose", false),
    ("Run", true),
    ("Kind", true),
    ("Graph", true),
    ("Protocol", true),
    ("Epsilon", true),
    ("Outcome", true),
    ("Seed", true),
    ("When (UTC)", true),
    ("State", true),
];

/// Nothing but the styles and the script of these pages, pictures and reports from here, and questions to where they came from.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; style-src {} {}; script-src {}; img-src 'self'; frame-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        live::source(live::STYLE),
        live::source(STYLE),
        live::source(SCRIPT),
    )
}

/// What both pages have.
pub(super) fn common(title: &str) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("style", format!("<style>{}</style>\n<style>{STYLE}</style>", live::STYLE)),
        ("script", format!("<script>{SCRIPT}</script>")),
        ("title", escape(title)),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ])
}

/// The page.
pub(super) fn page(listing: &Listing) -> String {
    let mut parts = common(&format!("Runs in {}", listing.folder.display()));
    parts.insert("headline", escape(&headline(listing)));
    parts.insert("rows", rows(listing));
    parts.insert("order", order());
    live::fill(FRAME, &parts)
}

/// What runs can be sorted by, for who does not see the heads of columns: on a telephone there are none.
fn order() -> String {
    let one = |(column, (name, sorts)): (usize, (&str, bool))| {
        let both = format!(
            "<option value=\"{column}\">{name}</option><option value=\"-{column}\">{name}, from the end</option>"
        );
        sorts.then_some(both)
    };
    COLUMNS.into_iter().enumerate().filter_map(one).collect()
}

fn headline(listing: &Listing) -> String {
    if listing.runs.is_empty() { format!("No runs yet: {}.", listing.none()) } else { format!("{listing}.") }
}

/// What the script asks for: the table, and what is said above and below it. Its stamp says whether anything has changed.
pub(super) fn rows(listing: &Listing) -> String {
    let head: String = COLUMNS
        .iter()
        .map(|(name, sorts)| match sorts {
            true => format!("<th scope=\"col\" data-sorts>{name}</th>"),
            false => format!("<th scope=\"col\">{name}</th>"),
        })
        .collect();
    let body: String = listing.runs.iter().map(row).collect();
    let notes: String =
        listing.notes.iter().take(20).map(|note| format!("<li>{}</li>\n", escape(note))).collect();
    let notes = if notes.is_empty() { notes } else { format!("<ul>\n{notes}</ul>\n") };
    let none = if listing.runs.is_empty() { " hidden" } else { "" };
    format!(
        "<div id=\"listed\" class=\"wide\" data-stamp=\"{}\" data-headline=\"{}\"{none}><table id=\"runs\"><caption>Runs below this folder; choose two to six to compare them</caption>\
         <thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n<div id=\"remarks\">{notes}</div>\n",
        stamp(&(body.clone() + &notes)),
        escape(&headline(listing)),
    )
}

/// The same text has the same stamp.
pub(super) fn stamp(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn row(run: &Found) -> String {
    let (id, folder) = (&run.id, escape(&run.folder));
    let choice = format!(
        "<input type=\"checkbox\" id=\"choose-{id}\" name=\"run\" value=\"{id}\"><label for=\"choose-{id}\"><span class=\"heard\">choose {folder}</span></label>"
    );
    let named = match run.report() {
        Some(page) => format!("<a href=\"{page}\">{folder}</a>"),
        None => format!("<span class=\"folder\">{folder}</span>"),
    };
    let plain = |text: &Option<String>| text.as_deref().map_or("–".to_owned(), escape);
    let (epsilon, loss) = promised(run);
    let (outcome, worth) = outcome(run);
    let (when, time) = match run.when {
        Some(when) => (moment(when), when.to_string()),
        None => ("–".into(), String::new()),
    };
    let seed = run.seed.map_or("–".to_owned(), |seed| seed.to_string());
    let cells = [
        (choice, String::new()),
        (named, String::new()),
        (plain(&run.kind), String::new()),
        (plain(&run.graph), String::new()),
        (plain(&run.protocol), String::new()),
        (epsilon, loss),
        (outcome, worth),
        (seed.clone(), run.seed.map_or(String::new(), |_| seed)),
        (when, time),
        (state(run), String::new()),
    ];
    let cells: String = cells
        .iter()
        .zip(COLUMNS)
        .map(|((cell, key), (name, _))| match key.is_empty() {
            true => format!("<td data-label=\"{name}\">{cell}</td>"),
            false => format!("<td data-label=\"{name}\" data-key=\"{key}\">{cell}</td>"),
        })
        .collect();
    format!("<tr data-run=\"{id}\" data-stamp=\"{}\">{cells}</tr>\n", stamp(&cells))
}

/// The first guarantee on which one may rely: its loss, against whom, by what right.
fn promised(run: &Found) -> (String, String) {
    match run.promise() {
        Some(promise) => {
            let loss = escape(&promise.shown());
            let standing = match &promise.standing {
                sottovoce_privacy::Standing::Proven => "<span class=\"badge good\">proven</span>",
                _ => "<span class=\"badge plain\">conditional</span>",
            };
            let cell = format!(
                "<span class=\"stack\"><strong>{loss}</strong> <span class=\"small\">at delta {}, against {}</span> {standing}</span>",
                super::found::chance(promise),
                escape(&promise.whom())
            );
            (cell, promise.epsilon.map_or("Infinity".to_owned(), |epsilon| format!("{epsilon:?}")))
        }
        None if run.progress.is_some() || run.problem.is_some() => ("–".into(), String::new()),
        None => ("nothing promised".into(), String::new()),
    }
}

/// How well it went, and a number to sort by.
fn outcome(run: &Found) -> (String, String) {
    let first = run.measures.first();
    (measured(run), first.map_or(String::new(), |first| format!("{:?}", first.value)))
}

/// How well it went, in a few words.
pub(super) fn measured(run: &Found) -> String {
    let shown = run.measures.iter().map(|one| format!("{} {}", escape(&one.name), digits(one.value, 3)));
    match run.measures.is_empty() {
        true => "–".to_owned(),
        false => shown.collect::<Vec<_>>().join(", "),
    }
}

/// How a run stands, and how far it is.
pub(super) fn state(run: &Found) -> String {
    let (mood, word) = match run.status {
        Status::Done => ("plain", "done"),
        Status::Running => ("good", "under way"),
        Status::Silent => ("bad", "silent"),
        Status::Paused => ("plain", "paused"),
        Status::Fell => ("bad", "a claim fell"),
        Status::Broken => ("bad", "broken"),
    };
    let badge = format!("<span class=\"badge {mood}\">{word}</span>");
    let more = match (&run.progress, &run.problem) {
        (_, Some(problem)) => format!(" <span class=\"small\">{}</span>", escape(problem)),
        (Some(progress), None) => {
            let bar = match progress.all {
                0 => String::new(),
                all => format!(
                    "<progress max=\"{all}\" value=\"{}\" aria-label=\"how far {} is\"></progress> ",
                    progress.done,
                    escape(&run.folder)
                ),
            };
            let far = match progress.all {
                0 => String::new(),
                all => format!("{} of {all}; ", progress.done),
            };
            let since = match run.status {
                Status::Silent => format!("no word since {}", run.when.map_or("ever".into(), moment)),
                _ => format!("since {}", moment(progress.begun)),
            };
            format!(" {bar}<span class=\"small\">{far}{}{since}</span>", said(&progress.what))
        }
        _ => String::new(),
    };
    format!("<span class=\"stack\">{badge}{more}</span>")
}

fn said(what: &str) -> String {
    if what.is_empty() { String::new() } else { format!("{}; ", escape(what)) }
}

/// A page that says why there is nothing to see.
pub(super) fn sorry(why: &str) -> String {
    let mut parts = common("Nothing to compare");
    parts.insert("body", format!("<p class=\"headline\" id=\"headline\">{}</p>\n", escape(why)));
    live::fill(super::beside::FRAME, &parts)
}

//! The page as markup: whole without its script, which only puts new words in the same places.

use std::collections::BTreeMap;

use sottovoce_report::text::{escape, short};
use sottovoce_report::{ColourBar, GraphPicture, layout, live};

use super::words::{Words, has_chances, share, towards};
use crate::status::{Neighbour, Spent, Status};

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// More links than these are not drawn, but for this peer's own.
const MOST_LINKS: usize = 2000;
/// More names than these would cover each other.
const MOST_NAMES: usize = 40;

/// Nothing but the two styles and the script of this file, and questions to where it came from.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; style-src {} {}; script-src {}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        live::source(live::STYLE),
        live::source(STYLE),
        live::source(SCRIPT),
    )
}

/// What is drawn once: where peers lie, and their links.
pub(super) struct Drawing {
    positions: Vec<(f64, f64)>,
    edges: Vec<(u32, u32)>,
    own: Vec<(u32, u32)>,
}

impl Drawing {
    pub(super) fn of(status: &Status) -> Self {
        let pair = |&(a, b): &(usize, usize)| (a as u32, b as u32);
        let all: Vec<(u32, u32)> = status.links.iter().map(pair).collect();
        let me = status.peer as u32;
        let own: Vec<(u32, u32)> = all.iter().filter(|(a, b)| *a == me || *b == me).copied().collect();
        let drawn = if all.len() <= MOST_LINKS { &all } else { &own };
        let positions = layout(status.names.len(), drawn, 1);
        let edges = drawn.iter().filter(|pair| !own.contains(pair)).copied().collect();
        Self { positions, edges, own }
    }

    fn picture(&self, status: &Status, words: &Words) -> String {
        let me = &status.names[status.peer];
        let tick = |at: f64, label: &str| (at, label.to_owned());
        let picture = GraphPicture {
            title: format!("What each peer may have overheard of {me}"),
            description: format!(
                "{} peers and who exchanges messages with whom. The ringed one is {me}, this peer; the others are coloured by the part of its budget that was spent \
                 towards them, as the table below says in numbers.",
                status.names.len()
            ),
            positions: self.positions.clone(),
            edges: self.edges.clone(),
            values: (0..status.names.len()).map(|peer| towards(status, peer).map_or(0.0, share)).collect(),
            labels: words.told.clone(),
            observer: Some(status.peer),
            bar: ColourBar {
                title: "spent of the budget towards each peer".into(),
                ticks: vec![tick(0.0, "nothing"), tick(0.5, "half"), tick(1.0, "all")],
            },
            size: (480.0, 430.0),
        };
        let names = if status.names.len() <= MOST_NAMES { &status.names[..] } else { &[] };
        picture.named(names, &self.own).embedded("graph")
    }
}

/// The page.
pub(super) fn page(status: &Status, drawing: &Drawing) -> String {
    let words = Words::of(status);
    let mut parts: BTreeMap<&str, String> = BTreeMap::new();
    for (place, text) in &words.texts {
        parts.insert(place, escape(text));
    }
    let agreement = status.agreement.get(..12).unwrap_or(&status.agreement);
    for (place, text) in [
        ("style", format!("<style>{}</style>\n<style>{STYLE}</style>", live::STYLE)),
        ("script", format!("<script>{SCRIPT}</script>")),
        ("title", escape(&format!("{} · {}", status.names[status.peer], status.run))),
        ("shape", escape(&words.shape)),
        ("me", escape(&status.names[status.peer])),
        ("called", escape(&status.called)),
        ("agreement", escape(agreement)),
        ("version", escape(&status.version)),
        ("process", status.process.to_string()),
        ("phase-mood", words.mood("phase").to_owned()),
        ("rounds-bar", format!("{:.4}", words.bars["rounds"])),
        ("graph", drawing.picture(status, &words)),
        ("links", links(status)),
        ("neighbours", neighbours(status, &words)),
        ("budgets", budgets(status, &words)),
    ] {
        parts.insert(place, text);
    }
    live::fill(FRAME, &parts)
}

/// What the picture leaves out.
fn links(status: &Status) -> String {
    match status.links.len() > MOST_LINKS {
        true => format!(" There are {} links; only this peer's own are drawn.", status.links.len()),
        false => String::new(),
    }
}

fn neighbours(status: &Status, words: &Words) -> String {
    let text = |place: &str| escape(words.texts.get(place).map_or("", String::as_str));
    let row = |one: &Neighbour| {
        let place = |what: &str| format!("{what}-{}", one.peer);
        let plain = |what: &str| format!("<span id=\"{}\">{}</span>", place(what), text(&place(what)));
        let state = place("state");
        vec![
            escape(&one.name),
            format!("<span id=\"{state}\" class=\"{}\">{}</span>", words.mood(&state), text(&state)),
            plain("sent"),
            plain("refused"),
            plain("reason"),
        ]
    };
    let rows: Vec<Vec<String>> = status.neighbours.iter().map(row).collect();
    let columns = ["Neighbour", "Connection", "Messages to it", "Refused of it", "Why, the last time"];
    live::table("neighbours", &columns, &rows)
}

fn budgets(status: &Status, words: &Words) -> String {
    if status.budgets.is_empty() {
        return "<p>No budget is declared yet, and nothing was released.</p>\n".into();
    }
    let text = |place: &str| escape(words.texts.get(place).map_or("", String::as_str));
    let row = |(row, one): (usize, &Spent)| {
        let bar = format!("bar-{row}");
        let full = words.bars.get(&bar).copied().unwrap_or(1.0);
        vec![
            escape(&one.observer),
            format!(
                "<progress id=\"{bar}\" class=\"{}\" max=\"1\" value=\"{full:.4}\" aria-label=\"spent towards {}\"></progress> \
                 <span id=\"part-{row}\" class=\"part\">{}</span>",
                words.mood(&bar),
                escape(&one.observer),
                text(&format!("part-{row}"))
            ),
            format!("<strong id=\"spent-{row}\">{}</strong>", text(&format!("spent-{row}"))),
            escape(&short(one.allowed, 6)),
            format!("{:e}", one.delta),
            escape(&if one.of_a_row { format!("{}, one row", one.label) } else { one.label.clone() }),
        ]
    };
    let mut columns = vec!["Towards", "Part", "Epsilon spent", "Budget", "At delta", "Data set"];
    let mut rows: Vec<Vec<String>> = status.budgets.iter().enumerate().map(row).collect();
    // Only whoever begins rumours has chances to spend.
    if status.budgets.iter().any(has_chances) {
        columns.insert(5, "Chances");
        for (place, row) in rows.iter_mut().enumerate() {
            let place = format!("chances-{place}");
            row.insert(5, format!("<span id=\"{place}\">{}</span>", text(&place)));
        }
    }
    live::table("budgets", &columns, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_and_styles_cannot_close_their_elements() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--") && !STYLE.contains("</style"));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("http"), "it asks nobody else");
    }
}

//! Two to six runs side by side, as markup: what was asked, what came of it, pictures, promises, reports.

use std::collections::BTreeMap;
use std::path::Path;

use sottovoce::terms::Stated;
use sottovoce_report::live;
use sottovoce_report::text::{digits, escape};

use super::found::{Found, chance};
use super::list::{common, measured, stamp, state};
use super::words::moment;
use crate::runs::{Row, Run, differences, ratio, shown};

/// A number of a run, with its words, and the run.
type Beside<'a> = (&'a Option<(f64, String)>, &'a Found);

pub(super) const FRAME: &str = include_str!("compare.html");

/// So many runs can be compared: each has a colour of its own.
pub(super) const FEWEST: usize = 2;
pub(super) const MOST: usize = 6;
/// Rows of a table; `sottovoce compare` lists all.
const MOST_ROWS: usize = 150;

/// What runs are called on the page.
const LETTERS: [&str; MOST] = ["A", "B", "C", "D", "E", "F"];

/// The page.
pub(super) fn page(runs: &[Found], root: &Path) -> String {
    let fields: Vec<Run> = runs.iter().map(|run| run.fields(root)).collect();
    let body = [
        summary(runs),
        measures(runs),
        experiments(runs, &fields),
        promises(runs),
        pictures(runs),
        results(runs, &fields),
        reports(runs),
    ]
    .concat();
    let mut parts = common("Side by side");
    parts.insert("stamp", stamp(&body));
    parts.insert("body", body);
    live::fill(FRAME, &parts)
}

/// A run's letter in its colour, for eyes and ears.
fn letter(place: usize) -> String {
    format!("<span class=\"letter s{place}\">{}</span>", LETTERS.get(place).unwrap_or(&"?"))
}

/// A part of the page, with a stamp: the script takes over those that have changed, and leaves the others, with frames in them, alone.
fn section(id: &str, title: &str, content: &str) -> String {
    format!(
        "<section id=\"{id}\" data-stamp=\"{}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{content}</section>\n",
        stamp(content)
    )
}

/// Columns of a table with one for each run; the first, which heads the rows, has no name.
fn columns(runs: &[Found]) -> Vec<&'static str> {
    std::iter::once("").chain(LETTERS.into_iter().take(runs.len())).collect()
}

fn summary(runs: &[Found]) -> String {
    let rows: Vec<Vec<String>> = runs
        .iter()
        .enumerate()
        .map(|(place, run)| {
            let folder = escape(&run.folder);
            let named = match run.report() {
                Some(page) => format!("<a href=\"{page}\">{folder}</a>"),
                None => folder,
            };
            let headline = run.headline.as_deref().map_or_else(|| measured(run), escape);
            let plain = |text: &Option<String>| text.as_deref().map_or("–".to_owned(), escape);
            vec![
                format!("<span>{} {named}</span>", letter(place)),
                plain(&run.kind),
                headline,
                run.seed.map_or("–".to_owned(), |seed| seed.to_string()),
                run.when.map_or("–".to_owned(), moment),
                state(run),
            ]
        })
        .collect();
    let table =
        live::table("compared", &["Run", "Kind", "What came of it", "Seed", "When (UTC)", "State"], &rows);
    section("summary", "The runs", &table)
}

/// A number of each run, as bars.
struct Bars {
    title: String,
    note: &'static str,
    /// The number, and how it is shown; none where a run has none.
    values: Vec<Option<(f64, String)>>,
}

fn measures(runs: &[Found]) -> String {
    let mut all = vec![Bars {
        title: "Epsilon of the first guarantee on which one may rely".into(),
        note: "Less is better; losses against different adversaries, or at another delta, are not the same thing.",
        values: runs
            .iter()
            .map(|run| {
                let promise = run.promise()?;
                let shown =
                    format!("{} at delta {}, against {}", promise.shown(), chance(promise), promise.whom());
                Some((promise.epsilon.unwrap_or(f64::INFINITY), shown))
            })
            .collect(),
    }];
    // Where epsilon is fixed, as that of rumours, delta is what differs.
    let deltas: Vec<f64> = runs.iter().filter_map(|run| Some(run.promise()?.delta)).collect();
    if deltas.iter().any(|delta| *delta != deltas[0]) {
        all.push(Bars {
            title: "Delta of that guarantee".into(),
            note: "Less is better.",
            values: runs.iter().map(|run| run.promise().map(|one| (one.delta, chance(one)))).collect(),
        });
    }
    let mut names: Vec<(&String, bool)> = Vec::new();
    for one in runs.iter().flat_map(|run| &run.measures) {
        if !names.iter().any(|(name, _)| *name == &one.name) {
            names.push((&one.name, one.more_is_better));
        }
    }
    all.extend(names.into_iter().map(|(name, more)| {
        Bars {
            title: name.clone(),
            note: if more { "More is better." } else { "Less is better." },
            values: runs
                .iter()
                .map(|run| {
                    let one = run.measures.iter().find(|one| one.name == *name)?;
                    Some((one.value, digits(one.value, 4)))
                })
                .collect(),
        }
    }));
    let known = all.iter().filter(|bars| bars.values.iter().any(Option::is_some));
    let content: String = known.map(|bars| bars.html(runs)).collect();
    match content.is_empty() {
        true => String::new(),
        false => section("numbers", "Headline numbers", &content),
    }
}

impl Bars {
    fn html(&self, runs: &[Found]) -> String {
        let finite =
            self.values.iter().flatten().map(|(value, _)| value.abs()).filter(|value| value.is_finite());
        let most = finite.fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let row = |(place, (value, run)): (usize, Beside<'_>)| {
            let (bar, text) = match value {
                Some((value, text)) => {
                    let full = (value.abs() / most).clamp(0.0, 1.0);
                    let bar = format!(
                        "<meter class=\"s{place}\" min=\"0\" max=\"1\" value=\"{full:.4}\" aria-label=\"{} of {}\">{}</meter>",
                        escape(&self.title),
                        escape(&run.folder),
                        escape(text)
                    );
                    (bar, escape(text))
                }
                None => (String::new(), "–".to_owned()),
            };
            format!("<div>{} {bar} <span>{text}</span></div>\n", letter(place))
        };
        let rows: String = self.values.iter().zip(runs).enumerate().map(row).collect();
        let title = escape(&self.title);
        format!(
            "<h3>{title}</h3>\n<div class=\"bars\">\n{rows}</div>\n<p class=\"status\">{}</p>\n",
            self.note
        )
    }
}

/// Where the experiments differ, as `sottovoce compare` says it.
fn experiments(runs: &[Found], fields: &[Run]) -> String {
    let all: Vec<_> = fields.iter().map(|run| &run.experiment).collect();
    let (differ, alike) = differences(&all);
    let table = match differ.is_empty() {
        true => "<p>They are the same, but for their seeds.</p>\n".to_owned(),
        false => of_rows("differ", &differ, runs),
    };
    let same = match alike.is_empty() {
        true => String::new(),
        false => {
            let rows: Vec<Vec<String>> = alike
                .iter()
                .take(MOST_ROWS)
                .map(|row| vec![escape(&row.field), escape(&shown(row.values[0].as_ref()))])
                .collect();
            format!(
                "<details><summary>{} more are the same</summary>\n{}</details>\n",
                alike.len(),
                live::table("same", &["Field", "All runs"], &rows)
            )
        }
    };
    section("experiments", "Where the experiments differ", &(table + &same))
}

/// A row for each field, a column for each run.
fn of_rows(id: &str, rows: &[Row], runs: &[Found]) -> String {
    let cells = |row: &Row| {
        let values = row.values.iter().map(|value| escape(&shown(value.as_ref())));
        std::iter::once(escape(&row.field)).chain(values).collect()
    };
    let shown: Vec<Vec<String>> = rows.iter().take(MOST_ROWS).map(cells).collect();
    live::table(id, &columns(runs), &shown) + &left_out(rows.len())
}

fn left_out(rows: usize) -> String {
    match rows.saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!("<p>{more} more: <code>sottovoce compare</code> lists all of two runs.</p>\n"),
    }
}

/// Numbers of the results that differ, with their ratios to those of the first run.
fn results(runs: &[Found], fields: &[Run]) -> String {
    let all: Vec<_> = fields.iter().map(|run| &run.results).collect();
    let (differ, alike) = differences(&all);
    if differ.is_empty() && alike.is_empty() {
        return String::new();
    }
    let cells = |row: &Row| {
        let value = |(place, value): (usize, &Option<serde_json::Value>)| {
            let ratio = match place {
                0 => String::new(),
                _ => ratio(row.values[0].as_ref(), value.as_ref()),
            };
            let ratio =
                if ratio.is_empty() { ratio } else { format!(" <span class=\"small\">× {ratio}</span>") };
            format!("<span class=\"stack\">{}{ratio}</span>", escape(&shown(value.as_ref())))
        };
        std::iter::once(escape(&row.field)).chain(row.values.iter().enumerate().map(value)).collect()
    };
    let rows: Vec<Vec<String>> = differ.iter().take(MOST_ROWS).map(cells).collect();
    let table = live::table("results-table", &columns(runs), &rows) + &left_out(differ.len());
    let content = format!(
        "<details><summary>{} numbers differ, {} more are the same; ratios are to A</summary>\n{table}</details>\n",
        differ.len(),
        alike.len()
    );
    section("results", "All numbers that differ", &content)
}

fn promises(runs: &[Found]) -> String {
    let one = |(place, run): (usize, &Found)| {
        let lines: Vec<_> = run.guarantees.iter().map(Stated::line).collect();
        let content = match (lines.is_empty(), run.progress.is_some()) {
            (true, true) => "<p>Nothing yet: it is under way.</p>\n".to_owned(),
            (true, false) => "<p>Nothing is promised of it here; its report may say more.</p>\n".to_owned(),
            (false, _) => live::promises(&lines),
        };
        format!("<h3>{} {}</h3>\n{content}", letter(place), escape(&run.folder))
    };
    section("guarantees", "What is guaranteed", &runs.iter().enumerate().map(one).collect::<String>())
}

/// Pictures of the same name beside each other.
fn pictures(runs: &[Found]) -> String {
    let mut named: BTreeMap<&String, Vec<(usize, &Found)>> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        run.pictures().for_each(|name| named.entry(name).or_default().push((place, run)));
    }
    let row = |(name, all): (&String, Vec<(usize, &Found)>)| {
        let title = escape(&name.trim_end_matches(".svg").replace('-', " "));
        let figure = |(place, run): (usize, &Found)| {
            let (folder, name) = (escape(&run.folder), escape(name));
            format!(
                "<figure><a href=\"run/{id}/{name}\"><img src=\"run/{id}/{name}\" alt=\"{title} of {folder}\" loading=\"lazy\"></a>\n\
                 <figcaption>{} {folder}</figcaption></figure>\n",
                letter(place),
                id = run.id
            )
        };
        let figures: String = all.into_iter().map(figure).collect();
        format!("<h3>{title}</h3>\n<div class=\"beside-each-other\">\n{figures}</div>\n")
    };
    let content: String = named.into_iter().map(row).collect();
    match content.is_empty() {
        true => String::new(),
        false => section("pictures", "Pictures of the reports", &content),
    }
}

/// The reports themselves, each in a frame that can do nothing to this page.
fn reports(runs: &[Found]) -> String {
    let one = |(place, run): (usize, &Found)| {
        let folder = escape(&run.folder);
        Some(format!(
            "<details class=\"report\"><summary>{} {folder}</summary>\n<p><a href=\"{page}\">Open it alone</a></p>\n\
             <iframe sandbox=\"allow-scripts\" src=\"{page}\" title=\"Report of {folder}\" loading=\"lazy\"></iframe></details>\n",
            letter(place),
            page = run.report()?
        ))
    };
    let content: String = runs.iter().enumerate().filter_map(one).collect();
    match content.is_empty() {
        true => String::new(),
        false => section("reports", "The reports", &content),
    }
}

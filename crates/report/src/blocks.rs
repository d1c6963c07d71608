//! Blocks that reports share: the headline and the guarantees on top, files and notes below.

use serde::Serialize;

use crate::provenance::Provenance;
use crate::text::escape;
use crate::{Result, shell};

/// One guarantee, in words.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct GuaranteeLine {
    /// What is promised.
    pub statement: String,
    /// Against whom.
    pub adversary: String,
    /// What is protected.
    pub unit: String,
    /// What neighbouring inputs differ by.
    pub adjacency: String,
    /// How much is lost.
    pub loss: String,
    /// What an attacker can do with such a loss.
    pub risk: String,
    /// Proven, or under which conditions.
    pub standing: String,
    /// What it does not speak of.
    pub not_covered: Vec<String>,
}

/// A file that lies beside a page: its name, and what it holds.
pub(crate) type Beside<'a> = (&'a str, &'a str);

/// What every report has around its own sections.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    /// What came of it, in a sentence.
    pub(crate) headline: &'a str,
    pub(crate) summary: &'a [(String, String)],
    pub(crate) guarantees: &'a [GuaranteeLine],
    pub(crate) notes: &'a [String],
    pub(crate) files: &'a [Beside<'a>],
    pub(crate) provenance: &'a Provenance,
}

impl Frame<'_> {
    /// A page with these controls, sections and data for its script; if the report did not pass its check, one that says so.
    pub(crate) fn page(
        &self,
        checked: Result<()>,
        controls: impl FnOnce() -> String,
        sections: impl FnOnce() -> String,
        data: impl FnOnce() -> String,
    ) -> String {
        let title = escape(self.title);
        if let Err(error) = checked {
            let body = format!(
                "<header><h1>{title}</h1></header>\n<p>This report cannot be shown: {}.</p>\n",
                escape(&error.to_string())
            );
            return shell::document(self.title, &body, "", self.provenance);
        }
        let mut body = format!("<header><h1>{title}</h1>\n{}</header>\n", headline(self.headline));
        body += &controls();
        body += &guarantees(self.guarantees);
        body += &summary(self.summary);
        body += &sections();
        body += &beside(self.files);
        body += &notes(self.notes);
        shell::document(self.title, &body, &data(), self.provenance)
    }
}

/// What came of it, in a sentence.
pub(crate) fn headline(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<p id=\"headline\" class=\"headline\" aria-live=\"polite\">{}</p>\n", escape(text))
}

/// Labels and values; nothing where there are none.
fn summary(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let facts: String = facts.iter().map(|(label, value)| fact(label, value)).collect();
    format!("<section id=\"run\">\n<h2>The run</h2>\n<dl class=\"summary\">\n{facts}</dl>\n</section>\n")
}

pub(crate) fn guarantees(lines: &[GuaranteeLine]) -> String {
    match promised("guaranteed", lines) {
        none if none.is_empty() => none,
        table => {
            let limits = match limits(lines) {
                none if none.is_empty() => String::new(),
                all => format!("<h3>Not covered</h3>\n{}", shell::list(&all)),
            };
            format!("<section id=\"guarantees\">\n<h2>What is guaranteed</h2>\n{table}{limits}</section>\n")
        }
    }
}

/// What is promised, and what is not covered, without headings: for a page that shows several runs.
pub(crate) fn promises(lines: &[GuaranteeLine]) -> String {
    let (good, limits) = (promised("", lines), limits(lines));
    let limits = match limits.is_empty() {
        true => String::new(),
        false => format!("<p>Not covered:</p>\n{}", shell::list(&limits)),
    };
    good + &limits
}

/// A table of what is promised; nothing where nothing is.
fn promised(id: &str, lines: &[GuaranteeLine]) -> String {
    let rows = |line: &GuaranteeLine| {
        let standing =
            format!("<span class=\"badge {}\">{}</span>", mood(&line.standing), escape(&line.standing));
        let protects = format!("{}; {}", line.unit, line.adjacency);
        let (statement, risk, adversary) =
            (escape(&line.statement), escape(&line.risk), escape(&line.adversary));
        vec![statement, strong(&line.loss), risk, adversary, escape(&protects), standing]
    };
    let rows: Vec<Vec<String>> = lines.iter().map(rows).collect();
    if rows.is_empty() {
        return String::new();
    }
    shell::markup_table(id, &["Promise", "Loss", "Risk", "Against", "Protects", "Standing"], &rows)
}

fn strong(text: &str) -> String {
    if text.is_empty() { "–".into() } else { format!("<strong>{}</strong>", escape(text)) }
}

/// What some of the guarantees do not speak of, each said once.
fn limits(lines: &[GuaranteeLine]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for limit in lines.iter().flat_map(|line| &line.not_covered) {
        if !all.contains(limit) {
            all.push(limit.clone());
        }
    }
    all
}

/// Links to the files that are written with the page.
pub(crate) fn beside(files: &[(impl AsRef<str>, impl AsRef<str>)]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let items: String = files
        .iter()
        .map(|(name, what)| format!("<li>{} {}</li>\n", shell::link(name.as_ref()), escape(what.as_ref())))
        .collect();
    format!(
        "<section id=\"files\">\n<h2>Files beside this page</h2>\n<ul class=\"files\">\n{items}</ul>\n</section>\n"
    )
}

pub(crate) fn notes(notes: &[String]) -> String {
    match notes.is_empty() {
        true => String::new(),
        false => format!("<section id=\"notes\">\n<h2>Notes</h2>\n{}</section>\n", shell::list(notes)),
    }
}

fn fact(label: &str, value: &str) -> String {
    format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(label), escape(value))
}

/// Only what is proven without an "if" is shown as good.
fn mood(standing: &str) -> &'static str {
    if standing.eq_ignore_ascii_case("proven") { "good" } else { "plain" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(standing: &str, limits: &[&str]) -> GuaranteeLine {
        GuaranteeLine {
            statement: "<s>".into(),
            standing: standing.into(),
            not_covered: limits.iter().map(|limit| limit.to_string()).collect(),
            ..GuaranteeLine::default()
        }
    }

    #[test]
    fn only_what_is_proven_is_shown_as_good() {
        for (standing, shown) in [("Proven", "good"), ("proven if labels are public", "plain")] {
            assert_eq!(mood(standing), shown, "{standing}");
        }
        let good = guarantees(&[line("proven", &[]), line("proven if labels are public", &[])]);
        assert!(good.matches("badge good").count() == 1 && good.matches("&lt;s&gt;").count() == 2, "{good}");
    }

    #[test]
    fn what_is_not_covered_is_said_once() {
        let page = guarantees(&[line("proven", &["<timing>", "tuning"]), line("proven", &["tuning"])]);
        assert!(page.contains("Not covered") && page.contains("<li>&lt;timing&gt;</li>"), "{page}");
        assert_eq!(page.matches("tuning").count(), 1);
        assert!(!guarantees(&[line("proven", &[])]).contains("Not covered"));
    }

    #[test]
    fn files_are_linked_by_name() {
        let page = beside(&[("losses.csv", "losses <of all>")]);
        assert!(page.contains("<a href=\"losses.csv\">losses.csv</a> losses &lt;of all&gt;"), "{page}");
    }
}

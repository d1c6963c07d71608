//! Blocks that reports share: facts on top, guarantees and notes below.

use serde::Serialize;

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
    /// Proven, conditional, published or refuted.
    pub standing: String,
    /// What it does not speak of.
    pub not_covered: Vec<String>,
}

/// What every report has around its own sections.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    pub(crate) summary: &'a [(String, String)],
    pub(crate) guarantees: &'a [GuaranteeLine],
    pub(crate) notes: &'a [String],
}

impl Frame<'_> {
    /// A page with these sections and data for its script; if the report did not pass its check, one that says so.
    pub(crate) fn page(
        &self,
        checked: Result<()>,
        sections: impl FnOnce() -> String,
        data: impl FnOnce() -> String,
    ) -> String {
        let title = escape(self.title);
        if let Err(error) = checked {
            let body = format!(
                "<header><h1>{title}</h1></header>\n<p>This report cannot be shown: {}.</p>\n",
                escape(&error.to_string())
            );
            return shell::document(self.title, &body, "");
        }
        let mut body = format!("<header><h1>{title}</h1>\n{}</header>\n", summary(self.summary));
        body += &sections();
        body += &guarantees(self.guarantees);
        body += &notes(self.notes);
        body.push_str("<div id=\"tip\" role=\"tooltip\" hidden></div>\n");
        shell::document(self.title, &body, &data())
    }
}

/// Labels and values; nothing where there are none.
fn summary(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let facts: String = facts.iter().map(|(label, value)| fact(label, value)).collect();
    format!("<dl class=\"summary\">\n{facts}</dl>\n")
}

fn guarantees(lines: &[GuaranteeLine]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(guarantee).collect();
    format!(
        "<section id=\"guarantees\">\n<h2>What is guaranteed</h2>\n<ul class=\"guarantees\">\n{items}</ul>\n{}</section>\n",
        not_covered(lines)
    )
}

/// What some of the guarantees do not speak of, each said once.
fn not_covered(lines: &[GuaranteeLine]) -> String {
    let mut all: Vec<String> = Vec::new();
    for limit in lines.iter().flat_map(|line| &line.not_covered) {
        if !all.contains(limit) {
            all.push(limit.clone());
        }
    }
    match all.is_empty() {
        true => String::new(),
        false => format!("<h3>Not covered</h3>\n{}", shell::list(&all)),
    }
}

fn guarantee(line: &GuaranteeLine) -> String {
    let facts = [
        ("Against", &line.adversary),
        ("Protects", &line.unit),
        ("Adjacency", &line.adjacency),
        ("Loss", &line.loss),
    ];
    format!(
        "<li><p><span class=\"badge {}\">{}</span> {}</p><dl class=\"facts\">{}</dl></li>\n",
        mood(&line.standing),
        escape(&line.standing),
        escape(&line.statement),
        facts.map(|(label, value)| fact(label, value)).concat()
    )
}

fn notes(notes: &[String]) -> String {
    match notes.is_empty() {
        true => String::new(),
        false => format!("<section id=\"notes\">\n<h2>Notes</h2>\n{}</section>\n", shell::list(notes)),
    }
}

fn fact(label: &str, value: &str) -> String {
    format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(label), escape(value))
}

/// Only what is proven without an "if" is shown as good, and only what is refuted as bad.
fn mood(standing: &str) -> &'static str {
    match standing.to_ascii_lowercase().as_str() {
        "proven" => "good",
        s if s.contains("refuted") => "bad",
        _ => "plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_proven_is_shown_as_good() {
        for (standing, shown) in
            [("Proven", "good"), ("proven if labels are public", "plain"), ("published and refuted", "bad")]
        {
            assert_eq!(mood(standing), shown, "{standing}");
        }
    }

    #[test]
    fn what_is_not_covered_is_said_once() {
        let line = |limits: &[&str]| GuaranteeLine {
            not_covered: limits.iter().map(|limit| limit.to_string()).collect(),
            ..GuaranteeLine::default()
        };
        let page = guarantees(&[line(&["<timing>", "tuning"]), line(&["tuning"])]);
        assert!(page.contains("Not covered") && page.contains("<li>&lt;timing&gt;</li>"), "{page}");
        assert_eq!(page.matches("tuning").count(), 1);
        assert!(!guarantees(&[line(&[])]).contains("Not covered"));
    }
}

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
        "<section id=\"guarantees\">\n<h2>What is guaranteed</h2>\n<ul class=\"guarantees\">\n{items}</ul>\n</section>\n"
    )
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
    if notes.is_empty() {
        return String::new();
    }
    let items: String = notes.iter().map(|note| format!("<li>{}</li>\n", escape(note))).collect();
    format!("<section id=\"notes\">\n<h2>Notes</h2>\n<ul>\n{items}</ul>\n</section>\n")
}

fn fact(label: &str, value: &str) -> String {
    format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(label), escape(value))
}

/// Only what is proven is shown as good, and only what is refuted as bad.
fn mood(standing: &str) -> &'static str {
    match standing.to_ascii_lowercase().as_str() {
        s if s.starts_with("proven") => "good",
        s if s.contains("refuted") => "bad",
        _ => "plain",
    }
}

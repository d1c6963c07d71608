//! The tables of an averaging report: the attack, the guarantees, the notes.

use std::fmt::Write as _;

use super::{AttackRow, AveragingReport, NO_PATH};
use crate::shell;
use crate::text::{digits, escape, up};

/// Columns of the attack's table.
const COLUMNS: [&str; 7] = ["Peer", "Hops", "Loss", "Predicted", "Measured", "Interval", "Exposed"];

impl AveragingReport {
    pub(super) fn attack_section(&self) -> String {
        if self.attack.rows.is_empty() && self.attack.text.is_empty() {
            return String::new();
        }
        let text = shell::paragraphs(std::slice::from_ref(&self.attack.text));
        let shown = if self.attack.rows.is_empty() { text } else { self.attack_rows(&text) };
        format!("<section id=\"attack\">\n<h2>What an attack found</h2>\n{shown}</section>\n")
    }

    fn attack_rows(&self, text: &str) -> String {
        let head: String = COLUMNS.iter().map(|c| format!("<th scope=\"col\">{c}</th>")).collect();
        let rows: String = self.attack.rows.iter().map(|r| self.attack_row(r)).collect();
        let caption =
            "Measured against predicted, with intervals of confidence; on the line, the account is exact.";
        format!(
            "<div class=\"pair\">\n{}<div class=\"beside\">{text}</div></div>\n\
             <p class=\"filter scripted\"><label for=\"filter\">Find a peer</label> \
             <input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"> \
             <span id=\"matches\" role=\"status\"></span></p>\n\
             <div class=\"wide tall\" tabindex=\"0\" role=\"region\" aria-label=\"Attack on each peer\">\
             <table id=\"attacks\" class=\"numbers\"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
            shell::figure(&self.attack_chart().embedded("measured"), caption),
        )
    }

    /// A row whose cells also carry what they are sorted by.
    fn attack_row(&self, row: &AttackRow) -> String {
        let hops = if row.distance == NO_PATH { "none".into() } else { row.distance.to_string() };
        let exposed = if row.exposed { "<strong class=\"badge bad\">exposed</strong>" } else { "no" };
        let cells = [
            (row.peer as f64, escape(&self.name(row.peer))),
            (f64::from(row.distance), hops),
            (row.loss, up(row.loss, 3)),
            (row.predicted, digits(row.predicted, 3)),
            (row.measured, digits(row.measured, 3)),
            (row.low, format!("{} to {}", digits(row.low, 3), digits(row.high, 3))),
            (f64::from(u8::from(row.exposed)), exposed.into()),
        ];
        let mut out = String::from("<tr>");
        for ((key, shown), label) in cells.into_iter().zip(COLUMNS) {
            let _ = write!(out, "<td data-label=\"{label}\" data-key=\"{key}\">{shown}</td>");
        }
        out + "</tr>\n"
    }

    pub(super) fn guarantee_section(&self) -> String {
        if self.guarantees.is_empty() {
            return String::new();
        }
        let items: String = self
            .guarantees
            .iter()
            .map(|g| {
                let facts = [("Against", &g.adversary), ("Protects", &g.unit), ("Adjacency", &g.adjacency), ("Loss", &g.loss)];
                let facts: String = facts
                    .iter()
                    .map(|(label, value)| format!("<div><dt>{label}</dt><dd>{}</dd></div>", escape(value)))
                    .collect();
                let (statement, standing) = (escape(&g.statement), escape(&g.standing));
                format!(
                    "<li><p><span class=\"badge {}\">{standing}</span> {statement}</p><dl class=\"facts\">{facts}</dl></li>\n",
                    mood(&g.standing)
                )
            })
            .collect();
        format!(
            "<section id=\"guarantees\">\n<h2>What is guaranteed</h2>\n<ul class=\"guarantees\">\n{items}</ul>\n</section>\n"
        )
    }

    pub(super) fn notes_section(&self) -> String {
        if self.notes.is_empty() {
            return String::new();
        }
        let items: String = self.notes.iter().map(|n| format!("<li>{}</li>\n", escape(n))).collect();
        format!("<section id=\"notes\">\n<h2>Notes</h2>\n<ul>\n{items}</ul>\n</section>\n")
    }
}

/// Only what is proven is shown as good, and only what is refuted as bad.
fn mood(standing: &str) -> &'static str {
    match standing.to_ascii_lowercase().as_str() {
        s if s.starts_with("proven") => "good",
        s if s.starts_with("refuted") => "bad",
        _ => "plain",
    }
}

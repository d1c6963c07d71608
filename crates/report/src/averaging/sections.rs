//! The table of an averaging report: the attack on each peer.

use std::fmt::Write as _;

use super::{AttackRow, AveragingReport, NO_PATH};
use crate::shell;
use crate::text::{digits, escape, up};

/// Columns of the attack's table.
const COLUMNS: [&str; 7] = ["Peer", "Hops", "Loss", "Predicted", "Measured", "Interval", "Exposed"];

/// Longer lists are folded.
const FEW: usize = 12;

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
        let open = if self.attack.rows.len() <= FEW { " open" } else { "" };
        format!(
            "<div class=\"pair\">\n{}<div class=\"beside\">{text}</div></div>\n\
             <details{open}><summary>Each of the {} peers attacked</summary>\n<p class=\"filter scripted\"><label for=\"filter\">Find a peer</label> \
             <input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"> \
             <span id=\"matches\" role=\"status\"></span></p>\n\
             <div class=\"wide tall\" tabindex=\"0\" role=\"region\" aria-label=\"Attack on each peer\">\
             <table id=\"attacks\" class=\"numbers\"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n</details>\n",
            shell::figure(&self.attack_chart().embedded("measured"), caption),
            self.attack.rows.len(),
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
}

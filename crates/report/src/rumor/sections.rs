//! The later parts of a rumour's page: what privacy costs in time, and what an attack found.

use super::{RumorReport, Suspicion};
use crate::shell;
use crate::text::{digits, short, up};

const COLUMNS: [&str; 6] =
    ["Suspects", "Source found", "Interval", "Guessing", "No attack exceeds", "Bound 1/(1 + c)"];

impl RumorReport {
    pub(super) fn survival_section(&self) -> String {
        let Some(survival) = &self.survival else { return String::new() };
        let text = shell::paragraphs(&survival.text);
        let rows: Vec<Vec<String>> =
            survival.rows.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect();
        let caption = "How many knew in the end, run by run, in order.";
        let figure = shell::figure(&self.survival_chart(survival).embedded("survived"), caption);
        format!(
            "<section id=\"survival\">\n<h2>Does it survive?</h2>\n<div class=\"pair\">\n{figure}\
             <div class=\"beside\">{text}</div></div>\n{}</section>\n",
            shell::table("survival-table", &["", ""], &rows)
        )
    }

    pub(super) fn trade_section(&self) -> String {
        if self.trade.is_empty() {
            return String::new();
        }
        let chosen = &self.chosen;
        let words = format!(
            "A rumour that forgets quickly hides its source, and takes longer. Along the curve runs the muting parameter s, the \
             probability of staying active after a telling. The ring is this run: s = {}, delta = {}, about {} rounds.",
            short(chosen.muting, 4),
            up(chosen.delta, 3),
            digits(chosen.rounds, 3),
        );
        let meaning = "Delta is how much the observers' view can differ between two sources: 0 is not at all, 1 is entirely. The \
                       paper's table prints a cruder bound from the same proof.";
        let text = shell::paragraphs(&[words, meaning.into()]);
        let figure = shell::figure(&self.trade_chart().embedded("tradeoff"), "");
        format!(
            "<section id=\"privacy\">\n<h2>Privacy against speed</h2>\n<div class=\"pair\">\n{figure}\
             <div class=\"beside\">{text}</div></div>\n</section>\n"
        )
    }

    pub(super) fn attack_section(&self) -> String {
        if self.suspicions.is_empty() {
            return String::new();
        }
        let text = shell::paragraphs(std::slice::from_ref(&self.attack));
        let caption = "The better the observers know whom to suspect, the more often they are right; the guarantee says how often \
                       at most.";
        let figure = shell::figure(&self.attack_chart().embedded("found"), caption);
        let rows: Vec<Vec<String>> = self.suspicions.iter().map(row).collect();
        format!(
            "<section id=\"attack\">\n<h2>What an attack found</h2>\n<div class=\"pair\">\n{figure}\
             <div class=\"beside\">{text}</div></div>\n{}</section>\n",
            shell::table("suspicions", &COLUMNS, &rows)
        )
    }
}

fn row(suspicion: &Suspicion) -> Vec<String> {
    let Suspicion { suspects, found, low, high, bound, uncertainty } = *suspicion;
    vec![
        suspects.to_string(),
        digits(found, 3),
        format!("{} to {}", digits(low, 3), digits(high, 3)),
        digits(1.0 / suspects.max(1) as f64, 3),
        up(bound, 3),
        uncertainty.map_or("–".into(), |bound| up(bound, 3)),
    ]
}

//! The page of an averaging report.
//!
//! Everything is drawn here and readable without scripts. The script only moves what is already there: it changes
//! colours, curves and numbers when another observer or another cell of the grid is chosen.

use super::AveragingReport;
use super::files::FILES;
use crate::blocks::Frame;
use crate::shell;
use crate::text::{digits, escape, short, up};

impl AveragingReport {
    /// The report as one HTML file that needs no other and loads nothing. Where the fields do not fit together
    /// ([`AveragingReport::check`]) the page says so instead.
    pub fn html(&self) -> String {
        let further = self.beside.iter().map(|(name, what)| (name.as_str(), what.as_str()));
        let beside: Vec<(&str, &str)> = FILES[1..].iter().copied().chain(further).collect();
        let frame = Frame {
            title: &self.title,
            headline: &self.headline,
            summary: &self.summary,
            guarantees: &self.guarantees,
            notes: &self.notes,
            files: &beside,
            provenance: &self.provenance,
        };
        let sections =
            || self.privacy() + &self.error_section() + &self.trade_section() + &self.attack_section();
        frame.page(self.check(), || self.controls() + &self.readout(), sections, || self.data())
    }

    fn privacy(&self) -> String {
        let observer = escape(&self.name(self.observer));
        format!(
            "<section id=\"privacy\">\n<h2>What one peer could learn of the others</h2>\n\
             <p>Each dot is a peer. Its colour shows how much <strong class=\"observer-name\">{observer}</strong>, \
             the ringed one, could learn of that peer's value from everything it received: 1 is what local \
             differential privacy would reveal. <span class=\"scripted\">Choose a dot to see through another peer's \
             eyes.</span></p>\n<div class=\"pair\">\n{}{}</div>\n\
             <h3>Privacy and accuracy move together</h3>\n\
             <div class=\"pair\">\n{}\n<div class=\"beside\">{}</div></div>\n</section>\n",
            shell::figure(
                &self.graph().embedded("graph"),
                "Loss of each peer to the observer. Light is more."
            ),
            shell::figure(
                &self.loss_by_distance().embedded("distance"),
                "Loss by distance from the observer."
            ),
            shell::figure(&self.trade().embedded("trade"), ""),
            self.trade_text(),
        )
    }

    fn trade_text(&self) -> String {
        let cells = self.cells.len();
        format!(
            "<p>Each dot is one of {cells} settings of relay noise and steps. Further left, less is learnt of each \
             peer; further down, the average is more accurate. The ring marks the setting shown above. <span \
             class=\"scripted\">The sliders move it, and so does choosing a dot.</span></p>\n<p>Losses are \
             rounded up, never down.</p>\n"
        )
    }

    /// Sliders and the choice of observer; the script fills the latter, and without scripts none of it is shown.
    fn controls(&self) -> String {
        let slider = |id: &str, label: &str, count: usize, at: usize, value: &str| {
            format!(
                "<label for=\"{id}\"><span>{label}</span> <output id=\"{id}-value\" for=\"{id}\">{value}</output>\
                 <input type=\"range\" id=\"{id}\" min=\"0\" max=\"{}\" step=\"1\" value=\"{at}\"></label>\n",
                count - 1
            )
        };
        let relay = short(self.relay_noises[self.chosen.0], 4);
        let steps = self.steps[self.chosen.1].to_string();
        format!(
            "<div class=\"controls sticky scripted\" role=\"group\" aria-label=\"What is shown\">\n\
             <label for=\"observer\"><span>Observer</span><select id=\"observer\"></select></label>\n{}{}\
             <button id=\"reset\" type=\"button\">This run</button>\n</div>\n\
             <p id=\"status\" class=\"status scripted\" role=\"status\"></p>\n",
            slider("relay", "Relay noise", self.relay_noises.len(), self.chosen.0, &relay),
            slider("steps", "Steps", self.steps.len(), self.chosen.1, &steps),
        )
    }

    fn readout(&self) -> String {
        let cell = self.chosen_cell();
        let item = |id: &str, label: &str, value: &str| {
            format!("<div><dt>{label}</dt><dd id=\"{id}\">{value}</dd></div>\n")
        };
        format!(
            "<dl class=\"readout\">\n{}{}{}</dl>\n",
            item("mean", "Mean loss, all pairs", &up(cell.mean, 3)),
            item("worst", "Worst loss at two hops or more", &up(cell.worst_far, 3)),
            item("error", "Mean squared error", &digits(cell.error, 3)),
        )
    }

    fn trade_section(&self) -> String {
        let Some(traded) = &self.traded else { return String::new() };
        let figure = shell::figure(&self.errors_by_colluders(traded).embedded("colluders"), "");
        let text = shell::paragraphs(std::slice::from_ref(&traded.text));
        format!(
            "<section id=\"secrets\">\n<h2>What hiding from everyone would cost</h2>\n<div class=\"pair\">\n{figure}\
             <div class=\"beside\">{text}</div></div>\n</section>\n"
        )
    }

    fn error_section(&self) -> String {
        if self.errors.is_empty() {
            return String::new();
        }
        let figure = shell::figure(&self.error_by_step().embedded("errors"), "");
        let banded = self.errors.iter().any(|s| s.band.is_some());
        let bands = if banded { " Bands show the range around each curve." } else { "" };
        format!(
            "<section id=\"accuracy\">\n<h2>How accurate the average is</h2>\n<div class=\"pair\">\n{figure}\
             <div class=\"beside\"><p>Mean squared error of the average after each step, on a logarithmic \
             scale.{bands}</p></div></div>\n</section>\n"
        )
    }
}

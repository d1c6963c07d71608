//! The page of a rumour.
//!
//! Everything is drawn here and readable without scripts: the small multiples show the course. The script only moves
//! what is already there: it changes the dots, the mark on the chart and the numbers when another round is chosen.

use serde::Serialize;

use super::files::FILES;
use super::{Moment, RumorReport, State};
use crate::blocks::Frame;
use crate::shell;

/// What the page's script is given. Numbers to be read come as text.
#[derive(Debug, Serialize)]
struct Data {
    /// The frame that is shown first.
    first: usize,
    /// Radius and colour of each state, and what it is called.
    looks: Vec<(f64, String, &'static str)>,
    /// What each dot is called.
    names: Vec<String>,
    spread: Vec<Shown>,
}

#[derive(Debug, Serialize)]
struct Shown {
    at: u64,
    round: String,
    informed: String,
    active: String,
    /// A digit for each dot: the place of its state.
    states: String,
}

impl RumorReport {
    /// The report as one HTML file that needs no other and loads nothing. Where the fields do not fit together
    /// ([`RumorReport::check`]) the page says so instead.
    pub fn html(&self) -> String {
        let further = self.beside.iter().map(|(name, what)| (name.as_str(), what.as_str()));
        let drawn = FILES[1..].iter().copied().filter(|(name, _)| self.has(name));
        let beside: Vec<(&str, &str)> = drawn.chain(further).collect();
        let frame = Frame {
            title: &self.title,
            headline: &self.headline,
            summary: &self.summary,
            guarantees: &self.guarantees,
            notes: &self.notes,
            files: &beside,
            provenance: &self.provenance,
        };
        let sections = || {
            self.spread_section() + &self.survival_section() + &self.trade_section() + &self.attack_section()
        };
        frame.page(self.check(), String::new, sections, || self.data())
    }

    fn spread_section(&self) -> String {
        let shown = match self.dots.len() {
            dots if dots == self.peers => "Each dot is a peer".to_owned(),
            dots => format!("Each dot is one of {dots} peers out of {}, chosen at random", self.peers),
        };
        format!(
            "<section id=\"spread\">\n<h2>How the rumour spread</h2>\n\
             <p>{shown}; where it lies means nothing. Whoever is told becomes active and tells someone at random in each \
             round, until it falls silent by chance; who is told again is active again. <span class=\"scripted\">Play the \
             course, or move the slider.</span></p>\n{}{}<div class=\"pair\">\n{}{}</div>\n\
             <h3>The course at a glance</h3>\n{}</section>\n",
            self.controls(),
            self.readout(),
            shell::figure(&self.crowd().embedded("crowd"), ""),
            shell::figure(
                &self.course_chart().embedded("course"),
                if self.predicted.is_empty() {
                    "Shares of peers after each round, in this run."
                } else {
                    "Shares of peers after each round, in this run and as the mean dynamics predict."
                }
            ),
            self.multiples(),
        )
    }

    /// A button and a slider; without scripts neither is shown.
    fn controls(&self) -> String {
        let (first, last) = (self.first(), self.frames.len() - 1);
        let round = self.frames[first].moment.round;
        format!(
            "<div class=\"controls player scripted\" role=\"group\" aria-label=\"The course of the rumour\">\n\
             <button id=\"play\" type=\"button\">Play</button>\n\
             <label for=\"frame\"><span>Round</span> <output id=\"frame-value\" for=\"frame\">{round}</output>\
             <input type=\"range\" id=\"frame\" min=\"0\" max=\"{last}\" step=\"1\" value=\"{first}\"></label>\n</div>\n"
        )
    }

    fn readout(&self) -> String {
        let Moment { round, informed, active } = self.frames[self.first()].moment;
        let item = |id: &str, label: &str, value: String| {
            format!("<div><dt>{label}</dt><dd id=\"{id}\">{value}</dd></div>\n")
        };
        format!(
            "<dl class=\"readout\">\n{}{}{}</dl>\n",
            item("round", "Round", round.to_string()),
            item("informed", "Peers who know", informed.to_string()),
            item("active", "Peers who are telling", active.to_string()),
        )
    }

    fn multiples(&self) -> String {
        let panel = |(place, frame): (usize, usize)| {
            let frame = &self.frames[frame];
            let Moment { round, informed, active } = frame.moment;
            let caption = format!("Round {round}: {informed} know, {active} telling");
            shell::figure(&self.panel(frame).embedded(&format!("panel-{place}")), &caption)
        };
        let panels: String = self.milestones().into_iter().enumerate().map(panel).collect();
        format!("<div class=\"multiples\">\n{panels}</div>\n")
    }

    /// The data of the page's script, as JSON.
    fn data(&self) -> String {
        let shown = |frame: &super::Frame| Shown {
            at: frame.moment.round,
            round: frame.moment.round.to_string(),
            informed: frame.moment.informed.to_string(),
            active: frame.moment.active.to_string(),
            states: frame.states.iter().map(|state| char::from(b'0' + *state as u8)).collect(),
        };
        let pitch = self.pitch();
        let look = |state: State| (state.look().0 * pitch, state.look().1.variable(), state.words());
        let data = Data {
            first: self.first(),
            looks: State::ALL.map(look).to_vec(),
            names: (0..self.dots.len()).map(|i| self.name(i)).collect(),
            spread: self.frames.iter().map(shown).collect(),
        };
        // Plain text and finite numbers only, which always have a JSON form.
        serde_json::to_string(&data).unwrap_or_default()
    }
}

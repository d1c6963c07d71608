//! The report of one rumour: how it spread, what it cost in privacy and in time, and what an attack found.
//!
//! * `crowd.rs` draws the peers as dots, `view.rs` the charts;
//! * `html.rs` writes the page, `sections.rs` its later parts;
//! * `files.rs` names the files.

mod crowd;
mod files;
mod html;
mod sections;
mod view;

use serde::Serialize;

use crate::blocks::GuaranteeLine;
use crate::error::{Error, Result};
use crate::provenance::Provenance;

/// Everything the report of a rumour shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RumorReport {
    /// The title.
    pub title: String,
    /// What came of it, in a sentence.
    pub headline: String,
    /// What was run: labels and values.
    pub summary: Vec<(String, String)>,
    /// How many peers there are.
    pub peers: usize,
    /// The peers that are drawn, in the order of their dots: all of them, or some where there are very many.
    pub dots: Vec<Dot>,
    /// The dot of the peer that began.
    pub source: usize,
    /// The dot of the first peer that told a curious one in this run, if any did: whom the attack names.
    pub guess: Option<usize>,
    /// What the dots look like, in the order of time.
    pub frames: Vec<Frame>,
    /// The run's course: every round, with those informed and those active after it.
    pub course: Vec<Moment>,
    /// The course that was predicted, as shares of all peers by round: informed, active.
    pub predicted: Vec<(f64, f64)>,
    /// Loss and spreading time by muting parameter, in the order of the parameter.
    pub trade: Vec<Trade>,
    /// The run's own.
    pub chosen: Trade,
    /// Whether it survives, where anything could be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<Survival>,
    /// What was attacked and how.
    pub attack: String,
    /// How often it found the source, by how many were suspected.
    pub suspicions: Vec<Suspicion>,
    /// What is promised.
    pub guarantees: Vec<GuaranteeLine>,
    /// Remarks below the page.
    pub notes: Vec<String>,
    /// Further files that whoever writes the page puts beside it: their names, and what they hold.
    #[serde(skip)]
    pub beside: Vec<(String, String)>,
    /// Where the page comes from.
    pub provenance: Provenance,
}

/// A peer that is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Dot {
    /// Its number.
    pub peer: usize,
    /// Whether it is one of those who watch.
    pub curious: bool,
}

/// What a peer is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It knows nothing.
    #[default]
    Unaware,
    /// It knows, and is silent.
    Informed,
    /// It knows, and is telling others.
    Active,
}

/// All dots after one round.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Frame {
    /// The round, and how many of all peers know and tell.
    pub moment: Moment,
    /// What each dot is doing.
    pub states: Vec<State>,
}

/// How far a rumour is after one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Moment {
    /// The round; 0 is before anything was told.
    pub round: u64,
    /// Peers who know.
    pub informed: usize,
    /// Peers who are telling.
    pub active: usize,
}

/// What a muting parameter costs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Trade {
    /// The muting parameter: the probability of staying active after a telling.
    pub muting: f64,
    /// Rounds until everyone knows, as predicted.
    pub rounds: f64,
    /// The total variation distance between the views under two sources, at most.
    pub delta: f64,
    /// The same as the paper's table prints it.
    pub printed: f64,
}

/// Whether a rumour survives a network that loses messages, over many runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Survival {
    /// What came of it, in sentences.
    pub text: Vec<String>,
    /// Numbers: labels and values.
    pub rows: Vec<(String, String)>,
    /// The share of all peers who knew at the end of each run.
    pub knew: Vec<f64>,
}

/// How often the source was found among so many suspects.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suspicion {
    /// Peers of whom the observers know that the source is one, all equally likely.
    pub suspects: usize,
    /// The share of runs in which it was found.
    pub found: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// What no attack can exceed.
    pub bound: f64,
    /// Another such bound, where it applies: from prediction uncertainty, with every honest peer suspected.
    pub uncertainty: Option<f64>,
}

impl RumorReport {
    /// Whether the fields fit together: sizes agree, and every index names something.
    ///
    /// # Errors
    ///
    /// Names the first field that does not fit.
    pub fn check(&self) -> Result<()> {
        let dots = self.dots.len();
        let fits = |moment: &Moment| moment.active <= moment.informed && moment.informed <= self.peers;
        let rising = |moments: &[Moment]| moments.windows(2).all(|pair| pair[0].round < pair[1].round);
        let shown: Vec<Moment> = self.frames.iter().map(|frame| frame.moment).collect();
        let tests = [
            ("dots", dots > 0 && dots <= self.peers, format!("has {dots} of {} peers", self.peers)),
            ("source", self.source < dots, format!("is {}, but there are {dots} dots", self.source)),
            ("guess", self.guess.is_none_or(|guess| guess < dots), format!("is none of the {dots} dots")),
            ("frames", !self.frames.is_empty() && rising(&shown), "is empty or not in order".into()),
            (
                "frames",
                self.frames.iter().all(|frame| frame.states.len() == dots),
                format!("must have a state for each of the {dots} dots"),
            ),
            ("course", !self.course.is_empty() && rising(&self.course), "is empty or not in order".into()),
            (
                "course",
                self.course.iter().chain(&shown).all(fits),
                "has more active than informed, or than there are".into(),
            ),
        ];
        match tests.into_iter().find(|(_, holds, _)| !holds) {
            Some((field, _, problem)) => Err(Error::Inconsistent { field, problem }),
            None => Ok(()),
        }
    }

    /// The frame that is shown first: the one closest to half of all informed.
    fn first(&self) -> usize {
        let far = |i: &usize| (2 * self.frames[*i].moment.informed).abs_diff(self.peers);
        (0..self.frames.len()).min_by_key(far).unwrap_or(0)
    }

    fn share(&self, count: usize) -> f64 {
        count as f64 / self.peers.max(1) as f64
    }
}

impl Moment {
    /// In words.
    fn words(&self, peers: usize) -> String {
        format!("round {}: {} of {peers} informed, {} active", self.round, self.informed, self.active)
    }
}

#[cfg(test)]
mod tests;

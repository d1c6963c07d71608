//! The report of one averaging experiment: its data, and whether they fit together.
//!
//! * `view.rs` draws the pictures;
//! * `pack.rs` makes the losses small enough to travel in the page, rounding only upwards;
//! * `html.rs` writes the page, `sections.rs` its table;
//! * `files.rs` names the files.

mod files;
mod html;
mod pack;
mod sections;
mod view;

use serde::Serialize;

use crate::blocks::GuaranteeLine;
use crate::chart::Series;
use crate::error::{Error, Result};
use crate::provenance::Provenance;

/// Everything the report of an averaging experiment shows. Losses are relative: local differential privacy is 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct AveragingReport {
    /// The title.
    pub title: String,
    /// What came of the run, in a sentence. It is the chosen cell's where cells have one.
    pub headline: String,
    /// What was run: labels and values.
    pub summary: Vec<(String, String)>,
    /// Where each peer is drawn, in any unit.
    pub positions: Vec<(f64, f64)>,
    /// Pairs of neighbours.
    pub edges: Vec<(u32, u32)>,
    /// Names of the peers; they are numbered where there are none. Untrusted.
    pub labels: Option<Vec<String>>,
    /// The peer whose view is shown first.
    pub observer: usize,
    /// Relay noises of the grid, in the order of the slider.
    pub relay_noises: Vec<f64>,
    /// Numbers of steps of the grid, in the order of the slider.
    pub steps: Vec<usize>,
    /// The grid: the cell of relay noise `i` and steps `j` is `cells[i * steps.len() + j]`.
    pub cells: Vec<Cell>,
    /// The run's own cell: index of the relay noise, index of the steps.
    pub chosen: (usize, usize),
    /// Hops, `[observer][peer]`; `u16::MAX` where there is no path.
    pub distances: Vec<Vec<u16>>,
    /// Loss under a trusted aggregator.
    pub central: f64,
    /// Mean squared error by step, of several protocols or predictions.
    pub errors: Vec<Series>,
    /// What hiding from someone who sees every message would cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traded: Option<Traded>,
    /// What an attack found.
    pub attack: Attack,
    /// What is promised of the run.
    pub guarantees: Vec<GuaranteeLine>,
    /// Remarks below the page.
    pub notes: Vec<String>,
    /// Further files that whoever writes the page puts beside it: their names, and what they hold.
    #[serde(skip)]
    pub beside: Vec<(String, String)>,
    /// Where the page comes from.
    pub provenance: Provenance,
}

/// The losses and the error under one relay noise and one number of steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Cell {
    /// Losses, `[observer][peer]`, from 0 to 1; a peer's own entry is 0.
    pub losses: Vec<Vec<f32>>,
    /// Mean squared error of the average.
    pub error: f64,
    /// Mean loss over all pairs.
    pub mean: f64,
    /// Largest loss between peers at two hops or more.
    pub worst_far: f64,
    /// What would come of it, in a sentence; empty where nothing is to be said.
    pub headline: String,
    /// What changes of each line of [`AveragingReport::guarantees`]; empty where those are of the run alone.
    pub promised: Vec<Promised>,
}

/// What changes of a guarantee with noise and steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Promised {
    /// What is promised.
    pub statement: String,
    /// Against whom.
    pub adversary: String,
    /// How much is lost.
    pub loss: String,
    /// What an attacker can do with it.
    pub risk: String,
}

impl From<&GuaranteeLine> for Promised {
    fn from(line: &GuaranteeLine) -> Self {
        let GuaranteeLine { statement, adversary, loss, risk, .. } = line.clone();
        Self { statement, adversary, loss, risk }
    }
}

/// Mean squared errors at the same epsilon, by the number of peers who collude.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Traded {
    /// What is compared.
    pub text: String,
    /// The curves.
    pub series: Vec<Series>,
}

/// What an attack found.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Attack {
    /// What was attacked, how, and in which units it is measured.
    pub text: String,
    /// One row for each peer attacked.
    pub rows: Vec<AttackRow>,
    /// Whether more was found than the accountant says.
    pub fell: bool,
}

/// An attack on one peer.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct AttackRow {
    /// The peer attacked.
    pub peer: usize,
    /// Its distance from the observer, in hops.
    pub distance: u16,
    /// The loss that was accounted.
    pub loss: f64,
    /// What the attack should measure if the account is exact.
    pub predicted: f64,
    /// What it measured.
    pub measured: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// Whether the peer is marked as exposed.
    pub exposed: bool,
}

/// The distance that means that there is no path.
const NO_PATH: u16 = u16::MAX;

impl AveragingReport {
    /// Whether the fields fit together: sizes agree, and every index names something.
    ///
    /// # Errors
    ///
    /// Names the first field that does not fit.
    pub fn check(&self) -> Result<()> {
        let peers = self.positions.len();
        let grid = self.relay_noises.len() * self.steps.len();
        let square = |rows: &[usize]| rows.len() == peers && rows.iter().all(|len| *len == peers);
        let lengths = |rows: &[Vec<f32>]| rows.iter().map(Vec::len).collect::<Vec<_>>();
        let chosen = self.chosen.0 < self.relay_noises.len() && self.chosen.1 < self.steps.len();
        let within = |i: &u32| (*i as usize) < peers;
        let tests = [
            ("positions", peers > 0, "is empty: give at least one peer".into()),
            ("observer", self.observer < peers, format!("is {}, but there are {peers} peers", self.observer)),
            (
                "labels",
                self.labels.as_ref().is_none_or(|l| l.len() == peers),
                format!("must have {peers} entries, one for each peer"),
            ),
            (
                "edges",
                self.edges.iter().all(|(a, b)| within(a) && within(b)),
                format!("names a peer beyond the {peers} there are"),
            ),
            ("cells", grid > 0 && self.cells.len() == grid, format!("has {}, not {grid}", self.cells.len())),
            ("chosen", chosen, format!("is {:?}, outside the grid", self.chosen)),
            (
                "cells",
                self.cells.iter().all(|c| square(&lengths(&c.losses))),
                format!("must have losses of {peers} by {peers}"),
            ),
            (
                "distances",
                square(&self.distances.iter().map(Vec::len).collect::<Vec<_>>()),
                format!("must be {peers} by {peers}"),
            ),
            (
                "promised",
                self.promises_fit(),
                "must have a line for each guarantee, and the run's own".into(),
            ),
            (
                "attack.rows",
                self.attack.rows.iter().all(|r| r.peer < peers),
                format!("names a peer beyond the {peers} there are"),
            ),
        ];
        match tests.into_iter().find(|(_, holds, _)| !holds) {
            Some((field, _, problem)) => Err(Error::Inconsistent { field, problem }),
            None => Ok(()),
        }
    }

    /// Either no cell has promises of its own, or each has one for every line, and the chosen cell says what the run does.
    fn promises_fit(&self) -> bool {
        let own: Vec<Promised> = self.guarantees.iter().map(Promised::from).collect();
        let follows = |cell: &Cell| cell.promised.len() == own.len();
        self.cells.iter().all(|cell| cell.promised.is_empty())
            || self.cells.iter().all(follows)
                && self.cells.get(self.chosen_index()).is_some_and(|c| c.promised == own)
    }

    /// The name of a peer, as shown.
    fn name(&self, peer: usize) -> String {
        let own = self.labels.as_ref().and_then(|l| l.get(peer)).filter(|l| !l.trim().is_empty());
        own.cloned().unwrap_or_else(|| format!("peer {peer}"))
    }

    fn chosen_index(&self) -> usize {
        self.chosen.0 * self.steps.len() + self.chosen.1
    }

    fn chosen_cell(&self) -> &Cell {
        &self.cells[self.chosen_index()]
    }
}

/// A loss as it may be shown: what is not a number, or is below zero, cannot be trusted and counts as lost.
fn honest(loss: f32) -> f64 {
    if loss.is_finite() && loss >= 0.0 { f64::from(loss) } else { 1.0 }
}

#[cfg(test)]
mod tests;

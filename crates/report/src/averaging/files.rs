//! The files of an averaging report.

use std::path::{Path, PathBuf};

use super::{AveragingReport, Cell, NO_PATH, honest};
use crate::error::Result;
use crate::store;

const NAMES: [&str; 9] = [
    "report.html",
    "graph.svg",
    "graph.png",
    "loss-by-distance.svg",
    "loss-by-distance.png",
    "error-by-step.svg",
    "error-by-step.png",
    "losses.csv",
    "report.json",
];

/// How many losses `report.json` holds at most; beyond that it holds those of the run's own cell alone.
const JSON_LOSSES: usize = 8_000_000;

impl AveragingReport {
    /// Writes the page, its pictures and its data into a folder, which is made if it is not there. Returns the files:
    /// `report.html`, `graph`, `loss-by-distance` and `error-by-step` as `.svg` and `.png`, `losses.csv` and
    /// `report.json`.
    ///
    /// # Errors
    ///
    /// Where the fields do not fit together, where a report is there already and `overwrite` is false, and where the
    /// system refuses to write. The folder then holds what it held before.
    pub fn write(&self, dir: &Path, overwrite: bool) -> Result<Vec<PathBuf>> {
        self.check()?;
        Self::free(dir, overwrite)?;
        store::write(dir, &NAMES, self.contents()?)
    }

    /// Refuses a folder that holds a report already: worth asking before the work begins.
    pub fn free(dir: &Path, overwrite: bool) -> Result<()> {
        store::check(dir, &NAMES, overwrite)
    }

    /// The contents of the files, in the order of their names.
    fn contents(&self) -> Result<Vec<Vec<u8>>> {
        let mut contents = vec![self.html().into_bytes()];
        for picture in [self.graph(), self.loss_by_distance(), self.error_by_step()] {
            contents.extend(store::both(&picture)?);
        }
        contents.push(self.csv().into_bytes());
        contents.push(self.json()?);
        Ok(contents)
    }

    /// Losses at the run's own cell, one line for each observer and peer.
    fn csv(&self) -> String {
        let mut out = String::from("observer,peer,distance,loss,published\n");
        for (observer, losses) in self.chosen_cell().losses.iter().enumerate() {
            for (peer, loss) in losses.iter().enumerate().filter(|(peer, _)| *peer != observer) {
                let distance = self.distances[observer][peer];
                let distance = if distance == NO_PATH { String::new() } else { distance.to_string() };
                let published = self.published[observer][peer];
                out += &format!("{observer},{peer},{distance},{},{published}\n", honest(*loss) as f32);
            }
        }
        out
    }

    /// All fields; what is not a finite number becomes `null`.
    fn json(&self) -> Result<Vec<u8>> {
        let all = self.positions.len().pow(2).saturating_mul(self.cells.len()) <= JSON_LOSSES;
        if all {
            return Ok(serde_json::to_vec(self)?);
        }
        let chosen = self.chosen_index();
        let slim = |(i, cell): (usize, &Cell)| {
            if i == chosen { cell.clone() } else { Cell { losses: Vec::new(), ..*cell } }
        };
        let cells: Vec<Cell> = self.cells.iter().enumerate().map(slim).collect();
        let mut value = serde_json::to_value(Self { cells: Vec::new(), ..self.clone() })?;
        value["cells"] = serde_json::to_value(cells)?;
        Ok(serde_json::to_vec(&value)?)
    }
}

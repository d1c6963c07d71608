//! The files of an averaging report.

use super::{AveragingReport, Cell, NO_PATH, honest};
use crate::error::Result;

/// Names of the files, and what they hold, the page itself first.
pub(super) const FILES: [(&str, &str); 9] = [
    ("report.html", "this page"),
    ("graph.svg", "what the observer could learn of each other peer"),
    ("graph.png", "the same as a bitmap"),
    ("loss-by-distance.svg", "loss by distance from the observer"),
    ("loss-by-distance.png", "the same as a bitmap"),
    ("error-by-step.svg", "mean squared error by step"),
    ("error-by-step.png", "the same as a bitmap"),
    ("losses.csv", "loss of every pair at the run's own noise and steps"),
    ("report.json", "everything that this page shows"),
];

/// How many losses `report.json` holds at most; beyond that it holds those of the run's own cell alone.
const JSON_LOSSES: usize = 8_000_000;

impl AveragingReport {
    /// Names of its files.
    pub fn file_names() -> Vec<&'static str> {
        FILES.iter().map(|(name, _)| *name).collect()
    }

    /// The files by name, the page first, for whoever writes them together with others.
    ///
    /// # Errors
    ///
    /// Where the fields do not fit together.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>> {
        self.check()?;
        let mut files = vec![("report.html".into(), self.html().into_bytes())];
        files.extend(self.graph().files("graph")?);
        files.extend(self.loss_by_distance().files("loss-by-distance")?);
        files.extend(self.error_by_step().files("error-by-step")?);
        files.push(("losses.csv".into(), self.csv().into_bytes()));
        files.push(("report.json".into(), self.json()?));
        Ok(files)
    }

    /// A peer in a table: its name, quoted where that is needed, or its number.
    fn cell_name(&self, peer: usize) -> String {
        match self.labels.as_ref().map(|labels| &labels[peer]) {
            Some(name) if name.contains([',', '"', '\n', '\r']) => {
                format!("\"{}\"", name.replace('"', "\"\""))
            }
            Some(name) => name.clone(),
            None => peer.to_string(),
        }
    }

    /// Losses at the run's own cell, one line for each observer and peer.
    fn csv(&self) -> String {
        let mut out = String::from("observer,peer,distance,loss\n");
        for (observer, losses) in self.chosen_cell().losses.iter().enumerate() {
            for (peer, loss) in losses.iter().enumerate().filter(|(peer, _)| *peer != observer) {
                let distance = self.distances[observer][peer];
                let distance = if distance == NO_PATH { String::new() } else { distance.to_string() };
                let (from, to) = (self.cell_name(observer), self.cell_name(peer));
                out += &format!("{from},{to},{distance},{}\n", honest(*loss) as f32);
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
            if i == chosen { cell.clone() } else { Cell { losses: Vec::new(), ..cell.clone() } }
        };
        let cells: Vec<Cell> = self.cells.iter().enumerate().map(slim).collect();
        let mut value = serde_json::to_value(Self { cells: Vec::new(), ..self.clone() })?;
        value["cells"] = serde_json::to_value(cells)?;
        Ok(serde_json::to_vec(&value)?)
    }
}

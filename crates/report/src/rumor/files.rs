//! The files of a rumour's report.

use std::path::{Path, PathBuf};

use super::RumorReport;
use crate::error::Result;
use crate::store;

const NAMES: [&str; 11] = [
    "report.html",
    "spread.svg",
    "spread.png",
    "course.svg",
    "course.png",
    "privacy-and-speed.svg",
    "privacy-and-speed.png",
    "attack.svg",
    "attack.png",
    "course.csv",
    "report.json",
];

impl RumorReport {
    /// Writes the page, its pictures and its data into a folder, which is made if it is not there. Returns the files:
    /// `report.html`, `spread`, `course`, `privacy-and-speed` and `attack` as `.svg` and `.png`, `course.csv` and
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
    ///
    /// # Errors
    ///
    /// Where a file of that name is there and `overwrite` is false.
    pub fn free(dir: &Path, overwrite: bool) -> Result<()> {
        store::check(dir, &NAMES, overwrite)
    }

    /// The contents of the files, in the order of their names.
    fn contents(&self) -> Result<Vec<Vec<u8>>> {
        let mut contents = vec![self.html().into_bytes()];
        for picture in [self.spread(), self.course_chart(), self.trade_chart(), self.attack_chart()] {
            contents.extend(store::both(&picture)?);
        }
        contents.push(self.csv().into_bytes());
        contents.push(serde_json::to_vec(self)?);
        Ok(contents)
    }

    /// The course, one line for each round.
    fn csv(&self) -> String {
        let mut out = String::from("round,informed,active,predicted_share_informed,predicted_share_active\n");
        for moment in &self.course {
            let predicted = usize::try_from(moment.round).ok().and_then(|round| self.predicted.get(round));
            let (informed, active) =
                predicted.map_or_else(Default::default, |(i, a)| (i.to_string(), a.to_string()));
            out += &format!("{},{},{},{informed},{active}\n", moment.round, moment.informed, moment.active);
        }
        out
    }
}

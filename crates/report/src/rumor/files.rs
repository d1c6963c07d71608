//! The files of a rumour's report.

use super::RumorReport;
use crate::error::Result;

/// Names of the files, and what they hold, the page itself first.
pub(super) const FILES: [(&str, &str); 11] = [
    ("report.html", "this page"),
    ("spread.svg", "the course at a glance"),
    ("spread.png", "the same as a bitmap"),
    ("course.svg", "shares of peers by round"),
    ("course.png", "the same as a bitmap"),
    ("privacy-and-speed.svg", "delta against spreading time"),
    ("privacy-and-speed.png", "the same as a bitmap"),
    ("attack.svg", "how often the source is found"),
    ("attack.png", "the same as a bitmap"),
    ("course.csv", "every round, measured and predicted"),
    ("report.json", "everything that this page shows"),
];

impl RumorReport {
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
        files.extend(self.spread().files("spread")?);
        files.extend(self.course_chart().files("course")?);
        if !self.trade.is_empty() {
            files.extend(self.trade_chart().files("privacy-and-speed")?);
        }
        if !self.suspicions.is_empty() {
            files.extend(self.attack_chart().files("attack")?);
        }
        files.push(("course.csv".into(), self.csv().into_bytes()));
        files.push(("report.json".into(), serde_json::to_vec(self)?));
        Ok(files)
    }

    /// Whether there is something to be seen in a file.
    pub(super) fn has(&self, name: &str) -> bool {
        !(self.trade.is_empty() && name.starts_with("privacy-and-speed")
            || self.suspicions.is_empty() && name.starts_with("attack"))
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

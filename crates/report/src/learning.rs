//! The report of a learning run: what is promised, what came of it beside a run without noise, who took part, and how it was set up.
//!
//! It knows no model and no method: measures, settings and curves come as names with values, so that a new measure is one more line.

use serde::Serialize;

use crate::blocks::{Beside, Frame, GuaranteeLine};
use crate::chart::{Chart, Curve, Series};
use crate::error::{Error, Result};
use crate::frame::Axis;
use crate::provenance::Provenance;
use crate::scene::Picture;
use crate::shell;

/// Everything the report of a learning run shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct LearningReport {
    /// The title.
    pub title: String,
    /// What came of it, in a sentence.
    pub headline: String,
    /// What was measured: accuracy, or R² and RMSE; of this run, without noise, without looking at features.
    pub measures: Vec<(String, String)>,
    /// How it was set up.
    pub configuration: Vec<(String, String)>,
    /// The peers by name, and how many rows each of them holds.
    pub peers: Vec<(String, usize)>,
    /// Curves by step; the first is the one to look at.
    pub charts: Vec<LearningChart>,
    /// Said above the curves.
    pub caution: String,
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

/// Curves over the steps of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct LearningChart {
    /// The name of its files, without ending: letters, digits and hyphens.
    pub stem: String,
    /// What it shows.
    pub title: String,
    /// What is measured, with the unit.
    pub axis: String,
    /// What there is to see.
    pub caption: String,
    /// Whether its values are privacy losses, which are rounded up.
    pub losses: bool,
    /// The curves: this run, the same without noise, a level to hold them against.
    pub series: Vec<Series>,
}

impl LearningChart {
    fn picture(&self) -> Picture {
        let axis = Axis { losses: self.losses, ..Axis::linear(&self.axis) };
        let curves = self.series.iter().cloned().map(Curve::line).collect();
        Chart::new(&self.title, Axis::whole("step"), axis, curves).picture()
    }
}

/// Peers listed without being folded.
const FEW: usize = 12;

impl LearningReport {
    /// Names of its files, besides those of the charts.
    pub fn file_names() -> Vec<&'static str> {
        vec!["report.html", "curves.csv"]
    }

    /// The files by name, the page first, for whoever writes them together with others.
    ///
    /// # Errors
    ///
    /// Where two charts have one name.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>> {
        self.check()?;
        let mut files = vec![("report.html".to_owned(), self.html().into_bytes())];
        for chart in &self.charts {
            files.extend(chart.picture().files(&chart.stem)?);
        }
        files.push(("curves.csv".into(), self.csv().into_bytes()));
        Ok(files)
    }

    /// Whether every chart has a name of its own that can be a file's.
    ///
    /// # Errors
    ///
    /// Names the chart that has none.
    pub fn check(&self) -> Result<()> {
        let plain = |stem: &str| {
            !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let stems: Vec<&str> = self.charts.iter().map(|chart| chart.stem.as_str()).collect();
        let bad = stems.iter().enumerate().find(|(i, stem)| !plain(stem) || stems[..*i].contains(stem));
        match bad {
            Some((_, stem)) => Err(Error::Inconsistent {
                field: "charts",
                problem: format!(
                    "has {stem:?}: give each chart a name of its own, of letters, digits and hyphens"
                ),
            }),
            None => Ok(()),
        }
    }

    /// The page as one HTML file that needs no other and loads nothing.
    pub fn html(&self) -> String {
        let names: Vec<(String, &str)> = self.names();
        let further = self.beside.iter().map(|(name, what)| (name.as_str(), what.as_str()));
        let files: Vec<Beside<'_>> =
            names.iter().map(|(name, what)| (name.as_str(), *what)).chain(further).collect();
        let frame = Frame {
            title: &self.title,
            headline: &self.headline,
            summary: &[],
            guarantees: &self.guarantees,
            notes: &self.notes,
            files: &files,
            provenance: &self.provenance,
        };
        let sections = || {
            let promises = if self.guarantees.is_empty() { NOTHING.to_owned() } else { String::new() };
            let measured = facts("measures", "What came of it", &self.measures);
            promises
                + &measured
                + &self.curves()
                + &self.peers()
                + &facts("setup", "How it was set up", &self.configuration)
        };
        frame.page(self.check(), String::new, sections, String::new)
    }

    fn names(&self) -> Vec<(String, &str)> {
        let data = [("curves.csv".to_owned(), "every curve, step by step")];
        let pictures = self.charts.iter().flat_map(|chart| {
            [
                (format!("{}.svg", chart.stem), chart.title.as_str()),
                (format!("{}.png", chart.stem), "the same as a bitmap"),
            ]
        });
        data.into_iter().chain(pictures).collect()
    }

    fn curves(&self) -> String {
        if self.charts.is_empty() {
            return String::new();
        }
        let figure =
            |chart: &LearningChart| shell::figure(&chart.picture().embedded(&chart.stem), &chart.caption);
        let figures: String = self.charts.iter().map(figure).collect();
        let caution = shell::paragraphs(std::slice::from_ref(&self.caution));
        format!(
            "<section id=\"curves\">\n<h2>Learning curve</h2>\n{caution}<div class=\"pair\">\n{figures}</div>\n</section>\n"
        )
    }

    /// How many rows the peers hold; the list of all of them is folded where it is long.
    fn peers(&self) -> String {
        let mut rows: Vec<usize> = self.peers.iter().map(|(_, rows)| *rows).collect();
        rows.sort_unstable();
        let (Some(least), Some(most)) = (rows.first(), rows.last()) else { return String::new() };
        let median = rows[rows.len() / 2];
        let (count, all) = (rows.len(), rows.iter().sum::<usize>());
        let open = if count <= FEW { " open" } else { "" };
        let list: Vec<Vec<String>> =
            self.peers.iter().map(|(name, rows)| vec![name.clone(), rows.to_string()]).collect();
        format!(
            "<section id=\"peers\">\n<h2>Who took part</h2>\n<p>{count} peers with {all} rows: at least {least}, {median} in the \
             middle, at most {most} each. How many rows a peer holds is public.</p>\n\
             <details{open}><summary>Rows of each peer</summary>\n{}</details>\n</section>\n",
            shell::table("rows", &["Peer", "Rows"], &list)
        )
    }

    /// One line for each point of each curve.
    fn csv(&self) -> String {
        let mut out = String::from("chart,curve,step,value\n");
        for chart in &self.charts {
            for series in &chart.series {
                let name = series.name.replace('"', "\"\"");
                for (step, value) in &series.points {
                    out += &format!("{},\"{name}\",{step},{value}\n", chart.stem);
                }
            }
        }
        out
    }
}

const NOTHING: &str = "<section id=\"guarantees\">\n<h2>What is guaranteed</h2>\n<p class=\"verdict bad\">Nothing: there was no noise.</p>\n</section>\n";

fn facts(id: &str, title: &str, facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> =
        facts.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect();
    format!(
        "<section id=\"{id}\">\n<h2>{title}</h2>\n{}</section>\n",
        shell::table("", &["", "Value"], &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store;

    fn report(peers: usize) -> LearningReport {
        let series =
            |name: &str| Series { name: name.into(), points: vec![(0.0, 0.5), (9.0, 0.75)], band: None };
        let chart = |stem: &str| LearningChart {
            stem: stem.into(),
            title: "Accuracy <b>".into(),
            axis: "share".into(),
            series: vec![series("this run"), series("without noise")],
            ..LearningChart::default()
        };
        LearningReport {
            title: "<Houses>".into(),
            headline: "Right in 3 of 4 & more".into(),
            measures: vec![("R²".into(), "0.81".into()), ("RMSE".into(), "0.2".into())],
            configuration: vec![("method".into(), "<walk>".into())],
            peers: (0..peers).map(|i| (format!("peer <{i}>"), 3 + i)).collect(),
            charts: vec![chart("learning"), chart("objective")],
            ..LearningReport::default()
        }
    }

    #[test]
    fn everything_is_shown_and_nothing_is_markup() {
        let page = report(5).html();
        for shown in [
            "&lt;Houses&gt;",
            "3 of 4 &amp; more",
            "R²",
            "RMSE",
            "&lt;walk&gt;",
            "5 peers with 25 rows: at least 3, 5 in the middle, at most 7 each",
            "data-name=\"without noise\"",
            "Nothing: there was no noise",
            "href=\"curves.csv\"",
            "<details open>",
        ] {
            assert!(page.contains(shown), "{shown}");
        }
        assert!(!page.contains("<b>") && !page.contains("peer <0"));
        assert!(report(100).html().contains("<details><summary>"));
        crate::structure::sound(&page);
        assert_eq!(page, report(5).html());
    }

    #[test]
    fn files_are_those_that_the_page_links_to() {
        let folder = tempfile::tempdir().unwrap();
        let report = report(3);
        store::write(folder.path(), &report.files().unwrap(), false).unwrap();
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name == "report.html" || page.contains(&format!("href=\"{name}\"")), "{name}");
        }
        let csv = std::fs::read_to_string(folder.path().join("curves.csv")).unwrap();
        assert_eq!(csv.lines().nth(1), Some("learning,\"this run\",0,0.5"));
        assert_eq!(csv.lines().count(), 1 + 2 * 2 * 2);
    }

    #[test]
    fn charts_need_names_of_their_own() {
        let mut twice = report(1);
        twice.charts[1].stem = "learning".into();
        assert!(twice.check().unwrap_err().to_string().contains("charts"));
        twice.charts[1].stem = "../x".into();
        assert!(twice.html().contains("cannot be shown"));
    }
}

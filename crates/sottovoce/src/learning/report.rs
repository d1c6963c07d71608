//! The page of a learning run: its promises and where they end, its curve, and which of its numbers no noise protects.

use sottovoce_report::{Axis, Chart, Curve, Figure, Page, Section, Series, Table};

use super::run::Point;
use super::{Measures, Trivial};
use crate::Result;
use crate::SIMULATED;

/// What the star behind a fact means.
pub const STARRED: &str =
    "* computed from the rows without privacy: whoever publishes it reveals more than is promised.";

/// The same of curves.
const CURVES: &str = "Accuracy or R² and training loss are computed from the rows without privacy: whoever publishes these curves reveals more than is \
                      promised.";

/// Pixels for each unit of a picture.
const ZOOM: f64 = 2.0;

/// What a page shows.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The title.
    pub title: &'a str,
    /// Labels and values; a star marks those that are computed without privacy.
    pub facts: &'a [(String, String)],
    /// Guarantees in words.
    pub statements: &'a [String],
    /// What they do not speak of.
    pub not_covered: &'a [String],
    /// The learning curve.
    pub curve: &'a [Point],
    /// What it is to be held against.
    pub trivial: Trivial,
}

impl Shown<'_> {
    /// The page, and its chart as a vector file and as a bitmap.
    pub fn files(&self) -> Result<[Vec<u8>; 3]> {
        let intro = if self.statements.is_empty() { Vec::new() } else { vec![SIMULATED.to_owned()] };
        let mut sections = vec![self.promised(), self.run(), self.curves()];
        if !self.statements.is_empty() {
            let (title, list) = ("Not covered".into(), self.not_covered.to_vec());
            sections.push(Section { title, list, ..Section::default() });
        }
        let page = Page { title: self.title.to_owned(), intro, sections };
        let picture = self.measured().picture();
        Ok([page.html().into_bytes(), picture.svg().into_bytes(), picture.png(ZOOM)?])
    }

    fn promised(&self) -> Section {
        let nothing = self.statements.is_empty().then(|| "Nothing: there was no noise.".to_owned());
        Section {
            title: "What is promised".into(),
            text: nothing.into_iter().collect(),
            list: self.statements.to_vec(),
            ..Section::default()
        }
    }

    fn run(&self) -> Section {
        let rows = self.facts.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect();
        Section {
            title: "The run".into(),
            text: vec![STARRED.to_owned()],
            table: Some(Table { columns: vec!["".into(), "".into()], rows }),
            ..Section::default()
        }
    }

    fn curves(&self) -> Section {
        let figure = |chart: Chart, id: &str, caption: &str| Figure {
            svg: chart.picture().embedded(id),
            caption: caption.to_owned(),
        };
        let right = match self.trivial.measures {
            Measures::Classes { .. } => {
                "How often the model is right on rows that nobody trained on, and how often one is that looks at no feature."
            }
            Measures::Numbers { .. } => {
                "How much the model explains of the labels of rows that nobody trained on, and how much one does that looks at no feature."
            }
        };
        let spent = "What the peer that lost most has lost to someone who sees every message.";
        let objective = self.chart(
            "Training loss (without privacy)",
            "mean loss on the training rows",
            |point| point.objective,
            Some(self.trivial.objective),
        );
        let budget =
            self.chart("Budget", "squared Gaussian loss to a wire-tapper", |point| point.spent, None);
        Section {
            title: "Learning curve".into(),
            text: vec![CURVES.to_owned()],
            figures: vec![
                figure(self.measured(), "accuracy", right),
                figure(objective, "objective", "What training lowers."),
                figure(budget, "spent", spent),
            ],
            ..Section::default()
        }
    }

    /// The curve of accuracies, or of what numbers explain.
    fn measured(&self) -> Chart {
        let (title, axis) = match self.trivial.measures {
            Measures::Classes { .. } => ("Accuracy (without privacy)", "share of test rows classified right"),
            Measures::Numbers { .. } => {
                ("R² (without privacy)", "share of the variance of test labels that is explained")
            }
        };
        let level = *self.trivial.measures.first();
        self.chart(title, axis, |point| *point.measures.first(), Some(level))
    }

    /// A curve, and a level to hold it against.
    fn chart(&self, title: &str, axis: &str, value: impl Fn(&Point) -> f64, level: Option<f64>) -> Chart {
        let line = |name: &str, points: Vec<(f64, f64)>| {
            Curve::line(Series { name: name.to_owned(), points, band: None })
        };
        let step = |point: &Point| point.step as f64;
        let points = self.curve.iter().map(|point| (step(point), value(point))).collect();
        let mut curves = vec![line(&title.to_lowercase(), points)];
        if let (Some(level), [first, .., last]) = (level, self.curve) {
            curves.push(line("without looking at features", vec![(step(first), level), (step(last), level)]));
        }
        Chart::new(title, Axis::whole("step"), Axis::linear(axis), curves)
    }
}

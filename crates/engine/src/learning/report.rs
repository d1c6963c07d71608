//! The page of a learning run: what is promised, the curve beside one without noise, and which of its numbers no noise protects.

use sottovoce_privacy::{Gdp, Guarantee, round_up};
use sottovoce_report::{GuaranteeLine, LearningChart, LearningReport, Provenance, Series};

use super::run::Point;
use super::{Learned, Measures};
use crate::names::Names;
use crate::{Result, SIMULATED};

/// What the star behind a fact means.
pub const STARRED: &str =
    "* computed from the rows without privacy: whoever publishes it reveals more than is promised.";

/// The same of curves.
const CURVES: &str = "Accuracy or R² and training loss are computed from the rows without privacy: whoever publishes these curves reveals more than is \
                      promised.";

impl Learned {
    /// Its page, made by this program with this command.
    pub fn report(&self, made: Provenance) -> Result<LearningReport> {
        let (measures, configuration) = self.facts().into_iter().partition(|(label, _)| label.ends_with('*'));
        let simulated = (!self.lines.is_empty()).then_some(SIMULATED);
        Ok(LearningReport {
            title: self.title(),
            headline: format!("{}.", self.headline()),
            measures,
            configuration,
            peers: self.rows.iter().enumerate().map(|(peer, rows)| (self.name(peer), *rows)).collect(),
            charts: self.charts()?,
            caution: CURVES.into(),
            guarantees: self.lines.clone(),
            notes: simulated.into_iter().chain([STARRED]).map(str::to_owned).collect(),
            beside: Vec::new(),
            provenance: Provenance {
                seed: Some(self.seed),
                graph_hash: made.graph_hash.or_else(|| self.graph_hash.clone()),
                ..made
            },
        })
    }

    fn name(&self, peer: usize) -> String {
        if self.names.are_numbers() { format!("peer {peer}") } else { self.names.of(peer) }
    }

    /// What a squared Gaussian loss is as an epsilon.
    pub(super) fn epsilon(&self, spent: f64) -> Result<f64> {
        Ok(Gdp::of_square(spent)?.epsilon(self.delta)?.upper)
    }

    fn charts(&self) -> Result<Vec<LearningChart>> {
        let mut charts = vec![
            self.worth(),
            LearningChart {
                caption: "What training lowers.".into(),
                series: self.beside(|point| point.objective, self.trivial.objective),
                ..chart("objective", "Training loss (without privacy)", "mean loss on the training rows")
            },
        ];
        if !self.lines.is_empty() {
            let points = self.curve.iter().map(|point| Ok((point.step as f64, self.epsilon(point.spent)?)));
            charts.push(LearningChart {
                caption: "What the peer that lost most has lost to someone who sees every message.".into(),
                losses: true,
                series: vec![named("spent so far", points.collect::<Result<_>>()?)],
                ..chart("budget", "Budget", &format!("epsilon at delta = {:e}", self.delta))
            });
        }
        Ok(charts)
    }

    /// What the model is worth: its accuracy, or R² where numbers are learned.
    fn worth(&self) -> LearningChart {
        let [title, axis, caption] = match self.this_run {
            Measures::Classes { .. } => [
                "Accuracy (without privacy)",
                "share of test rows classified right",
                "How often the model is right on rows that nobody trained on, and how often one is that looks at no feature.",
            ],
            Measures::Numbers { .. } => [
                "R² (without privacy)",
                "share of the labels' variance that is explained",
                "How much of the labels of rows that nobody trained on is explained; 0 is what their mean explains.",
            ],
        };
        LearningChart {
            caption: caption.into(),
            series: self.beside(|point| *point.measures.first(), *self.trivial.measures.first()),
            ..chart("learning", title, axis)
        }
    }

    /// This run, the same without noise, and a level to hold both against.
    fn beside(&self, value: impl Fn(&Point) -> f64, level: f64) -> Vec<Series> {
        let points = |curve: &[Point]| curve.iter().map(|point| (point.step as f64, value(point))).collect();
        let last =
            self.curve.iter().chain(&self.curve_without_noise).map(|point| point.step).max().unwrap_or(0);
        vec![
            named("this run", points(&self.curve)),
            named("without noise", points(&self.curve_without_noise)),
            named("without looking at features", vec![(0.0, level), (last as f64, level)]),
        ]
    }
}

fn chart(stem: &str, title: &str, axis: &str) -> LearningChart {
    LearningChart { stem: stem.into(), title: title.into(), axis: axis.into(), ..LearningChart::default() }
}

fn named(name: &str, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, band: None }
}

/// A guarantee for a page.
pub(super) fn line(guarantee: &Guarantee, delta: f64, names: &Names) -> Result<GuaranteeLine> {
    let epsilon = round_up(guarantee.epsilon(delta)?.upper);
    Ok(GuaranteeLine {
        statement: "What can be learned of all rows of one user, from the whole run".into(),
        adversary: names.adversary(&guarantee.adversary),
        unit: guarantee.unit.to_string(),
        adjacency: guarantee.adjacency.to_string(),
        loss: format!("epsilon <= {epsilon} at delta = {delta:e}"),
        risk: guarantee.loss.risk()?.to_string(),
        standing: guarantee.standing.to_string(),
        not_covered: guarantee.not_covered.clone(),
    })
}

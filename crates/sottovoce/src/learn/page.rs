//! The page of a learning run: what is promised, the curve beside one without noise, and which of its numbers no noise protects.

use sottovoce_report::{Axis, Chart, Curve, Section, Series, Table};

use crate::Result;
use crate::learning::run::Point;
use crate::learning::{Learned, Measures, STARRED};
use crate::spine::{Drawn, RunPage};

/// Names of its files.
pub(super) const FILES: [&str; 8] = [
    "report.html",
    "curves.csv",
    "learning.svg",
    "learning.png",
    "objective.svg",
    "objective.png",
    "budget.svg",
    "budget.png",
];
/// The section with the pictures.
const CURVES: &str = "Learning curve";
/// What stands above the curves.
const CAUTION: &str = "Accuracy or R² and training loss are computed from the rows without privacy: whoever publishes these curves reveals more than is \
                       promised.";

/// The page of a run.
pub(super) fn page(found: &Learned) -> Result<RunPage> {
    let (measures, setup): (Vec<_>, Vec<_>) =
        found.facts().into_iter().partition(|(label, _)| label.ends_with('*'));
    let section = |title: &str| Section { title: title.into(), ..Section::default() };
    let charts = charts(found)?;
    let csv = csv(&charts);
    let draw =
        |(name, chart, caption): (&'static str, Chart, &str)| (name, chart.picture(), caption.to_owned());
    let pictures: Vec<Drawn> = charts.into_iter().map(draw).collect();
    Ok(RunPage {
        title: found.title(),
        headline: format!("{}.", found.headline()),
        guarantees: found.guarantees.clone(),
        nothing: "Nothing: there was no noise.",
        sections: vec![
            Section { tables: vec![Table::of_facts(&measures)], ..section("What came of it") },
            Section { text: vec![CAUTION.into()], ..section(CURVES) },
            peers(found),
        ],
        pictures: (CURVES, pictures),
        setup,
        notes: vec![STARRED.into()],
        data: vec![("curves.csv", "every curve, step by step", csv.into_bytes())],
        graph_hash: found.graph_hash.clone(),
    })
}

/// How many rows the peers hold.
fn peers(found: &Learned) -> Section {
    let mut rows = found.rows.clone();
    rows.sort_unstable();
    let (count, all) = (rows.len(), rows.iter().sum::<usize>());
    let [least, median, most] = [0, count / 2, count.saturating_sub(1)].map(|at| rows.get(at).unwrap_or(&0));
    let row = |(peer, rows): (usize, &usize)| vec![found.names.of(peer), rows.to_string()];
    let list = found.rows.iter().enumerate().map(row).collect();
    Section {
        title: "Who took part".into(),
        text: vec![format!(
            "{count} peers with {all} rows: at least {least}, {median} in the middle, at most {most} each. How many rows a peer holds is public."
        )],
        tables: vec![Table { folded: "Rows of each peer".into(), ..Table::new(&["Peer", "Rows"], list) }],
        ..Section::default()
    }
}

/// What the charts show, by the names of their files.
fn charts(found: &Learned) -> Result<Vec<(&'static str, Chart, &'static str)>> {
    let [title, axis, caption] = match found.this_run {
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
    let worth = beside(found, |point| *point.measures.first(), *found.trivial.measures.first());
    let objective = beside(found, |point| point.objective, found.trivial.objective);
    let chart = |title: &str, axis, series: Vec<Series>| {
        Chart::new(title, Axis::whole("step"), axis, series.into_iter().map(Curve::line).collect())
    };
    let mut charts = vec![
        ("learning", chart(title, Axis::linear(axis), worth), caption),
        (
            "objective",
            chart(
                "Training loss (without privacy)",
                Axis::linear("mean loss on the training rows"),
                objective,
            ),
            "What training lowers.",
        ),
    ];
    if !found.guarantees.is_empty() {
        let points = found.curve.iter().map(|point| Ok((point.step as f64, found.epsilon(point.spent)?)));
        let spent = named("spent so far", points.collect::<Result<_>>()?);
        let axis = Axis::linear(format!("epsilon at delta = {:e}", found.delta)).losses();
        let caption = "What the peer that lost most has lost to someone who sees every message.";
        charts.push(("budget", chart("Budget", axis, vec![spent]), caption));
    }
    Ok(charts)
}

/// This run, the same without noise, and a level to hold both against.
fn beside(found: &Learned, value: impl Fn(&Point) -> f64, level: f64) -> Vec<Series> {
    let points = |curve: &[Point]| curve.iter().map(|point| (point.step as f64, value(point))).collect();
    let all = found.curve.iter().chain(&found.curve_without_noise);
    let last = all.map(|point| point.step).max().unwrap_or(0);
    vec![
        named("this run", points(&found.curve)),
        named("without noise", points(&found.curve_without_noise)),
        named("without looking at features", vec![(0.0, level), (last as f64, level)]),
    ]
}

fn named(name: &str, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, band: None }
}

/// One line for each point of each curve.
fn csv(charts: &[(&'static str, Chart, &str)]) -> String {
    let mut out = String::from("chart,curve,step,value\n");
    for (stem, chart, _) in charts {
        for curve in &chart.curves {
            for (step, value) in &curve.series.points {
                out += &format!("{stem},\"{}\",{step},{value}\n", curve.series.name);
            }
        }
    }
    out
}

//! The page of a learning run: its curve, its promises.

use sottovoce_report::{Axis, Chart, Curve, Figure, Page, Section, Series, Table};

use super::run::Point;

/// Pixels for each unit of a picture.
const ZOOM: f64 = 2.0;

/// The page, and its chart as a vector file and as a bitmap.
pub fn files(
    title: &str,
    facts: &[(String, String)],
    statements: &[String],
    curve: &[Point],
) -> anyhow::Result<[Vec<u8>; 3]> {
    let accuracy = chart("Accuracy", "share of test rows classified right", curve, |point| point.accuracy);
    let objective = chart("Training loss", "mean loss on the training rows", curve, |point| point.objective);
    let spent = chart("Budget", "squared Gaussian loss to a wire-tapper", curve, |point| point.spent);
    let figure = |chart: &Chart, id: &str, caption: &str| Figure {
        svg: chart.picture().embedded(id),
        caption: caption.to_owned(),
    };
    let rows = facts.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect();
    let page = Page {
        title: title.to_owned(),
        intro: statements.to_vec(),
        sections: vec![
            Section {
                title: "The run".into(),
                table: Some(Table { columns: vec!["".into(), "".into()], rows }),
                ..Section::default()
            },
            Section {
                title: "Learning curve".into(),
                figures: vec![
                    figure(
                        &accuracy,
                        "accuracy",
                        "How often the model is right on rows that nobody trained on.",
                    ),
                    figure(&objective, "objective", "What training lowers."),
                    figure(
                        &spent,
                        "spent",
                        "What the peer that lost most has lost to someone who sees every message.",
                    ),
                ],
                ..Section::default()
            },
        ],
    };
    let picture = accuracy.picture();
    Ok([page.html().into_bytes(), picture.svg().into_bytes(), picture.png(ZOOM)?])
}

fn chart(title: &str, axis: &str, curve: &[Point], value: impl Fn(&Point) -> f64) -> Chart {
    let points = curve.iter().map(|point| (point.step as f64, value(point))).collect();
    let series = Series { name: title.to_lowercase(), points, band: None };
    Chart::new(title, Axis::whole("step"), Axis::linear(axis), vec![Curve::line(series)])
}

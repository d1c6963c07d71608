//! The page of a learning run: its curve, its promises.

use sottovoce_report::{Axis, Chart, Curve, Figure, Page, Section, Series, Table};

use super::run::Point;

/// What the star behind a fact means.
pub const STARRED: &str =
    "* computed from the rows without privacy: whoever publishes it reveals more than is promised.";

/// Pixels for each unit of a picture.
const ZOOM: f64 = 2.0;

/// The page, and its chart as a vector file and as a bitmap.
pub fn files(
    title: &str,
    facts: &[(String, String)],
    statements: &[String],
    not_covered: &[String],
    curve: &[Point],
) -> anyhow::Result<[Vec<u8>; 3]> {
    let accuracy =
        chart("Accuracy (without privacy)", "share of test rows classified right", curve, |point| {
            point.accuracy
        });
    let objective =
        chart("Training loss (without privacy)", "mean loss on the training rows", curve, |point| {
            point.objective
        });
    let spent = chart("Budget", "squared Gaussian loss to a wire-tapper", curve, |point| point.spent);
    let figure = |chart: &Chart, id: &str, caption: &str| Figure {
        svg: chart.picture().embedded(id),
        caption: caption.to_owned(),
    };
    let rows = facts.iter().map(|(label, value)| vec![label.clone(), value.clone()]).collect();
    let mut page = Page {
        title: title.to_owned(),
        intro: if statements.is_empty() { Vec::new() } else { vec![crate::SIMULATED.to_owned()] },
        sections: vec![
            promised(statements),
            Section {
                title: "The run".into(),
                text: vec![STARRED.to_owned()],
                table: Some(Table { columns: vec!["".into(), "".into()], rows }),
                ..Section::default()
            },
            Section {
                title: "Learning curve".into(),
                text: vec![
                    "Accuracy and training loss are computed from the rows without privacy: these curves are not for publication."
                        .to_owned(),
                ],
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
    if !statements.is_empty() {
        let (title, list) = ("Not covered".into(), not_covered.to_vec());
        page.sections.push(Section { title, list, ..Section::default() });
    }
    let picture = accuracy.picture();
    Ok([page.html().into_bytes(), picture.svg().into_bytes(), picture.png(ZOOM)?])
}

fn promised(statements: &[String]) -> Section {
    let nothing = statements.is_empty().then(|| "Nothing: there was no noise.".to_owned());
    Section {
        title: "What is promised".into(),
        text: nothing.into_iter().collect(),
        list: statements.to_vec(),
        ..Section::default()
    }
}

fn chart(title: &str, axis: &str, curve: &[Point], value: impl Fn(&Point) -> f64) -> Chart {
    let points = curve.iter().map(|point| (point.step as f64, value(point))).collect();
    let series = Series { name: title.to_lowercase(), points, band: None };
    Chart::new(title, Axis::whole("step"), Axis::linear(axis), vec![Curve::line(series)])
}

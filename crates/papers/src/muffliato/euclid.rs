//! Figure 4: loss against the distance in the plane on a random geometric graph.

use sottovoce_report::{Axis, Chart, Curve, Series, text};
use sottovoce_topology::family::{Family, generate};

use super::draw::{local, losses};
use super::study::{HEADER, Study, Symmetry};
use super::words::{exactly, repair};
use crate::registry::Desk;
use crate::statistics::rank_correlation;
use crate::{Item, Result, Verdict};

/// A rank correlation beyond this counts as “extremely well correlated”.
const EXTREMELY: f64 = 0.9;

pub(super) fn geometric(mut item: Item, desk: &Desk) -> Result<Item> {
    let options = desk.options;
    let n = if options.quick { 150 } else { 2000 };
    let radius = 0.08 * (2000.0 / n as f64).sqrt();
    let graph = generate(&Family::Geometric { n, radius }, options.seed, true)?;
    let study = Study::new("geometric", graph, 0, Symmetry::None)?;
    let far = distances(&study);
    item.say(format!(
        "{n} peers at random in the unit square, joined below {}; {} steps. A dot for each peer.",
        text::short(radius, 3),
        study.steps
    ));
    let published = scatter("Printed loss", &[("as printed", &study.published)], &far, &study);
    item.picture("published", &published, "Theorem 1 as printed.".into())?;
    let mut truth: Vec<(&str, &[f64])> = vec![("exact", &study.exact.losses)];
    if let Some(relay) = &study.relay {
        truth.push(("exact, with relay noise", &relay.losses));
    }
    let exact = scatter("Exact loss", &truth, &far, &study);
    item.picture("exact", &exact, "Exact, without and with relay noise.".into())?;
    item.say(repair(&[&study]));
    let place = |u: usize| far[u].to_string();
    let lines = study.lines().into_iter().zip(study.others()).map(|(line, u)| format!("{line},{}", place(u)));
    item.csv(&format!("{HEADER},euclidean_distance"), lines);
    Ok(judge(item, &study, &far))
}

/// From the peer to everyone, in the plane.
fn distances(study: &Study) -> Vec<f64> {
    let places = study.graph.coordinates().unwrap_or_default();
    places.iter().map(|p| (p[0] - places[study.peer][0]).hypot(p[1] - places[study.peer][1])).collect()
}

fn scatter(title: &str, all: &[(&str, &[f64])], far: &[f64], study: &Study) -> sottovoce_report::Picture {
    let dots = |(name, values): &(&str, &[f64])| {
        let points = study.others().map(|u| (far[u], values[u])).collect();
        Curve::points(Series { name: (*name).into(), points, band: None })
    };
    let mut curves: Vec<Curve> = all.iter().map(dots).collect();
    curves.push(local(0.0, far.iter().copied().fold(0.0, f64::max)));
    Chart::new(title, Axis::linear("Euclidean distance"), losses(), curves).picture()
}

fn judge(mut item: Item, study: &Study, far: &[f64]) -> Item {
    let pick = |values: &[f64]| study.others().map(|u| values[u]).collect::<Vec<f64>>();
    let along = |losses: &[f64]| rank_correlation(&pick(far), &pick(losses));
    let (printed, exact) = (along(&study.published), along(&study.exact.losses));
    item.number("peers", study.graph.nodes() as f64);
    item.number("steps", study.steps as f64);
    item.number("rank correlation, printed", printed);
    item.number("rank correlation, exact", exact);
    item.number("exact mean", study.exact.mean());
    item.number("certified", f64::from(u8::from(study.exact.certified)));
    item.number("share understated", study.understated().share);
    item.judge(Verdict {
        reproduced: printed < -EXTREMELY,
        holds: exact < -EXTREMELY && study.sound(),
        claim: "the loss is extremely well correlated with the Euclidean distance".into(),
        criterion: format!(
            "reproduced if the rank correlation of loss and distance is below −{EXTREMELY}; holds if that of the exact \
             loss is, too, and nobody loses more than printed"
        ),
        ours: format!("rank correlation {}", text::digits(printed, 3)),
        exact: format!(
            "rank correlation {}, mean loss {}; {}",
            text::digits(exact, 3),
            super::words::loss(study.exact.mean()),
            exactly(&[study])
        ),
    })
}

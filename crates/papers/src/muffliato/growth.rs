//! Figure 3: hypercubes of growing size. On them the exact loss has a closed form, which the accountant must meet.
//!
//! The neighbours of the observer and their images under mixing span, at each distance `d` of `m` dimensions, the functions
//! that permuting coordinates moves as it moves one coordinate: dimension `m`, spread evenly over the `C(m, d)` peers there. So
//! once the space is full the loss is `min(1, m / C(m, d))`: it falls, and rises again to 1 at the opposite corner.

use sottovoce_report::text;
use sottovoce_topology::family::{Family, generate};

use super::draw::{by_distance, distance_chart};
use super::study::{HEADER, Study, Symmetry};
use super::words::{loss, percent, test, worst};
use crate::registry::Desk;
use crate::statistics::rank_correlation;
use crate::{Item, Result, Verdict};

pub(super) fn hypercubes(mut item: Item, desk: &Desk) -> Result<Item> {
    let (options, watch) = (desk.options, desk.watch);
    let dimensions = if options.quick { 4..=7 } else { 4..=12 };
    let study = |dimension: u32| {
        (watch.doing)(&format!("3: 2^{dimension}"));
        let graph = generate(&Family::Hypercube { dimension }, options.seed, true)?;
        Study::new(&format!("2^{dimension}"), graph, 0, Symmetry::PairTransitive)
    };
    let studies: Vec<Study> = dimensions.map(study).collect::<Result<_>>()?;
    item.say(
        "Loss by distance on hypercubes of m dimensions. Once gossip has gone round, an observer knows m combinations of \
         the values at each distance. At the opposite corner there is only one value.",
    );
    draw(&mut item, &studies)?;
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    item.table(
        &[
            "peers",
            "T",
            "printed, 1 hop",
            "2 hops",
            "opposite",
            "exact, 1 hop",
            "2 hops",
            "opposite",
            "relay, opposite",
        ],
        studies.iter().map(row).collect(),
    );
    for study in &studies {
        item.number(format!("{}: steps", study.name), study.steps as f64);
        item.number(format!("{}: distance from the closed form", study.name), from_closed_form(study));
        item.number(format!("{}: share understated", study.name), study.understated().share);
    }
    Ok(judge(item, &studies))
}

fn draw(item: &mut Item, studies: &[Study]) -> Result<()> {
    // As many curves as can be told apart.
    let shown = || studies.iter().step_by(if studies.len() > 5 { 2 } else { 1 });
    let curves = |losses: fn(&Study) -> &[f64]| {
        shown().map(|study| by_distance(&study.name, &study.by_distance(losses(study)))).collect()
    };
    let published = distance_chart("Printed loss on hypercubes", curves(|s| &s.published));
    item.picture("published", &published, "Theorem 1 as printed.".into())?;
    let exact = distance_chart("Exact loss on hypercubes", curves(|s| &s.exact.losses));
    item.picture("exact", &exact, "Exact: m / C(m, hops), and 1 at the opposite corner.".into())
}

fn row(study: &Study) -> Vec<String> {
    let at = |losses: &[f64], hops: u32| study.summary(losses, |h| h == hops).map_or(0.0, |s| s.mean);
    let last = study.hops.iter().copied().max().unwrap_or(0);
    let relay = study.relay.as_ref().map_or("–".into(), |relay| loss(at(&relay.losses, last)));
    let mut row = vec![study.graph.nodes().to_string(), study.steps.to_string()];
    row.extend([1, 2, last].map(|hops| text::digits(at(&study.published, hops), 3)));
    row.extend([1, 2, last].map(|hops| loss(at(&study.exact.losses, hops))));
    row.push(relay);
    row
}

fn judge(item: Item, studies: &[Study]) -> Item {
    let mean =
        |study: &Study, hops: u32| study.summary(&study.published, |h| h == hops).map_or(0.0, |s| s.mean);
    let (first, last) = (&studies[0], &studies[studies.len() - 1]);
    let left = |hops: u32| mean(last, hops) / mean(first, hops);
    // The number of steps jumps by whole ones, so the loss need not fall at every size.
    let trend = |hops: u32| {
        let sizes: Vec<f64> = studies.iter().map(|study| study.graph.nodes() as f64).collect();
        rank_correlation(&sizes, &studies.iter().map(|study| mean(study, hops)).collect::<Vec<_>>())
    };
    let reproduced = (1..=4).all(|hops| trend(hops) < -0.5) && left(2) < left(1);
    let farthest = studies.iter().map(from_closed_form).fold(0.0, f64::max);
    let low: Vec<String> =
        studies.iter().map(|s| format!("{} {}", s.name, percent(s.understated().share))).collect();
    let grows =
        |hops: u32| studies.windows(2).filter(|pair| mean(&pair[1], hops) > mean(&pair[0], hops)).count();
    let rises: usize = (1..=4).map(grows).sum();
    let trends: Vec<String> = (1..=4).map(|hops| text::digits(trend(hops), 2)).collect();
    let ours = format!(
        "rank correlation of loss and size at 1 to 4 hops {}, but the loss grows at {} of {} steps in size; from {} to {} it \
         falls to {} at 1 hop and {} at 2 hops",
        trends.join(", "),
        rises,
        4 * (studies.len() - 1),
        first.name,
        last.name,
        percent(left(1)),
        percent(left(2))
    );
    let exact = format!(
        "m / C(m, hops) up to {}; peers with more than printed: {}{}",
        text::digits(farthest, 1),
        low.join(", "),
        worst(&studies.iter().collect::<Vec<_>>())
    );
    item.judge(Verdict {
        reproduced,
        holds: studies.iter().all(Study::sound),
        claim: "privacy improves with the number of peers, most for peers close by that are not neighbours"
            .into(),
        criterion: test(
            "the rank correlation of loss and size is below −0.5 at 1 to 4 hops, and the loss falls more at 2 hops than at 1",
        ),
        ours,
        exact,
    })
}

/// The largest difference between the exact losses and their closed form.
fn from_closed_form(study: &Study) -> f64 {
    let dimension = study.graph.degree(study.peer);
    let difference =
        |u: usize| (study.exact.losses[u] - closed_form(dimension, study.hops[u] as usize)).abs();
    study.others().map(difference).fold(0.0, f64::max)
}

fn closed_form(dimension: usize, hops: usize) -> f64 {
    let peers = (0..hops).fold(1.0, |peers, i| peers * (dimension - i) as f64 / (i + 1) as f64);
    (dimension as f64 / peers).min(1.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn exact_losses_on_hypercubes_have_a_closed_form() {
        for dimension in [4, 6, 8] {
            let graph = generate(&Family::Hypercube { dimension }, 0, true).unwrap();
            let study = Study::new("cube", graph, 0, Symmetry::PairTransitive).unwrap();
            assert!(from_closed_form(&study) < 1e-9, "{dimension}");
        }
        assert_eq!((closed_form(11, 2), closed_form(11, 10), closed_form(11, 11)), (0.2, 1.0, 1.0));
    }
}

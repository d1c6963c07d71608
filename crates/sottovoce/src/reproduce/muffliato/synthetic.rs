//! Figures 1a and 2: four graphs of about 2048 peers.

use std::fmt::Write as _;

use sottovoce_report::text;
use sottovoce_topology::family::{Family, generate};

use super::draw::{Map, by_distance as curve, distance_chart};
use super::study::{HEADER, Study, Symmetry};
use super::words::{exactly, loss, repair};
use crate::reproduce::statistics::{Summary, rank_correlation};
use crate::reproduce::{Item, Options, Verdict, Watch};

/// The largest loss on the hypercube in the authors' picture, by their code.
const AUTHORS_MAX: f64 = 1.26;

/// The four graphs, by the names used here.
fn families(quick: bool) -> [(&'static str, Family); 4] {
    let (dimension, side) = if quick { (7, 11) } else { (11, 45) };
    let n = 1usize << dimension;
    // The paper's radius, scaled to the same number of neighbours.
    let radius = 0.07 * (2048.0 / n as f64).sqrt();
    [
        ("hypercube", Family::Hypercube { dimension }),
        ("Erdős–Rényi", Family::ErdosRenyi { n, p: (n as f64).ln() / n as f64 }),
        ("geometric", Family::Geometric { n, radius }),
        ("grid", Family::Grid { rows: side, cols: side }),
    ]
}

/// Node 0 on each of the four graphs.
pub(super) fn studies(options: &Options, watch: &Watch) -> anyhow::Result<Vec<Study>> {
    let study = |(name, family): (&str, Family)| {
        (watch.doing)(&format!("1a, 2: {name}"));
        let graph = generate(&family, options.seed, true)?;
        let symmetry = match family {
            Family::Hypercube { .. } => Symmetry::PairTransitive,
            _ => Symmetry::None,
        };
        Study::new(name, graph, 0, symmetry)
    };
    families(options.quick).into_iter().map(study).collect()
}

/// Figure 1a.
pub(super) fn by_distance(mut item: Item, studies: &[Study]) -> anyhow::Result<Item> {
    item.say(
        "Loss of peer 0 to every other peer by their distance: mean, and the range as a band. The second chart shows what \
         peer 0 really learns about every other one, and the third what it learns under relay noise.",
    );
    draw(&mut item, studies)?;
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    item.table(
        &["graph", "peers", "T", "gap", "printed mean", "largest", "authors' largest", "exact mean", "in doubt", "relay mean"],
        studies.iter().map(row).collect(),
    );
    let all: Vec<&Study> = studies.iter().collect();
    item.say(repair(&all));
    numbers(&mut item, studies);
    let (reproduced, ours) = reproduced(studies);
    Ok(item.judge(Verdict {
        reproduced,
        holds: studies.iter().all(Study::sound),
        claim: "privacy is significantly amplified as distance increases; distance alone decides on the hypercube; \
                Erdős–Rényi is nearly as good on average, with variance; the grid is less desirable"
            .into(),
        ours,
        exact: exactly(&all),
    }))
}

fn draw(item: &mut Item, studies: &[Study]) -> anyhow::Result<()> {
    let curves = |of: &dyn Fn(&Study) -> Option<Vec<f64>>| {
        let curve = |study: &Study| Some(curve(&study.name, &study.by_distance(&of(study)?)));
        studies.iter().filter_map(curve).collect::<Vec<_>>()
    };
    let published = distance_chart("Printed loss by distance", curves(&|s| Some(s.published.clone())));
    item.picture("published", &published, "Theorem 1 as printed, the sum from t = 0.".into())?;
    let exact = distance_chart("Exact loss by distance", curves(&|s| Some(s.exact.losses.clone())));
    item.picture("exact", &exact, "Exact: no loss exceeds local DP, and distance protects little.".into())?;
    let authors = distance_chart("Loss by distance, authors' code", curves(&|s| Some(s.authors())));
    item.picture("authors", &authors, "As the authors' code has it, the sum from t = 1.".into())?;
    let relay = curves(&|s| Some(s.relay.as_ref()?.losses.clone()));
    let relay = distance_chart("Exact loss by distance under relay noise", relay);
    item.picture("relay", &relay, "Exact, with relay noise of 5 % of the local noise: the repair.".into())
}

fn row(study: &Study) -> Vec<String> {
    let of = |losses: &[f64]| study.summary(losses, |_| true).unwrap_or(NOBODY);
    let relay = study.relay.as_ref().map_or("–".into(), |relay| loss(of(&relay.losses).mean));
    vec![
        study.name.clone(),
        study.graph.nodes().to_string(),
        study.steps.to_string(),
        text::digits(study.gap, 3),
        text::digits(of(&study.published).mean, 3),
        text::digits(of(&study.published).high, 3),
        text::digits(of(&study.authors()).high, 3),
        loss(of(&study.exact.losses).mean),
        study.exact.ambiguous.to_string(),
        relay,
    ]
}

const NOBODY: Summary = Summary { count: 0, mean: 0.0, low: 0.0, high: 0.0 };

fn numbers(item: &mut Item, studies: &[Study]) {
    for study in studies {
        let found = study.understated();
        let mut note = |what: &str, value: f64| item.number(format!("{}: {what}", study.name), value);
        note("peers", study.graph.nodes() as f64);
        note("steps", study.steps as f64);
        note("gap", study.gap);
        note("exact mean", study.exact.mean());
        note("directions in doubt", study.exact.ambiguous as f64);
        note("share understated", found.share);
        note("share understated at 3 hops or more", found.far.unwrap_or(0.0));
        note("largest understatement, printed", found.worst.1);
        note("largest understatement, exact", found.worst.2);
        for (name, losses) in [("printed", &study.published), ("authors' code", &study.authors())] {
            if let Some(all) = study.summary(losses, |_| true) {
                note(&format!("{name} mean"), all.mean);
                note(&format!("{name} largest"), all.high);
            }
        }
        if let Some(relay) = &study.relay {
            note("relay error, relative", relay.error);
        }
    }
}

/// Whether the printed formula gives what the paper says of its picture.
fn reproduced(studies: &[Study]) -> (bool, String) {
    let [cube, random, _, grid] = studies else { return (false, "four graphs are needed".into()) };
    let mean = |study: &Study| study.summary(&study.published, |_| true).unwrap_or(NOBODY).mean;
    let falls = studies.iter().all(|study| falls(study) < -0.5);
    let spread = |study: &Study| {
        let rows = study.by_distance(&study.published);
        rows.iter().map(|(_, summary)| summary.high - summary.low).fold(0.0, f64::max)
    };
    let alone = spread(cube) < 1e-9;
    let near = mean(random) < 2.0 * mean(cube) && spread(random) > 0.1;
    let worse = mean(grid) > mean(cube) && mean(grid) > mean(random);
    let authors = cube.summary(&cube.authors(), |_| true).unwrap_or(NOBODY).high;
    let mut ours = String::new();
    for study in studies {
        _ = write!(ours, "{} T = {}, mean {}, ", study.name, study.steps, text::digits(mean(study), 3));
        _ = write!(ours, "rank correlation with distance {}; ", text::digits(falls_shown(study), 2));
    }
    let largest = cube.summary(&cube.published, |_| true).unwrap_or(NOBODY).high;
    _ = write!(
        ours,
        "hypercube range at a distance {}, largest {} as printed and {} with the sum from t = 1 (the authors': {AUTHORS_MAX})",
        text::digits(spread(cube), 1),
        text::digits(largest, 3),
        text::digits(authors, 3)
    );
    (falls && alone && near && worse, ours)
}

fn falls(study: &Study) -> f64 {
    let hops: Vec<f64> = study.others().map(|u| f64::from(study.hops[u])).collect();
    let losses: Vec<f64> = study.others().map(|u| study.published[u]).collect();
    rank_correlation(&hops, &losses)
}

fn falls_shown(study: &Study) -> f64 {
    falls(study)
}

/// Figure 2.
pub(super) fn graphs(mut item: Item, studies: &[Study], options: &Options) -> anyhow::Result<Item> {
    item.say(
        "The graphs of figure 1a. Left what peer 0 (ringed) loses to each peer by the printed formula, right what it really \
         learns about each. Colours are clipped at local DP, as in the paper.",
    );
    for (study, part) in studies.iter().zip(["hypercube", "erdos-renyi", "geometric", "grid"]) {
        let map = match part {
            "grid" => Map::at(study, lattice(study.graph.nodes())),
            _ => Map::new(study, options.seed),
        };
        let printed = map.picture(study, "Printed loss", &study.published);
        item.picture(&format!("{part}-published"), &printed, format!("{}: as printed.", study.name))?;
        let exact = map.picture(study, "Exact loss", &study.exact.losses);
        item.picture(&format!("{part}-exact"), &exact, format!("{}: exact.", study.name))?;
    }
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    let all: Vec<&Study> = studies.iter().collect();
    let bright = |losses: fn(&Study) -> &[f64]| {
        let share = |study: &Study| {
            let seen = study.others().filter(|&u| losses(study)[u] > 0.5).count();
            format!("{} {}", study.name, super::words::percent(seen as f64 / study.others().count() as f64))
        };
        studies.iter().map(share).collect::<Vec<_>>().join(", ")
    };
    let dark = studies.iter().all(|study| {
        let others = study.others().count() as f64;
        study.others().filter(|&u| study.published[u] > 0.5).count() as f64 / others < 0.1
    });
    Ok(item.judge(Verdict {
        reproduced: dark,
        holds: studies.iter().all(Study::sound),
        claim: "only peers around the fixed one lose much".into(),
        ours: format!("peers with more than half of local DP: {}", bright(|s| &s.published)),
        exact: format!("peers with more than half of local DP: {}; {}", bright(|s| &s.exact.losses), exactly(&all)),
    }))
}

fn lattice(nodes: usize) -> Vec<(f64, f64)> {
    let side = nodes.isqrt();
    (0..nodes).map(|i| ((i % side) as f64, -((i / side) as f64))).collect()
}

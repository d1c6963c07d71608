//! Figures 1a and 2: four graphs of about 2048 peers.

use std::fmt::Write as _;

use sottovoce_report::text;
use sottovoce_topology::family::{Family, generate};

use super::draw::{by_distance as curve, distance_chart, rings};
use super::study::{HEADER, Study, Symmetry};
use super::words::{exactly, loss, repair, test};
use crate::graphs::four;
use crate::map::Map;
use crate::statistics::{Summary, rank_correlation};
use crate::{Item, Options, Result, Verdict, Watch};

/// The largest loss on the hypercube in the authors' picture, by their code.
const AUTHORS_MAX: f64 = 1.26;

/// Node 0 on each of the four graphs.
pub(super) fn studies(options: &Options, watch: &Watch) -> Result<Vec<Study>> {
    let study = |(name, family): (&str, Family)| {
        (watch.doing)(&format!("1a, 2: {name}"));
        let graph = generate(&family, options.seed, true)?;
        let symmetry = match family {
            Family::Hypercube { .. } => Symmetry::PairTransitive,
            _ => Symmetry::None,
        };
        Study::new(name, graph, 0, symmetry)
    };
    four(options.quick, 1.0).into_iter().map(study).collect()
}

/// Figure 1a.
pub(super) fn by_distance(mut item: Item, studies: &[Study]) -> Result<Item> {
    item.say(
        "Losses by distance: mean, and the range as a band. Above left what peer 0 loses to each other peer by the printed \
         formula, right what it really learns about each; below left the formula as the authors' code has it, right \
         what peer 0 learns under relay noise.",
    );
    draw(&mut item, studies)?;
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    item.table(
        &[
            "graph",
            "peers",
            "T",
            "gap",
            "printed mean",
            "largest",
            "authors' largest",
            "exact mean",
            "certified",
            "relay mean",
        ],
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
        criterion: test(
            "the rank correlation of loss and distance is below −0.5 on each graph, losses at one distance are equal on the \
             hypercube and differ by more than 0.1 on Erdős–Rényi, whose mean is below twice the hypercube's, and the \
             grid's mean is above both",
        ),
        ours,
        exact: exactly(&all),
    }))
}

fn draw(item: &mut Item, studies: &[Study]) -> Result<()> {
    let curves = |of: &dyn Fn(&Study) -> Option<Vec<f64>>| {
        let curve = |study: &Study| Some(curve(&study.name, &study.by_distance(&of(study)?)));
        studies.iter().filter_map(curve).collect::<Vec<_>>()
    };
    let published = distance_chart("Printed loss by distance", curves(&|s| Some(s.published.clone())));
    item.picture("published", &published, "Theorem 1 as printed, the sum from t = 0.".into())?;
    let exact = distance_chart("Exact loss by distance", curves(&|s| Some(s.exact.losses.clone())));
    item.picture(
        "exact",
        &exact,
        "Exact: what peer 0 learns about every other one; never more than local DP.".into(),
    )?;
    let authors = distance_chart("Loss by distance, authors' code", curves(&|s| Some(s.authors.clone())));
    item.picture("authors", &authors, "As the authors' code has it, the sum from t = 1 to T.".into())?;
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
        text::digits(of(&study.authors).high, 3),
        loss(of(&study.exact.losses).mean),
        if study.exact.certified { "yes" } else { "no" }.into(),
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
        note("certified", f64::from(u8::from(study.exact.certified)));
        note("share understated", found.share);
        note("share understated at 3 hops or more", found.far.unwrap_or(0.0));
        note("largest understatement, printed", found.worst.1);
        note("largest understatement, exact", found.worst.2);
        for (name, losses) in [("printed", &study.published), ("authors' code", &study.authors)] {
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
    let falling = studies.iter().all(|study| falls(study) < -0.5);
    let spread = |study: &Study| {
        let rows = study.by_distance(&study.published);
        rows.iter().map(|(_, summary)| summary.high - summary.low).fold(0.0, f64::max)
    };
    let alone = spread(cube) < 1e-9;
    let near = mean(random) < 2.0 * mean(cube) && spread(random) > 0.1;
    let worse = mean(grid) > mean(cube) && mean(grid) > mean(random);
    let authors = cube.summary(&cube.authors, |_| true).unwrap_or(NOBODY).high;
    let mut ours = String::new();
    for study in studies {
        _ = write!(ours, "{} T = {}, mean {}, ", study.name, study.steps, text::digits(mean(study), 3));
        _ = write!(ours, "rank correlation with distance {}; ", text::digits(falls(study), 2));
    }
    let largest = cube.summary(&cube.published, |_| true).unwrap_or(NOBODY).high;
    _ = write!(
        ours,
        "hypercube range at a distance {}, largest {} as printed and {} with the sum from 1 to T, as in the authors' code (theirs: {AUTHORS_MAX})",
        text::digits(spread(cube), 1),
        text::digits(largest, 3),
        text::digits(authors, 3)
    );
    (falling && alone && near && worse, ours)
}

/// Rank correlation of the printed loss with distance.
fn falls(study: &Study) -> f64 {
    let hops: Vec<f64> = study.others().map(|u| f64::from(study.hops[u])).collect();
    let losses: Vec<f64> = study.others().map(|u| study.published[u]).collect();
    rank_correlation(&hops, &losses)
}

/// Figure 2.
pub(super) fn graphs(mut item: Item, studies: &[Study], options: &Options) -> Result<Item> {
    item.say(
        "The graphs of figure 1a. Left what peer 0 (ringed) loses to each peer by the printed formula, right what it really \
         learns about each. Colours are clipped at local DP, as in the paper; the hypercube and the random graph are drawn as rings, one for each distance.",
    );
    for (study, part) in studies.iter().zip(["hypercube", "erdos-renyi", "geometric", "grid"]) {
        let map = match part {
            "grid" => Map::at(study.scene(), lattice(study.graph.nodes()), options.seed),
            "geometric" => Map::new(study.scene(), options.seed),
            _ => Map::at(study.scene(), rings(&study.graph, &study.hops), options.seed),
        };
        study.draw(&mut item, part, &map, ["peer 0"; 2])?;
    }
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    let (all, parts): (Vec<&Study>, Vec<String>) = studies.iter().map(|study| (study, faded(study))).unzip();
    Ok(item.judge(Verdict {
        reproduced: studies.iter().all(|study| near_and_far(study, &study.published).1 < 0.2),
        holds: studies.iter().all(Study::sound),
        claim: "losses are high around the fixed peer and fade with distance".into(),
        criterion: test(
            "on each graph the mean clipped loss in the farther half is below 0.2 (the paper has no number)",
        ),
        ours: parts.join("; "),
        exact: exactly(&all),
    }))
}

/// Mean losses, clipped as in the picture: up to 2 hops, and in the farther half.
fn near_and_far(study: &Study, losses: &[f64]) -> (f64, f64) {
    let clipped: Vec<f64> = losses.iter().map(|loss| loss.min(1.0)).collect();
    let mean = |at: &dyn Fn(u32) -> bool| study.summary(&clipped, at).unwrap_or(NOBODY).mean;
    let mut hops: Vec<u32> = study.others().map(|u| study.hops[u]).collect();
    hops.sort_unstable();
    let middle = hops[hops.len() / 2].max(3);
    (mean(&|hops| hops <= 2), mean(&|hops| hops >= middle))
}

fn faded(study: &Study) -> String {
    let (printed, exact) = (near_and_far(study, &study.published), near_and_far(study, &study.exact.losses));
    format!(
        "{}: mean clipped loss {} up to 2 hops and {} in the farther half (exactly {} and {})",
        study.name,
        text::digits(printed.0, 2),
        text::digits(printed.1, 2),
        loss(exact.0),
        loss(exact.1)
    )
}

fn lattice(nodes: usize) -> Vec<(f64, f64)> {
    let side = nodes.isqrt();
    (0..nodes).map(|i| ((i % side) as f64, -((i / side) as f64))).collect()
}

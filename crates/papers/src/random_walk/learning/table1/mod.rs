//! Table 1: accuracy of gossip and of a token at the same mean loss, on four graphs; as printed, and truly.
//!
//! | file | what |
//! | --- | --- |
//! | `paper` | the numbers of the paper |
//! | `units` | what both reveal on average, as printed and truly |
//! | `runs` | learning at a noise, with a step size as published or tuned |
//! | `worst` | a trusted curator and noise that cancels, at the same losses for everybody |
//! | `show`, `judge` | tables, pictures, verdict |

mod judge;
mod paper;
mod runs;
mod show;
mod units;
mod worst;

use runs::{Attempt, Learned};
use sottovoce::learning::calibrate::Currency;
use sottovoce::learning::{Method, Target};
use sottovoce_learning::Clip;
use sottovoce_learning::houses::Split;
use units::{Units, WALK, gossip, relayed};

use super::graphs::{Shape, peers};
use super::{CLIP, TOKEN_STEP};
use crate::learners::Data;
use crate::registry::Desk;
use crate::{Item, Options, Result};

/// Contributions of each peer.
const ITERATIONS: usize = 10;
/// Rényi order at which losses are stated.
const ORDER: f64 = 2.0;
/// Muffliato's step size.
const GOSSIP_STEP: f64 = 0.7;
/// Step sizes to choose from.
const GOSSIP_STEPS: [f64; 5] = [GOSSIP_STEP, 2.0, 4.0, 8.0, 16.0];
const TOKEN_STEPS: [f64; 4] = [0.01, TOKEN_STEP, 0.1, 0.3];
/// The mean losses of the table.
const LOSSES: [f64; 3] = [0.5, 1.0, 2.0];

/// Gossip and token, under the same conditions.
struct Pair {
    gossip: Learned,
    walk: Learned,
}

/// A row of the table, and what the paper has not.
struct Cell {
    paper: &'static paper::Row,
    units: Units,
    /// At equal printed losses, with the published step sizes, and with tuned ones.
    printed: Pair,
    printed_tuned: Pair,
    /// At equal true losses.
    truly: Pair,
    truly_tuned: Pair,
    /// Gossip with relay noise, at an equal true loss and tuned.
    relay: Option<Learned>,
}

/// Averaging to exact consensus, at a mean loss: with gossip's step size, and tuned.
struct Butterfly {
    loss: f64,
    fixed: Learned,
    tuned: Learned,
}

/// Everything.
struct Found {
    cells: Vec<Cell>,
    butterflies: Vec<Butterfly>,
    /// Units of the butterfly.
    consensus: f64,
    /// What a release costs with noise that cancels, in units of a local one, and both ways at worst-case losses.
    share: f64,
    worst: Vec<worst::Worst>,
    runs: usize,
}

pub(in super::super) fn table(item: Item, desk: &Desk) -> Result<Item> {
    let (options, watch) = (desk.options, desk.watch);
    let data = Data::read(options, Split::Eighty)?;
    let runs = if options.quick { 2 } else { 8 };
    let mut cells = Vec::new();
    for shape in [Shape::Complete, Shape::Hypercube, Shape::Geometric, Shape::Grid] {
        (watch.doing)(&format!("table1: {}", shape.name()));
        cells.extend(on_graph(shape, &data, runs, options)?);
    }
    (watch.doing)("table1: butterfly");
    let (consensus, butterflies) = butterflies(&data, runs, options)?;
    (watch.doing)("table1: a trusted curator, and noise that cancels");
    let (share, worst) = worst::worst(&data, options)?;
    let found = Found { cells, butterflies, consensus, share, worst, runs };
    let item = show::show(item, &found, &data)?;
    Ok(judge::judge(item, &found, &data))
}

/// The noise at which so many units are a mean loss.
fn noise(units: f64, loss: f64) -> Result<f64> {
    Target::Renyi { order: ORDER, epsilon: loss }.sigma(units, Currency::Concentrated)
}

/// The rows of one graph.
fn on_graph(shape: Shape, data: &Data, runs: usize, options: &Options) -> Result<Vec<Cell>> {
    let mixing = shape.mixing(options)?;
    let task = data.task(mixing.nodes(), Clip::Example(CLIP))?;
    let units = Units::of(shape, &mixing, options.seed)?;
    let conditions = [(units.gossip_printed, units.walk_printed), (units.gossip_true, units.walk_true)];
    let rows = paper::rows(|row| row.shape == shape);
    let mut attempts = Vec::new();
    for row in &rows {
        let mut add = |method, units, steps| -> Result<()> {
            let sigma = noise(units, row.loss)?;
            attempts.push(Attempt {
                task: &task,
                mixings: std::slice::from_ref(&mixing),
                method,
                sigma,
                steps,
                secrets: None,
            });
            Ok(())
        };
        for (gossip_units, walk_units) in conditions {
            for (gossips, tokens) in [(&GOSSIP_STEPS[..1], &[TOKEN_STEP][..]), (&GOSSIP_STEPS, &TOKEN_STEPS)]
            {
                add(gossip(shape, units.rounds), gossip_units, gossips)?;
                add(WALK, walk_units, tokens)?;
            }
        }
        if let Some(relay) = units.relay_true {
            add(relayed(), relay, &GOSSIP_STEPS)?;
        }
    }
    let mut results = runs::all(&attempts, runs, options.seed)?.into_iter();
    let mut cell = |paper| {
        let mut pair = || Some(Pair { gossip: results.next()?, walk: results.next()? });
        let (printed, printed_tuned, truly, truly_tuned) = (pair()?, pair()?, pair()?, pair()?);
        let relay = units.relay_true.and_then(|_| results.next());
        Some(Cell { paper, units: units.clone(), printed, printed_tuned, truly, truly_tuned, relay })
    };
    Ok(rows.into_iter().filter_map(&mut cell).collect())
}

/// Rounds that end in consensus; they need no graph, and a power of two of peers.
fn butterflies(data: &Data, runs: usize, options: &Options) -> Result<(f64, Vec<Butterfly>)> {
    let n = peers(options);
    let task = data.task(n, Clip::Example(CLIP))?;
    // Of the others, 2^b lose 2^-b each, for each of the log2(n) bits b.
    let units = ITERATIONS as f64 * f64::from(n.ilog2()) / (n - 1) as f64;
    let mut attempts = Vec::new();
    for loss in LOSSES {
        for steps in [&GOSSIP_STEPS[..1], &GOSSIP_STEPS] {
            let sigma = noise(units, loss)?;
            let method = Method::Butterfly;
            attempts.push(Attempt { task: &task, mixings: &[], method, sigma, steps, secrets: None });
        }
    }
    let mut results = runs::all(&attempts, runs, options.seed)?.into_iter();
    let mut one = |loss| Some(Butterfly { loss, fixed: results.next()?, tuned: results.next()? });
    Ok((units, LOSSES.into_iter().filter_map(&mut one).collect()))
}

impl Found {
    /// The butterfly at a mean loss.
    fn butterfly(&self, loss: f64) -> Option<&Butterfly> {
        self.butterflies.iter().find(|butterfly| butterfly.loss == loss)
    }
}

impl Pair {
    /// Whether the token is right more often.
    fn walk_wins(&self) -> bool {
        self.walk.accuracy().mean > self.gossip.accuracy().mean
    }
}

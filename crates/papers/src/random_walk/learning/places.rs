//! Figures 7 and 8: what a token's walk does to data that is alike where peers are near.
//!
//! The data is ours, as the paper does not print its own. Every peer of a geometric graph has eight rows: its own place in the square, with
//! noise on both coordinates, and an intercept; the label says whether the sum of its coordinates is above 1. So a peer has one label only, and
//! neighbours mostly have the same. In the second case the very same rows are dealt out at random.

use rand::seq::SliceRandom;
use sottovoce::learning::{Batch, Task};
use sottovoce_learning::{Clip, Loss, Model, Shards, Table};
use sottovoce_privacy::noise::simulation::{ContinuousLaw, Seed, SimulatedNoise, Stream};
use sottovoce_report::{ColourBar, GraphPicture, Picture};
use sottovoce_topology::Graph;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

use super::CLIP;
use super::distances::{self, Course};
use crate::registry::Desk;
use crate::{Item, Result};

/// Rows of each peer.
const ROWS: usize = 8;
/// Noise on coordinates, which go from -1 to 1.
const BLUR: f64 = 0.2;
/// Keeps the noise on places apart from that of the runs.
const PLACES: u64 = 0x726f_7773;

/// The graph and the two ways to deal out the rows.
pub(super) struct Places {
    pub(super) mixing: Mixing,
    pub(super) positions: Vec<(f64, f64)>,
    pub(super) by_place: Task,
    pub(super) shuffled: Task,
    /// By peer, the share of its rows labelled 1, in both.
    shares: [Vec<f64>; 2],
}

pub(in super::super) fn figure(mut item: Item, desk: &Desk) -> Result<Item> {
    let (options, watch) = (desk.options, desk.watch);
    (watch.doing)("7-8");
    let places = Places::draw(options.seed)?;
    let course = Course::new(if options.quick { 32 } else { 256 });
    item.say(format!(
        "A geometric graph of {} peers, radius 0.2. Every peer has {ROWS} rows: its place with noise, labelled by whether the sum of its \
         coordinates is above 1 (Figure 7, left), or as many of the same rows at random (right). The data and the settings are ours: the \
         paper does not print its own. {}",
        places.positions.len(),
        course.words()
    ));
    let names = [("original", "by place"), ("shuffled", "shuffled")];
    for ((part, name), shares) in names.into_iter().zip(&places.shares) {
        let caption = format!("Figure 7: share of a peer's rows labelled 1, {name}.");
        item.picture(part, &places.picture(name, shares), caption)?;
    }
    distances::compare(item, &places, &course, options.seed)
}

impl Places {
    fn draw(seed: u64) -> Result<Self> {
        let graph = generate(&Family::Geometric { n: 200, radius: 0.2 }, seed, true)?;
        let positions: Vec<(f64, f64)> =
            graph.coordinates().unwrap_or_default().iter().map(|place| (place[0], place[1])).collect();
        let table = rows(&positions, seed)?;
        let own: Vec<Vec<usize>> =
            (0..positions.len()).map(|u| (u * ROWS..(u + 1) * ROWS).collect()).collect();
        let mut all: Vec<usize> = (0..table.rows()).collect();
        all.shuffle(&mut Seed(seed).stream(Stream::Shuffle, 0, 0));
        let dealt: Vec<Vec<usize>> = all.chunks(ROWS).map(<[usize]>::to_vec).collect();
        let task = |name: &str, lists: &[Vec<usize>]| {
            let model = Model { loss: Loss::Logistic, width: table.width(), ridge: 0.0 };
            let shards = Shards::by_lists(&table, lists)?;
            Task::new(name, shards, table.clone(), model, Clip::Example(CLIP), Batch::All)
        };
        let shares = |lists: &[Vec<usize>]| -> Vec<f64> {
            let positive = |row: &&usize| table.labels()[**row] > 0.0;
            lists.iter().map(|list| list.iter().filter(positive).count() as f64 / ROWS as f64).collect()
        };
        Ok(Self {
            by_place: task("by place", &own)?,
            shuffled: task("shuffled", &dealt)?,
            shares: [shares(&own), shares(&dealt)],
            mixing: Mixing::new(&graph, Weights::MetropolisPlusOne),
            positions,
        })
    }

    fn picture(&self, name: &str, shares: &[f64]) -> Picture {
        let graph: &Graph = self.mixing.graph();
        GraphPicture {
            title: format!("Labels, {name}"),
            description:
                "Each peer coloured by the share of its rows labelled 1, from dark (none) to pale (all)."
                    .into(),
            positions: self.positions.clone(),
            edges: graph.edges().map(|(u, v)| (u as u32, v as u32)).collect(),
            values: shares.to_vec(),
            labels: shares.iter().enumerate().map(|(u, share)| format!("peer {u}: {share}")).collect(),
            observer: None,
            bar: ColourBar {
                title: "share of rows labelled 1".into(),
                ticks: [0.0, 0.5, 1.0].map(|at| (at, at.to_string())).to_vec(),
            },
            size: (480.0, 520.0),
        }
        .picture()
    }
}

/// The rows of all peers, in order.
fn rows(positions: &[(f64, f64)], seed: u64) -> Result<Table> {
    let law = ContinuousLaw::gaussian(BLUR)?;
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for (peer, (x, y)) in positions.iter().enumerate() {
        for row in 0..ROWS {
            let mut place = [2.0 * x - 1.0, 2.0 * y - 1.0];
            SimulatedNoise::new(seed ^ PLACES, peer as u64, row as u64).add(law, &mut place);
            features.extend([place[0], place[1], 1.0]);
            labels.push(if x + y > 1.0 { 1.0 } else { -1.0 });
        }
    }
    Ok(Table::new(features, 3, labels)?)
}

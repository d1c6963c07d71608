//! Figure 5: a stochastic block model of three groups.

use sottovoce_report::text;
use sottovoce_topology::family::{Family, generate};

use super::matrix::{Entry, Matrix};
use super::pairs::{HEADER, Pairs};
use super::walk::SIGMA;
use super::words::condition;
use crate::colours::Colours;
use crate::map::{Map, Scene};
use crate::muffliato::words::percent;
use crate::registry::Desk;
use crate::statistics::{Summary, choose};
use crate::{Item, Result, Verdict};

/// Peers in each group.
const SIZES: [usize; 3] = [75, 75, 50];
/// Probabilities of edges within and between them.
const PROBABILITIES: [[f64; 3]; 3] = [[0.25, 0.05, 0.02], [0.05, 0.35, 0.07], [0.02, 0.07, 0.40]];

pub(super) fn figure(mut item: Item, desk: &Desk) -> Result<Item> {
    let options = desk.options;
    let probabilities = PROBABILITIES.map(|row| row.to_vec()).to_vec();
    let family = Family::StochasticBlock { sizes: SIZES.to_vec(), probabilities };
    let graph = generate(&family, options.seed, true)?;
    let pairs = Pairs::all("block model", graph, SIGMA, options.seed, options.quick)?;
    let peer = choose(options.seed, 5, pairs.graph.nodes());
    item.say(format!(
        "Groups of 75, 75 and 50 peers, {} steps. Left what peer {peer} (ringed) loses to each, right what each peer (row) loses to each \
         other one (column), as printed; then the same over random paths.",
        pairs.walk.steps
    ));
    draw(&mut item, &pairs, peer, options.seed)?;
    item.csv(HEADER, pairs.lines(|_, _| String::new()).into_iter());
    Ok(judge(item, &pairs, peer))
}

fn draw(item: &mut Item, pairs: &Pairs, peer: usize, seed: u64) -> Result<()> {
    let map = Map::new(Scene { name: &pairs.name, graph: &pairs.graph, peer }, seed);
    let order: Vec<usize> = (0..pairs.graph.nodes()).collect();
    let kinds: [(&str, Entry, &str); 2] = [
        ("published", &|u, v| pairs.printed(v)[u], "as printed"),
        ("paths", &|u, v| pairs.seen(v).mean(u), "mean over random paths"),
    ];
    for (part, value, said) in kinds {
        let mut losses: Vec<f64> = order.iter().map(|&v| value(peer, v)).collect();
        losses[peer] = 0.0;
        let colours = Colours::logarithmic("loss (local DP = 1)", losses.iter().copied());
        let picture = map.picture(&format!("Loss of one peer, {said}"), &losses, &colours);
        item.picture(&format!("{part}-peer"), &picture, format!("What peer {peer} loses to each, {said}."))?;
        let matrix = Matrix::new(&order, value).picture(&format!("Losses, {said}"), "loss (local DP = 1)");
        item.picture(&format!("{part}-matrix"), &matrix, format!("What each loses to each, {said}."))?;
    }
    Ok(())
}

/// Mean losses within and between groups.
struct Means([[f64; 3]; 3]);

impl Means {
    fn new(pairs: &Pairs, value: impl Fn(usize, usize) -> f64) -> Self {
        let mean = |a: usize, b: usize| {
            let some = pairs.pairs().filter(|&(u, v)| (group(u), group(v)) == (a, b));
            Summary::of(some.map(|(u, v)| value(u, v))).map_or(0.0, |summary| summary.mean)
        };
        Self([0, 1, 2].map(|a| [0, 1, 2].map(|b| mean(a, b))))
    }

    /// Whether everyone loses more within its own group than to each of the others.
    fn shows_groups(&self) -> bool {
        (0..3).all(|a| (0..3).filter(|b| *b != a).all(|b| self.0[a][a] > self.0[a][b].max(self.0[b][a])))
    }

    fn text(&self) -> String {
        let row = |row: &[f64; 3]| row.map(|value| text::digits(value, 3)).join(" ");
        self.0.iter().map(row).collect::<Vec<_>>().join(" / ")
    }
}

fn group(peer: usize) -> usize {
    usize::from(peer >= SIZES[0]) + usize::from(peer >= SIZES[0] + SIZES[1])
}

/// How much of all that a peer loses it loses within its group.
fn inside(pairs: &Pairs, peer: usize) -> f64 {
    let losses = (0..pairs.graph.nodes()).filter(|&v| v != peer).map(|v| (v, pairs.printed(v)[peer]));
    let all: f64 = losses.clone().map(|(_, loss)| loss).sum();
    losses.filter(|(v, _)| group(*v) == group(peer)).map(|(_, loss)| loss).sum::<f64>() / all
}

fn judge(mut item: Item, pairs: &Pairs, peer: usize) -> Item {
    let printed = Means::new(pairs, |u, v| pairs.printed(v)[u]);
    let path = Means::new(pairs, |u, v| pairs.seen(v).mean(u));
    let shares: Vec<f64> = (0..pairs.graph.nodes()).map(|u| inside(pairs, u)).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let major = mean > 0.5;
    for (a, b) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        item.number(format!("printed, groups {a} and {b}"), printed.0[a][b]);
        item.number(format!("over paths, groups {a} and {b}"), path.0[a][b]);
    }
    item.number("steps", pairs.walk.steps as f64);
    item.number("share lost within the group, mean", mean);
    item.number("share of pairs surely above", pairs.above().0);
    item.judge(Verdict {
        reproduced: printed.shows_groups() && major,
        holds: path.shows_groups() && pairs.above().0 == 0.0,
        claim: "the matrix of losses recovers the groups, and a peer loses the major part within its own".into(),
        criterion: "reproduced if in each group the mean loss within is above that to and from each other group, and peers on average lose more than \
                    half of all they lose within their own (first reported only, now judged, when its numbers were known); holds if so are the means over random paths, and no pair surely (by 5 standard errors) loses more than printed"
            .into(),
        ours: format!(
            "mean losses by group {}; within its group peer {peer} loses {} of all it loses, the mean over peers is {}",
            printed.text(),
            percent(shares[peer]),
            percent(mean)
        ),
        exact: format!("mean losses by group {}; {}{}", path.text(), pairs.exactly(), condition(SIGMA)),
    })
}

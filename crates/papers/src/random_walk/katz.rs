//! Figure 3c: the mean loss of each peer beside its Katz centrality.
//!
//! Rows of all powers of the transitions sum to 1, so that the printed losses of a peer to everyone, itself included, sum to the same
//! number for all. The mean to the others differs by what returns to the peer itself: those who keep the token lose less.

use sottovoce_report::{Axis, Chart, Curve, Series};
use sottovoce_topology::centrality::{eigenvector, katz};

use super::pairs::Pairs;
use super::similarity::{SIMILAR, friends, women};
use super::walk::LARGE_SIGMA;
use super::words::{condition, number};
use crate::graphs::NO_EGOS;
use crate::registry::Desk;
use crate::statistics::rank_correlation;
use crate::{Item, Result, Verdict};

/// One graph.
struct Means<'a> {
    pairs: &'a Pairs,
    centrality: Vec<f64>,
    /// Eigenvector centrality, which the authors' code has for Katz's.
    eigenvector: Vec<f64>,
    printed: Vec<f64>,
    path: Vec<f64>,
}

impl<'a> Means<'a> {
    fn new(pairs: &'a Pairs) -> Result<Self> {
        let n = pairs.graph.nodes();
        let mean = |loss: &dyn Fn(usize, usize) -> f64| {
            let one = |u: usize| (0..n).filter(|&v| v != u).map(|v| loss(u, v)).sum::<f64>() / (n - 1) as f64;
            (0..n).map(one).collect::<Vec<f64>>()
        };
        Ok(Self {
            pairs,
            eigenvector: eigenvector(&pairs.graph),
            centrality: katz(&pairs.graph, None)?.centrality.values,
            printed: mean(&|u, v| pairs.printed(v)[u]),
            path: mean(&|u, v| pairs.seen(v).mean(u)),
        })
    }

    /// Rank correlations with centrality: as printed, and over paths.
    fn along(&self) -> (f64, f64) {
        (rank_correlation(&self.centrality, &self.printed), rank_correlation(&self.centrality, &self.path))
    }
}

pub(super) fn figure(mut item: Item, desk: &Desk) -> Result<Item> {
    let graphs = friends(desk)?.into_iter().chain([women(desk)?]);
    let all = graphs.map(Means::new).collect::<Result<Vec<_>>>()?;
    item.say(
        "A dot for each peer: its mean loss to all others, as printed and over random paths, against its Katz centrality (damping 0.9 of the largest \
         possible). By the printed formula what a peer loses to everyone, itself included, is the same for all; the means differ by how often the \
         token stays with a peer or soon returns.",
    );
    if all.len() < 2 {
        item.say(format!("Facebook ego 0 is left out: {NO_EGOS}."));
    }
    for means in &all {
        draw(&mut item, means)?;
    }
    let lines = all.iter().flat_map(|means| {
        let label = |u: usize| format!("{},{}", means.pairs.name, means.pairs.graph.label(u));
        (0..means.printed.len()).map(move |u| {
            format!("{},{},{},{}", label(u), means.centrality[u], means.printed[u], means.path[u])
        })
    });
    item.csv("graph,peer,katz,published_mean,mean_over_paths", lines);
    Ok(judge(item, &all))
}

fn draw(item: &mut Item, means: &Means) -> Result<()> {
    let dots = |name: &str, values: &[f64]| {
        let points = means.centrality.iter().copied().zip(values.iter().copied()).collect();
        Curve::points(Series { name: name.into(), points, band: None })
    };
    let curves = vec![dots("printed", &means.printed), dots("mean over paths", &means.path)];
    let name = &means.pairs.name;
    let chart = Chart::new(
        format!("Mean loss against Katz centrality, {name}"),
        Axis::linear("Katz centrality"),
        Axis::linear("mean loss (local DP = 1)"),
        curves,
    );
    item.picture(&name.replace(' ', "-"), &chart.picture(), format!("{name}: mean loss of each peer."))
}

fn by_code(item: &mut Item, all: &[Means]) {
    let along = |means: &Means| rank_correlation(&means.eigenvector, &means.printed);
    let said: Vec<String> =
        all.iter().map(|means| format!("{} {}", means.pairs.name, number(along(means)))).collect();
    item.by_code(
        "eigenvector centrality in the place of Katz's",
        all.iter().all(|means| along(means) > SIMILAR),
        format!("rank correlation: {}", said.join(", ")),
    );
}

fn judge(mut item: Item, all: &[Means]) -> Item {
    let mut said = (Vec::new(), Vec::new());
    for means in all {
        let (printed, path) = means.along();
        let name = &means.pairs.name;
        item.number(format!("{name}: rank correlation, printed"), printed);
        item.number(format!("{name}: rank correlation, over paths"), path);
        said.0.push(format!("{name} {}", number(printed)));
        said.1.push(format!("{name} {}", number(path)));
    }
    by_code(&mut item, all);
    item.judge(Verdict {
        reproduced: all.iter().all(|means| means.along().0 > SIMILAR),
        holds: all.iter().all(|means| means.along().1 > SIMILAR),
        claim: "mean loss and Katz centrality have similar behaviour".into(),
        criterion: format!(
            "reproduced if on each graph their rank correlation is above {SIMILAR} (the paper has no number); holds if that of the mean over random \
             paths is, too"
        ),
        ours: format!("rank correlation: {}", said.0.join(", ")),
        exact: format!("rank correlation over random paths: {}{}", said.1.join(", "), condition(LARGE_SIGMA)),
    })
}

//! Figures 3a and 3b: losses of all pairs beside communicability, on two social graphs.

use sottovoce_topology::centrality::{communicability, walk_communicability};
use sottovoce_topology::family::{Family, generate};

use super::matrix::{Entry, Matrix};
use super::pairs::{HEADER, Pairs};
use super::walk::{LARGE_SIGMA, Walk};
use super::words::{condition, count, number};
use crate::communities::communities;
use crate::graphs::{self, NO_EGOS, SMALL_EGOS};
use crate::registry::Desk;
use crate::statistics::rank_correlation;
use crate::{Item, Options, Result, Verdict};

/// The paper's social graph.
const EGO: u64 = 0;
/// A rank correlation above this counts as “similar”.
pub(super) const SIMILAR: f64 = 0.5;

/// The friends of one person, of figures 3a and 3c; none without data.
pub(super) fn friends<'a>(desk: &'a Desk) -> Result<Option<&'a Pairs>> {
    let Options { seed, quick, data, .. } = desk.options;
    let number = if *quick { SMALL_EGOS[0] } else { EGO };
    let make =
        |data| Pairs::all(&format!("ego {number}"), graphs::ego(data, number)?, LARGE_SIGMA, *seed, *quick);
    Ok(desk.random_walk.ego.get(|| data.as_deref().map(make).transpose())?.as_ref())
}

/// The southern women and their events, of figures 3b and 3c.
pub(super) fn women<'a>(desk: &'a Desk) -> Result<&'a Pairs> {
    let Options { seed, quick, .. } = *desk.options;
    desk.random_walk
        .davis
        .get(|| Pairs::all("southern women", generate(&Family::Davis, 0, true)?, LARGE_SIGMA, seed, quick))
}

/// Figure 3a.
pub(super) fn ego(item: Item, desk: &Desk) -> Result<Item> {
    let Some(pairs) = friends(desk)? else { return Ok(item.skip(NO_EGOS)) };
    let labels = communities(&pairs.graph);
    let size = |u: usize| labels.iter().filter(|label| **label == labels[u]).count();
    let mut order: Vec<usize> = (0..pairs.graph.nodes()).collect();
    order.sort_by_key(|&u| (std::cmp::Reverse(size(u)), labels[u], u));
    compare(item, pairs, &order, "Peers are sorted by community (label propagation), the largest first.")
}

/// Figure 3b.
pub(super) fn davis(item: Item, desk: &Desk) -> Result<Item> {
    let pairs = women(desk)?;
    let order: Vec<usize> = (0..pairs.graph.nodes()).collect();
    compare(item, pairs, &order, "Eighteen women come first, then the fourteen events they went to.")
}

fn compare(mut item: Item, pairs: &Pairs, order: &[usize], sorted: &str) -> Result<Item> {
    // Definition 8, with c_i = 1/i!.
    let close = walk_communicability(&pairs.walk.mixing)?;
    let adjacent = communicability(&pairs.graph)?;
    item.say(format!(
        "{}: {} peers, {} steps. What each peer (row) loses to each other one (column), beside how well they communicate: exp(W) for the \
         transitions W of the walk (Definition 8). {sorted}",
        pairs.name,
        pairs.graph.nodes(),
        pairs.walk.steps
    ));
    let matrices: [(&str, &str, Entry, &str); 3] = [
        ("published", "loss (local DP = 1)", &|u, v| pairs.printed(v)[u], "as printed"),
        ("communicability", "communicability", &|u, v| close[u][v], "communicability"),
        ("paths", "loss (local DP = 1)", &|u, v| pairs.seen(v).mean(u), "the mean over random paths"),
    ];
    for (part, unit, value, said) in matrices {
        let title = format!("{}, {said}", pairs.name);
        let picture = Matrix::new(order, value).picture(&title, unit);
        item.picture(part, &picture, format!("{}: {said}, by the logarithm.", pairs.name))?;
    }
    let lines = pairs.lines(|u, v| format!(",{:.6e},{:.6e}", close[u][v], adjacent[u][v]));
    item.csv(&format!("{HEADER},communicability,communicability_of_adjacency"), lines.into_iter());
    let along = |value: Entry, close: &[Vec<f64>]| {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.pairs().map(|(u, v)| (value(u, v), close[u][v])).unzip();
        rank_correlation(&x, &y)
    };
    let (printed, path): (Entry, Entry) = (&|u, v| pairs.printed(v)[u], &|u, v| pairs.seen(v).mean(u));
    let correlations = [along(printed, &close), along(path, &close), along(printed, &adjacent)];
    by_code(&mut item, pairs)?;
    Ok(judge(item, pairs, correlations))
}

/// The same with the weights of the authors' code.
fn by_code(item: &mut Item, pairs: &Pairs) -> Result<()> {
    let walk = Walk::by_code(&pairs.graph, LARGE_SIGMA)?;
    let (printed, close) = (walk.printed()?, walk_communicability(&walk.mixing)?);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    // Both are symmetric.
    for (v, row) in close.iter().enumerate() {
        let losses = printed.contribution(v)?;
        let others = (0..losses.len()).filter(|&u| u != v);
        others.for_each(|u| {
            x.push(losses[u]);
            y.push(row[u]);
        });
    }
    let found = rank_correlation(&x, &y);
    item.number("rank correlation, printed, authors' weights", found);
    item.by_code(
        "weights 1/(max(d) + 1)",
        found > SIMILAR,
        format!("T = {}: rank correlation {}", count(walk.steps as f64), number(found)),
    );
    Ok(())
}

fn judge(mut item: Item, pairs: &Pairs, [printed, path, adjacent]: [f64; 3]) -> Item {
    let (above, worst) = pairs.above();
    item.number("peers", pairs.graph.nodes() as f64);
    item.number("steps", pairs.walk.steps as f64);
    item.number("paths", pairs.paths as f64);
    item.number("rank correlation, printed", printed);
    item.number("rank correlation, over paths", path);
    item.number("rank correlation, printed, with exp of the adjacency", adjacent);
    item.number("mean over paths, relative", pairs.part());
    item.number("share of pairs surely above", above);
    if let Some(worst) = worst {
        item.number("largest ratio surely above", worst.path / worst.printed);
    }
    item.judge(Verdict {
        reproduced: printed > SIMILAR,
        holds: path > SIMILAR && above == 0.0,
        claim: "the matrix of losses is similar to that of communicability".into(),
        criterion: format!(
            "reproduced if the rank correlation of loss and communicability over all pairs is above {SIMILAR} (the paper has no number; communicability was \
             first that of the adjacency matrix, as elsewhere, and is now that of the paper's Definition 8 and of the authors' code); holds if that \
             of the mean over random paths is, too, and no pair surely (by 5 standard errors) loses more than printed"
        ),
        ours: format!(
            "{} peers, T = {}: rank correlation {} (with exp of the adjacency matrix {})",
            pairs.graph.nodes(),
            count(pairs.walk.steps as f64),
            number(printed),
            number(adjacent)
        ),
        exact: format!("rank correlation {}; {}{}", number(path), pairs.exactly(), condition(LARGE_SIGMA)),
    })
}

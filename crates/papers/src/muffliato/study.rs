//! One graph, one peer, every number the figures need.
//!
//! Two directions must be kept apart. The paper draws what *one peer loses to all others*; exact accounting of that would need
//! every other peer as an observer. What *one peer learns about all others* needs one. Both are the same on a hypercube and alike
//! elsewhere, so pictures of the published formula follow the paper, and the comparison with the truth takes the other
//! direction on both sides.

use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::paths;
use sottovoce_topology::spectrum::{Spectrum, accelerated_steps};
use sottovoce_views::exact::{self, Leakage};
use sottovoce_views::utility::Contraction;

use crate::Result;
use crate::colours::Colours;
use crate::item::Item;
use crate::map::{Map, Scene};
use crate::printed::gossip;
use crate::statistics::Summary;

/// Variance of the local noise; with order 2 and sensitivity 1 the Rényi loss of local DP is 1, so losses are in its units.
pub(super) const NOISE: f64 = 1.0;
/// Mean squared distance of the private values from their mean, as the paper's code has it.
pub(super) const SPREAD: f64 = 0.25;
/// Relay noise of the repair, as a share of the local noise.
pub(super) const RELAY: f64 = 0.05;
/// More messages than this make the exact accounting of relay noise slow (its cost is the third power).
const MESSAGES: usize = 5000;
/// Differences that are rounding.
const ROUNDING: f64 = 1e-6;

/// Whether the two directions are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symmetry {
    /// Any two peers can be exchanged.
    PairTransitive,
    /// Nothing is known.
    None,
}

/// Losses on one graph, in units of local DP; 0 for the peer itself.
pub(super) struct Study {
    pub(super) name: String,
    pub(super) graph: Graph,
    /// The peer whose view it is.
    pub(super) peer: usize,
    pub(super) steps: usize,
    pub(super) gap: f64,
    pub(super) hops: Vec<u32>,
    /// The printed formula, as the paper draws it: what the peer loses to each other one.
    pub(super) published: Vec<f64>,
    /// The same as the authors' code has it: its sum runs from 1 to `T` instead of from 0 to `T - 1`.
    pub(super) authors: Vec<f64>,
    /// The same of everyone, by peer and then by whom it loses to; nothing on graphs where all are alike.
    pub(super) everyone: Vec<f64>,
    /// The printed formula the other way round: what each other peer loses to this one.
    pub(super) towards: Vec<f64>,
    /// The truth of that.
    pub(super) exact: Leakage,
    /// At most the truth: what was certified.
    pub(super) certain: Vec<f64>,
    pub(super) relay: Option<Relay>,
}

/// The repair.
pub(super) struct Relay {
    pub(super) losses: Vec<f64>,
    /// Expected squared error of plain gossip, relative to that without relay noise.
    pub(super) error: f64,
}

/// How far the printed formula is below the truth.
pub(super) struct Understated {
    /// Share of peers at 3 hops or more whose loss is above the printed one; none where nobody is that far.
    pub(super) far: Option<f64>,
    /// Share of all peers.
    pub(super) share: f64,
    /// The largest difference: the peer, the printed loss and the exact one.
    pub(super) worst: (usize, f64, f64),
}

/// Steps of the paper: from the spectral gap, for noise 1 and values of spread 1/4.
pub(crate) fn stopping_time(mixing: &Mixing) -> Result<(f64, usize)> {
    let gap = Spectrum::of(mixing)?.gap.value.min(1.0);
    Ok((gap, accelerated_steps(gap, mixing.nodes(), NOISE, SPREAD)? as usize))
}

impl Study {
    /// Everything about `peer` on a connected graph.
    pub(super) fn new(name: &str, graph: Graph, peer: usize, symmetry: Symmetry) -> Result<Self> {
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let (gap, steps) = stopping_time(&mixing)?;
        let hops = paths::distances(&graph, peer)?;
        let Printed { published, towards, everyone } = printed(&mixing, peer, steps, symmetry)?;
        // One step more, without the first, in which each neighbour sends its own value: a whole unit.
        let mut authors = printed(&mixing, peer, steps + 1, symmetry)?.published;
        authors.iter_mut().zip(&hops).filter(|(_, hops)| **hops == 1).for_each(|(loss, _)| *loss -= 1.0);
        let mut by_steps = exact::by_steps(&mixing, &[peer], steps, &[0.0])?.swap_remove(0);
        let sure = by_steps.partition_point(|leakage| leakage.certified);
        let certain = sure.checked_sub(1).map_or(vec![0.0; graph.nodes()], |t| by_steps[t].losses.clone());
        let exact = by_steps.swap_remove(steps - 1);
        let relay = (graph.degree(peer) * steps <= MESSAGES).then(|| Relay::new(&mixing, &exact, steps));
        let (name, relay) = (name.into(), relay.transpose()?);
        Ok(Self {
            name,
            graph,
            peer,
            steps,
            gap,
            hops,
            published,
            authors,
            everyone,
            towards,
            exact,
            certain,
            relay,
        })
    }

    /// The printed and the exact losses on a map; `who` is the peer in the two captions.
    pub(super) fn draw(&self, item: &mut Item, part: &str, map: &Map<'_>, who: [&str; 2]) -> Result<()> {
        let printed = map.picture("Printed loss", &self.published, &Colours::clipped());
        let caption = format!("{}: what {} loses to each, as printed.", self.name, who[0]);
        item.picture(&format!("{part}-published"), &printed, caption)?;
        let exact = map.picture("Exact loss", &self.exact.losses, &Colours::clipped());
        let caption = format!("{}: what {} learns about each, exact.", self.name, who[1]);
        item.picture(&format!("{part}-exact"), &exact, caption)
    }

    /// What is drawn of it.
    pub(super) fn scene(&self) -> Scene<'_> {
        Scene { name: &self.name, graph: &self.graph, peer: self.peer }
    }

    /// Everyone else.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.graph.nodes()).filter(|&u| u != self.peer)
    }

    /// Some losses of everyone else.
    pub(super) fn summary(&self, losses: &[f64], at: impl Fn(u32) -> bool) -> Option<Summary> {
        Summary::of(self.others().filter(|&u| at(self.hops[u])).map(|u| losses[u]))
    }

    /// The same at each distance that occurs.
    pub(super) fn by_distance(&self, losses: &[f64]) -> Vec<(u32, Summary)> {
        let farthest = self.hops.iter().copied().max().unwrap_or(0);
        (1..=farthest).filter_map(|d| Some((d, self.summary(losses, |hops| hops == d)?))).collect()
    }

    /// How far the printed formula is below the truth; only what is certain counts against it.
    pub(super) fn understated(&self) -> Understated {
        let gap = |u: usize| self.certain[u] - self.towards[u];
        let low = |u: &usize| gap(*u) > ROUNDING;
        let share = |of: &dyn Fn(u32) -> bool| {
            let all = self.others().filter(|&u| of(self.hops[u])).count();
            (all > 0)
                .then(|| self.others().filter(|&u| of(self.hops[u])).filter(low).count() as f64 / all as f64)
        };
        let worst = self.others().max_by(|&a, &b| gap(a).total_cmp(&gap(b))).unwrap_or(self.peer);
        Understated {
            far: share(&|hops| hops >= 3),
            share: share(&|_| true).unwrap_or(0.0),
            worst: (worst, self.towards[worst], self.certain[worst]),
        }
    }

    /// Whether nobody loses more than the formula says.
    pub(super) fn sound(&self) -> bool {
        self.understated().share == 0.0
    }

    /// One line for each other peer: name, peer, hops, and all losses.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |u: usize| {
            let relay = self.relay.as_ref().map_or(String::new(), |relay| relay.losses[u].to_string());
            format!(
                "{},{},{},{},{},{},{},{relay}",
                self.name,
                self.graph.label(u),
                self.hops[u],
                self.published[u],
                self.authors[u],
                self.towards[u],
                self.exact.losses[u]
            )
        };
        self.others().map(line).collect()
    }
}

/// The header of [`Study::lines`].
pub(super) const HEADER: &str =
    "graph,peer,hops,published,published_authors_code,published_towards,exact_towards,exact_relay_towards";

impl Relay {
    fn new(mixing: &Mixing, plain: &Leakage, steps: usize) -> Result<Self> {
        let losses = exact::relay_gossip_beside(mixing, plain, steps, RELAY)?.losses;
        let contraction = Contraction::new(mixing, steps)?;
        let error = |tau: f64| contraction.noise_error(steps, NOISE.sqrt(), tau * NOISE.sqrt());
        Ok(Self { losses, error: error(RELAY) / error(0.0) })
    }
}

/// The printed losses from a peer to all, from all to it, and from everyone to all.
struct Printed {
    published: Vec<f64>,
    towards: Vec<f64>,
    everyone: Vec<f64>,
}

fn printed(mixing: &Mixing, peer: usize, steps: usize, symmetry: Symmetry) -> Result<Printed> {
    let n = mixing.nodes();
    if symmetry == Symmetry::PairTransitive {
        let mut towards = gossip::theorem1(mixing, &[peer], steps)?;
        towards[peer] = 0.0;
        return Ok(Printed { published: towards.clone(), towards, everyone: Vec::new() });
    }
    let all = gossip::theorem1_all_pairs(mixing, steps)?;
    let loss = |u: usize, v: usize| if v == u { 0.0 } else { all[v * n + u] };
    let everyone: Vec<f64> =
        (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).map(|(u, v)| loss(u, v)).collect();
    let published = everyone[peer * n..(peer + 1) * n].to_vec();
    Ok(Printed { published, towards: (0..n).map(|u| loss(u, peer)).collect(), everyone })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};

    fn cube(dimension: u32) -> Graph {
        generate(&Family::Hypercube { dimension }, 0, true).unwrap()
    }

    #[test]
    fn the_papers_hypercube_stops_after_19_steps() {
        let (gap, steps) = stopping_time(&Mixing::new(&cube(11), Weights::MetropolisPlusOne)).unwrap();
        assert!((gap - 1.0 / 6.0).abs() < 1e-9, "{gap}");
        assert_eq!(steps, 19);
    }

    #[test]
    fn on_a_hypercube_both_directions_agree() {
        let study = Study::new("cube", cube(7), 0, Symmetry::None).unwrap();
        let symmetric = Study::new("cube", cube(7), 0, Symmetry::PairTransitive).unwrap();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&study.published, &study.towards) && close(&study.published, &symmetric.published));
        assert!(close(&study.authors, &symmetric.authors));
    }

    #[test]
    fn the_largest_loss_is_that_of_the_formula_and_of_the_authors_picture() {
        let study = Study::new("cube", cube(11), 0, Symmetry::PairTransitive).unwrap();
        let largest = |losses: &[f64]| study.summary(losses, |_| true).unwrap().high;
        assert!((largest(&study.published) - 2.25).abs() < 0.005, "{}", largest(&study.published));
        assert!((largest(&study.authors) - 1.26).abs() < 0.005, "{}", largest(&study.authors));
    }

    #[test]
    fn the_far_side_of_a_hypercube_is_understated_and_relay_noise_repairs_it() {
        let study = Study::new("cube", cube(7), 0, Symmetry::PairTransitive).unwrap();
        let understated = study.understated();
        // Those at 5, 6 and 7 hops: 21, 7 and 1 of 127, of whom 99 are at 3 hops or more.
        assert!((understated.share - 29.0 / 127.0).abs() < 1e-12 && !study.sound());
        assert!((understated.far.unwrap() - 29.0 / 99.0).abs() < 1e-12);
        let (peer, printed, exact) = understated.worst;
        assert!(peer == 127 && printed < 0.05 && (exact - 1.0).abs() < 1e-9);
        let relay = study.relay.as_ref().unwrap();
        assert!(relay.losses[127] < 0.05 && relay.error > 1.0);
    }
}

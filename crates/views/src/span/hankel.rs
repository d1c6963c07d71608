//! Which messages are news where one symmetric matrix serves all rounds: from its moments alone.
//!
//! Message `(t, w)` is `B^t e_w`, so the products of two messages depend on the *sum* of their rounds: `h_(t+s)[w, w'] = e_w' B^(t+s) e_w'`.
//! A message is news unless what it has beside the earlier ones has length zero, which is a matter of the Gram matrix: a few moments
//! instead of long vectors, and for all observers of a graph they are entries of the same powers.

use rayon::prelude::*;
use sottovoce_fault::stop;

use super::alike::Alike;
use super::echelon::News;
use super::field::{Residue, Residues};
use super::rows::Rounds;
use crate::parallel;

/// Most entries of powers to keep: 400 MB.
const MOST: usize = 50_000_000;

/// Columns of powers at a time.
const WIDTH: usize = 8;

/// Where moments come from.
pub(crate) trait Moments {
    /// Number of senders.
    fn senders(&self) -> usize;
    /// `h_k` between two senders; asked for in order of `k`, up to twice the round.
    fn moment(&mut self, k: usize, one: usize, other: usize) -> Residue;
    /// Senders that are heard in a round, if all earlier ones were news.
    fn speaks(&self, _round: usize, _sender: usize) -> bool {
        true
    }
}

/// Independent messages, and the factors `L D L'` of their Gram matrix.
#[derive(Default)]
struct Factors {
    /// Rows of `L`, without the ones on its diagonal.
    lower: Vec<Vec<Residue>>,
    /// `1 / D`.
    inverse: Vec<Residue>,
}

impl Factors {
    /// Takes a message in, given its products with the others and with itself; false if it is a combination of them.
    fn add(&mut self, products: Vec<Residue>, square: Residue) -> bool {
        let mut z = products;
        for i in 0..z.len() {
            z[i] = z[i].minus(Residue::dot(&self.lower[i], &z[..i]));
        }
        let row: Vec<Residue> = z.iter().zip(&self.inverse).map(|(z, inverse)| z.times(*inverse)).collect();
        let rest = square.minus(Residue::dot(&row, &z));
        if rest == Residue::ZERO {
            return false;
        }
        self.lower.push(row);
        self.inverse.push(rest.inverse());
        true
    }

    /// Solves `G c = b`.
    fn solve(&self, mut b: Vec<Residue>) -> Vec<Residue> {
        for i in 0..b.len() {
            b[i] = b[i].minus(Residue::dot(&self.lower[i], &b[..i]));
        }
        b.iter_mut().zip(&self.inverse).for_each(|(b, inverse)| *b = b.times(*inverse));
        for i in (0..b.len()).rev() {
            let factor = b[i].negated();
            let earlier = b.iter_mut().zip(&self.lower[i]);
            earlier.for_each(|(b, lower)| *b = b.plus_times(factor, *lower));
        }
        b
    }
}

/// The messages (round, number of the sender) that are news within so many rounds, and whether that is all there ever will be.
fn news(moments: &mut impl Moments, rounds: usize) -> (Vec<(usize, usize)>, Factors, bool) {
    let (mut factors, mut messages) = (Factors::default(), Vec::new());
    let mut active: Vec<usize> = (0..moments.senders()).collect();
    for t in 0..rounds {
        active.retain(|&w| {
            sottovoce_fault::stop::look();
            let products = messages.iter().map(|&(s, other)| moments.moment(t + s, w, other)).collect();
            let new = moments.speaks(t, w) && factors.add(products, moments.moment(2 * t, w, w));
            if new {
                messages.push((t, w));
            }
            new
        });
        if active.is_empty() {
            break;
        }
    }
    (messages, factors, active.is_empty())
}

/// Peers whose unit vector is in the span: what a random vector has beside it is 0 there, and nowhere else.
fn exposed(
    random: &[Residue],
    along: Vec<Residue>,
    (messages, factors): (&[(usize, usize)], &Factors),
    mix: impl Fn(&[Residue]) -> Vec<Residue>,
) -> Vec<usize> {
    let c = factors.solve(along);
    let mut sum = vec![Residue::ZERO; random.len()];
    let mut newest = messages.last().map_or(0, |last| last.0);
    for (&(t, w), c) in messages.iter().zip(&c).rev() {
        while newest > t {
            sum = mix(&sum);
            newest -= 1;
        }
        sum[w] = sum[w].plus(*c);
    }
    let inside = |&u: &usize| sum[u] == random[u] && random[u] != Residue::ZERO;
    (0..random.len()).filter(inside).collect()
}

/// Moments of one set of observers, from vectors that are mixed once more for each round.
struct Vectors<'a, M> {
    senders: &'a [usize],
    mix: M,
    before: Vec<Vec<Residue>>,
    now: Vec<Vec<Residue>>,
    moments: Vec<Vec<Residue>>,
}

impl<M: Fn(&[Residue]) -> Vec<Residue> + Sync> Moments for Vectors<'_, M> {
    fn senders(&self) -> usize {
        self.senders.len()
    }

    fn moment(&mut self, k: usize, one: usize, other: usize) -> Residue {
        while self.moments.len() <= k {
            if self.moments.len() % 2 == 1 {
                let here = stop::here();
                let next = self.now.par_iter().map(|x| here.go_on(|| (self.mix)(x))).collect();
                self.before = std::mem::replace(&mut self.now, next);
                self.moments.push(products(&self.before, &self.now));
            } else {
                self.moments.push(products(&self.now, &self.now));
            }
        }
        let (one, other) = (one.max(other), one.min(other));
        self.moments[k][one * (one + 1) / 2 + other]
    }
}

/// The lower triangle of a symmetric matrix of products.
fn products(rows: &[Vec<Residue>], columns: &[Vec<Residue>]) -> Vec<Residue> {
    let here = stop::here();
    let pairs: Vec<(usize, usize)> = (0..rows.len()).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    pairs.into_par_iter().map(|(i, j)| here.go_on(|| Residue::dot(&rows[i], &columns[j]))).collect()
}

/// The news of one set of observers over one symmetric matrix.
pub(crate) fn of(rounds: &Rounds) -> News {
    let (senders, matrix) = (rounds.senders(), Alike::new(&rounds.matrix()));
    let mut vectors = Vectors {
        senders,
        mix: |x: &[Residue]| rounds.hide(matrix.times::<1>(x)),
        before: Vec::new(),
        now: senders.iter().map(|&w| rounds.unit(w)).collect(),
        moments: Vec::new(),
    };
    let (messages, factors, _) = news(&mut vectors, rounds.rounds());
    let mut draws = Residues::new(rounds.nodes() as u64);
    let hidden = |u: usize| rounds.observers().binary_search(&u).is_err();
    let random: Vec<Residue> =
        (0..rounds.nodes()).map(|u| Some(draws.draw()).filter(|_| hidden(u)).unwrap_or_default()).collect();
    let messages: Vec<(usize, usize)> = messages.into_iter().map(|(t, i)| (t, senders[i])).collect();
    let (mut x, mut t) = (random.clone(), 0);
    let mut along = Vec::with_capacity(messages.len());
    for &(round, w) in &messages {
        while t < round {
            x = (vectors.mix)(&x);
            t += 1;
        }
        along.push(x[w]);
    }
    let exposed = exposed(&random, along, (&messages, &factors), vectors.mix);
    News { messages, exposed }
}

/// Powers of a matrix between peers that have a neighbour in common, or are neighbours, or the same: for all observers at once.
pub(crate) struct Powers {
    matrix: Alike,
    /// For each peer, those near it, in increasing order.
    near: Vec<Vec<usize>>,
    /// For each peer its entries of `W^0`, `W^1`, ..., near after near.
    entries: Vec<Vec<Residue>>,
    /// A random vector, and its mixtures round by round.
    random: Vec<Vec<Residue>>,
}

impl Powers {
    /// For so many steps over the matrix of `rounds`, which has no observers; none if they do not fit.
    pub(crate) fn new(rounds: &Rounds, near: Vec<Vec<usize>>, steps: usize) -> Option<Self> {
        let size: usize = near.iter().map(Vec::len).sum();
        if size.saturating_mul(2 * steps) > MOST {
            return None;
        }
        let matrix = Alike::new(&rounds.matrix());
        let columns = |i: usize| {
            let near = &near[i * WIDTH..near.len().min((i + 1) * WIDTH)];
            let mut x = vec![Residue::ZERO; rounds.nodes() * WIDTH];
            (0..near.len()).for_each(|j| x[(i * WIDTH + j) * WIDTH + j] = Residue::ONE);
            let room = |near: &Vec<usize>| Vec::with_capacity(near.len() * (2 * steps - 1));
            let mut entries: Vec<Vec<Residue>> = near.iter().map(room).collect();
            for k in 0..2 * steps - 1 {
                if k > 0 {
                    x = matrix.times::<WIDTH>(&x);
                }
                for (j, (entries, near)) in entries.iter_mut().zip(near).enumerate() {
                    entries.extend(near.iter().map(|&v| x[v * WIDTH + j]));
                }
            }
            entries
        };
        let entries =
            parallel::map(rounds.nodes().div_ceil(WIDTH), columns, |_| ()).into_iter().flatten().collect();
        let mut draws = Residues::new(rounds.nodes() as u64);
        let first: Vec<Residue> = (0..rounds.nodes()).map(|_| draws.draw()).collect();
        let random = std::iter::successors(Some(first), |x| Some(matrix.times::<1>(x))).take(steps).collect();
        Some(Self { matrix, near, entries, random })
    }

    /// The news of one observer, who hears its neighbours, within so many steps; none if that takes more powers.
    pub(crate) fn news(&self, observer: usize, heard: &[usize], steps: usize) -> Option<News> {
        let senders: Vec<usize> = std::iter::once(observer).chain(heard.iter().copied()).collect();
        let places =
            |&w: &usize| senders.iter().map(|v| self.near[w].binary_search(v).unwrap_or(0)).collect();
        let mut shared =
            Shared { powers: self, places: senders.iter().map(places).collect(), senders: &senders };
        let known = self.random.len();
        let (messages, factors, all) = news(&mut shared, steps.min(known));
        if steps > known && !all {
            return None;
        }
        let messages: Vec<(usize, usize)> = messages.into_iter().map(|(t, i)| (t, senders[i])).collect();
        let along = messages.iter().map(|&(t, w)| self.random[t][w]).collect();
        let mix = |x: &[Residue]| self.matrix.times::<1>(x);
        let mut exposed = exposed(&self.random[0], along, (&messages, &factors), mix);
        exposed.retain(|&u| u != observer);
        let messages = messages.into_iter().filter(|&(_, w)| w != observer).collect();
        Some(News { messages, exposed })
    }
}

/// Moments of one observer: its own first value, and its neighbours' messages.
struct Shared<'a> {
    powers: &'a Powers,
    senders: &'a [usize],
    /// Where each sender is among those near another.
    places: Vec<Vec<usize>>,
}

impl Moments for Shared<'_> {
    fn senders(&self) -> usize {
        self.senders.len()
    }

    #[inline]
    fn moment(&mut self, k: usize, one: usize, other: usize) -> Residue {
        let w = self.senders[one];
        self.powers.entries[w][k * self.powers.near[w].len() + self.places[one][other]]
    }

    /// What the observer itself holds later is a mixture of what it heard.
    fn speaks(&self, round: usize, sender: usize) -> bool {
        round == 0 || sender > 0
    }
}

//! The formulas as printed (Muffliato), in units of local DP. **Kept for comparison only.**
//!
//! The messages that a peer hears share the same `n` noises, so their losses do not add up as Theorem 1 has it: on a ring of
//! twelve the printed loss of the opposite peer is 0.0002, and the truth is 1 (`docs/theorems/muffliato-refuted.md`). What rests
//! on the mean over peers alone survives: [`mean`] and [`random_graph`].

use serde::Serialize;
use sottovoce_privacy::Standing;
use sottovoce_topology::mixing::Mixing;
use sottovoce_topology::schedule::Schedule;

use crate::error::{Error, check_observers, check_steps};
use crate::exact::heard;
use crate::powers::{Row, WIDTH, each_power, spare, squared_lengths, transpose, zeros};
use crate::{Result, parallel, require};

/// Which printed formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formula {
    /// Theorem 1, and Theorem 12 for a coalition: `Σ_t Σ_w (W^t)_uw² / |(W^t)_w|²` over the messages heard.
    Theorem1,
    /// The authors' later correction: `Σ_w Σ_s (T-s) (W^s)_uw / |(W^s)_w|²`, at most 1.
    Corrected,
}

impl Formula {
    /// Both are exceeded by a reconstruction on the 12-ring.
    pub fn standing(self) -> Standing {
        Standing::Refuted
    }

    /// Adds what power `s` of `steps` contributes for the entries of a block of rows `W^s_w`.
    #[inline(always)]
    fn add(self, sums: &mut [Row], x: &[Row], s: usize, steps: usize) {
        let lengths = squared_lengths(x);
        // Columns that pad a block are zero.
        let inverse = lengths.map(|length| if length > 0.0 { 1.0 / length } else { 0.0 });
        match self {
            Self::Theorem1 => accumulate(sums, x, |x, i| x * x * inverse[i]),
            Self::Corrected => {
                let left = (steps - s) as f64;
                accumulate(sums, x, |x, i| left * x * inverse[i]);
            }
        }
    }

    fn clip(self, loss: f64) -> f64 {
        if self == Self::Corrected { loss.min(1.0) } else { loss }
    }
}

/// The printed loss of every peer towards `observers` together, over one matrix.
pub fn gossip(formula: Formula, mixing: &Mixing, observers: &[usize], steps: usize) -> Result<Vec<f64>> {
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    let senders = senders(mixing, &observers);
    let mut losses = vec![0.0; mixing.nodes()];
    for block in senders.chunks(WIDTH) {
        let sums = contributions(formula, mixing, block, steps);
        losses.iter_mut().zip(&sums).for_each(|(loss, row)| *loss += row.iter().sum::<f64>());
    }
    losses.iter_mut().for_each(|loss| *loss = formula.clip(*loss));
    Ok(losses)
}

/// The printed loss of every pair, `losses[v * n + u]` that of `u` towards `v`.
pub fn gossip_all_pairs(formula: Formula, mixing: &Mixing, steps: usize) -> Result<Vec<f64>> {
    mixing.check()?;
    check_steps(steps)?;
    let n = mixing.nodes();
    // Row `w`: what hearing peer `w` in all steps reveals about each peer. An observer hears its neighbours.
    let mut heard = vec![0.0; n * n];
    parallel::fill(&mut heard, WIDTH * n, |i, rows| {
        let block: Vec<usize> = (i * WIDTH..i * WIDTH + rows.len() / n).collect();
        let sums = contributions(formula, mixing, &block, steps);
        transpose(&sums, rows);
        spare(sums);
    });
    let (mut losses, arch) = (vec![0.0; n * n], pulp::Arch::new());
    parallel::fill(&mut losses, n, |v, row| {
        arch.dispatch(AddRows { rows: &heard, which: mixing.graph().neighbors(v), sums: row });
        row.iter_mut().for_each(|loss| *loss = formula.clip(*loss));
    });
    Ok(losses)
}

/// The printed loss over a schedule (Theorem 1 with its general matrices).
pub fn scheduled(schedule: &Schedule, observers: &[usize], steps: usize) -> Result<Vec<f64>> {
    check_steps(steps)?;
    let n = schedule.nodes();
    let observers = check_observers(observers, n)?;
    // `W_{0:t}`, row after row.
    let mut product = vec![0.0; n * n];
    (0..n).for_each(|i| product[i * n + i] = 1.0);
    let mut next = vec![0.0; n * n];
    let mut losses = vec![0.0; n];
    for t in 0..steps {
        let Some(step) = schedule.step(t) else {
            return Err(Error::parameter("steps", steps, format!("the schedule has {t}")));
        };
        for w in heard(&step, &observers).into_iter().filter(|w| observers.binary_search(w).is_err()) {
            let row = &product[w * n..(w + 1) * n];
            let length: f64 = row.iter().map(|x| x * x).sum();
            losses.iter_mut().zip(row).for_each(|(loss, x)| *loss += x * x / length);
        }
        step.apply_block(&product, n, &mut next);
        std::mem::swap(&mut product, &mut next);
    }
    Ok(losses)
}

/// Corollaries 1 and 3: `n max_w W_vw^-2 Σ_(t=1..T) P(X^t in V | X^0 = u)²` for the walk with transitions `W`.
pub fn random_walk(mixing: &Mixing, observers: &[usize], steps: usize) -> Result<Vec<f64>> {
    mixing.check()?;
    check_steps(steps)?;
    let observers = check_observers(observers, mixing.nodes())?;
    let n = mixing.nodes();
    let smallest = (observers.iter())
        .flat_map(|&v| mixing.row(v))
        .filter(|(w, weight)| *weight > 0.0 && observers.binary_search(w).is_err())
        .map(|(_, weight)| weight)
        .fold(f64::INFINITY, f64::min);
    let mut reach = vec![0.0; n];
    observers.iter().for_each(|&v| reach[v] = 1.0);
    let mut next = vec![0.0; n];
    let mut losses = vec![0.0; n];
    for _ in 0..steps {
        mixing.apply(&reach, &mut next);
        std::mem::swap(&mut reach, &mut next);
        losses.iter_mut().zip(&reach).for_each(|(loss, p)| *loss += p * p);
    }
    losses.iter_mut().for_each(|loss| *loss *= n as f64 / (smallest * smallest));
    Ok(losses)
}

/// The mean loss over all peers: messages heard over `n`. Safe: the exact mean is `rank / n`, and the rank is no larger.
pub fn mean(messages_heard: usize, nodes: usize) -> f64 {
    messages_heard as f64 / nodes as f64
}

/// Theorems 4 and 9, Corollary 5: the loss of a peer that is no neighbour of the observers, on a secret random graph.
///
/// `degree` is the number of peers the observers hear. Conditional: the graph is secret beyond one's neighbours, all others are
/// alike to the observers, and `sigma² >= Delta² alpha (alpha - 1) / 2` at the order `alpha` one asks for.
pub fn random_graph(nodes: usize, degree: usize, steps: usize) -> Result<(f64, Standing)> {
    check_steps(steps)?;
    // The printed denominator is one too large, which the printed numerator makes up for only in runs that are not long.
    let remedy = format!("the theorem needs degree + 2 steps < {nodes} peers");
    require(degree + 2 * steps < nodes, "steps", steps, remedy)?;
    let loss = 2.0 * (steps * degree) as f64 / (nodes - degree) as f64;
    let assumptions = [
        "the graph is secret beyond one's own neighbours, and all others are alike",
        "sigma² >= Delta² alpha (alpha - 1) / 2 at the Rényi order alpha",
    ];
    Ok((loss.min(1.0), Standing::Conditional(assumptions.map(String::from).to_vec())))
}

/// Theorem 4 and Corollary 5: the probability that a peer is heard directly by one of `observers` peers, on a random graph with
/// edge probability `q`; its loss is then that of local DP.
pub fn neighbour_probability(q: f64, observers: usize) -> f64 {
    -(observers as f64 * (-q).ln_1p()).exp_m1()
}

/// Whom the observers hear.
fn senders(mixing: &Mixing, observers: &[usize]) -> Vec<usize> {
    let step = sottovoce_topology::schedule::Step::Mixing(mixing);
    heard(&step, observers).into_iter().filter(|w| observers.binary_search(w).is_err()).collect()
}

/// [`Formula::add`] with the widest instructions there are.
struct Add<'a> {
    formula: Formula,
    sums: &'a mut [Row],
    x: &'a [Row],
    s: usize,
    steps: usize,
}

impl pulp::WithSimd for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.formula.add(self.sums, self.x, self.s, self.steps);
    }
}

/// Adds up some rows of a matrix as wide as `sums`, in the order given. The sums are written before they are read: fresh memory
/// that is read first costs another interrupt a page when it is written, and one for every other core.
struct AddRows<'a> {
    rows: &'a [f64],
    which: &'a [u32],
    sums: &'a mut [f64],
}

impl pulp::WithSimd for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let n = self.sums.len();
        let row = |w: u32| &self.rows[w as usize * n..][..n];
        let Some((&first, others)) = self.which.split_first() else { return self.sums.fill(0.0) };
        self.sums.copy_from_slice(row(first));
        for &other in others {
            self.sums.iter_mut().zip(row(other)).for_each(|(sum, x)| *sum += x);
        }
    }
}

/// For each peer (rows) and each sender of the block (columns): what all its messages contribute.
fn contributions(formula: Formula, mixing: &Mixing, block: &[usize], steps: usize) -> Vec<Row> {
    let mut sums = zeros(mixing.nodes());
    each_power(mixing, block, steps, |t, x| {
        pulp::Arch::new().dispatch(Add { formula, sums: &mut sums, x, s: t, steps });
    });
    sums
}

#[inline(always)]
fn accumulate(sums: &mut [Row], x: &[Row], term: impl Fn(f64, usize) -> f64) {
    for (sum, x) in sums.iter_mut().zip(x) {
        for i in 0..WIDTH {
            sum[i] += term(x[i], i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_topology::family::{Family, generate};
    use sottovoce_topology::mixing::Weights;

    fn mixing(family: &Family) -> Mixing {
        Mixing::new(&generate(family, 3, true).unwrap(), Weights::MetropolisPlusOne)
    }

    /// Written out with full matrices.
    #[test]
    fn theorem_1_is_the_printed_sum() {
        let mixing = mixing(&Family::ErdosRenyi { n: 13, p: 0.3 });
        let (n, steps) = (13, 5);
        let mut power: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let mut sums = vec![0.0; n * n];
        for _ in 0..steps {
            for v in 0..n {
                for &w in mixing.graph().neighbors(v) {
                    let row = &power[w as usize];
                    let length: f64 = row.iter().map(|x| x * x).sum();
                    (0..n).for_each(|u| sums[v * n + u] += row[u] * row[u] / length);
                }
            }
            let entry = |i: usize, j: usize| (0..n).map(|k| power[i][k] * mixing.weight(k, j)).sum();
            power = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        }
        let all = gossip_all_pairs(Formula::Theorem1, &mixing, steps).unwrap();
        for v in 0..n {
            let one = gossip(Formula::Theorem1, &mixing, &[v], steps).unwrap();
            for u in 0..n {
                assert!((all[v * n + u] - sums[v * n + u]).abs() < 1e-12);
                assert!((one[u] - sums[v * n + u]).abs() < 1e-12);
            }
            // Summed over everyone it is the number of messages.
            assert!((one.iter().sum::<f64>() - (mixing.graph().degree(v) * steps) as f64).abs() < 1e-9);
        }
    }

    /// Corollary 1 bounds Theorem 1 (as its proof says), for one observer and for several.
    #[test]
    fn the_walk_form_is_looser() {
        let mixing = mixing(&Family::ErdosRenyi { n: 20, p: 0.25 });
        for observers in [vec![0], vec![2, 7]] {
            let walk = random_walk(&mixing, &observers, 6).unwrap();
            let sum = gossip(Formula::Theorem1, &mixing, &observers, 6).unwrap();
            let others = (0..20).filter(|u| !observers.contains(u));
            others.for_each(|u| assert!(walk[u] >= sum[u] - 1e-12, "{u}: {} {}", walk[u], sum[u]));
        }
    }

    #[test]
    fn the_correction_is_clipped_to_local_dp() {
        let mixing = mixing(&Family::Ring { n: 9 });
        let losses = gossip(Formula::Corrected, &mixing, &[4], 8).unwrap();
        assert!(losses.iter().all(|loss| (0.0..=1.0).contains(loss)));
        assert_eq!(losses[3], 1.0);
    }

    #[test]
    fn random_graphs_have_the_printed_bound_and_its_conditions() {
        let (loss, standing) = random_graph(2000, 10, 8).unwrap();
        assert!((loss - 160.0 / 1990.0).abs() < 1e-15);
        assert!(matches!(standing, Standing::Conditional(_)));
        assert!(random_graph(20, 10, 8).is_err());
        assert!((neighbour_probability(0.01, 1) - 0.01).abs() < 1e-15);
        assert!((neighbour_probability(0.5, 3) - 0.875).abs() < 1e-15);
    }
}

//! Differentially private decentralized learning with random walks (Cyffers, Bellet and Upadhyay, 2024).
//!
//! Losses of one contribution, in units of local DP, `alpha/(2 sigma²)`. The page `docs/theorems/random-walks.md` says what is true.

use std::f64::consts::PI;

use sottovoce_privacy::Standing;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::spectrum::{Spectrum, mixing_time};

use super::{Answer, Inputs, Statement};
use crate::printed::walk::PublishedWalk;
use crate::{Result, require};

const LOSSES: &[&str] = &["graph", "observers", "steps"];
const RATE: &[&str] = &[
    "graph",
    "sigma",
    "iterations",
    "smoothness",
    "convexity",
    "heterogeneity",
    "variance",
    "distance",
    "dimension",
];

pub(super) static STATEMENTS: &[Statement] = &[
    Statement::new("theorem-2", "The rate of learning by a walk", RATE, theorem_2),
    Statement::new("remark-4", "How much noise costs nothing", RATE, theorem_2),
    Statement::new("theorem-3", "Losses of one contribution, in closed form", LOSSES, theorem_3),
    Statement::new("remark-2", "The complete graph", &["peers", "steps"], complete),
    Statement::new(
        "theorem-4",
        "Losses of one contribution on a star",
        &["peers", "steps", "kept"],
        theorem_4,
    ),
    Statement::new("theorem-5", "Losses of one contribution on a ring", &["peers", "steps"], theorem_5),
    Statement::new("appendix-b1", "Losses of one contribution if senders are known", LOSSES, sender_known),
    Statement::new("appendix-d", "Losses of one contribution to a coalition", LOSSES, coalition),
    Statement::new(
        "contributions",
        "How often a peer contributes, with high probability",
        &["graph", "observers", "steps", "probability"],
        contributions,
    ),
    Statement::new(
        "burn-in",
        "How long an averaging token must walk before it is used",
        &["graph", "spread", "accuracy", "probability"],
        burn_in,
    ),
    Statement::new(
        "averaging",
        "How far a token's running mean is from the mean",
        &["graph", "spread", "steps", "sigma"],
        averaging,
    ),
];

/// Theorem 2 and Remark 4. Both versions of the step are printed; the proof's `3·13 = 39` is the one that agrees with the bound.
fn theorem_2(inputs: &Inputs) -> Result<Answer> {
    let says = "With a step of min(1/L, ln(T mu² |x_0 - x*|²/(39 L tau zeta²))/(T mu)) the squared distance from the optimum after T steps is at most \
                2 exp(-T mu/L) |x_0 - x*|² + (39 tau zeta² L/(mu³ T) + (d sigma² + sigma_sgd²) L/(mu² T)) ln(T mu² |x_0 - x*|²/(39 L tau zeta²)).";
    let (graph, mixing) = inputs.mixing()?;
    let spectrum = Spectrum::of(&mixing)?;
    // τ_mix(1/4), from above.
    let tau = mixing_time(&spectrum, graph.nodes(), 0.25)?.upper;
    require(tau.is_finite(), "graph", "never mixes", "take weights that keep something: --lazy 0.1")?;
    let (smooth, convex) = inputs.curvature()?;
    let (zeta, rho, far) = (inputs.heterogeneity()?, inputs.variance()?, inputs.distance()?);
    require(zeta > 0.0, "heterogeneity", zeta, "give more than 0: the theorem's logarithm divides by it")?;
    let (noise, dimension) = (inputs.sigma()?.powi(2), inputs.dimension()? as f64);
    let steps = inputs.iterations(usize::MAX)?.unwrap_or(20 * graph.nodes());
    let t = steps as f64;
    let inside = t * convex * convex * far / (39.0 * smooth * tau * zeta);
    let log = inside.ln();
    let as_stated = (t * far / (convex * convex * tau * zeta)).ln() / (t * convex);
    let step = (1.0 / smooth).min(log / (t * convex));
    let walk = 39.0 * tau * zeta * smooth / (convex.powi(3) * t) * log;
    let private = (dimension * noise + rho) * smooth / (convex * convex * t) * log;
    let start = 2.0 * (-t * convex / smooth).exp() * far;
    let free = 39.0 * smooth * tau * zeta / (dimension * convex);
    let answer = Answer::new(says, Standing::Published)
        .case("n", graph.nodes() as f64, "peers")
        .case("tau", tau, "steps until the walk has mixed (1/4), at most")
        .case("T", t, "steps of the walk")
        .printed("step", step, "with the constant of the proof")
        .printed(
            "step, stated",
            (1.0 / smooth).min(as_stated),
            "with the constant of the theorem's first line, which is another",
        )
        .printed("from start", start, "of what is left of the first distance")
        .printed("from walk", walk, "of the walk's own randomness")
        .printed("from noise", private, "of noise for privacy and of single rows")
        .printed("bound", start + walk + private, "on the squared distance from the optimum")
        .printed("free noise", free, "sigma² up to which privacy costs less than the walk does (Remark 4)");
    Ok(match log > 0.0 {
        true => answer,
        false => {
            answer.note("The logarithm is not positive: T is too small for the theorem to say anything.")
        }
    })
}

/// The printed sum beside a closed form of it.
fn beside_the_sum(answer: Answer, closed: f64, sum: f64) -> Answer {
    answer
        .printed("closed form", closed, "as printed, between these two")
        .truth("sum", sum, "the sum it stands for, equation 13: what its proof shows for one contribution")
        .holds(closed >= sum - 1e-9)
}

fn walk_case(says: &str, mixing: &Mixing, steps: usize) -> Answer {
    Answer::new(says, Standing::Refuted)
        .case("n", mixing.nodes() as f64, "peers")
        .case("T", steps as f64, "steps of the walk")
        .note(
            "One contribution. Of several between two visits the printed losses may not be added: they share their noise (`account walk --trajectory` and \
             `--expected` say what is true).",
        )
}

fn steps(inputs: &Inputs, nodes: usize) -> Result<usize> {
    inputs.steps_or(nodes, || Ok(20 * nodes as u64))
}

fn theorem_3(inputs: &Inputs) -> Result<Answer> {
    let says = "One contribution of u loses at most 2 (ln(T)/n - [ln(I - W + 11ᵀ/n)]_uv) to v.";
    let (graph, mixing) = inputs.mixing()?;
    let (steps, observer) = (steps(inputs, graph.nodes())?, inputs.observer(&graph)?);
    let closed = PublishedWalk::theorem3(&mixing, steps)?.contribution(observer)?;
    let sum = PublishedWalk::new(&mixing, steps)?.contribution(observer)?;
    let gap = |u: &usize| sum[*u] - closed[*u];
    let others = (0..graph.nodes()).filter(|&u| u != observer);
    let worst = others.max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
    let most = |losses: &[f64]| losses.iter().copied().fold(0.0, f64::max);
    let answer = walk_case(says, &mixing, steps)
        .case("v", observer as f64, "who watches")
        .case("u", worst as f64, "who contributes: the one whose closed form is farthest below its sum")
        .printed("most", most(&closed), "the largest loss of anyone");
    Ok(beside_the_sum(answer, closed[worst], sum[worst]).truth(
        "most",
        most(&sum),
        "the largest sum of anyone",
    ))
}

fn complete(inputs: &Inputs) -> Result<Answer> {
    let says =
        "On the complete graph the second term of Theorem 3 is zero: one contribution loses 2 ln(T)/n.";
    let n = inputs.drawn(64)?;
    let graph = generate(&Family::Complete { n }, 0, true)?;
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    let steps = steps(inputs, n)?;
    let sum = PublishedWalk::new(&mixing, steps)?.contribution(0)?;
    Ok(beside_the_sum(walk_case(says, &mixing, steps), 2.0 * (steps as f64).ln() / n as f64, sum[1]))
}

fn theorem_4(inputs: &Inputs) -> Result<Answer> {
    let says = "On a star one contribution loses -2 (1 - kappa) ln(1 - 1/(n-1))/(n-1) between leaves, and \
                (1 - kappa) ln((r + 1)/(r - 1))/r, r = (n-1)^(1/2), to or from the centre.";
    let n = inputs.drawn(64)?;
    let kept = inputs.kept()?;
    let leaves = n as f64 - 1.0;
    let root = leaves.sqrt();
    let centre = (1.0 - kept) * ((root + 1.0) / (root - 1.0)).ln() / root;
    let between = -2.0 * (1.0 - kept) / leaves * (-1.0 / leaves).ln_1p();
    let graph = generate(&Family::Star { n }, 0, true)?;
    let mixing = Mixing::new(&graph, Weights::Metropolis).lazy(kept)?;
    let steps = steps(inputs, n)?;
    let walk = PublishedWalk::new(&mixing, steps)?;
    let (to_centre, to_leaf) = (walk.contribution(0)?[1], walk.contribution(1)?[2]);
    Ok(walk_case(says, &mixing, steps)
        .case("kappa", kept, "probability of keeping the token")
        .printed("centre", centre, "between the centre and a leaf")
        .printed("leaves", between, "between two leaves")
        .truth("centre", to_centre, "the sum it stands for")
        .truth("leaves", to_leaf, "the sum it stands for")
        .holds(centre >= to_centre && between >= to_leaf)
        .note("The printed forms are those of a matrix that loses the token: rows of leaves sum to 1/(n-1) there. Here leaves pass it on with the text's weights."))
}

fn theorem_5(inputs: &Inputs) -> Result<Answer> {
    let says = "On a ring that steps left, right or not at all with probability 1/3 each, one contribution of u loses to v, with \
                a = (u + v - 2) mod n, 2 [|u-v| = 1] ln(T) cos(2 pi a/n)/n + (4/n) Σ_k cos(pi a k/n) ln(3/(4 sin²(pi k/n))).";
    let n = inputs.drawn(12)?;
    let steps = steps(inputs, n)?;
    let graph = generate(&Family::Ring { n }, 0, true)?;
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    let walk = PublishedWalk::new(&mixing, steps)?;
    let size = n as f64;
    let printed = |u: usize, v: usize| {
        let a = ((u + v) % n) as f64;
        let adjacent = f64::from(u8::from(u.abs_diff(v) == 1));
        let term =
            |k: usize| (PI * a * k as f64 / size).cos() * (0.75 / (PI * k as f64 / size).sin().powi(2)).ln();
        2.0 * adjacent * (steps as f64).ln() * (2.0 * PI * a / size).cos() / size
            + 4.0 / size * (1..n).map(term).sum::<f64>()
    };
    let sum = walk.contribution(0)?;
    let worst =
        (1..n).max_by(|&a, &b| (sum[a] - printed(0, a)).total_cmp(&(sum[b] - printed(0, b)))).unwrap_or(1);
    let answer = walk_case(says, &mixing, steps).case(
        "u, v",
        worst as f64,
        "peers 0 and this one: the pair that is understated most",
    );
    Ok(beside_the_sum(answer, printed(0, worst), sum[worst]).note(
        "It should have differences of numbers where it has sums, the whole angle, no indicator and half the factor: then it is the sum.",
    ))
}

fn sender_known(inputs: &Inputs) -> Result<Answer> {
    let says = "If v knows who sent it the token, one contribution of u loses at most the largest loss to one of v's neighbours.";
    let (graph, mixing) = inputs.mixing()?;
    let (steps, observer) = (steps(inputs, graph.nodes())?, inputs.observer(&graph)?);
    let walk = PublishedWalk::new(&mixing, steps)?;
    let (anonymous, known) = (walk.contribution(observer)?, walk.sender_known(observer)?);
    let most = |losses: &[f64]| losses.iter().copied().fold(0.0, f64::max);
    Ok(walk_case(says, &mixing, steps)
        .case("v", observer as f64, "who watches")
        .printed("known", most(&known), "the largest loss of anyone, senders known")
        .printed("anonymous", most(&anonymous), "the same with anonymous senders")
        .truth(
            "direct",
            1.0,
            "what a neighbour loses whose token comes straight from it: only its own noise hides it",
        )
        .holds(most(&known) >= 1.0))
}

fn coalition(inputs: &Inputs) -> Result<Answer> {
    let says = "One contribution of u loses to a coalition F the sum of its losses to the members.";
    let (graph, mixing) = inputs.mixing()?;
    let steps = steps(inputs, graph.nodes())?;
    let observers = inputs.observers(&graph)?;
    let walk = PublishedWalk::new(&mixing, steps)?;
    let losses = walk.coalition(&observers)?;
    Ok(walk_case(says, &mixing, steps)
        .case("observers", observers.len() as f64, "members")
        .printed("most", losses.iter().copied().fold(0.0, f64::max), "the largest loss of anyone")
        .printed("mean", losses.iter().sum::<f64>() / graph.nodes() as f64, "mean over all peers")
        .note("Equation 17 has its fraction upside down: it is alpha/(sigma² i)."))
}

/// The bound that the paper cites (Levin and Peres, Theorem 12.21), beside the law of the number of visits itself.
fn contributions(inputs: &Inputs) -> Result<Answer> {
    let says = "After burn-in, with probability at least 1 - p a peer contributes at most T (1/n + (4 (1/n)(1 - 1/n) t_rel/(p T))^(1/2)) times in T steps \
                (from the cited theorem on averages along a reversible chain).";
    let (graph, mixing) = inputs.mixing()?;
    let n = graph.nodes() as f64;
    let steps = steps(inputs, graph.nodes())?;
    let (peer, p) = (inputs.observer(&graph)?, inputs.probability()?);
    let gap = Spectrum::of(&mixing)?.gap.lower().min(1.0);
    require(gap > 0.0, "graph", "never mixes", "take weights that keep something: --lazy 0.1")?;
    let t = steps as f64;
    let variance = (1.0 - 1.0 / n) / n;
    let printed = (t * (1.0 / n + (4.0 * variance / (gap * p * t)).sqrt())).floor().min(t);
    let answer = Answer::new(says, Standing::Proven)
        .case("n", n, "peers")
        .case("T", t, "steps")
        .case("p", p, "probability of more")
        .printed("mean", t / n, "contributions on average")
        .printed("bound", printed, "contributions with probability at least 1 - p");
    let Some(least) = visits(&mixing, peer, steps, p) else {
        return Ok(answer.note("Too many peers or steps for the law of the number of visits itself."));
    };
    Ok(answer
        .truth("least", least as f64, "the smallest number that the peer exceeds with probability at most p, from a uniform start")
        .holds(least as f64 <= printed)
        .note("A cap on contributions (Remark 5; `--cap` of learning by a walk) makes any such bound a certainty."))
}

/// Most work for the law of visits: peers times steps times counts.
const WORK: f64 = 3e8;

/// The smallest number that visits to `peer` exceed with probability at most `p` in a walk from a uniform start; none where that takes long.
fn visits(mixing: &Mixing, peer: usize, steps: usize, p: f64) -> Option<usize> {
    let n = mixing.nodes();
    let degrees: usize = (0..n).map(|u| mixing.row(u).count()).sum::<usize>() + n;
    let mut most = (8.0 * steps as f64 / n as f64 + 40.0).ceil() as usize;
    loop {
        most = most.min(steps);
        if most as f64 * degrees as f64 * steps as f64 > WORK {
            return None;
        }
        let law = law_of_visits(mixing, peer, steps, most);
        // What is above the largest count that is kept is what is missing.
        let mut above = 1.0 - law.iter().sum::<f64>();
        if above <= p || most == steps {
            let mut count = most;
            while count > 0 && above + law[count] <= p {
                above += law[count];
                count -= 1;
            }
            return Some(count);
        }
        most *= 2;
    }
}

/// Probabilities of `0..=most` visits among so many holders, the first of whom is uniform.
fn law_of_visits(mixing: &Mixing, peer: usize, steps: usize, most: usize) -> Vec<f64> {
    let n = mixing.nodes();
    let mut now = vec![vec![0.0; n]; most + 1];
    (0..n).for_each(|u| {
        let count = usize::from(u == peer);
        if count <= most {
            now[count][u] = 1.0 / n as f64;
        }
    });
    let mut next = vec![0.0; n];
    for _ in 1..steps {
        // What reaches the peer moves one count up: from above, so that nothing moves twice.
        let mut arrived = vec![0.0; most + 2];
        for (count, law) in now.iter_mut().enumerate() {
            mixing.apply(law, &mut next);
            arrived[count + 1] = next[peer];
            next[peer] = 0.0;
            law.copy_from_slice(&next);
        }
        now.iter_mut().zip(&arrived).for_each(|(law, arrived)| law[peer] = *arrived);
    }
    now.iter().map(|law| law.iter().sum()).collect()
}

/// The length of burn-in and of the running mean that follows (Section 5).
fn burn_in(inputs: &Inputs) -> Result<Answer> {
    let says = "After tau_mix(iota/2) steps without any update, a running mean over 4 Var/(eta² iota gap) steps is within eta of the mean with \
                probability at least 1 - iota.";
    let (graph, mixing) = inputs.mixing()?;
    let (spread, eta, iota) = (inputs.spread()?, inputs.accuracy()?, inputs.probability()?);
    let spectrum = Spectrum::of(&mixing)?;
    let gap = spectrum.gap.lower().min(1.0);
    require(gap > 0.0, "graph", "never mixes", "take weights that keep something: --lazy 0.1")?;
    let burn = mixing_time(&spectrum, graph.nodes(), (iota / 2.0).min(0.49))?;
    let running = (4.0 * spread / (eta * eta * iota * gap)).ceil();
    Ok(Answer::new(says, Standing::Proven)
        .case("n", graph.nodes() as f64, "peers")
        .case("gap", gap, "spectral gap")
        .case("eta", eta, "how near the mean")
        .case("iota", iota, "probability of being farther")
        .printed("burn-in", burn.upper.ceil(), "steps without updates, at most")
        .printed("running", running, "steps of the running mean")
        .truth("at least", burn.lower.floor(), "no burn-in that mixes is shorter")
        .note(
            "Without noise for privacy: each step adds its own, and the running mean of T of them has variance sigma²/T. The paper writes 4 delta²/(iota³ gap): \
             the theorem it cites has the accuracy squared and the probability once.",
        ))
}

/// The error of averaging by a running mean (Section 5), from the variance of sums along a reversible chain.
fn averaging(inputs: &Inputs) -> Result<Answer> {
    let says = "The running mean of T noisy values, gamma_t = 1/t, from a uniform start, has a mean squared error of at most 2 Var/(gap T) + sigma²/T.";
    let (graph, mixing) = inputs.mixing()?;
    let (spread, steps) = (inputs.spread()?, steps(inputs, graph.nodes())?);
    let t = steps as f64;
    let gap = Spectrum::of(&mixing)?.gap.lower().min(1.0);
    require(gap > 0.0, "graph", "never mixes", "take weights that keep something: --lazy 0.1")?;
    let noise = inputs.sigma()?.powi(2) / t;
    let walk = 2.0 * spread / (gap * t);
    let slowest = spread * sum_of_powers(1.0 - gap, steps) / (t * t);
    Ok(Answer::new(says, Standing::Proven)
        .case("n", graph.nodes() as f64, "peers")
        .case("T", t, "steps")
        .case("gap", gap, "spectral gap")
        .printed("from walk", walk, "of the walk's own randomness")
        .printed("from noise", noise, "of noise for privacy")
        .printed("bound", walk + noise, "on the mean squared error")
        .truth("slowest", slowest + noise, "no values of this variance have more; those along the graph's slowest direction have it, unless they alternate")
        .holds(slowest <= walk)
        .note("`run averaging --protocol walk` prints the exact error of its own values, for any start, steps and weights."))
}

/// `Σ_{s,t<T} lambda^|s-t|`.
fn sum_of_powers(lambda: f64, steps: usize) -> f64 {
    let (mut sum, mut power) = (0.0, 1.0);
    for apart in 0..steps {
        sum += power * (steps - apart) as f64 * if apart == 0 { 1.0 } else { 2.0 };
        power *= lambda;
    }
    sum
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Two peers who pass or keep the token with equal chance: visits are fair coins.
    #[test]
    fn visits_of_two_peers_are_coins() {
        let graph = generate(&Family::Complete { n: 2 }, 0, true).unwrap();
        let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
        let law = law_of_visits(&mixing, 0, 4, 4);
        let coins = [1.0, 4.0, 6.0, 4.0, 1.0].map(|ways| ways / 16.0);
        assert!(law.iter().zip(coins).all(|(law, coin): (&f64, f64)| (law - coin).abs() < 1e-15), "{law:?}");
        // Three or more with probability 5/16, four with 1/16.
        assert_eq!(
            (visits(&mixing, 0, 4, 0.4), visits(&mixing, 0, 4, 0.1), visits(&mixing, 0, 4, 0.01)),
            (Some(2), Some(3), Some(4))
        );
    }
}

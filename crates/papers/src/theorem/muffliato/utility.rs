//! Errors: Theorems 2, 3, 5, 7, 8 and 10; footnote 2.

use sottovoce_privacy::Standing;
use sottovoce_topology::spectrum::{
    Exchanges, Spectrum, chebyshev_weight, optimisation_rounds, pairwise_rate,
};
use sottovoce_views::utility::{Contraction, accelerated_contraction, weighted_output};

use crate::Result;
use crate::printed::utility;
use crate::theorem::{Answer, Inputs};

/// What is true of an error: what noise alone makes of it, and a bound for all values.
struct Truth {
    answer: Answer,
    nodes: usize,
    least: f64,
    most: f64,
    steps: usize,
    /// Of accelerated gossip the gap, of randomised gossip the rate.
    speed: f64,
}

impl Truth {
    /// Whether a printed bound is so here, where that is sure either way.
    fn beside(self, bound: f64) -> Answer {
        let answer = self.answer.printed("bound", bound, "on half the mean squared error");
        if self.least > bound {
            answer.holds(false)
        } else if self.most <= bound {
            answer.holds(true)
        } else {
            answer
        }
    }
}

/// Accelerated gossip.
fn synchronous(inputs: &Inputs, says: &str) -> Result<Truth> {
    let (graph, mixing) = inputs.mixing()?;
    let (sigma, spread) = (inputs.sigma()?, inputs.spread()?);
    let gap = Spectrum::of(&mixing)?.gap.value.min(1.0);
    let steps = inputs.rounds(&mixing, sigma * sigma, spread)?;
    let gamma = chebyshev_weight(gap)?;
    let least = Contraction::accelerated(&mixing, gamma, steps)?.noise_error(steps, sigma, 0.0) / 2.0;
    let most = least + spread * accelerated_contraction(gap, gamma, steps) / 2.0;
    let answer = Answer::new(says, Standing::Published)
        .case("n", graph.nodes() as f64, "peers")
        .case("gap", gap, "spectral gap of the weights")
        .case("T", steps as f64, "steps")
        .truth("from noise", least, "half the mean squared error that is due to noise, exactly")
        .truth("at most", most, "the same with the values' spread, whatever the values (proven)");
    Ok(Truth { answer, nodes: graph.nodes(), least, most, steps, speed: gap })
}

/// Footnote 2: a rate that was promised, beside the one that is proven.
pub(super) fn footnote_2(inputs: &Inputs) -> Result<Answer> {
    let says = "Randomised gossip could be accelerated: sqrt(lambda/|E|) instead of lambda in all results.";
    let (graph, mixing) = inputs.mixing()?;
    let Exchanges { rate, resistance } = Exchanges::of(&mixing)?;
    let edges = graph.edge_count() as f64;
    let (printed, proven) = ((rate / edges).sqrt(), (rate / resistance).sqrt());
    let answer = Answer::new(says, Standing::Published)
        .case("n", graph.nodes() as f64, "peers")
        .case("|E|", edges, "edges")
        .case("lambda", rate, "share by which differences shrink in a step without acceleration")
        .case("kappa", resistance, "largest effective resistance of an edge")
        .printed("rate", printed, "share by which differences would shrink in a step")
        .truth("rate", proven, "sqrt(lambda/kappa), proven, after a factor of 2")
        .note("run averaging --protocol accelerated-randomised does it.");
    Ok(if proven >= printed { answer.holds(true) } else { answer })
}

/// Randomised gossip, in expectation over the edges that are drawn.
fn randomised(inputs: &Inputs, says: &str) -> Result<Truth> {
    let (graph, mixing) = inputs.mixing()?;
    let (sigma, spread, n) = (inputs.sigma()?, inputs.spread()?, graph.nodes() as f64);
    let rate = pairwise_rate(&mixing)?;
    let steps = inputs.exchanges(&mixing, sigma * sigma, spread)?;
    let left = (steps as f64 * (-rate).ln_1p()).exp();
    // The mean of all noises stays; what is beside it shrinks by the rate, as the values do.
    let noise = sigma * sigma / n;
    let most = (noise + (sigma * sigma * (1.0 - 1.0 / n) + spread) * left) / 2.0;
    let answer = Answer::new(says, Standing::Published)
        .case("n", n, "peers")
        .case("rate", rate, "share by which differences shrink in a step")
        .case("T", steps as f64, "steps")
        .truth("at least", noise / 2.0, "half of sigma²/n, which no averaging of these noises is below")
        .truth("at most", most, "half the mean squared error, whatever the values (proven)");
    Ok(Truth { answer, nodes: graph.nodes(), least: noise / 2.0, most, steps, speed: rate })
}

pub(super) fn theorem_2(inputs: &Inputs) -> Result<Answer> {
    let says = "After T = ceil(gap^(-1/2) ln((n/sigma²) max(sigma², spread))) steps half the mean squared error is at most 3 sigma²/n.";
    let truth = synchronous(inputs, says)?;
    let bound = 3.0 * inputs.sigma()?.powi(2) / truth.nodes as f64;
    Ok(truth.beside(bound))
}

pub(super) fn theorem_7(inputs: &Inputs) -> Result<Answer> {
    let says = "After T steps half the mean squared error is at most (spread + sigma²) exp(-T gap^(1/2)) + sigma²/n.";
    let truth = synchronous(inputs, says)?;
    let bound =
        utility::accelerated(inputs.spread()?, inputs.sigma()?, truth.nodes, truth.speed, truth.steps);
    Ok(truth.beside(bound))
}

pub(super) fn theorem_3(inputs: &Inputs) -> Result<Answer> {
    let says = "After T = ceil(rate^-1 ln((n/sigma²) max(sigma², spread))) steps half the mean squared error of randomised gossip is at \
                most 2 sigma²/n.";
    let truth = randomised(inputs, says)?;
    let bound = 2.0 * inputs.sigma()?.powi(2) / truth.nodes as f64;
    Ok(truth.beside(bound))
}

pub(super) fn theorem_8(inputs: &Inputs) -> Result<Answer> {
    let says = "After T steps half the mean squared error of randomised gossip is at most (spread + sigma²) exp(-T rate) + sigma²/n.";
    let truth = randomised(inputs, says)?;
    let bound = utility::randomised(inputs.spread()?, inputs.sigma()?, truth.nodes, truth.speed, truth.steps);
    Ok(truth.beside(bound))
}

/// Theorems 5 and 10: rounds, and the two terms of the rate, whose constants and logarithms the paper leaves out.
pub(super) fn theorem_5(inputs: &Inputs) -> Result<Answer> {
    let says = "With K = ceil(gap^(-1/2) ln max(n, zeta²/(sigma² + rho²))) rounds of gossip after each of T gradient steps, the weighted mean of \
                the iterates is within (rho² + sigma²)/(n mu T) + L |theta_0 - theta*|² exp(-T/(2 kappa)) of the optimum, up to constants and \
                logarithms.";
    let (graph, mixing) = inputs.mixing()?;
    let n = graph.nodes() as f64;
    let gap = Spectrum::of(&mixing)?.gap.value.min(1.0);
    let noise = inputs.sigma()?.powi(2);
    let (smooth, convex) = inputs.curvature()?;
    let (zeta, rho) = (inputs.heterogeneity()?, inputs.variance()?);
    let kappa = smooth / convex;
    let iterations = inputs.iterations(usize::MAX)?.unwrap_or((2.0 * kappa * n.ln()).ceil() as usize);
    let rounds = optimisation_rounds(gap, graph.nodes(), zeta, noise, rho)?;
    let alike = optimisation_rounds(gap, graph.nodes(), 0.0, noise, rho)?;
    let from_noise = (rho + noise) / (n * convex * iterations as f64);
    let noisy = (rho + noise) / n;
    // Every step is allowed that is small enough: the best of a few is a bound, too.
    let steps = (0..200).map(|k| 0.5 / smooth * 0.5_f64.powf(f64::from(k) / 4.0));
    let distance = inputs.distance()?;
    let bounds = steps.map(|step| weighted_output(convex, step, iterations, distance, noisy));
    let least = bounds.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
    let from_start = smooth * distance * (-(iterations as f64) / (2.0 * kappa)).exp();
    Ok(Answer::new(says, Standing::Published)
        .case("n", n, "peers")
        .case("gap", gap, "spectral gap of the weights")
        .case("kappa", kappa, "condition number L/mu")
        .case("T", iterations as f64, "gradient steps")
        .printed("K", rounds as f64, "rounds of gossip after each gradient step")
        .printed("K, alike", alike as f64, "the same if all peers had the same data (zeta = 0)")
        .printed("from noise", from_noise, "(rho² + sigma²)/(n mu T), without its constants")
        .printed("from start", from_start, "L |theta_0 - theta*|² exp(-T/(2 kappa)), without its constants")
        .truth("at most", least, "if averagings end in consensus, with the best step: no constants are left out (proven)")
        .note("An order of magnitude: the paper hides constants and logarithms, so it can be neither met nor missed. `run learning --set final-model=weighted` ends with that mean."))
}

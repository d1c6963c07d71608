//! Differentially private decentralized deep learning with consensus algorithms (Bayrooti, Gao and Prorok, 2023). What is true instead:
//! `docs/theorems/consensus-descent.md`.
//!
//! Convergence is asked about where it can be computed: agents on a complete graph, with quadratic losses that are all alike.

use sottovoce_privacy::{Accountant, Adjacency, Lots, Mechanism, Standing};

use super::{Answer, Inputs, Statement};
use crate::Result;

pub(super) static STATEMENTS: &[Statement] = &[
    Statement::new(
        "theorem-51",
        "How far noise keeps models from where they would be",
        &["peers", "dimension", "iterations", "sigma", "smoothness", "convexity"],
        theorem_51,
    ),
    Statement::new(
        "lemma-a1",
        "Which noise is damped by how much",
        &["iterations", "smoothness", "convexity"],
        lemma_a1,
    ),
    Statement::new(
        "algorithm-3",
        "Loss of two primal steps in each round",
        &["rows", "sigma", "iterations", "delta"],
        algorithm_3,
    ),
];

/// Most iterations: closed forms need no work, and counts are exact.
const MOST: usize = 1_000_000;

/// Rows of a lot, on average.
const LOT: u64 = 256;

/// `1 + x + x² + …`, so many terms.
fn geometric(x: f64, terms: usize) -> f64 {
    if x == 1.0 { terms as f64 } else { (1.0 - x.powf(terms as f64)) / (1.0 - x) }
}

fn theorem_51(inputs: &Inputs) -> Result<Answer> {
    let says = "Of strongly convex losses a private run converges at a linear rate to within O(sigma) of the optimum: K C_sigma C_eta D/(1 - rho), D = E|xi| = O(sigma).";
    let (n, d) = (inputs.drawn(10)?, inputs.dimension()? as f64);
    let (k, sigma) = (inputs.iterations(MOST)?.unwrap_or(100), inputs.sigma()?);
    let (smooth, convex) = inputs.curvature()?;
    let eta = 1.0 / (smooth + convex);
    let (rho, peers) = (1.0 - eta * convex, n as f64);
    let printed = eta * sigma / (1.0 - rho);
    // W - eta mu I has the eigenvalue rho once, for the mean, and -eta mu for all differences.
    let modes = geometric(rho * rho, k) + (peers - 1.0) * geometric((eta * convex).powi(2), k);
    let exact = eta * sigma * (d * modes).sqrt();
    let bound = eta * sigma * (peers * d * geometric(rho * rho, k)).sqrt();
    let answer = Answer::new(says, Standing::Refuted)
        .case("N", peers, "agents on a complete graph, losses mu |theta - b_i|²/2, DSGD")
        .case("d", d, "numbers of a model")
        .case("k", k as f64, "iterations")
        .case("eta", eta, "constant step: 1/(L + mu)")
        .case("sigma", sigma, "deviation of the noise on each number of a gradient")
        .printed("at most", printed, "E|deviation| of all models together, with D = sigma")
        .truth("exactly", exact, "root of the mean squared deviation from the run without noise")
        .truth("at most", bound, "the same, for any strongly convex losses without clipping")
        .note(
            "The length of a Gaussian vector of N d numbers is sigma sqrt(N d), not sigma. With constant steps DSGD ends beside the optimum, noise or not; \
             and clipping moves the optimum.",
        );
    // The mean length of a Gaussian vector is between sqrt(2/pi) of the root of its mean square, and that.
    Ok(match () {
        () if exact <= printed => answer.holds(true),
        () if exact * std::f64::consts::FRAC_2_PI.sqrt() > printed => answer.holds(false),
        () => answer,
    })
}

fn lemma_a1(inputs: &Inputs) -> Result<Answer> {
    let says =
        "|M(theta^k) - M*| <= rho^k |M(theta^0) - M*| + K C_sigma Σ_{i=0..k} rho^i eta^(k-i) |xi^(i)|.";
    let k = inputs.iterations(MOST)?.unwrap_or(10);
    let (smooth, convex) = inputs.curvature()?;
    let (eta, rho) = (1.0 / smooth, 1.0 - convex / smooth);
    let printed = eta * rho.powf(k as f64);
    Ok(Answer::new(says, Standing::Refuted)
        .case("k", k as f64, "iterations of one agent from the optimum of mu theta²/2")
        .case("eta", eta, "constant step: 1/L")
        .case("rho", rho, "1 - eta mu")
        .printed("at most", printed, "|theta^k|, where the last noise is 1 and all others are 0")
        .truth("exactly", eta, "|theta^k|")
        .truth("at most", eta, "the sum with xi^(k-i) in the place of xi^(i)")
        .holds(eta <= printed)
        .note("The latest noise is damped least. As printed it is damped most, and any bound can be exceeded by waiting."))
}

fn algorithm_3(inputs: &Inputs) -> Result<Answer> {
    let says =
        "With sigma chosen for the sampled Gaussian mechanism every agent is (epsilon, delta)-private.";
    let (rows, sigma, delta) = (inputs.rows()?, inputs.sigma()?, inputs.delta()?);
    let k = inputs.iterations(MOST)?.unwrap_or(100);
    let composed = |mechanism: Mechanism, draws: usize| -> Result<Accountant> {
        let mut accountant = Accountant::new(Adjacency::AddRemove);
        accountant.compose(mechanism, draws as u64)?;
        Ok(accountant)
    };
    let lots = Lots::of_size(rows as usize, if rows < LOT { rows as f64 } else { LOT as f64 })?;
    let batches = Mechanism::gaussian(sigma)?.poisson(1.0 / rows.div_ceil(LOT) as f64)?;
    let (printed, _) = composed(batches, k)?.rdp_epsilon(delta)?;
    let [once, twice] = [k, 2 * k]
        .map(|draws| -> Result<f64> { Ok(composed(lots.mechanism(sigma)?, draws)?.epsilon(delta)?.upper) });
    let (once, twice) = (once?, twice?);
    let standing = Standing::Conditional(vec![
        "every primal step is counted as a draw".into(),
        "lots are drawn at the rate that is accounted for".into(),
    ]);
    Ok(Answer::new(says, standing)
        .case("m", rows as f64, "rows of the agent")
        .case("q", lots.rate(), "rate of lots of 256 rows on average, or of all where there are fewer")
        .case("K", k as f64, "rounds")
        .case("delta", delta, "probability up to which the loss holds")
        .printed("epsilon", printed, "by Rényi divergences, rate 1/ceil(m/256), one draw a round, add/remove")
        .truth("one step", once, "certified, where a round has one primal step")
        .truth("two steps", twice, "certified, where it has two")
        .holds(twice <= printed)
        .note(
            "Every primal step takes a gradient of private rows, sent or not. DSGT sends two vectors and draws once: it loses what one step loses.",
        ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn truth(answer: &Answer, name: &str) -> f64 {
        answer.truth.iter().find(|number| number.name == name).unwrap().value
    }

    #[test]
    fn the_deviation_grows_with_the_root_of_the_dimension() {
        let asked = |dimension| Inputs { dimension: Some(dimension), ..Inputs::default() };
        let [one, many] = [1, 400].map(|dimension| theorem_51(&asked(dimension)).unwrap());
        assert!((truth(&many, "exactly") / truth(&one, "exactly") - 20.0).abs() < 1e-9);
        assert_eq!(many.printed[0].value, one.printed[0].value);
        assert_eq!((one.holds, many.holds), (Some(true), Some(false)));
        assert!([one, many].iter().all(|answer| truth(answer, "exactly") <= truth(answer, "at most")));
    }

    #[test]
    fn the_last_noise_is_not_damped() {
        let answer = lemma_a1(&Inputs { iterations: Some(50), ..Inputs::default() }).unwrap();
        assert!(answer.holds == Some(false) && answer.printed[0].value < 0.01 * truth(&answer, "exactly"));
    }

    /// The paper's own setting: an agent with one digit, 2000 rounds, noise for an epsilon of 1 by its accountant.
    #[test]
    fn two_primal_steps_cost_more_than_one() {
        let asked = Inputs {
            rows: Some(5421),
            sigma: Some(8.36),
            iterations: Some(2000),
            delta: Some(1e-5),
            ..Inputs::default()
        };
        let answer = algorithm_3(&asked).unwrap();
        assert!((answer.printed[0].value - 1.0).abs() < 0.01, "{answer:?}");
        assert!(truth(&answer, "one step") < 1.0 && truth(&answer, "two steps") > 1.3, "{answer:?}");
    }
}

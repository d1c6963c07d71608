//! Audits of mechanisms whose epsilon is known: too high a bound must be as rare as promised.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sottovoce_audit::{Attack, OneRun, Rule};

const AUDITS: u64 = 2000;
const SIGNIFICANCE: f64 = 0.05;
/// A binomial of 2000 trials at 0.05 exceeds 149 with probability below 1e-6 (9.6e-7): so rarely does a rule that keeps
/// its promise fail one of these tests over the choice of the seed.
const TOO_OFTEN: u64 = 149;

/// The number of events of probability `probability` among `trials`.
fn count(rng: &mut ChaCha8Rng, trials: u64, probability: f64) -> u64 {
    (0..trials).filter(|_| rng.random::<f64>() < probability).count() as u64
}

fn exceedances(seed: u64, mut bound: impl FnMut(&mut ChaCha8Rng) -> f64, truth: f64) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..AUDITS).filter(|_| bound(&mut rng) > truth).count() as u64
}

#[test]
fn rates_of_randomised_response_are_covered() {
    for (seed, epsilon) in [(1, 0.0), (2, 0.5), (3, 1.0), (4, 3.0)] {
        // Guessing what was answered is optimal, and wrong with this probability in both worlds.
        let wrong = 1.0 / (1.0 + f64::exp(epsilon));
        let audit = |rng: &mut ChaCha8Rng| {
            let attack = Attack::new(count(rng, 300, wrong), 300, count(rng, 200, wrong), 200).unwrap();
            attack.error_rates(SIGNIFICANCE).unwrap().epsilon_lower(0.0).unwrap()
        };
        let failures = exceedances(seed, audit, epsilon);
        assert!(failures <= TOO_OFTEN, "epsilon {epsilon}: {failures} of {AUDITS}");
    }
}

#[test]
fn one_run_of_randomised_response_is_covered() {
    for (seed, epsilon) in [(5, 0.0), (6, 0.5), (7, 1.0), (8, 3.0)] {
        let right = 1.0 / (1.0 + f64::exp(-epsilon));
        let audit = |rng: &mut ChaCha8Rng| {
            let audit = OneRun::new(400, 400, count(rng, 400, right)).unwrap();
            audit.epsilon_lower(0.0, SIGNIFICANCE, Rule::Sharp).unwrap()
        };
        let failures = exceedances(seed, audit, epsilon);
        assert!(failures <= TOO_OFTEN, "epsilon {epsilon}: {failures} of {AUDITS}");
        // The test has teeth: this audit is nearly exact, so the share is near the promise as well as below it.
        assert!(failures >= 30, "epsilon {epsilon}: {failures} of {AUDITS}");
    }
}

#[test]
fn one_run_of_a_mechanism_that_leaks_at_random_is_covered() {
    // With probability delta an example's bit is published, else it passes through randomised response; the attacker
    // guesses first what was published, then other examples, 100 in all.
    let (epsilon, delta, examples, guesses) = (0.5_f64, 0.01, 1000_u64, 100_u64);
    let right = 1.0 / (1.0 + (-epsilon).exp());
    for rule in [Rule::Published, Rule::Sharp] {
        let audit = |rng: &mut ChaCha8Rng| {
            let published = count(rng, examples, delta).min(guesses);
            let correct = published + count(rng, guesses - published, right);
            OneRun::new(examples, guesses, correct).unwrap().epsilon_lower(delta, SIGNIFICANCE, rule).unwrap()
        };
        let failures = exceedances(9, audit, epsilon);
        assert!(failures <= TOO_OFTEN, "{rule:?}: {failures} of {AUDITS}");
    }
}

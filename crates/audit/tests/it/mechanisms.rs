//! The one-run theorem against whole mechanisms, written out as tables: none does better than the sharp p-value, and the
//! mechanism of its proof does as well.

use proptest::prelude::*;
use sottovoce_audit::{OneRun, Rule};

const EXAMPLES: usize = 3;
const INPUTS: usize = 1 << EXAMPLES;

/// All guesses about exactly `guesses` of the examples: which are guessed about, and the guess, as bit masks.
fn guess_sets(guesses: u32) -> Vec<(usize, usize)> {
    (0..INPUTS)
        .filter(|about| about.count_ones() == guesses)
        .flat_map(|about| {
            (0..INPUTS).filter(move |guess| guess & !about == 0).map(move |guess| (about, guess))
        })
        .collect()
}

/// The least `delta` for which the table (input by output) is `(epsilon, delta)`-private.
fn delta_of(table: &[Vec<f64>], epsilon: f64) -> f64 {
    let excess = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - epsilon.exp() * b).max(0.0)).sum()
    };
    let pairs = (0..INPUTS).flat_map(|s| (0..EXAMPLES).map(move |i| (s, s ^ (1 << i))));
    pairs.map(|(s, t)| excess(&table[s], &table[t])).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mechanism_beats_the_sharp_p_value(
        raw in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 12), INPUTS),
        sharpness in 0.0f64..8.0, epsilon in 0.0f64..2.0, guesses in 1u32..=3,
    ) {
        // Random weights, tilted towards outputs that are right: from harmless to revealing.
        let outputs = guess_sets(guesses);
        let right = |s: usize, (about, guess): (usize, usize)| (about & !(s ^ guess)).count_ones();
        let table: Vec<Vec<f64>> = (0..INPUTS).map(|s| {
            let weight = |(t, &output): (usize, &(usize, usize))| {
                raw[s][t] * (sharpness * raw[s][0] * f64::from(right(s, output))).exp() + 1e-12
            };
            let row: Vec<f64> = outputs.iter().enumerate().map(weight).collect();
            let total: f64 = row.iter().sum();
            row.into_iter().map(|w| w / total).collect()
        }).collect();
        let delta = delta_of(&table, epsilon);
        prop_assume!(delta < 1.0);
        for correct in 1..=guesses {
            let mass = |s: usize| -> f64 {
                outputs.iter().zip(&table[s]).filter(|&(&o, _)| right(s, o) >= correct).map(|(_, p)| p).sum()
            };
            let reached = (0..INPUTS).map(mass).sum::<f64>() / INPUTS as f64;
            let audit = OneRun::new(EXAMPLES as u64, guesses.into(), correct.into()).unwrap();
            for rule in [Rule::Sharp, Rule::Published] {
                let p = audit.p_value(epsilon, delta, rule).unwrap();
                prop_assert!(reached <= p + 1e-12, "{rule:?} {correct}: {reached} {p}");
            }
        }
    }

    #[test]
    fn the_mechanism_of_the_proof_attains_it(
        guesses in 1u64..40, idle in 0u64..40, share in 0.0f64..1.0, epsilon in 0.0f64..3.0, ln_delta in -20.0f64..-1.0,
    ) {
        let (r, m, odds) = (guesses as usize, (guesses + idle) as f64, epsilon.exp());
        let v = 1 + (share * (guesses - 1) as f64) as usize;
        let mut law = vec![(1.0 / (1.0 + odds)).powi(r as i32)];
        for a in 0..r {
            law.push(law[a] * odds * (r - a) as f64 / (a + 1) as f64);
        }
        // The binomial law, with as much weight moved to the values from v as m delta allows.
        let tail: f64 = law[v..].iter().sum();
        let moved = (m * ln_delta.exp() * tail / (v as f64 * law[v])).min(1.0);
        let law: Vec<f64> = law.iter().enumerate()
            .map(|(a, w)| w * (1.0 - moved) + if a >= v { moved * w / tail } else { 0.0 }).collect();
        // Summed over the examples, by how much the symmetric mechanism with this law exceeds e^epsilon.
        let spent: f64 = (0..r).map(|a| {
            let (up, down) = ((a + 1) as f64 * law[a + 1], (r - a) as f64 * law[a]);
            (up - odds * down).max(0.0) + (down - odds * up).max(0.0)
        }).sum();
        let delta = ln_delta.exp();
        prop_assert!(spent <= m * delta * (1.0 + 1e-9) + 1e-13, "{spent} {}", m * delta);
        let p = OneRun::new(guesses + idle, guesses, v as u64).unwrap().p_value(epsilon, delta, Rule::Sharp).unwrap();
        let reached: f64 = law[v..].iter().sum();
        prop_assert!((reached - p).abs() <= 1e-10 * p, "{reached} {p}");
    }
}

#[test]
fn the_published_formula_alone_is_no_bound_near_one() {
    // Uniform guesses about four examples, except the guess that is wrong throughout: (0, 1/15)-private, and at least
    // one guess is always right. The formula gives 15/16 + 2 * 4 / 15 / 16 = 0.9708; the rule answers 1.
    let p = OneRun::new(4, 4, 1).unwrap().p_value(0.0, 1.0 / 15.0, Rule::Published).unwrap();
    assert!(p >= 1.0 - 1e-12, "{p}");
}

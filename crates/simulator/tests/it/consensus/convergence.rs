//! What `docs/theorems/consensus-descent.md` says of convergence, on problems where it can be computed.

use sottovoce_privacy::{Accountant, Adjacency, Lots};
use sottovoce_protocol::Shared;
use sottovoce_protocol::consensus::{Band, Learner};

use super::*;

const ETA: f64 = 0.1;

/// All rows in every lot, and a clip that no gradient reaches: what moves models besides noise is the same in every run.
fn open(agents: usize, rows: usize, multiplier: f64) -> Vec<Option<Hidden>> {
    vec![hidden(rows, 1.0, 100.0, multiplier); agents]
}

fn constant(method: Method, iterations: usize, eta: f64) -> Plan {
    Plan { rates: Rates::constant(eta), ..plan(method, iterations) }
}

fn run(mixing: &Mixing, bowls: &Bowls, plan: Plan, multiplier: f64, seed: u64) -> Vec<f64> {
    let (agents, rows, width) = (bowls.bottoms.len(), bowls.bottoms[0].len(), bowls.bottoms[0][0].len());
    let hidden = open(agents, rows, multiplier);
    finals(ConsensusSetup::new(mixing, Shared::zeros(width), plan, &hidden, seed).unwrap(), bowls)
}

fn minus(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(x, y)| x - y).collect()
}

fn squared(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// Theorem D: where gradients are affine and nothing is clipped, twice the noise is twice the deviation, for all three algorithms, draw by draw.
#[test]
fn the_deviation_is_linear_in_sigma() {
    let (mixing, bowls) = (weights(9), Bowls::new(9, 4, 3));
    for method in METHODS {
        let plan = plan(method, 60);
        let at = |multiplier| run(&mixing, &bowls, plan, multiplier, 3);
        let [none, once, twice] = [0.0, 0.01, 0.02].map(at);
        let (once, twice) = (minus(&once, &none), minus(&twice, &none));
        let doubled: Vec<f64> = once.iter().map(|x| 2.0 * x).collect();
        let size = squared(&once).sqrt();
        assert!(size > 0.02, "{method:?}: {size}");
        assert!(farthest(&twice, &doubled) < 2e-4 * size, "{method:?}: {}", farthest(&twice, &doubled));
    }
}

/// Theorem C: the mean squared deviation of DSGD is what its linear recursion says, and at most `(eta s)² N d / (1 - rho²)`: of order `sigma² d`.
#[test]
fn the_deviation_has_the_size_that_is_proven() {
    let (agents, rows, multiplier, seeds, steps) = (9, 4, 0.01, 40, 120);
    // With half of the weight on the diagonal no eigenvalue is negative, and eta (L + mu) <= 1 is enough.
    let mixing = weights(agents).lazy(0.5).unwrap();
    let s = multiplier * 100.0 / rows as f64;
    for width in [2, 32] {
        let bowls = Bowls::new(agents, rows, width);
        let steep = |agent: usize| f64::from(bowls.steepness[agent]);
        // A = W - eta K; after `steps` steps the deviation has the covariance (eta s)² sum_t A^t A^t'.
        let mut power: Vec<Vec<f64>> =
            (0..agents).map(|i| (0..agents).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let mut exact = 0.0;
        for _ in 0..steps {
            exact += (ETA * s).powi(2) * width as f64 * power.iter().map(|row| squared(row)).sum::<f64>();
            let next = |i: usize, c: usize| {
                let mixed: f64 = (0..agents).map(|j| mixing.weight(i, j) * power[j][c]).sum();
                mixed - ETA * steep(i) * power[i][c]
            };
            power = (0..agents).map(|i| (0..agents).map(|c| next(i, c)).collect()).collect();
        }
        let rho = 1.0 - ETA * 0.5;
        let bound = (ETA * s).powi(2) * (agents * width) as f64 / (1.0 - rho * rho);
        assert!(exact <= bound && exact > 0.05 * bound, "{exact} {bound}");
        let plan = constant(OWN, steps, ETA);
        let none = run(&mixing, &bowls, plan, 0.0, 0);
        let deviation = |seed| squared(&minus(&run(&mixing, &bowls, plan, multiplier, seed), &none));
        let all: Vec<f64> = (0..seeds).map(deviation).collect();
        let mean = all.iter().sum::<f64>() / seeds as f64;
        let spread = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (seeds as f64 - 1.0);
        let error = (spread / seeds as f64).sqrt();
        // Five standard errors: once in a million seeds.
        assert!((mean - exact).abs() < 5.0 * error, "width {width}: {mean} {exact} {error}");
    }
}

/// `sum_i weight_i b_i`, where everybody is equally steep.
fn weighted(bowls: &Bowls, weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; bowls.bottoms[0][0].len()];
    for (agent, weight) in weights.iter().enumerate() {
        sum.iter_mut().zip(bowls.bottom(agent)).for_each(|(sum, b)| *sum += weight * b);
    }
    sum
}

/// Theorem E: gradient tracking finds the optimum with doubly stochastic weights, and with rows `1/(d_i + 1)` the optimum of a sum in which
/// agents count by `d_i + 1`. On the star of five leaves the middle counts three times as much as a leaf.
#[test]
fn rows_bias_gradient_tracking_and_doubly_stochastic_weights_do_not() {
    let (graph, agents) = (star(5), 6);
    let mut bowls = Bowls::new(agents, 4, 3);
    bowls.steepness = vec![1.0; agents];
    let rows = Mixing::neighbourhoods(&graph);
    let biased = rows.stationary().unwrap();
    assert!((biased[0] - 6.0 / 16.0).abs() < 1e-12 && (biased[1] - 2.0 / 16.0).abs() < 1e-12);
    let fair = vec![1.0 / 6.0; agents];
    for (mixing, counts) in [(rows, biased), (Mixing::new(&graph, Weights::MetropolisPlusOne), fair.clone())]
    {
        let plan = constant(Method::Dsgt, 2000, 0.05);
        let models = run(&mixing, &bowls, plan, 0.0, 0);
        for model in models.chunks(3) {
            assert!(farthest(model, &weighted(&bowls, &counts)) < 1e-4, "{counts:?}: {model:?}");
        }
    }
    let bias = minus(
        &weighted(&bowls, &fair),
        &weighted(&bowls, &Mixing::neighbourhoods(&graph).stationary().unwrap()),
    );
    assert!(squared(&bias).sqrt() > 0.1, "the problem shows it: {bias:?}");
}

/// With constant steps DSGD ends in a neighbourhood whose size is proportional to the step; gradient tracking and DiNNO end at the optimum.
#[test]
fn constant_steps_leave_dsgd_beside_the_optimum() {
    let agents = 9;
    let (mixing, mut bowls) = (weights(agents).lazy(0.5).unwrap(), Bowls::new(agents, 4, 3));
    bowls.steepness = vec![1.0; agents];
    let best = weighted(&bowls, &vec![1.0 / agents as f64; agents]);
    let away = |method, eta: f64| {
        let models = run(&mixing, &bowls, constant(method, 3000, eta), 0.0, 0);
        models.chunks(3).map(|model| squared(&minus(model, &best)).sqrt()).fold(0.0, f64::max)
    };
    for method in [OWN, MIXED] {
        let [near, far] = [0.01, 0.02].map(|eta| away(method, eta));
        assert!((1.7..2.3).contains(&(far / near)) && near > 0.01, "{method:?}: {near} {far}");
    }
    for (method, eta) in [(Method::Dsgt, 0.02), (Method::Dinno { primal: 2, rho: 0.2, growth: 1.0 }, 0.1)] {
        let left = away(method, eta);
        assert!(left < 1e-4, "{method:?}: {left}");
    }
}

/// Lemma A.1 pairs the noise of iteration `i` with the damping of iteration `k - i`: one agent, `l = theta²/2`, and noise in the last step alone
/// exceed the printed bound. Paired rightly it holds with equality.
#[test]
fn lemma_a1_is_refuted_as_printed() {
    let plan = constant(OWN, 4, 0.5);
    let noises = [0.0f32, 0.0, 0.0, 1.0];
    let mut learner = Learner::new(OWN, Shared::zeros(1));
    for (k, noise) in noises.iter().enumerate() {
        learner.hear(&plan, k, &[]);
        let slope = learner.point()[0];
        learner.step(&plan, k, Shared::from(vec![slope + noise]));
    }
    let (rho, last): (f64, usize) = (0.5, 3);
    let sum = |noise: &dyn Fn(usize) -> f32| -> f64 {
        (0..=last).map(|i| rho.powi(i as i32) * 0.5 * f64::from(noise(i).abs())).sum()
    };
    let truth = f64::from(learner.model()[0].abs());
    assert_eq!(sum(&|i| noises[last - i]), truth);
    assert!(sum(&|i| noises[i]) < 0.2 * truth);
}

/// Clipping every row's gradient moves the point at which descent rests: of three rows at 0, 0 and 3 the mean is 1, and clipping to 0.1
/// ends at 0.05, close to the median. No rate does that.
#[test]
fn clipping_is_not_a_rescaled_rate() {
    let rows = [0.0, 0.0, 3.0].map(|b| vec![b]).to_vec();
    let bowls = Bowls { steepness: vec![1.0], bottoms: vec![rows] };
    let mixing = Mixing::new(&Graph::from_edges(1, []).unwrap(), Weights::Metropolis);
    for (clip, ends) in [(100.0, 1.0), (0.1, 0.05)] {
        let hidden = [hidden(3, 1.0, clip, 0.0)];
        let plan = constant(OWN, 2000, 0.2);
        let setup = ConsensusSetup::new(&mixing, Shared::from(vec![2.0]), plan, &hidden, 1).unwrap();
        let model = finals(setup, &bowls);
        assert!((model[0] - ends).abs() < 1e-4, "{clip}: {model:?}");
    }
}

/// Section 6: at no more certified epsilon correlated noise leaves models nearer to where they would be without, where epsilon is large; where it is
/// small, sampling hides more than correlation saves.
#[test]
fn correlated_noise_disturbs_less_at_the_same_large_epsilon() {
    let (agents, rows, steps, seeds) = (9, 40, 160, 8);
    let (mixing, bowls) = (weights(agents), Bowls::new(agents, rows, 8));
    // Epsilon, and how far models are moved.
    let tried = |width: usize, noise: f64| {
        let band = Band { width, memory: 0.95 };
        let bare = Hidden { band, ..Hidden::new(Lots::new(rows, 0.1).unwrap(), 100.0, noise) };
        let mut all = Accountant::new(Adjacency::AddRemove);
        all.compose(bare.release().mechanism().unwrap(), bare.releases(steps) as u64).unwrap();
        let run = |multiplier: f64, seed: u64| {
            // So small that no gradient is clipped: the deviation is linear in it.
            let hidden = vec![Some(Hidden { multiplier: 1e-2 * multiplier, ..bare }); agents];
            let plan = constant(OWN, steps, 0.01);
            finals(ConsensusSetup::new(&mixing, Shared::zeros(8), plan, &hidden, seed).unwrap(), &bowls)
        };
        let deviation = |seed| squared(&minus(&run(noise, seed), &run(0.0, seed)));
        (all.epsilon(1e-5).unwrap(), (0..seeds).map(deviation).sum::<f64>().sqrt())
    };
    let (independent, correlated) = (tried(1, 0.344), tried(8, 0.389));
    assert!(correlated.0.upper <= independent.0.lower && independent.0.upper < 102.0, "{correlated:?}");
    assert!(correlated.1 < 0.85 * independent.1, "{independent:?} {correlated:?}");
    let (independent, correlated) = (tried(1, 4.9), tried(8, 13.4));
    assert!(correlated.0.lower >= independent.0.upper && independent.0.upper < 1.0, "{correlated:?}");
    assert!(correlated.1 > 1.2 * independent.1, "{independent:?} {correlated:?}");
}

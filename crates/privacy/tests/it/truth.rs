//! True values from elsewhere: computed with 200-bit ball arithmetic or exact convolution, at other tilts and with other
//! code, to the digits given. Every interval must contain its truth.

use sottovoce_privacy::{Accountant, Adjacency, Interval, Mechanism};

fn gaussian(sigma: f64, rate: f64) -> Mechanism {
    Mechanism::gaussian(sigma).unwrap().poisson(rate).unwrap()
}

fn laplace(scale: f64, rate: f64) -> Mechanism {
    Mechanism::laplace(scale).unwrap().poisson(rate).unwrap()
}

fn response(probability: f64, buckets: u32) -> Mechanism {
    Mechanism::randomized_response(probability, buckets).unwrap()
}

fn discrete_laplace(scale: f64, contribution: u32) -> Mechanism {
    Mechanism::discrete_laplace(scale, contribution).unwrap()
}

fn discrete_gaussian(sigma: f64, contribution: u32) -> Mechanism {
    Mechanism::discrete_gaussian(sigma, contribution).unwrap()
}

fn composed(adjacency: Adjacency, events: &[(Mechanism, u64)]) -> Accountant {
    let mut accountant = Accountant::new(adjacency);
    events.iter().for_each(|&(mechanism, count)| accountant.compose(mechanism, count).unwrap());
    accountant
}

/// The truth is known to about `digits` relative to itself.
fn check(interval: Interval, truth: f64, digits: f64, widest: f64, what: &str) {
    let slack = digits * truth;
    assert!(
        interval.lower <= truth + slack && truth - slack <= interval.upper,
        "{what}: {truth} not in {interval:?}"
    );
    assert!(interval.width() <= widest * truth, "{what}: {interval:?} is wide");
}

#[test]
fn sampled_gaussians_and_laplace() {
    use Adjacency::{AddRemove, Replace};
    for (adjacency, mechanism, count, delta, truth, widest) in [
        (AddRemove, gaussian(0.7, 0.01), 10_000, 1e-9, 20.1102759765323, 1e-6),
        (AddRemove, gaussian(1.0, 0.01), 1000, 1e-9, 2.98958275001636, 1e-6),
        (AddRemove, gaussian(1.0, 0.01), 1000, 1e-14, 4.54370198859307, 1e-6),
        (AddRemove, gaussian(2.0, 0.5), 100, 1e-9, 19.4181399275137, 1e-9),
        (AddRemove, gaussian(0.5, 0.001), 100, 1e-9, 5.8672292139, 1e-3),
        (AddRemove, gaussian(0.5, 0.001), 100, 1e-5, 2.1086453135, 1e-3),
        (AddRemove, gaussian(0.7, 0.001), 1000, 1e-9, 2.40646165266016, 1e-8),
        (AddRemove, gaussian(0.7, 0.01), 100, 9.345_360_350_655_687e-10, 5.0, 1e-8),
        (AddRemove, gaussian(0.8, 1e-4), 20_000, 1e-9, 0.283421201874404, 1e-4),
        (AddRemove, gaussian(1.0, 1e-4), 1000, 1e-9, 0.0336335911164289, 1e-2),
        (AddRemove, gaussian(1.0, 1e-4), 1000, 1e-5, 0.0111857244658759, 1e-3),
        (Replace, gaussian(1.0, 0.01), 1000, 1e-9, 4.18810028118061, 1e-6),
        (AddRemove, laplace(20.0, 1.0), 10_000, 1e-9, 41.3534537621357, 1e-6),
        (AddRemove, laplace(20.0, 1.0), 10_000, 1e-5, 32.7095525385437, 1e-6),
        (AddRemove, laplace(1.0, 0.1), 100, 1e-9, 5.95728868032, 1e-6),
        (AddRemove, laplace(1.0, 0.1), 10, 1e-5, 1.17420730341, 1e-6),
        (AddRemove, laplace(1.0, 0.1), 10, 1e-9, 1.5812356596, 1e-6),
        (AddRemove, discrete_gaussian(5.0, 1), 100, 1e-5, 9.9970203940690, 1e-9),
        (AddRemove, discrete_gaussian(5.0, 1), 100, 1e-9, 13.5349767701, 1e-9),
        (AddRemove, gaussian(0.3, 1.0 - 1e-9), 10, 1e-9, 117.987240008391, 1e-6),
        (AddRemove, gaussian(0.2, 1.0 - 1e-12), 10, 1e-9, 218.986412098540, 1e-6),
        (Replace, gaussian(1.0, 1.0 - 1e-9), 10, 1e-9, 57.2314591493742, 1e-6),
        (Replace, gaussian(0.5, 1.0 - 1e-12), 4, 1e-9, 79.2373527819229, 1e-6),
    ] {
        let interval = composed(adjacency, &[(mechanism, count)]).epsilon(delta).unwrap();
        check(interval, truth, 1e-10, widest, &format!("{count} x {mechanism} {adjacency} {delta:e}"));
    }
    let batch = Mechanism::gaussian(1.0).unwrap().fixed_batch(100, 10_000).unwrap();
    for (delta, truth) in [(1e-5, 14.8206668727737), (1e-12, 28.6144205547321)] {
        let interval = composed(Replace, &[(batch, 1000)]).epsilon(delta).unwrap();
        check(interval, truth, 1e-12, 1e-5, &format!("{batch} {delta:e}"));
    }
}

/// One sampled release among unsampled ones: its characteristic function passes close to zero while the others keep the
/// product alive. Each end was checked by integrating over the outcome with 30 digits.
#[test]
fn one_sampled_release_among_others() {
    let accountant = composed(
        Adjacency::AddRemove,
        &[(gaussian(0.906, 0.676), 1), (Mechanism::gaussian(8.09).unwrap(), 1)],
    );
    // The truth at this epsilon is 6.19000000693769e-6.
    let delta = accountant.delta(4.579662243652816).unwrap();
    assert!(delta.lower <= 6.19000000693769e-6 && 6.19000000693769e-6 <= delta.upper, "{delta:?}");
    assert!(accountant.epsilon(6.19e-6).unwrap().upper > 4.579662243652816);
    let accountant =
        composed(Adjacency::AddRemove, &[(gaussian(0.5, 0.5), 1), (Mechanism::gaussian(2.0).unwrap(), 1)]);
    assert!(accountant.epsilon(1e-6).unwrap().lower < 10.415876751980349);
}

/// Laws with few, far-apart losses, up to the largest: where a tilt is strong beside the spacing.
#[test]
fn few_large_losses() {
    use Adjacency::{AddRemove, Replace};
    for (adjacency, mechanism, count, delta, truth, digits) in [
        (Replace, response(0.5, 2), 10, 1e-9, 10.98612287, 1e-9),
        (Replace, response(0.1, 2), 5, 1e-6, 14.72219360, 1e-9),
        (AddRemove, discrete_laplace(2.0, 1), 5, 1e-9, 2.49999999, 4e-9),
        (AddRemove, discrete_laplace(1.0, 1), 10, 1e-14, 10.0, 1e-12),
        (Replace, response(1e-6, 2), 3, 1e-5, 43.52595, 1e-6),
        (AddRemove, laplace(0.01, 1.0), 2, 1e-9, 200.0, 1e-9),
        (AddRemove, laplace(0.1, 1.0), 3, 1e-14, 30.0, 1e-12),
        (Replace, response(0.01206265326543344, 6), 50, 1e-5, 309.9648584, 1e-9),
    ] {
        let interval = composed(adjacency, &[(mechanism, count)]).epsilon(delta).unwrap();
        check(interval, truth, digits, 1e-2, &format!("{count} x {mechanism} {delta:e}"));
    }
    let accountant = composed(Replace, &[(discrete_laplace(3.9795835472283905, 2), 19)]);
    let delta = accountant.delta(19.09747567498299).unwrap();
    assert!(delta.lower <= delta.upper && delta.upper >= 4.5e-14, "{delta:?}");
}

/// Sums at the very end of the window must not wrap around.
#[test]
fn mixtures_reach_their_extreme_sums() {
    let rows = [
        (
            vec![(response(0.195649357439055, 4), 30), (discrete_laplace(3.132704712954193, 1), 3)],
            2.0237370363077635e-3,
            86.3113122,
            1e-9,
        ),
        (
            vec![(discrete_laplace(1.570740239689423, 1), 24), (discrete_laplace(1.6158372829057173, 1), 5)],
            1.291142844380609e-8,
            36.74460773,
            1e-8,
        ),
    ];
    for (events, delta, truth, digits) in rows {
        let interval = composed(Adjacency::Replace, &events).epsilon(delta).unwrap();
        check(interval, truth, digits, 1e-2, &format!("{events:?}"));
    }
}

/// Little noise: a Rényi loss that cannot be summed is not zero.
#[test]
fn little_noise_is_not_no_loss() {
    for sigma in [0.05, 0.08, 0.1, 0.12] {
        let accountant = composed(Adjacency::AddRemove, &[(discrete_gaussian(sigma, 1), 1)]);
        let epsilon = accountant.epsilon(1e-5).unwrap();
        let (renyi, order) = accountant.rdp_epsilon(1e-5).unwrap();
        assert!(
            renyi >= epsilon.lower && epsilon.lower > 30.0,
            "sigma {sigma}: {epsilon:?} {renyi} at {order}"
        );
        assert!(accountant.rdp(20.0).unwrap() >= 0.99 * 10.0 / (sigma * sigma), "sigma {sigma}");
    }
}

//! Releases beyond plain noise, against what is computed from their definitions: sums over outcomes, integrals over the line.

use sottovoce_privacy::{
    Accountant, Adjacency, Bound, Composition, Epsilon, Event, Mechanism, Mixture, Number, Plain, Release,
};

fn delta(event: impl Into<Event>, adjacency: Adjacency, epsilon: f64) -> (f64, f64) {
    let mut accountant = Accountant::new(adjacency);
    accountant.compose(event, 1).unwrap();
    let interval = accountant.delta(epsilon).unwrap();
    (interval.lower, interval.upper)
}

fn epsilon(event: impl Into<Event>, count: u64, adjacency: Adjacency, delta: f64) -> (f64, f64) {
    let mut accountant = Accountant::new(adjacency);
    accountant.compose(event, count).unwrap();
    let interval = accountant.epsilon(delta).unwrap();
    (interval.lower, interval.upper)
}

/// Numbers that look random, between 0 and 1.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }
}

/// Gaussians of width `sigma` around centres with weights.
type Mix = Vec<(f64, f64)>;

/// `integral of (p - e^epsilon q)+`, by the trapezoidal rule.
fn integrated(p: &Mix, q: &Mix, sigma: f64, epsilon: f64) -> f64 {
    let density = |mix: &Mix, x: f64| {
        let each = mix.iter().map(|(centre, weight)| weight * (-0.5 * ((x - centre) / sigma).powi(2)).exp());
        each.sum::<f64>() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
    };
    let centres = || p.iter().chain(q).map(|(centre, _)| *centre);
    let low = centres().fold(f64::INFINITY, f64::min) - 9.0 * sigma;
    let high = centres().fold(f64::NEG_INFINITY, f64::max) + 9.0 * sigma;
    let count = 12_000;
    let step = (high - low) / f64::from(count);
    let value = |x: f64| (density(p, x) - epsilon.exp() * density(q, x)).max(0.0);
    step * (0..=count).map(|i| value(low + f64::from(i) * step)).sum::<f64>()
}

#[test]
fn mixtures_are_what_integration_says() {
    let mut draws = Draws(7);
    for _ in 0..10 {
        let sigma = draws.between(-1.5, 2.0).exp();
        let zero = if draws.next() < 0.3 { 0.0 } else { draws.next() };
        let first = (1.0 - zero) * draws.next();
        let parts = vec![
            (0.0, zero),
            (draws.between(0.1, 2.0), first),
            (draws.between(0.1, 3.0), 1.0 - zero - first),
        ];
        let (amounts, probabilities): (Vec<f64>, Vec<f64>) = parts.iter().copied().unzip();
        let mixture = Mixture::new(sigma, &amounts, &probabilities).unwrap();
        let alone = vec![(0.0, 1.0)];
        for at in [0.0, 0.7, 4.0] {
            let truth = integrated(&parts, &alone, sigma, at).max(integrated(&alone, &parts, sigma, at));
            for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut] {
                let (lower, upper) = delta(mixture.clone(), adjacency, at);
                assert!(
                    lower <= truth + 1e-6 && truth - 1e-6 <= upper && upper - lower < 1e-9,
                    "{mixture} at {at}: {truth} not in [{lower}, {upper}]"
                );
            }
        }
    }
}

/// Where all contributions are the same, or all but 0, the sampled Gaussian's other methods answer; between them lattices do.
#[test]
fn mixtures_of_nearly_equal_amounts_are_sampled_gaussians() {
    let sampled = Mechanism::gaussian(1.3).unwrap().poisson(0.2).unwrap();
    let split = Mixture::new(1.3, &[0.0, 1.0 - 1e-9, 1.0], &[0.8, 0.1, 0.1]).unwrap();
    for (count, at) in [(1, 1e-5), (20, 1e-6), (300, 1e-9)] {
        let (known, found) = (
            epsilon(sampled, count, Adjacency::AddRemove, at),
            epsilon(split.clone(), count, Adjacency::ZeroOut, at),
        );
        assert!(found.0 <= known.1 && known.0 <= found.1 + 1e-6, "{count}: {known:?} {found:?}");
        assert!((found.1 / known.1 - 1.0).abs() < 1e-4, "{count}: {known:?} {found:?}");
    }
    let mut accountant = Accountant::new(Adjacency::Replace);
    let message = accountant.compose(split, 1).unwrap_err().to_string();
    assert!(message.contains("`zero-out`"), "{message}");
}

/// Every lot of a small data set, with values at the ends of their range.
fn lots(values: &[f64], rate: f64, most: usize) -> Mix {
    let rows = values.len();
    let mut mix = Vec::new();
    for drawn in 0..1usize << rows {
        let size = drawn.count_ones() as usize;
        let weight = rate.powi(size as i32) * (1.0 - rate).powi((rows - size) as i32);
        let kept: Vec<usize> = (0..1usize << rows)
            .filter(|kept| kept & !drawn == 0 && kept.count_ones() as usize == size.min(most))
            .collect();
        for one in &kept {
            let sum: f64 = (0..rows).filter(|row| one >> row & 1 == 1).map(|row| values[row]).sum();
            mix.push((sum, weight / kept.len() as f64));
        }
    }
    mix.sort_by(|a, b| a.0.total_cmp(&b.0));
    mix.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
    mix
}

#[test]
fn limited_lots_dominate_what_small_data_sets_lose() {
    let mut draws = Draws(11);
    for (rows, most) in [(2, 1), (3, 2), (4, 2)] {
        for others in [-1.0, 0.0, 1.0] {
            let (rate, sigma) = (draws.between(0.1, 1.0), draws.between(0.6, 2.0));
            let event = Mechanism::gaussian(sigma)
                .unwrap()
                .truncated_poisson(rate, rows as u64, most as u64)
                .unwrap();
            let with = |record: f64| {
                let mut values = vec![others; rows];
                values[0] = record;
                lots(&values, rate, most)
            };
            let without = lots(&vec![others; rows - 1], rate, most);
            for at in [0.0, 0.7] {
                let worst = |p: &Mix, q: &Mix| integrated(p, q, sigma, at).max(integrated(q, p, sigma, at));
                for (adjacency, truth) in [
                    (Adjacency::AddRemove, worst(&with(1.0), &without)),
                    (Adjacency::ZeroOut, worst(&with(1.0), &with(0.0))),
                    (Adjacency::Replace, worst(&with(1.0), &with(-1.0))),
                ] {
                    let (_, upper) = delta(event, adjacency, at);
                    assert!(truth <= upper + 1e-6, "{event} {adjacency} at {at}: {truth} > {upper}");
                }
            }
        }
    }
}

#[test]
fn lots_that_are_never_or_always_full_are_samples_and_batches() {
    let gaussian = Mechanism::gaussian(1.5).unwrap();
    for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut, Adjacency::Replace] {
        let (rare, poisson) =
            (gaussian.truncated_poisson(0.02, 1000, 900).unwrap(), gaussian.poisson(0.02).unwrap());
        let (found, known) = (epsilon(rare, 50, adjacency, 1e-6), epsilon(poisson, 50, adjacency, 1e-6));
        assert!((found.1 / known.1 - 1.0).abs() < 1e-4, "{adjacency}: {found:?} {known:?}");
        let all = gaussian.truncated_poisson(1.0, 1000, 100).unwrap();
        let batch = gaussian.fixed_batch(100, 1000).unwrap();
        let (found, known) = (epsilon(all, 5, adjacency, 1e-6), epsilon(batch, 5, adjacency, 1e-6));
        assert!((found.1 / known.1 - 1.0).abs() < 1e-4, "{adjacency}: {found:?} {known:?}");
    }
    assert_eq!(gaussian.truncated_poisson(0.3, 9, 9).unwrap(), gaussian.poisson(0.3).unwrap());
    for (rate, rows, most) in [(0.5, 0, 1), (0.5, 5, 0), (0.0, 5, 1), (1.5, 5, 1), (f64::NAN, 5, 1)] {
        assert!(gaussian.truncated_poisson(rate, rows, most).is_err(), "{rate} {rows} {most}");
    }
}

/// `sum (p - e^epsilon q)+`.
fn summed(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

fn exponential(scores: &[f64], epsilon: f64) -> Vec<f64> {
    let weights: Vec<f64> = scores.iter().map(|score| (0.5 * epsilon * score).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// Candidates in random order; each is taken with probability `e^(epsilon (score - best)/2)`: over all orders.
fn permute_and_flip(scores: &[f64], epsilon: f64) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let taken: Vec<f64> = scores.iter().map(|score| (0.5 * epsilon * (score - best)).exp()).collect();
    // The chance that `i` is reached and taken, over the subsets of others before it.
    let n = scores.len();
    let factorial = |k: usize| (1..=k).map(|i| i as f64).product::<f64>();
    (0..n)
        .map(|i| {
            (0..1usize << n)
                .filter(|before| before >> i & 1 == 0)
                .map(|before| {
                    let size = before.count_ones() as usize;
                    let refused: f64 =
                        (0..n).filter(|j| before >> j & 1 == 1).map(|j| 1.0 - taken[j]).product();
                    factorial(size) * factorial(n - 1 - size) / factorial(n) * refused * taken[i]
                })
                .sum()
        })
        .collect()
}

#[test]
fn selections_lose_no_more_than_is_said() {
    let mut draws = Draws(3);
    let mut closest: f64 = 1.0;
    for _ in 0..150 {
        let epsilon = draws.between(-4.0, 2.0).exp();
        let n = 2 + (4.0 * draws.next()) as usize;
        let scores: Vec<f64> = (0..n).map(|_| draws.between(0.0, 4.0 / epsilon)).collect();
        let moved: Vec<f64> =
            scores.iter().map(|score| score + if draws.next() < 0.5 { 1.0 } else { -1.0 }).collect();
        for at in [0.0, 0.3 * epsilon, 0.8 * epsilon] {
            let bound = delta(Mechanism::exponential(epsilon).unwrap(), Adjacency::Replace, at).1;
            let truth = summed(&exponential(&scores, epsilon), &exponential(&moved, epsilon), at);
            assert!(truth <= bound * (1.0 + 1e-12), "{epsilon} at {at}: {truth} > {bound}");
            closest = closest.min(bound / truth.max(1e-300));
            let bound = delta(Mechanism::permute_and_flip(epsilon).unwrap(), Adjacency::AddRemove, at).1;
            let truth = summed(&permute_and_flip(&scores, epsilon), &permute_and_flip(&moved, epsilon), at);
            assert!(truth <= bound * (1.0 + 1e-12), "{epsilon} at {at}: {truth} > {bound}");
        }
    }
    // Not a bound that nothing comes near to.
    assert!(closest < 1.05, "{closest}");
}

#[test]
fn a_bounded_range_is_less_than_a_bounded_loss() {
    for count in [1, 3, 40] {
        let (range, pure) = (Mechanism::exponential(0.5).unwrap(), Mechanism::pure(0.5).unwrap());
        let (range, pure) = (
            epsilon(range, count, Adjacency::AddRemove, 1e-4),
            epsilon(pure, count, Adjacency::AddRemove, 1e-4),
        );
        assert!(range.1 < pure.0, "{count}: {range:?} {pure:?}");
    }
}

#[test]
fn records_that_say_nothing_move_sums_as_absent_ones_do() {
    for event in [
        Mechanism::gaussian(1.1).unwrap(),
        Mechanism::gaussian(1.1).unwrap().poisson(0.1).unwrap(),
        Mechanism::laplace(2.0).unwrap().poisson(0.3).unwrap(),
        Mechanism::discrete_laplace(2.0, 1).unwrap(),
    ] {
        assert_eq!(
            epsilon(event, 7, Adjacency::ZeroOut, 1e-5),
            epsilon(event, 7, Adjacency::AddRemove, 1e-5)
        );
    }
    // A true answer against any: ln(k - kp + p), and ln(1/p) the other way.
    for (p, k) in [(0.2_f64, 4_u32), (0.9, 2), (0.01, 30)] {
        let event = Mechanism::randomized_response(p, k).unwrap();
        let wide = f64::from(k);
        let (one, other) = ((wide - wide * p + p).ln(), -p.ln());
        let mut all = Composition::new(Adjacency::ZeroOut);
        all.add(Release::Mechanism(event), 3).unwrap();
        let largest = all.epsilon(0.0).unwrap().upper();
        assert!((largest / (3.0 * one.max(other)) - 1.0).abs() < 1e-12, "{largest}");
        let answers = |p: f64| -> Vec<f64> {
            (0..k).map(|i| if i == 0 { 1.0 - p + p / wide } else { p / wide }).collect()
        };
        for at in [0.0, 0.4, 1.1] {
            let (response, any) = (answers(p), answers(1.0));
            let truth = summed(&response, &any, at).max(summed(&any, &response, at));
            let (lower, upper) = delta(event, Adjacency::ZeroOut, at);
            assert!(lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12), "{p} {k} {at}");
            assert!(upper - lower < 1e-12, "{lower} {upper}");
        }
        assert!(Accountant::new(Adjacency::AddRemove).compose(event, 1).is_err());
        assert!(Accountant::new(Adjacency::ZeroOut).compose(event.poisson(0.5).unwrap(), 1).is_err());
    }
}

#[test]
fn trees_are_gaussians_of_as_many_levels() {
    for (leaves, levels) in [(1_u64, 1.0_f64), (2, 2.0), (3, 2.0), (4, 3.0), (1600, 11.0), (1 << 40, 41.0)] {
        let tree = Mechanism::tree(5.0, leaves).unwrap();
        let plain = Mechanism::gaussian(5.0 / levels.sqrt()).unwrap();
        let (found, known) =
            (epsilon(tree, 2, Adjacency::ZeroOut, 1e-6), epsilon(plain, 2, Adjacency::ZeroOut, 1e-6));
        assert!(
            found.1 >= known.0 && (found.1 / known.1 - 1.0).abs() < 1e-12,
            "{leaves}: {found:?} {known:?}"
        );
        assert!(Accountant::new(Adjacency::AddRemove).compose(tree, 1).is_err());
        assert!(Accountant::new(Adjacency::ZeroOut).compose(tree.poisson(0.5).unwrap(), 1).is_err());
    }
}

#[test]
fn what_is_published_is_lost_and_nothing_costs_nothing() {
    let mut all = Composition::new(Adjacency::ZeroOut);
    all.add(Release::Plain(Plain::Nothing), 5).unwrap();
    assert_eq!(all.epsilon(0.0).unwrap().upper(), 0.0);
    assert_eq!(all.delta(0.0).unwrap().upper, 0.0);
    all.add(Release::Plain(Plain::Published), 1).unwrap();
    assert!(matches!(all.epsilon(0.99).unwrap(), Epsilon::Infinite { .. }));
    let delta = all.delta(100.0).unwrap();
    assert!(delta.lower > 1.0 - 1e-14 && delta.upper == 1.0, "{delta:?}");
    assert_eq!(all.renyi(2.0).unwrap(), None);
}

/// Bounds by Rényi losses beside known laws: more than either, and from above.
#[test]
fn bounds_compose_with_known_releases() {
    let gaussian = Release::Mechanism(Mechanism::gaussian(2.0).unwrap());
    let best = Bound::repeated(vec![(gaussian.clone(), 1)], 10.0, Number::Poisson).unwrap();
    let of = |releases: &[Release]| {
        let mut all = Composition::new(Adjacency::AddRemove);
        releases.iter().for_each(|release| all.add(release.clone(), 1).unwrap());
        all
    };
    let (alone, with) =
        (of(std::slice::from_ref(&gaussian)), of(&[gaussian.clone(), Release::Bound(best.clone())]));
    let (one, both) = (alone.epsilon(1e-6).unwrap(), with.epsilon(1e-6).unwrap());
    let (Epsilon::Within(one), Epsilon::Within(both)) = (one, both) else { panic!("finite") };
    assert!(both.lower >= one.lower * (1.0 - 1e-12) && both.upper > one.upper, "{one:?} {both:?}");
    let at = with.delta(both.upper).unwrap();
    assert!(at.upper <= 1e-6 * (1.0 + 1e-6), "{at:?}");
    // More runs lose more.
    let mut last = 0.0;
    for mean in [0.01, 0.5, 1.0, 10.0, 1e3, 1e6] {
        let best = Bound::repeated(vec![(gaussian.clone(), 1)], mean, Number::Poisson).unwrap();
        let epsilon = of(&[Release::Bound(best)]).epsilon(1e-6).unwrap().upper();
        assert!(epsilon > last, "{mean}: {epsilon} {last}");
        last = epsilon;
    }
    // One run that is known by a bound itself.
    let zcdp = Release::Bound(Bound::zcdp(0.125, 0.0).unwrap());
    let nested = Bound::repeated(vec![(zcdp, 1)], 10.0, Number::Poisson).unwrap();
    let (direct, nested) =
        (of(&[Release::Bound(best)]).renyi(4.0).unwrap(), of(&[Release::Bound(nested)]).renyi(4.0).unwrap());
    assert!(nested >= direct.map(|loss| loss * (1.0 - 1e-9)), "{nested:?} {direct:?}");
}

/// One record, a value or a zero: without it the mechanism always says 0; with a value it says 1 or, as often as a zero says 1,
/// 2. That is `epsilon`-private between the two, and a sample of it hides nothing: the losses of 1 and 2 remain.
#[test]
fn samples_hide_nothing_of_what_is_only_private_under_zeroing() {
    let (epsilon, rate) = (1.0_f64, 0.1);
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    let (value, zero) = ([0.0, truth, 1.0 - truth], [0.0, 1.0 - truth, truth]);
    let sampled = |law: [f64; 3]| [1.0 - rate, rate * law[1], rate * law[2]];
    let losses = || sampled(value).into_iter().zip(sampled(zero)).map(|(p, q)| (p / q).ln());
    assert!((losses().fold(0.0, f64::max) - epsilon).abs() < 1e-14);
    for private in
        [Mechanism::pure(epsilon), Mechanism::exponential(epsilon), Mechanism::permute_and_flip(epsilon)]
    {
        let event = private.unwrap().poisson(rate).unwrap();
        let message = Accountant::new(Adjacency::ZeroOut).compose(event, 1).unwrap_err().to_string();
        assert!(message.contains("after sampling"), "{message}");
        assert!(sottovoce_privacy::rdp::loss(&event, Adjacency::ZeroOut, 2.0).is_err());
    }
    let mut all = Composition::new(Adjacency::ZeroOut);
    assert!(all.add(Release::Bound(Bound::sampled_zcdp(0.5, rate).unwrap()), 1).is_err());
}

#[test]
fn a_batch_of_everybody_is_refused_where_records_come_and_go() {
    let whole = Mechanism::gaussian(2.0).unwrap().fixed_batch(7, 7).unwrap();
    assert!(Accountant::new(Adjacency::AddRemove).compose(whole, 1).is_err());
    let plain = Mechanism::gaussian(2.0).unwrap();
    for adjacency in [Adjacency::Replace, Adjacency::ZeroOut] {
        assert_eq!(epsilon(whole, 3, adjacency, 1e-6), epsilon(plain, 3, adjacency, 1e-6));
    }
}

/// Nearly random answers, and lots that are next to never full: nothing that is lost counts as nothing.
#[test]
fn what_is_hardly_lost_is_not_lost_track_of() {
    let response = Mechanism::randomized_response(1.0 - f64::EPSILON / 2.0, 2).unwrap();
    for adjacency in [Adjacency::ZeroOut, Adjacency::Replace] {
        let mut all = Composition::new(adjacency);
        all.add(Release::Mechanism(response), 1).unwrap();
        assert!(all.epsilon(0.0).unwrap().upper() >= f64::EPSILON / 2.0);
        // Half of the distance between the two laws is as far as their total variation.
        assert!(all.delta(0.0).unwrap().upper >= f64::EPSILON / 4.0);
    }
    let lots = Mechanism::laplace(1.0).unwrap().truncated_poisson(1e-6, 1_000_000, 500_000).unwrap();
    let plain = Mechanism::laplace(1.0).unwrap().poisson(1e-6).unwrap();
    for adjacency in [Adjacency::AddRemove, Adjacency::ZeroOut, Adjacency::Replace] {
        let largest = |event: Mechanism| {
            let mut all = Composition::new(adjacency);
            all.add(Release::Mechanism(event), 1).unwrap();
            all.epsilon(0.0).unwrap().upper()
        };
        assert!(largest(lots) > 1.4 * largest(plain), "{adjacency}: {} {}", largest(lots), largest(plain));
    }
}

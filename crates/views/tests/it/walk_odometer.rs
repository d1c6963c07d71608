//! The odometer of a token against explicit Gaussian views, and the order of its columns.

use proptest::prelude::*;
use std::sync::Arc;

use sottovoce_protocol::walk::Steps;
use sottovoce_views::walk::{Average, Odometer, Trajectory, Visit, trajectory};

const PEERS: usize = 5;

/// A holder and what it does; most contribute.
fn visits() -> impl Strategy<Value = Vec<(usize, Visit)>> {
    let visit =
        prop_oneof![6 => Just(Visit::Contributed), 2 => Just(Visit::NoiseOnly), 1 => Just(Visit::Relayed)];
    prop::collection::vec((0..PEERS, visit), 0..50)
}

fn run(visits: &[(usize, Visit)], observers: &[Vec<usize>]) -> Odometer {
    let mut odometer = Odometer::new(PEERS, observers).unwrap();
    visits.iter().for_each(|&(holder, visit)| odometer.visit(holder, visit).unwrap());
    odometer
}

fn alone(visits: &[(usize, Visit)], observers: &[usize], shown: bool) -> Trajectory {
    run(visits, &[observers.to_vec()]).conclude(shown).remove(0)
}

/// The token's values that `observers` see, as rows over everyone's noises: those before each of their visits, and the result.
/// `contraction[t]` is what step `t` multiplies the token by before it adds noise.
fn rows(visits: &[(usize, Visit)], observers: &[usize], shown: bool, contraction: &[f64]) -> Vec<Vec<f64>> {
    let mut token = vec![0.0; visits.len()];
    let mut rows = Vec::new();
    for (t, &(holder, visit)) in visits.iter().enumerate() {
        let watched = observers.contains(&holder);
        if watched {
            rows.push(token.clone());
        }
        if visit != Visit::Relayed {
            token.iter_mut().for_each(|x| *x *= contraction[t]);
            // Its own noise is known to an observer: a variable less.
            token[t] = f64::from(u8::from(!watched));
        }
    }
    rows.extend(shown.then_some(token));
    rows
}

/// The same of a token that averages, by what its holders do to it, after so many others.
fn averaged(
    visits: &[(usize, Visit)],
    observers: &[usize],
    shown: bool,
    average: &Average,
    before: usize,
) -> Vec<Vec<f64>> {
    let (mut token, mut rows, mut step) = (vec![0.0; visits.len()], Vec::new(), before);
    for (t, &(holder, visit)) in visits.iter().enumerate() {
        let watched = observers.contains(&holder);
        if watched {
            rows.push(token.clone());
        }
        if visit != Visit::Relayed {
            let gamma = average.sizes.at(step);
            if visit == Visit::Contributed {
                token.iter_mut().for_each(|x| *x *= 1.0 - gamma);
            }
            token[t] = if watched { 0.0 } else { gamma * average.worth[holder] };
            step += 1;
        }
    }
    rows.extend(shown.then_some(token));
    // Each row is scaled: a mean of many is short, and its direction is what counts.
    for row in &mut rows {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= if length > 0.0 { length } else { 1.0 });
    }
    rows
}

/// The squared length of the projection of `direction` onto the span of `rows`.
fn leverage(rows: &[Vec<f64>], direction: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in rows {
        let mut rest = row.clone();
        for _ in 0..2 {
            for b in &basis {
                let along = dot(b, &rest);
                rest.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
            }
        }
        let length = dot(&rest, &rest).sqrt();
        if length > 1e-9 {
            basis.push(rest.iter().map(|x| x / length).collect());
        }
    }
    basis.iter().map(|b| dot(b, direction).powi(2)).sum()
}

/// Where `peer` contributes.
fn contributions(visits: &[(usize, Visit)], peer: usize) -> Vec<f64> {
    visits.iter().map(|&visit| f64::from(u8::from(visit == (peer, Visit::Contributed)))).collect()
}

/// The slopes of the greatest convex minorant of one gap, by pooling neighbours that fall.
fn slopes(shifts: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &shift in shifts {
        blocks.push((shift, 1));
        while let [.., (a, m), (b, n)] = blocks[..]
            && a * n as f64 >= b * m as f64
        {
            blocks.truncate(blocks.len() - 2);
            blocks.push((a + b, m + n));
        }
    }
    blocks.iter().flat_map(|&(sum, n)| std::iter::repeat_n(sum / n as f64, n)).collect()
}

proptest! {
    /// Of linear losses: the leverage of the explicit Gaussian view, for peers alone and for coalitions.
    #[test]
    fn linear_losses_are_the_leverage_of_the_view(
        visits in visits(), first in 0..PEERS, second in 0..PEERS, shown: bool,
    ) {
        let observers = [first, second];
        let loss = alone(&visits, &observers, shown).linear;
        let rows = rows(&visits, &observers, shown, &vec![1.0; visits.len()]);
        for peer in (0..PEERS).filter(|peer| !observers.contains(peer)) {
            let exact = leverage(&rows, &contributions(&visits, peer));
            prop_assert!((loss[peer] - exact).abs() < 1e-9, "{peer}: {} {exact}", loss[peer]);
        }
        prop_assert_eq!((loss[first], loss[second]), (0.0, 0.0));
    }

    /// Of averages: the leverage of the explicit Gaussian view, whatever the steps, the worths and the caps.
    #[test]
    fn averages_are_the_leverage_of_the_view(
        visits in visits(), first in 0..PEERS, second in 0..PEERS, shown: bool,
        gamma in prop::option::of(0.05..=1.0f64), worth in prop::collection::vec(0.2..3.0f64, PEERS), before in 0..4usize,
    ) {
        let observers = [first, second];
        let average = Average { sizes: gamma.map_or(Steps::Running, Steps::Constant), worth };
        let mut odometer = Odometer::averaging(PEERS, &[observers.to_vec()], Arc::new(average.clone())).unwrap();
        odometer.begin_after(before);
        visits.iter().for_each(|&(holder, visit)| odometer.visit(holder, visit).unwrap());
        let loss = odometer.conclude(shown).remove(0).linear;
        let rows = averaged(&visits, &observers, shown, &average, before);
        for peer in (0..PEERS).filter(|peer| !observers.contains(peer)) {
            let exact = leverage(&rows, &contributions(&visits, peer));
            prop_assert!((loss[peer] - exact).abs() < 1e-6 * (1.0 + exact), "{peer}: {} {exact}", loss[peer]);
        }
        prop_assert_eq!((loss[first], loss[second]), (0.0, 0.0));
    }

    /// Of quadratic losses of any curvature (each step multiplies by a number from -1 to 1) nothing exceeds the column for convex ones.
    #[test]
    fn quadratic_losses_stay_below_the_bound_for_convex_ones(
        visits in visits(), observer in 0..PEERS, shown: bool,
        contraction in prop::collection::vec(-1.0..=1.0f64, 50), signs in prop::collection::vec(-1.0..=1.0f64, 50),
    ) {
        let bound = alone(&visits, &[observer], shown).convex;
        let rows = rows(&visits, &[observer], shown, &contraction);
        for peer in (0..PEERS).filter(|&peer| peer != observer) {
            let direction: Vec<f64> =
                contributions(&visits, peer).iter().zip(&signs).map(|(s, sign)| s * sign.signum()).collect();
            prop_assert!(leverage(&rows, &direction) <= bound[peer] + 1e-9);
        }
    }

    /// ... and in every gap some attain it: those whose steps shrink the token by the ratio of one slope to the next.
    #[test]
    fn the_bound_for_convex_losses_is_attained(contributes in prop::collection::vec(any::<bool>(), 1..30)) {
        let holder = |&s: &bool| (1, if s { Visit::Contributed } else { Visit::NoiseOnly });
        let visits: Vec<_> = contributes.iter().map(holder).collect();
        let shifts = contributions(&visits, 1);
        let slopes = slopes(&shifts);
        let ratio = |k: usize| if k > 0 && slopes[k] > 0.0 { slopes[k - 1] / slopes[k] } else { 0.0 };
        let contraction: Vec<f64> = (0..shifts.len()).map(ratio).collect();
        prop_assert!(contraction.iter().all(|c| (0.0..=1.0).contains(c)));
        let exact = leverage(&rows(&visits, &[0], true, &contraction), &shifts);
        let bound = alone(&visits, &[0], true).convex[1];
        prop_assert!((exact - bound).abs() < 1e-9, "{exact} {bound}");
    }

    /// Contributions `i` noises before the end of a gap: `1/i` each alone, together at most the square of the sum of roots.
    #[test]
    fn contributions_add_like_amplitudes(contributes in prop::collection::vec(any::<bool>(), 1..40)) {
        let holder = |&s: &bool| (1, if s { Visit::Contributed } else { Visit::NoiseOnly });
        let visits: Vec<_> = contributes.iter().map(holder).collect();
        let later = contributes.iter().rev().zip(1..).filter(|(s, _)| **s).map(|(_, i)| 1.0 / f64::from(i));
        let amplitude: f64 = later.map(f64::sqrt).sum();
        prop_assert!(alone(&visits, &[0], true).convex[1] <= amplitude * amplitude + 1e-9);
    }

    /// Linear losses are convex, and a contribution never loses more than without any amplification.
    #[test]
    fn linear_is_below_convex_is_below_local(visits in visits(), observer in 0..PEERS, shown: bool) {
        let odometer = run(&visits, &[vec![observer]]);
        let local = odometer.contributions();
        let loss = odometer.conclude(shown).remove(0);
        for peer in (0..PEERS).filter(|&peer| peer != observer) {
            prop_assert!(loss.linear[peer] <= loss.convex[peer] + 1e-12);
            prop_assert!(loss.convex[peer] <= local[peer] as f64 + 1e-12);
        }
    }

    /// Losses grow with every visit, when the token is shown, and when a coalition grows.
    #[test]
    fn more_seen_is_more_lost(visits in visits(), cut in 0..50usize, shown: bool) {
        let below = |a: &[f64], b: &[f64]| a[2..].iter().zip(&b[2..]).all(|(a, b)| a <= &(b + 1e-9));
        let less = |a: &Trajectory, b: &Trajectory| below(&a.linear, &b.linear) && below(&a.convex, &b.convex);
        let one = alone(&visits, &[0], shown);
        prop_assert!(less(&alone(&visits[..cut.min(visits.len())], &[0], false), &one));
        prop_assert!(less(&one, &alone(&visits, &[0], true)));
        prop_assert!(less(&one, &alone(&visits, &[0, 1], shown)));
    }

    /// Everyone else together sees each contribution as it was made.
    #[test]
    fn all_others_together_see_everything(holders in prop::collection::vec(0..PEERS, 0..50), peer in 0..PEERS) {
        let visits: Vec<_> = holders.iter().map(|&holder| (holder, Visit::Contributed)).collect();
        let others: Vec<usize> = (0..PEERS).filter(|&other| other != peer).collect();
        let count = holders.iter().filter(|&&holder| holder == peer).count() as f64;
        let loss = alone(&visits, &others, true);
        prop_assert!((loss.linear[peer] - count).abs() < 1e-9 && (loss.convex[peer] - count).abs() < 1e-9);
    }

    /// The observers of one odometer do not disturb each other, and a trajectory is an odometer for one.
    #[test]
    fn observers_are_accounted_for_apart(visits in visits(), shown: bool) {
        let observers = [vec![0], vec![3, 1], vec![1], vec![0]];
        let together = run(&visits, &observers).conclude(shown);
        for (losses, observers) in together.iter().zip(&observers) {
            prop_assert_eq!(losses, &alone(&visits, observers, shown));
        }
        let holders: Vec<usize> = visits.iter().map(|visit| visit.0).collect();
        let all: Vec<_> = holders.iter().map(|&holder| (holder, Visit::Contributed)).collect();
        prop_assert_eq!(trajectory(&holders, PEERS, 2).unwrap(), alone(&all, &[2], false));
    }

    /// Relayed change nothing, whoever does not watch.
    #[test]
    fn who_passes_the_token_on_hides_nobody(visits in visits(), at in 0..50usize, count in 1..5usize) {
        let mut more = visits.clone();
        let at = at.min(visits.len());
        more.splice(at..at, std::iter::repeat_n((4, Visit::Relayed), count));
        prop_assert_eq!(alone(&more, &[0], true), alone(&visits, &[0], true));
    }

    /// Two branches of a token: the exact loss of seeing both is at most the sum of the two odometers.
    #[test]
    fn forks_are_covered(before in visits(), left in visits(), right in visits(), shown: bool) {
        let mut odometer = run(&before, &[vec![0]]);
        let mut other = odometer.fork();
        left.iter().for_each(|&(holder, visit)| odometer.visit(holder, visit).unwrap());
        right.iter().for_each(|&(holder, visit)| other.visit(holder, visit).unwrap());
        let bound = odometer.conclude(shown).remove(0).and(&other.conclude(shown)[0]).unwrap();
        // Variables: noises of the trunk, of the left and of the right branch.
        let (b, l, r) = (before.len(), left.len(), right.len());
        let branch = |tail: &[(usize, Visit)], from: usize| {
            let whole = [&before[..], tail].concat();
            let place = |row: Vec<f64>| {
                let mut wide = vec![0.0; b + l + r];
                wide[..b].copy_from_slice(&row[..b]);
                wide[from..from + tail.len()].copy_from_slice(&row[b..]);
                wide
            };
            rows(&whole, &[0], shown, &vec![1.0; whole.len()]).into_iter().map(place).collect::<Vec<_>>()
        };
        let rows = [branch(&left, b), branch(&right, b + l)].concat();
        let all = [&before[..], &left, &right].concat();
        for peer in 1..PEERS {
            prop_assert!(leverage(&rows, &contributions(&all, peer)) <= bound.linear[peer] + 1e-9);
        }
    }
}

/// By hand: peer 1 contributes twice, then adds noise alone; peer 2 passes the token on.
/// A contribution at step 1, and noise alone at step 1/2: four fifths of it are seen, not a half.
#[test]
fn a_running_mean_with_a_cap_is_above_the_bound_for_equal_steps() {
    let average = Arc::new(Average { sizes: Steps::Running, worth: vec![] });
    let mut own = Odometer::averaging(PEERS, &[vec![0]], average).unwrap();
    let mut equal = Odometer::new(PEERS, &[vec![0]]).unwrap();
    for odometer in [&mut own, &mut equal] {
        odometer.visit(1, Visit::Contributed).unwrap();
        odometer.visit(2, Visit::NoiseOnly).unwrap();
    }
    let (own, equal) = (own.conclude(true).remove(0), equal.conclude(true).remove(0));
    assert!((own.linear[1] - 0.8).abs() < 1e-15 && own.linear == own.convex && equal.convex[1] == 0.5);
}

#[test]
fn caps_and_burn_in_by_hand() {
    use Visit::{Contributed, NoiseOnly, Relayed};
    let visits =
        [(1, Relayed), (2, Relayed), (1, Contributed), (1, Contributed), (1, NoiseOnly), (2, NoiseOnly)];
    let loss = alone(&visits, &[0], true);
    assert_eq!((loss.linear[1], loss.convex[1]), (1.0, 1.0)); // 2² of 4, all four noises hide both.
    assert_eq!(alone(&visits, &[0], false).convex, [0.0; 5]); // Nobody showed it.
    let last = [&visits[..], &[(1, Contributed), (0, Contributed), (0, Contributed)]].concat();
    // Contributions 1, 1, 0, 0, 1: the first four slopes are 1/2, the last is 1.
    assert_eq!((alone(&last, &[0], false).linear[1], alone(&last, &[0], false).convex[1]), (9.0 / 5.0, 2.0));
}

#[test]
fn bad_input_is_refused() {
    assert!(Odometer::new(3, &[]).is_err() && Odometer::new(3, &[vec![]]).is_err());
    assert!(Odometer::new(3, &[vec![0], vec![3]]).is_err() && Odometer::everyone(0).is_err());
    let mut odometer = Odometer::everyone(3).unwrap();
    let error = odometer.visit(3, Visit::Contributed).unwrap_err().to_string();
    assert!(error.starts_with("`holder` is 3: there are 3 peers"), "{error}");
    assert_eq!(odometer.contributions(), [0, 0, 0]);
}

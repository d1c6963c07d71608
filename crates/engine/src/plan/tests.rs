//! The closed form, monotonicity, verification, and the predicted error against the protocol's own code and simulated runs.

use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::family::Family;
use sottovoce_topology::schedule::Schedule;
use sottovoce_views::exact;
use sottovoce_views::trace::trace;

use super::gossip::profiles;
use super::point::Curve;
use super::search::Observers;
use super::*;

fn problem(families: &[Family], target: Target) -> Problem {
    Problem {
        sites: families.iter().map(|family| Site::of_family(family, 1).unwrap()).collect(),
        graph_is_given: families.len() == 1,
        sensitivity: 1.0,
        results: Default::default(),
        target,
        falling: None,
        secrets: None,
        columns: 1,
        sample: None,
        delta: 1e-5,
        seed: 1,
    }
}

fn solve(problem: &Problem) -> Plan {
    averaging(problem, &|_, _, _| ()).unwrap()
}

fn regular() -> Family {
    Family::RandomRegular { n: 24, degree: 4 }
}

#[test]
fn sigma_follows_from_the_target_in_closed_form() {
    let losses = Losses { mean: 0.25, worst: 1.0, far: Some(0.5), share: None };
    let none = Target::none(2);
    // sigma² = f Delta² / mu², here with Delta = 2.
    assert_eq!(none.with(Bound::Mean, 0.5).variance(&losses, 2.0), 2.0);
    assert_eq!(none.with(Bound::Worst, 0.5).variance(&losses, 2.0), 8.0);
    assert_eq!(none.with(Bound::Far, 4.0).variance(&losses, 2.0), 0.5);
    // Together: the largest.
    let both = none.with(Bound::Mean, 0.5).with(Bound::Far, 4.0);
    assert_eq!(both.variance(&losses, 2.0), 2.0);
    assert!(both.holds(&losses.scaled(2.0, 2f64.sqrt() * (1.0 + 1e-9))));
    assert!(!both.holds(&losses.scaled(2.0, 2f64.sqrt() * (1.0 - 1e-9))));
    assert_eq!(both.tightest(), 0.5);
}

#[test]
fn bounds_that_fall_with_distance_are_kept_by_every_pair() {
    let geometric = Family::Geometric { n: 24, radius: 0.5 };
    let site = Site::of_family(&geometric, 1).unwrap();
    let places = site.graph().coordinates().unwrap().iter().map(|place| place.to_vec()).collect();
    let distances = Distances::Places(places, Metric::Euclidean);
    let falling = Falling::new(distances, &[(0.2, 4.0), (0.6, 1.0)], Some(0.3)).unwrap();
    let target = Target { falling: Some(falling.tightest()), ..Target::none(2) };
    let problem = Problem { falling: Some(falling.clone()), ..problem(&[geometric], target) };
    let plan = solve(&problem);
    let row = &plan.rows[plan.chosen];
    assert!(problem.target.holds(&plan.verified) && plan.classes.iter().all(|class| class.kept));
    assert_eq!(plan.classes.iter().map(|class| class.pairs).sum::<usize>(), 24 * 23);
    // From scratch, pair by pair; and no noise is wasted: one pair all but reaches its bound.
    let views = match row.protocol {
        Protocol::Gossip | Protocol::AcceleratedGossip | Protocol::RelayGossip => {
            exact::relay_gossip_all_pairs(&site.mixing, row.steps, row.tau / row.sigma, &|_| ()).unwrap()
        }
        other => panic!("{other:?}"),
    };
    let share = |v: usize, u: usize| views[v].losses[u] / row.sigma.powi(2) / falling.bound(v, u, 1);
    let pairs = || (0..24).flat_map(|v| (0..24).map(move |u| (v, u))).filter(|(v, u)| v != u);
    assert!(pairs().all(|(v, u)| share(v, u) <= 1.0));
    let binding = plan.binding.as_ref().unwrap();
    assert!(share(binding.observer, binding.peer) > 0.999, "{binding:?}");
    // Nothing does better than a uniform bound at the loosest step, nor worse than at the tightest.
    let uniform = |bound| {
        let target = Target::none(2).with(Bound::Worst, bound);
        let plan = solve(&Problem { target, falling: None, ..problem.clone() });
        plan.rows[plan.chosen].error
    };
    assert!(uniform(4.0) <= row.error * (1.0 + 3e-5) && row.error <= uniform(0.3) * (1.0 + 3e-5));
    assert!(plan.not_covered.iter().any(|limit| limit.contains("distances")));
}

#[test]
fn hops_as_a_distance_are_the_target_of_those_who_are_far() {
    let falling = Falling::new(Distances::Hops, &[(1.0, 4.0)], Some(0.1)).unwrap();
    let target = Target { falling: Some(0.1), ..Target::none(2) };
    let own = solve(&Problem { falling: Some(falling), ..problem(&[regular()], target) });
    let far = solve(&problem(&[regular()], Target::none(2).with(Bound::Far, 0.1).with(Bound::Worst, 4.0)));
    let (own, far) = (&own.rows[own.chosen], &far.rows[far.chosen]);
    assert_eq!((own.protocol, own.steps), (far.protocol, far.steps));
    assert!((own.sigma / far.sigma - 1.0).abs() < 1e-5, "{} {}", own.sigma, far.sigma);
}

#[test]
fn rows_are_compared_by_all_their_pairs() {
    let plan = solve(&problem(&[regular()], Target::none(2).with(Bound::Worst, 0.7)));
    for row in &plan.rows {
        let pairs = row.pairs.as_ref().unwrap();
        let all = pairs.mu_squared.all();
        assert_eq!(pairs.pairs, 24 * 23);
        assert!(all.is_sorted(), "{all:?}");
        assert!(pairs.mu_squared.max <= 0.7 * (1.0 + 1e-6) || row.protocol.is_baseline(), "{row:?}");
        // Three schedules are three means, each below that of the largest of three.
        assert!((row.mu_squared.worst / pairs.mu_squared.max - 1.0).abs() < 1e-6, "{row:?}");
        assert!((0.0..=1.0).contains(&pairs.at_local));
    }
    for one in &plan.below {
        let [low, high] = [one.row, one.than].map(|i| plan.rows[i].pairs.as_ref().unwrap());
        assert!(low.mu_squared.all().iter().zip(high.mu_squared.all()).all(|(low, high)| *low <= high));
    }
}

#[test]
fn epsilons_become_the_largest_square_that_is_private() {
    use sottovoce_privacy::Gdp;
    for (epsilon, delta) in [(0.1, 1e-5), (1.0, 1e-6), (8.0, 1e-9)] {
        let found = target::mu_squared_at(epsilon, delta).unwrap();
        assert!(Gdp::of_square(found).unwrap().delta(epsilon).unwrap().upper <= delta);
        assert!(Gdp::of_square(found * (1.0 + 1e-9)).unwrap().delta(epsilon).unwrap().upper > delta);
    }
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = target::mu_squared_at(epsilon, 1e-5).unwrap_err().to_string();
        assert!(error.starts_with("`epsilon` is ") && error.contains("positive"), "{error}");
    }
}

#[test]
fn a_looser_target_never_gives_more_error() {
    let families = [regular(), Family::Exponential { n: 24 }];
    for bound in [Bound::Mean, Bound::Worst, Bound::Far] {
        let mut before = f64::INFINITY;
        for mu_squared in [0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 30.0] {
            let plan = solve(&problem(&families, Target::none(2).with(bound, mu_squared).guarded()));
            let error = plan.rows[plan.chosen].error;
            // Noises are rounded up to six digits.
            assert!(error <= before * (1.0 + 3e-5), "{bound:?} {mu_squared}: {error} after {before}");
            before = error;
        }
    }
}

#[test]
fn the_chosen_plan_keeps_its_target_by_the_exact_accountant() {
    for (bound, mu_squared) in [(Bound::Mean, 0.05), (Bound::Worst, 0.7), (Bound::Far, 0.1)] {
        let problem = problem(&[regular()], Target::none(2).with(bound, mu_squared).guarded());
        let plan = solve(&problem);
        let row = &plan.rows[plan.chosen];
        assert!(problem.target.holds(&plan.verified), "{plan:?}");
        // Once more, from scratch.
        let mixing = &problem.sites[0].mixing;
        let tau = row.tau / row.sigma;
        if row.protocol == Protocol::RandomisedGossip {
            continue;
        }
        let views = exact::relay_gossip_all_pairs(mixing, row.steps, tau, &|_| ()).unwrap();
        let unit = 1.0 / (row.sigma * row.sigma);
        let worst = views.iter().map(|view| view.worst().1).fold(0.0, f64::max) * unit;
        let mean = views.iter().map(|view| view.mean()).sum::<f64>() / 23.0 * unit;
        assert!(worst <= plan.verified.worst && mean <= plan.verified.mean);
        assert!(plan.verified.worst < worst * 1.001 && plan.verified.mean < mean * 1.001);
        // And no noise is wasted: at 1 % less the target is missed.
        assert!(!problem.target.holds(&row.loss.unwrap().scaled(1.0, 0.99 * row.sigma)));
    }
}

/// Mean over peers of the squared coefficients of what they end with.
fn share(scheme: &Scheme, tau: f64) -> f64 {
    let run = trace(scheme, Noising { sensitivity: 1.0, local: 1.0, relay: tau }, &[0]).unwrap();
    let squares: f64 = run.finals.iter().flat_map(|last| &last.0).map(|x| x * x).sum();
    squares / scheme.peers() as f64
}

#[test]
fn predicted_noise_is_that_of_the_protocols_own_code() {
    let problem = problem(&[regular()], Target::none(2).with(Bound::Far, 0.1).guarded());
    let site = &problem.sites[0];
    let (plain, quick) = (Curve::plain(site, 9).unwrap(), Curve::accelerated(site, 9).unwrap());
    let losses = Losses::local(&problem.target);
    for steps in [1, 2, 5, 9] {
        for tau in [0.0, 0.3] {
            let scheme = Scheme::Gossip { mixing: site.mixing.clone(), rounds: steps, accelerated: false };
            let point = plain.at(&problem, steps, tau, losses).unwrap();
            assert!((point.share + tau * tau * point.relay_share - share(&scheme, tau)).abs() < 1e-13);
        }
        let scheme = Scheme::Gossip { mixing: site.mixing.clone(), rounds: steps, accelerated: true };
        let point = quick.at(&problem, steps, 0.0, losses).unwrap();
        // The scheme takes its weight from the middle of the gap's interval, the planner from its lower end.
        assert!((point.share - share(&scheme, 0.0)).abs() < 1e-9, "{steps}");
    }
    assert!((share(&Scheme::Butterfly { positions: (0..24).collect() }, 0.0) - 1.0 / 24.0).abs() < 1e-13);
}

/// Relay gossip simulated with plain numbers, half of the private values at `end` and half at `-end`: the mean over runs and
/// peers of the squared error, and its standard error.
fn simulated(site: &Site, row: &Row, end: f64, runs: u64) -> (f64, f64) {
    let n = site.nodes();
    let noise = |seed: u64, round: u64, scale: f64| {
        let mut out = vec![0.0; n];
        let law = ContinuousLaw::gaussian(scale).unwrap();
        SimulatedNoise::new(seed, 0, round).fill(law, &mut out);
        out
    };
    let values: Vec<f64> = (0..n).map(|v| if v < n / 2 { end } else { -end }).collect();
    let mut errors = Vec::new();
    for run in 0..runs {
        let mut now: Vec<f64> = values.iter().zip(noise(run, 0, row.sigma)).map(|(x, eta)| x + eta).collect();
        for t in 0..row.steps {
            if row.tau > 0.0 {
                now.iter_mut().zip(noise(run, t as u64 + 1, row.tau)).for_each(|(x, xi)| *x += xi);
            }
            let mut next = vec![0.0; n];
            site.mixing.apply(&now, &mut next);
            now = next;
        }
        errors.push(now.iter().map(|x| x * x).sum::<f64>() / n as f64);
    }
    let mean = errors.iter().sum::<f64>() / runs as f64;
    let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (runs - 1) as f64;
    (mean, (variance / runs as f64).sqrt())
}

#[test]
fn simulated_runs_have_the_predicted_error() {
    let problem = problem(&[regular()], Target::none(2).with(Bound::Far, 0.1).guarded());
    let plan = solve(&problem);
    let site = &problem.sites[0];
    for row in plan.rows.iter().filter(|row| matches!(row.protocol, Protocol::Gossip | Protocol::RelayGossip))
    {
        // Four standard errors: a confidence above 99.99 % each. Without spread the prediction is exact ...
        let (mean, standard_error) = simulated(site, row, 0.0, 4000);
        assert!((mean - row.noise_error).abs() <= 4.0 * standard_error, "{row:?} {mean} {standard_error}");
        assert!(standard_error < 0.05 * mean);
        // ... and with it a bound.
        let (mean, standard_error) = simulated(site, row, 0.5, 4000);
        assert!(mean <= row.error + 4.0 * standard_error, "{row:?} {mean} {standard_error}");
    }
}

#[test]
fn drawn_schedules_lose_what_the_exact_accountant_says() {
    let problem = problem(&[Family::Hypercube { dimension: 3 }], Target::none(2).with(Bound::Mean, 0.1));
    let site = &problem.sites[0];
    let observers = Observers::new(&problem, 8).unwrap();
    let row = randomised::row(&problem, site, &observers, &|_, _, _| ()).unwrap().unwrap();
    let mean = |schedule: &Schedule| {
        let one = |v| exact::scheduled(schedule, &[v], row.steps).unwrap().losses.iter().sum::<f64>();
        (0..8).map(one).sum::<f64>() / 56.0
    };
    let drawn = randomised::schedules(&problem, site, row.steps).unwrap();
    let worst = drawn.iter().map(mean).fold(0.0, f64::max);
    assert!((row.loss.unwrap().mean - worst).abs() < 1e-8, "{row:?} {worst}");
    let shares = drawn
        .iter()
        .map(|schedule| share(&Scheme::Scheduled { schedule: schedule.clone(), rounds: row.steps }, 0.0));
    let predicted = row.sigma.powi(2) * shares.sum::<f64>() / drawn.len() as f64;
    assert!((row.noise_error - predicted).abs() < 1e-12);
}

#[test]
fn the_butterfly_loses_what_is_known_of_it() {
    // f = 2^-b with b the highest bit that differs: on 16 peers a mean of 4/15, and 1/2 at distance 2.
    let mut problem =
        problem(&[Family::Hypercube { dimension: 4 }], Target::none(2).with(Bound::Far, 0.1).guarded());
    problem.graph_is_given = false;
    let plan = solve(&problem);
    let row = plan.rows.iter().find(|row| row.protocol == Protocol::Butterfly).unwrap();
    let loss = row.loss.unwrap();
    assert!((loss.mean - 4.0 / 15.0).abs() < 1e-8 && (loss.far.unwrap() - 0.5).abs() < 1e-8, "{loss:?}");
    assert_eq!((row.steps, row.messages), (4, 4.0));
    assert!((row.error - row.sigma.powi(2) / 16.0).abs() < 1e-12);
}

#[test]
fn scouts_and_everyone_agree_on_a_graph_that_looks_the_same_from_everywhere() {
    let problem = problem(&[Family::Ring { n: 80 }], Target::none(2).with(Bound::Far, 0.1).guarded());
    let site = &problem.sites[0];
    let observers = Observers::new(&problem, 80).unwrap();
    assert!(!observers.are_scouts() && observers.complete);
    let look = |who: &[usize]| profiles(&problem, site, (who, true), 6, &[0.0, 0.1], |_| ()).unwrap();
    let (few, all) = (look(&observers.scouts), look(&observers.all));
    for (few, all) in few.iter().zip(&all) {
        for (few, all) in few.losses.iter().zip(&all.losses) {
            assert!((few.mean - all.mean).abs() < 1e-9 && (few.far.unwrap() - all.far.unwrap()).abs() < 1e-9);
        }
    }
}

#[test]
fn samples_are_estimates_and_say_so() {
    let mut problem = problem(&[regular()], Target::none(2).with(Bound::Mean, 0.1));
    problem.sample = Some(6);
    let plan = solve(&problem);
    assert!(plan.rows[plan.chosen].standing.contains("estimate from 6 observers, no guarantee"), "{plan:?}");
    problem.sample = Some(1);
    let error = averaging(&problem, &|_, _, _| ()).unwrap_err().to_string();
    assert!(error.starts_with("`sample` is 1: give at least 2"), "{error}");
}

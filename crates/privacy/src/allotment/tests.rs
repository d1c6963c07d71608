//! Budgets are kept, spent, and spent where it helps.

use proptest::prelude::*;

use super::*;
use crate::calibrate;

const E5: f64 = 0.006_737_946_999_085_467;

fn request(law: Law, method: Method, allocation: Allocation, updates: usize) -> Request {
    let delta = if method == Method::Sum { 0.0 } else { 1e-5 };
    Request { epsilon: 1.0, delta, law, method, allocation, updates, factor: 0.8, before: 0.0 }
}

/// Numbers of an independent computation: 95 and 17 equal epsilons at `delta = e^-5`.
#[test]
fn totals_agree_with_reference_numbers() {
    for (updates, each, method, total) in [
        (95, 0.190142275569, Method::Theorem1, 7.572742195669138),
        (95, 0.190142275569, Method::Sum, 18.063516179041798),
        (17, 0.0690171500641, Method::Theorem1, 0.8255402545389874),
    ] {
        let request = Request {
            epsilon: total,
            delta: E5,
            factor: 1.0,
            ..request(Law::Laplace, method, Allocation::Optimal, updates)
        };
        let found = request.allot().unwrap();
        assert!(
            found.noises().iter().all(|noise| (noise * each - 1.0).abs() < 1e-10),
            "{:?}",
            found.noises()[0]
        );
        assert!(found.total() <= total && found.total() > total * (1.0 - 1e-11));
    }
}

#[test]
fn a_single_update_is_the_plain_mechanism() {
    for allocation in [Allocation::Uniform, Allocation::Published, Allocation::Optimal] {
        let one = |law, method| request(law, method, allocation, 1).allot().unwrap().noises()[0];
        assert!((one(Law::Laplace, Method::Sum) - 1.0).abs() < 1e-12);
        assert!((one(Law::Radial, Method::Theorem1) - 1.0).abs() < 1e-12);
        let gaussian = Gdp::calibrate(1.0, 1e-5).unwrap();
        for method in [Method::Gdp, Method::Pld] {
            assert!((one(Law::Gaussian, method) / gaussian - 1.0).abs() < 1e-11);
        }
        let laplace =
            calibrate::least(Mechanism::laplace, 1, Adjacency::Replace, 1.0, 1e-5, calibrate::Method::Pld);
        let (ours, plain) = (one(Law::Laplace, Method::Pld), 0.5 * laplace.unwrap().noise);
        assert!((ours / plain - 1.0).abs() < 2.0 * NEAR, "{ours} {plain}");
    }
}

/// All ways of sharing a budget among three wake-ups, on a grid: none is damped to less.
#[test]
fn optimal_shares_are_the_best_of_all() {
    for factor in [0.3_f64, 0.8, 0.99] {
        let damped = |squares: [f64; 3]| (squares[0] * factor + squares[1]) * factor + squares[2];
        let of = |law, method, allocation| {
            let request = Request { factor, ..request(law, method, allocation, 3) };
            request.allot().unwrap()
        };
        let sums = of(Law::Laplace, Method::Sum, Allocation::Optimal);
        let gaussians = of(Law::Gaussian, Method::Gdp, Allocation::Optimal);
        let mu_squared: f64 = gaussians.noises().iter().map(|noise| 1.0 / (noise * noise)).sum();
        let (mut least_sum, mut least_gaussian) = (f64::INFINITY, f64::INFINITY);
        let steps = 400;
        for first in 1..steps {
            for second in 1..steps - first {
                let parts =
                    [first, second, steps - first - second].map(|part| f64::from(part) / f64::from(steps));
                least_sum = smaller(least_sum, damped(parts.map(|epsilon| 1.0 / (epsilon * epsilon))));
                least_gaussian = smaller(least_gaussian, damped(parts.map(|part| 1.0 / (part * mu_squared))));
            }
        }
        for (found, least) in [(&sums, least_sum), (&gaussians, least_gaussian)] {
            assert!(found.damped() <= least * (1.0 + 1e-9), "{factor}: {} {least}", found.damped());
            assert!(found.damped() >= least * (1.0 - 1e-3), "{factor}: {} {least}", found.damped());
        }
        for (law, method) in
            [(Law::Laplace, Method::Sum), (Law::Gaussian, Method::Gdp), (Law::Laplace, Method::Theorem1)]
        {
            let [optimal, uniform, published] =
                [Allocation::Optimal, Allocation::Uniform, Allocation::Published]
                    .map(|allocation| of(law, method, allocation).damped());
            assert!(optimal < uniform && uniform < published, "{factor} {method:?}");
        }
    }
}

/// Many updates, of many kinds, by privacy-loss distributions: below the budget, near it, and better than Theorem 1.
#[test]
fn privacy_loss_distributions_are_sharper_than_theorem_1() {
    for (updates, factor) in [(10, 0.8), (300, 0.99), (10_000, 0.999)] {
        for allocation in [Allocation::Uniform, Allocation::Optimal] {
            let of = |method| {
                Request { factor, ..request(Law::Laplace, method, allocation, updates) }.allot().unwrap()
            };
            let (sharp, closed) = (of(Method::Pld), of(Method::Theorem1));
            assert!(sharp.total() <= 1.0 && sharp.total() > 1.0 - 2e-3, "{updates}: {}", sharp.total());
            assert!(sharp.damped() < closed.damped(), "{updates} {factor} {allocation:?}");
            let half = sharp.spent(updates / 2).unwrap();
            assert!(half > 0.0 && half <= sharp.total());
            assert!(sharp.spent(updates).unwrap() == sharp.total() && sharp.spent(updates + 1).is_err());
        }
    }
}

/// Radial noise is charged as whatever has its pure loss: at least as much as Laplace noise of the same scale.
#[test]
fn radial_noise_is_charged_for_its_pure_loss() {
    let of = |law| request(law, Method::Pld, Allocation::Uniform, 50).allot().unwrap().noises()[0];
    assert!(of(Law::Radial) > of(Law::Laplace));
}

#[test]
fn what_was_released_before_is_charged() {
    for (law, method) in [
        (Law::Laplace, Method::Sum),
        (Law::Laplace, Method::Theorem1),
        (Law::Gaussian, Method::Gdp),
        (Law::Laplace, Method::Pld),
        (Law::Gaussian, Method::Pld),
    ] {
        let fresh = request(law, method, Allocation::Uniform, 4);
        let warm = Request { before: 0.25, ..fresh };
        let (fresh, warm) = (fresh.allot().unwrap(), warm.allot().unwrap());
        assert!(warm.noises()[0] > fresh.noises()[0] && warm.total() <= 1.0, "{method:?}");
        assert!(fresh.spent(0).unwrap() == 0.0 && warm.spent(0).unwrap() <= 0.25 + 1e-12);
    }
    let warm = Request { before: 0.25, ..request(Law::Laplace, Method::Sum, Allocation::Uniform, 3) }
        .allot()
        .unwrap();
    assert!((warm.noises()[0] - 4.0).abs() < 1e-12 && (warm.spent(0).unwrap() - 0.25).abs() < 1e-12);
    let all = Request { before: 1.0, ..request(Law::Laplace, Method::Sum, Allocation::Uniform, 3) };
    assert!(all.allot().unwrap_err().to_string().contains("`epsilon` is 1"));
}

#[test]
fn refusals_name_field_value_and_remedy() {
    let good = request(Law::Laplace, Method::Theorem1, Allocation::Uniform, 3);
    for (request, wanted) in [
        (Request { epsilon: 0.0, ..good }, "`epsilon` is 0"),
        (Request { epsilon: f64::NAN, ..good }, "`epsilon` is NaN"),
        (Request { delta: 1.0, ..good }, "`delta` is 1"),
        (Request { updates: 0, ..good }, "`updates` is 0"),
        (Request { factor: 0.0, ..good }, "`factor` is 0"),
        (Request { factor: f64::NAN, ..good }, "`factor` is NaN"),
        (Request { before: -1.0, ..good }, "`before` is -1"),
        (Request { law: Law::Gaussian, ..good }, "`method` is sum or theorem-1"),
        (Request { method: Method::Gdp, ..good }, "`method` is gdp"),
        (Request { law: Law::Gaussian, method: Method::Gdp, delta: 0.0, ..good }, "`delta` is 0"),
    ] {
        let message = request.allot().unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
}

fn any_request() -> impl Strategy<Value = Request> {
    let pairs = [
        (Law::Laplace, Method::Sum),
        (Law::Radial, Method::Theorem1),
        (Law::Laplace, Method::Theorem1),
        (Law::Gaussian, Method::Gdp),
    ];
    let allocations = [Allocation::Uniform, Allocation::Published, Allocation::Optimal];
    (0.01f64..20.0, -30.0f64..-1.0, 0usize..4, 0usize..3, 1usize..400, 0.05f64..=1.0).prop_map(
        move |(epsilon, ln_delta, pair, allocation, updates, factor)| {
            let ((law, method), allocation) = (pairs[pair], allocations[allocation]);
            Request { epsilon, delta: ln_delta.exp(), law, method, allocation, updates, factor, before: 0.0 }
        },
    )
}

proptest! {
    #[test]
    fn budgets_are_kept_and_spent(request in any_request()) {
        let found = request.allot().unwrap();
        prop_assert!(found.total() <= request.epsilon);
        // Unless the least noise is enough, or what is left of the shares is at an end of what is allowed.
        prop_assert!(found.total() > request.epsilon * (1.0 - 1e-9) || found.least() <= LEAST);
        let mut before = 0.0;
        for updates in 0..=request.updates {
            let spent = found.spent(updates).unwrap();
            prop_assert!(spent >= before * (1.0 - 1e-12), "{updates}: {spent} {before}");
            before = spent;
        }
        prop_assert_eq!(before, found.total());
    }

    #[test]
    fn more_budget_needs_less_noise_and_more_updates_more(request in any_request()) {
        let found = request.allot().unwrap();
        let richer = Request { epsilon: 1.1 * request.epsilon, ..request }.allot().unwrap();
        let longer = Request { updates: request.updates + 1, ..request }.allot().unwrap();
        prop_assert!(richer.least() <= found.least());
        // (Negligible shares are raised a little less where there are more of them.)
        prop_assert!(longer.damped() >= found.damped() * (1.0 - 1e-3));
        prop_assert!(request.allocation != Allocation::Uniform || longer.least() >= found.least());
    }

    #[test]
    fn optimal_is_never_worse_than_uniform(request in any_request()) {
        let optimal = Request { allocation: Allocation::Optimal, ..request }.allot().unwrap().damped();
        let uniform = Request { allocation: Allocation::Uniform, ..request }.allot().unwrap().damped();
        // (Noise at an end of what is allowed is the same for all.)
        prop_assert!(optimal <= uniform * (1.0 + 1e-9), "{optimal} {uniform}");
    }

    #[test]
    fn suggested_numbers_are_no_worse_than_their_neighbours(start in 0.1f64..100.0, ln_unit in -20.0f64..0.0, factor in 0.3f64..0.99) {
        let request = Request { factor, ..request(Law::Gaussian, Method::Gdp, Allocation::Uniform, 1) };
        let unit = ln_unit.exp();
        let found = suggested(&request, start, unit, 500).unwrap();
        for updates in [found.updates - 1, found.updates + 1] {
            if (1..=500).contains(&updates) {
                let noise = unit * Request { updates, ..request }.allot().unwrap().damped();
                let bound = (-(1.0 - factor) * updates as f64).exp() * start + noise;
                prop_assert!(bound >= found.bound(), "{updates}: {bound} {}", found.bound());
            }
        }
    }
}

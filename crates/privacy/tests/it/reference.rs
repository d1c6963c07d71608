//! Every row of the reference file, compared as its notes say.
//!
//! Rényi: equal at integer orders, never above elsewhere. Privacy-loss distributions: the reference is a pessimistic bound,
//! so ours must not be above it, except where rounding in its transform has pushed it *below the truth*. On such a row our
//! certified lower bound exceeds the reference; those rows are listed in [`BELOW_THE_TRUTH`], so that a new one is noticed.

use serde_json::Value;
use sottovoce_privacy::{Accountant, Adjacency, Gdp, Interval, Mechanism, calibrate, kov, rdp};

/// `(kind, noise, rate, steps, delta)` of the rows on which the reference lies below our certified lower bound.
const BELOW_THE_TRUTH: &[(&str, f64, f64, u64, f64)] = &[
    ("poisson_gaussian", 0.7, 0.001, 1000, 1e-9),
    ("poisson_gaussian", 0.7, 0.01, 10_000, 1e-9),
    ("poisson_gaussian", 1.0, 0.01, 10_000, 1e-9),
    ("poisson_gaussian", 1.0, 0.05, 200, 1e-9),
    ("poisson_gaussian", 5.0, 0.2, 1000, 1e-9),
    ("gaussian", 5.0, 1.0, 1000, 1e-5),
    ("poisson_gaussian_pld_fine", 1.0, 0.01, 1000, 1e-9),
    ("poisson_gaussian_pld_fine", 2.0, 0.5, 100, 1e-9),
];

/// The rows, with the excess allowed, on which the reference lies inside our interval: rare sampling and little noise, where
/// our lattice is at its widest. All are at delta = 1e-9, the level of the reference's own rounding.
const INSIDE: &[(&str, f64, f64, u64, f64, f64)] = &[
    ("poisson_gaussian", 0.5, 0.001, 100, 1e-9, 1e-6),
    ("poisson_gaussian_pld_fine", 1.0, 0.0001, 1000, 1e-9, 1e-4),
];

/// Tolerance for "not above the reference": the reference is itself rounded.
const ROUNDED: f64 = 1e-9;

fn points() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("reference/accounting.json")).unwrap();
    file["points"].as_array().unwrap().clone()
}

fn rows(kinds: &[&str]) -> Vec<Value> {
    let rows: Vec<Value> =
        points().into_iter().filter(|p| kinds.contains(&p["kind"].as_str().unwrap())).collect();
    assert!(!rows.is_empty(), "{kinds:?}");
    rows
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// The finite entries of a `{delta: epsilon}` object, in order.
fn curve(row: &Value, key: &str) -> Vec<(f64, f64)> {
    let Some(object) = row[key].as_object() else { return Vec::new() };
    object
        .iter()
        .filter_map(|(delta, value)| {
            let epsilon = value.as_f64().or_else(|| value["epsilon"].as_f64())?;
            Some((delta.parse().unwrap(), epsilon))
        })
        .collect()
}

fn mechanism(row: &Value) -> (Mechanism, Adjacency, u64) {
    let kind = row["kind"].as_str().unwrap();
    let steps = row["steps"].as_u64().unwrap_or(1);
    let adjacency = if kind.contains("replace_one") { Adjacency::Replace } else { Adjacency::AddRemove };
    let noise = if kind.contains("discrete_gaussian") {
        Mechanism::discrete_gaussian(number(row, "sigma"), row["sensitivity"].as_u64().unwrap() as u32)
    } else if kind.contains("discrete_laplace") {
        // The reference's parameter is the exponent's coefficient: the inverse scale.
        Mechanism::discrete_laplace(
            1.0 / number(row, "parameter"),
            row["sensitivity"].as_u64().unwrap() as u32,
        )
    } else if kind.contains("randomized_response") {
        Mechanism::randomized_response(
            number(row, "noise_parameter"),
            row["num_buckets"].as_u64().unwrap() as u32,
        )
    } else if kind.contains("laplace") {
        Mechanism::laplace(number(row, "scale"))
    } else {
        Mechanism::gaussian(number(row, "noise_multiplier"))
    }
    .unwrap();
    let sampled = match row["q"].as_f64() {
        Some(rate) => noise.poisson(rate).unwrap(),
        None => noise,
    };
    (sampled, adjacency, steps)
}

fn epsilons(row: &Value, deltas: &[f64]) -> Vec<Interval> {
    let (mechanism, adjacency, steps) = mechanism(row);
    let mut accountant = Accountant::new(adjacency);
    accountant.compose(mechanism, steps).unwrap();
    accountant.epsilons(deltas).unwrap()
}

fn key(row: &Value, delta: f64) -> (String, f64, f64, u64, f64) {
    let noise = row["noise_multiplier"].as_f64().or(row["scale"].as_f64()).unwrap_or(0.0);
    let kind = row["kind"].as_str().unwrap().to_owned();
    (kind, noise, row["q"].as_f64().unwrap_or(1.0), row["steps"].as_u64().unwrap(), delta)
}

/// Whether the reference is known to lie below the truth on this row, and by how much ours may exceed it.
fn expectation(row: &Value, delta: f64) -> (bool, f64) {
    let (kind, noise, rate, steps, delta) = key(row, delta);
    let below = BELOW_THE_TRUTH.contains(&(kind.as_str(), noise, rate, steps, delta));
    let inside = INSIDE
        .iter()
        .find(|row| (row.0, row.1, row.2, row.3, row.4) == (kind.as_str(), noise, rate, steps, delta));
    (below, inside.map_or(ROUNDED, |row| row.5))
}

#[test]
fn privacy_loss_distributions_are_not_above_the_reference() {
    let kinds = [
        "poisson_gaussian",
        "gaussian",
        "laplace",
        "poisson_laplace",
        "poisson_gaussian_replace_one_pld",
        "gaussian_replace_one_pld",
        "poisson_gaussian_pld_fine",
        "discrete_gaussian",
        "discrete_laplace",
        "randomized_response_replace_one",
    ];
    let mut wrong = Vec::new();
    for row in rows(&kinds) {
        let reference = curve(&row, "pld");
        let deltas: Vec<f64> = reference.iter().map(|point| point.0).collect();
        let optimistic = curve(&row, "pld_optimistic");
        for (i, interval) in epsilons(&row, &deltas).iter().enumerate() {
            let (delta, reference) = reference[i];
            assert!(interval.lower <= interval.upper, "{row}");
            if let Some((_, floor)) = optimistic.get(i) {
                assert!(
                    interval.upper >= *floor * (1.0 - ROUNDED),
                    "{interval:?} below the optimistic {floor}: {row}"
                );
            }
            let below = interval.lower > reference;
            let (known_below, excess) = expectation(&row, delta);
            let above = interval.upper > reference * (1.0 + excess) + 1e-12;
            if below != known_below || (above && !below) {
                wrong.push(format!(
                    "{} noise {} q {} steps {} delta {delta:e}: [{}, {}], reference {reference}",
                    row["kind"],
                    row["noise_multiplier"],
                    row["q"],
                    row["steps"],
                    interval.lower,
                    interval.upper
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsampled_gaussians_are_exact_where_transforms_have_a_floor() {
    for row in rows(&["gaussian_fft_floor"]) {
        let (delta, exact) = (number(&row, "delta"), number(&row, "exact_mpmath"));
        let interval = epsilons(&row, &[delta])[0];
        assert!(
            interval.contains(exact) || (interval.upper - exact).abs() < 1e-13 * exact,
            "{interval:?} {row}"
        );
        assert!(interval.width() < 1e-11, "{interval:?} {row}");
    }
    for row in rows(&["gaussian"]) {
        for (delta, exact) in curve(&row, "analytic") {
            let interval = epsilons(&row, &[delta])[0];
            assert!((interval.upper - exact).abs() < 1e-9 && interval.width() < 1e-9, "{interval:?} {row}");
        }
    }
}

#[test]
fn analytic_calibration_agrees() {
    for row in rows(&["analytic_gaussian_calibration"]) {
        let sigma = Gdp::calibrate(number(&row, "epsilon"), number(&row, "delta")).unwrap();
        let reference = number(&row, "sigma");
        assert!((sigma / reference - 1.0).abs() < 1e-8, "{sigma} {row}");
    }
}

#[test]
fn calibration_is_at_least_as_sharp_and_never_under_noises() {
    for (kind, method) in
        [("calibrate_rdp", calibrate::Method::Rdp), ("calibrate_pld", calibrate::Method::Pld)]
    {
        for row in rows(&[kind]) {
            let rate = number(&row, "q");
            let (epsilon, delta) = (number(&row, "target_epsilon"), number(&row, "target_delta"));
            let build = |sigma: f64| Mechanism::gaussian(sigma)?.poisson(rate);
            let steps = row["steps"].as_u64().unwrap();
            let sigma =
                calibrate::least(build, steps, Adjacency::AddRemove, epsilon, delta, method).unwrap().noise;
            let reference = number(&row, "noise_multiplier");
            assert!(sigma <= reference * (1.0 + 2e-6) && sigma > 0.98 * reference, "{sigma} {row}");
            let mut accountant = Accountant::new(Adjacency::AddRemove);
            accountant.compose(build(sigma).unwrap(), steps).unwrap();
            let spent = match method {
                calibrate::Method::Pld => accountant.epsilon(delta).unwrap().upper,
                calibrate::Method::Rdp => accountant.rdp_epsilon(delta).unwrap().0,
            };
            assert!(spent <= epsilon, "{spent} > {epsilon}");
        }
    }
}

#[test]
fn renyi_losses_are_exact_at_every_order() {
    for row in rows(&["rdp_exact_quadrature"]) {
        let step = Mechanism::gaussian(number(&row, "noise_multiplier"))
            .unwrap()
            .poisson(number(&row, "q"))
            .unwrap();
        let (loss, exact) =
            (rdp::loss(&step, Adjacency::AddRemove, number(&row, "order")).unwrap(), number(&row, "rdp"));
        assert!((loss / exact - 1.0).abs() < 1e-9, "{loss} {row}");
    }
    for row in rows(&["rdp_raw_poisson_gaussian"]) {
        let step = Mechanism::gaussian(number(&row, "noise_multiplier"))
            .unwrap()
            .poisson(number(&row, "q"))
            .unwrap();
        for (order, reference) in row["orders"].as_array().unwrap().iter().zip(row["rdp"].as_array().unwrap())
        {
            let (order, reference) = (order.as_f64().unwrap(), reference.as_f64().unwrap_or(f64::INFINITY));
            let loss = rdp::loss(&step, Adjacency::AddRemove, order).unwrap();
            assert!(loss <= reference * (1.0 + 1e-9), "order {order}: {loss} > {reference}");
            let exact = order.fract() != 0.0 || (loss / reference - 1.0).abs() < 1e-9;
            assert!(exact, "integer order {order}: {loss} {reference}");
        }
    }
    for row in rows(&["rdp_raw_laplace"]) {
        let noise = Mechanism::laplace(1.0 / number(&row, "eps")).unwrap();
        for (order, reference) in row["orders"].as_array().unwrap().iter().zip(row["rdp"].as_array().unwrap())
        {
            let (order, reference) = (order.as_f64().unwrap(), reference.as_f64().unwrap());
            if order > 1.0 {
                let loss = rdp::loss(&noise, Adjacency::AddRemove, order).unwrap();
                assert!((loss / reference - 1.0).abs() < 1e-9, "order {order}: {loss} {reference}");
            }
        }
    }
}

#[test]
fn renyi_epsilons_equal_at_integer_orders_and_are_never_above_elsewhere() {
    for row in rows(&["poisson_gaussian", "gaussian", "laplace"]) {
        let (mechanism, adjacency, steps) = mechanism(&row);
        for (delta, reference) in curve(&row, "rdp") {
            let (epsilon, order) = rdp::epsilon(&[(mechanism, steps)], adjacency, delta).unwrap();
            assert!(epsilon <= reference * (1.0 + 1e-9) + 1e-12, "{epsilon} at {order} > {reference}: {row}");
        }
        for (delta, reference) in curve(&row, "rdp_int") {
            let best = (2..=256)
                .chain([512, 1024])
                .map(f64::from)
                .map(|order| {
                    let loss = steps as f64 * rdp::loss(&mechanism, adjacency, order).unwrap();
                    rdp::epsilon_at(order, loss, delta)
                })
                .fold(f64::INFINITY, f64::min);
            assert!((best - reference).abs() <= 1e-8 * reference, "{best} {reference} at {delta}: {row}");
        }
    }
}

/// The reference states its fixed-batch noise relative to the change that replacing a record makes; ours is relative to
/// one record's contribution, half of that.
#[test]
fn fixed_batches_are_sharper_than_the_published_bound() {
    for row in rows(&["wor_gaussian_replace_one_rdp"]) {
        let (n, m) = (row["n"].as_u64().unwrap(), row["m"].as_u64().unwrap());
        let step =
            Mechanism::gaussian(2.0 * number(&row, "noise_multiplier")).unwrap().fixed_batch(m, n).unwrap();
        let mut accountant = Accountant::new(Adjacency::Replace);
        accountant.compose(step, row["steps"].as_u64().unwrap()).unwrap();
        for (delta, reference) in curve(&row, "rdp") {
            let (epsilon, _) = accountant.rdp_epsilon(delta).unwrap();
            let interval = accountant.epsilon(delta).unwrap();
            assert!(epsilon <= reference && interval.lower <= interval.upper, "{epsilon} {interval:?} {row}");
            assert!(interval.upper <= epsilon, "{epsilon} {interval:?} {row}");
            assert!(interval.lower > 0.5 * interval.upper, "{interval:?} {row}");
        }
    }
}

/// The reference reports the first multiple of twice epsilon that suffices; the curve itself crosses just before it.
#[test]
fn optimal_composition_of_pure_releases() {
    for row in rows(&["kov_homogeneous"]) {
        let (epsilon, k) = (number(&row, "epsilon"), row["k"].as_u64().unwrap());
        let (delta, reference) = (number(&row, "total_delta"), number(&row, "total_epsilon"));
        let interval = kov::composed_epsilon(epsilon, number(&row, "delta"), k, delta).unwrap();
        assert!(interval.upper <= reference * (1.0 + 1e-12) && interval.width() < 1e-8, "{interval:?} {row}");
        assert!(interval.lower >= reference - 2.0 * epsilon, "{interval:?} {row}");
        let at = |total: f64| kov::composed_delta(epsilon, 0.0, k, total).unwrap();
        assert!(at(reference).upper <= delta && at(reference - 2.0 * epsilon).lower > delta, "{row}");
    }
}

#[test]
fn heterogeneous_composition_agrees_to_ten_digits() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("reference/composition.json")).unwrap();
    assert!(rows.len() > 2);
    for row in rows {
        let epsilons: Vec<f64> = row["eps"].as_array().unwrap().iter().map(|e| e.as_f64().unwrap()).collect();
        let bounds = kov::heterogeneous(&epsilons, number(&row, "delta")).unwrap();
        for (ours, key) in [
            (bounds.naive, "naive"),
            (bounds.moderate, "term2"),
            (bounds.small_delta, "term3"),
            (bounds.total(), "total"),
        ] {
            assert!((ours - number(&row, key)).abs() <= 1e-10, "{key}: {ours} {}", row[key]);
        }
    }
}

//! Algebra of composition: what must hold whatever the parameters.

use proptest::prelude::*;
use sottovoce_privacy::{Accountant, Adjacency, Error, Mechanism};

/// Mechanisms that are quick to account for in any number.
fn quick() -> impl Strategy<Value = Mechanism> {
    prop_oneof![
        (0.5f64..20.0).prop_map(|sigma| Mechanism::gaussian(sigma).unwrap()),
        (0.8f64..8.0, 0.02f64..0.9).prop_map(|(s, q)| Mechanism::gaussian(s).unwrap().poisson(q).unwrap()),
    ]
}

/// Everything that has a law under add-remove adjacency.
fn any() -> impl Strategy<Value = Mechanism> {
    prop_oneof![
        quick(),
        (0.5f64..20.0).prop_map(|scale| Mechanism::laplace(scale).unwrap()),
        (1.0f64..8.0, 0.01f64..0.9).prop_map(|(b, q)| Mechanism::laplace(b).unwrap().poisson(q).unwrap()),
        (0.5f64..20.0, 1u32..3).prop_map(|(sigma, c)| Mechanism::discrete_gaussian(sigma, c).unwrap()),
        (0.5f64..20.0, 1u32..3).prop_map(|(scale, c)| Mechanism::discrete_laplace(scale, c).unwrap()),
    ]
}

fn composed(events: &[(Mechanism, u64)]) -> Accountant {
    let mut accountant = Accountant::new(Adjacency::AddRemove);
    for &(mechanism, count) in events {
        accountant.compose(mechanism, count).unwrap();
    }
    accountant
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn composing_n_is_composing_n_times_in_any_order(a in any(), b in any(), n in 1u64..20, m in 1u64..20) {
        let at_once = composed(&[(a, n), (b, m)]);
        let mut one_by_one = composed(&[]);
        for _ in 0..m {
            one_by_one.compose(b, 1).unwrap();
        }
        for _ in 0..n {
            one_by_one.compose(a, 1).unwrap();
        }
        prop_assert_eq!(&at_once, &one_by_one);
    }

    #[test]
    fn equal_compositions_have_equal_bits(a in quick(), n in 2u64..500, delta in 1e-9f64..1e-3) {
        let (at_once, halves) = (composed(&[(a, n)]), composed(&[(a, n / 2), (a, n - n / 2)]));
        prop_assert_eq!(at_once.epsilon(delta).unwrap(), halves.epsilon(delta).unwrap());
        prop_assert_eq!(at_once.rdp_epsilon(delta).unwrap(), halves.rdp_epsilon(delta).unwrap());
    }

    #[test]
    fn more_releases_and_smaller_deltas_lose_more(a in quick(), n in 1u64..300, delta in 1e-9f64..1e-3) {
        let fewer = composed(&[(a, n)]).epsilon(delta).unwrap();
        let more = composed(&[(a, n + 1)]).epsilon(delta).unwrap();
        let stricter = composed(&[(a, n)]).epsilon(0.5 * delta).unwrap();
        prop_assert!(fewer.lower <= more.upper, "{:?} {:?}", fewer, more);
        prop_assert!(fewer.lower <= stricter.upper, "{:?} {:?}", fewer, stricter);
    }

    #[test]
    fn rényi_bounds_lie_above_the_certified_interval(a in any(), n in 1u64..40, delta in 1e-8f64..1e-3) {
        let accountant = composed(&[(a, n)]);
        let interval = accountant.epsilon(delta).unwrap();
        let (epsilon, order) = accountant.rdp_epsilon(delta).unwrap();
        prop_assert!(interval.lower <= interval.upper);
        prop_assert!(interval.lower <= epsilon, "{:?} above {} at order {}", interval, epsilon, order);
    }

    #[test]
    fn delta_and_epsilon_are_inverse(a in any(), n in 1u64..40, delta in 1e-8f64..1e-3) {
        let accountant = composed(&[(a, n)]);
        let epsilon = accountant.epsilon(delta).unwrap();
        let back = accountant.delta(epsilon.upper).unwrap();
        prop_assert!(back.lower <= delta * (1.0 + 1e-9), "{:?} {:?}", epsilon, back);
        if epsilon.lower > 0.0 {
            let back = accountant.delta(epsilon.lower).unwrap();
            prop_assert!(back.upper >= delta * (1.0 - 1e-9), "{:?} {:?}", epsilon, back);
        }
    }

    #[test]
    fn joining_two_mechanisms_loses_at_least_either(a in any(), b in any(), delta in 1e-7f64..1e-3) {
        let (one, both) = (composed(&[(a, 3)]), composed(&[(a, 3), (b, 2)]));
        let (one, both) = (one.epsilon(delta).unwrap(), both.epsilon(delta).unwrap());
        prop_assert!(both.upper >= one.lower, "{:?} {:?}", one, both);
    }
}

#[test]
fn refusals_leave_the_accountant_as_it_was() {
    let mut accountant = composed(&[(Mechanism::gaussian(1.0).unwrap(), 5)]);
    let before = accountant.clone();
    assert!(matches!(
        accountant.compose(Mechanism::randomized_response(0.5, 2).unwrap(), 1),
        Err(Error::Unsupported { .. })
    ));
    assert!(accountant.compose(Mechanism::gaussian(1.0).unwrap(), 0).is_err());
    assert!(accountant.compose(Mechanism::gaussian(1.0).unwrap(), u64::MAX).is_err());
    assert!(accountant.compose(Mechanism::gaussian(1.0).unwrap(), 999_999_996).is_err());
    assert_eq!(accountant, before);
}

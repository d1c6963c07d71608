//! What the paper prints.

use sottovoce_protocol::consensus::Rates;

use super::cell::Way;

/// Privacy budgets; none is learning without noise.
pub(super) const EPSILONS: [Option<f64>; 5] = [None, Some(100.0), Some(10.0), Some(1.0), Some(0.5)];
/// Normalised Fiedler values; the first is the complete graph.
pub(super) const FIEDLERS: [f64; 4] = [1.0, 0.7, 0.39, 0.06];
/// From equal shares of all classes to classes of one's own.
pub(super) const SPLITS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// The budgets of Table 2.
pub(super) const SPLIT_EPSILONS: [f64; 2] = [0.5, 10.0];

/// An accuracy and its deviation over trials, in percent.
pub(super) type Printed = (f64, f64);

const CENTRAL: [Printed; 5] = [(98.22, 0.19), (96.16, 0.62), (94.73, 0.74), (92.04, 0.84), (90.82, 1.14)];

/// By Fiedler value, then budget.
const DSGD: [[Printed; 5]; 4] = [
    [(95.38, 0.37), (92.34, 0.9), (91.27, 0.92), (87.26, 1.16), (84.07, 1.89)],
    [(95.19, 0.37), (92.03, 0.64), (91.27, 1.1), (87.16, 1.58), (84.09, 2.23)],
    [(94.77, 0.87), (91.56, 0.68), (90.61, 0.93), (87.68, 0.74), (85.22, 1.21)],
    [(90.55, 2.06), (88.36, 3.75), (84.12, 2.49), (82.49, 1.23), (80.57, 1.47)],
];
const DSGT: [[Printed; 5]; 4] = [
    [(98.13, 0.11), (96.13, 0.84), (96.54, 0.17), (89.24, 0.27), (85.41, 0.54)],
    [(97.76, 0.83), (96.16, 0.77), (96.62, 0.11), (89.75, 0.77), (84.98, 1.13)],
    [(97.36, 1.43), (96.28, 0.7), (96.42, 0.21), (89.84, 0.39), (84.79, 1.07)],
    [(97.73, 0.48), (95.97, 1.67), (96.26, 0.17), (89.16, 0.82), (84.53, 1.29)],
];
const DINNO: [[Printed; 5]; 4] = [
    [(97.81, 0.2), (95.41, 0.36), (93.21, 0.24), (89.66, 0.51), (86.22, 0.58)],
    [(97.94, 0.21), (95.51, 0.43), (93.41, 0.37), (89.13, 0.34), (85.7, 0.25)],
    [(97.91, 0.25), (95.6, 0.35), (93.25, 0.34), (89.02, 0.35), (85.91, 0.46)],
    [(97.73, 0.28), (95.03, 0.79), (91.99, 0.67), (85.68, 1.13), (78.44, 2.0)],
];

/// Table 1.
pub(super) fn accuracy(way: Way, fiedler: f64, epsilon: Option<f64>) -> Option<Printed> {
    let budget = EPSILONS.iter().position(|known| *known == epsilon)?;
    let graph = FIEDLERS.iter().position(|known| *known == fiedler)?;
    Some(match way {
        Way::Central => CENTRAL[budget],
        Way::Dsgd => DSGD[graph][budget],
        Way::Dsgt => DSGT[graph][budget],
        Way::Dinno => DINNO[graph][budget],
    })
}

/// Table 2, by budget (0.5, then 10) and split. The row of DiNNO at 10 is not legible.
pub(super) fn by_split(way: Way, epsilon: f64, split: f64) -> Option<Printed> {
    let (half, place) = (epsilon == SPLIT_EPSILONS[0], SPLITS.iter().position(|known| *known == split)?);
    let row = match (way, half) {
        (Way::Dsgd, true) => [(88.9, 0.99), (88.3, 0.31), (87.65, 0.28), (86.06, 0.24), (80.57, 1.47)],
        (Way::Dsgt, true) => [(85.78, 0.63), (86.0, 0.96), (85.79, 0.96), (85.3, 0.9), (84.53, 1.29)],
        (Way::Dinno, true) => [(86.76, 0.96), (86.19, 0.79), (85.28, 0.39), (83.55, 0.71), (78.44, 2.0)],
        (Way::Dsgd, false) => [(94.08, 0.41), (93.89, 0.35), (93.63, 0.31), (92.56, 0.24), (84.92, 2.26)],
        (Way::Dsgt, false) => [(95.97, 0.35), (96.04, 0.33), (95.72, 0.34), (96.1, 0.41), (96.06, 0.24)],
        (Way::Dinno, false) | (Way::Central, _) => return None,
    };
    Some(row[place])
}

/// Table 3: hours of a trial on MNIST, without privacy and with it.
pub(super) fn hours(way: Way) -> [f64; 2] {
    match way {
        Way::Central => [0.07, 0.1],
        Way::Dsgd => [1.1, 1.25],
        Way::Dsgt => [0.84, 1.24],
        Way::Dinno => [0.9, 1.24],
    }
}

/// Table 4: CIFAR-100 by split, at epsilon 10 or without noise.
pub(super) fn cifar(way: Way, private: bool, split: f64) -> Option<f64> {
    let row = match (way, private) {
        (Way::Central, true) => [32.3; 5],
        (Way::Dsgd, true) => [24.76, 24.67, 23.37, 22.15, 21.25],
        (Way::Dsgt, true) => [28.29, 27.55, 27.69, 27.82, 27.14],
        (Way::Dinno, true) => [20.06, 19.62, 19.66, 19.24, 16.62],
        (Way::Central, false) => [62.08; 5],
        (Way::Dsgd, false) => [50.57, 49.9, 49.54, 50.7, 49.32],
        (Way::Dsgt, false) => [56.6, 56.35, 56.9, 56.71, 57.92],
        (Way::Dinno, false) => [52.01, 51.76, 52.16, 51.54, 48.73],
    };
    Some(row[SPLITS.iter().position(|known| *known == split)?])
}

/// First and last step sizes on MNIST. A budget between two of the paper's has those of the larger.
pub(super) fn rates(way: Way, epsilon: Option<f64>) -> Rates {
    let all = match way {
        Way::Central => [(0.05, 0.05), (0.317, 0.317), (0.317, 0.317), (0.194, 0.194), (0.1, 0.1)],
        Way::Dsgd => [(0.1, 0.0005), (0.2, 0.0005), (0.113, 0.005), (0.0365, 0.005), (0.02, 0.005)],
        Way::Dsgt => [(0.0792, 0.005), (0.4, 0.05), (0.174, 0.005), (0.0602, 0.005), (0.03, 0.005)],
        Way::Dinno => [(0.005, 0.0005), (0.008, 0.0005), (0.0075, 0.0005), (0.01, 0.0005), (0.03, 0.0005)],
    };
    let at = match epsilon {
        None => 0,
        Some(epsilon) => {
            EPSILONS.iter().rposition(|known| known.is_some_and(|known| known >= epsilon)).unwrap_or(1)
        }
    };
    let (start, finish) = all[at];
    Rates { start, finish }
}

/// The same on CIFAR-100.
pub(super) fn cifar_rates(way: Way, private: bool) -> Rates {
    let (start, finish) = match (way, private) {
        (Way::Central, true) => (0.05, 0.01),
        (Way::Dsgd, true) => (0.005, 0.0005),
        (Way::Dsgt, true) => (0.174, 0.05),
        (Way::Dinno, true) => (0.0075, 0.0005),
        (Way::Central, false) => (0.05, 0.005),
        (Way::Dsgd, false) => (0.5, 0.05),
        (Way::Dsgt, false) => (0.0792, 0.05),
        (Way::Dinno, false) => (0.005, 0.0005),
    };
    Rates { start, finish }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_what_they_are_of() {
        assert_eq!(accuracy(Way::Dsgt, 0.06, Some(10.0)), Some((96.26, 0.17)));
        assert_eq!(accuracy(Way::Central, 0.7, None), Some((98.22, 0.19)));
        assert_eq!(accuracy(Way::Dsgd, 0.5, None), None);
        assert_eq!(by_split(Way::Dinno, 0.5, 1.0), Some((78.44, 2.0)));
        assert_eq!(by_split(Way::Dinno, 10.0, 1.0), None);
        assert_eq!(cifar(Way::Dsgt, true, 1.0), Some(27.14));
        let of = |epsilon| rates(Way::Dsgd, epsilon).start;
        assert_eq!(
            [None, Some(100.0), Some(1.0), Some(2.0), Some(500.0)].map(of),
            [0.1, 0.2, 0.0365, 0.113, 0.2]
        );
    }

    /// The paper prints one setting twice, and not with the same number.
    #[test]
    fn tables_1_and_2_differ_where_they_should_not() {
        let both = |way, epsilon| (accuracy(way, 0.06, Some(epsilon)), by_split(way, epsilon, 1.0));
        let (one, other) = both(Way::Dsgd, 10.0);
        assert_ne!(one, other);
        let (one, other) = both(Way::Dinno, 0.5);
        assert_eq!(one, other);
    }
}

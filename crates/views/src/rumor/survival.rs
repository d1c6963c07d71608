//! Does a rumour survive lost messages?
//!
//! When an active peer tells, the telling arrives with probability `1 - l` and makes another active peer, and the teller stays with probability `s`: while few
//! know, the active peers are a branching process. It dies out for certain if `s <= l`, and else with probability `(1-s) l / (s (1-l))`. In a crowd of any size,
//! and on any graph, tellings of those who are active already make nobody active: everyone learns no more often than that process makes `n - 1` tellings arrive.
//! Proofs: `docs/theorems/rumor-graphs.md`.

/// Most peers for which the bound of a finite crowd is computed.
const MOST: usize = 4096;

/// The probability that a rumour never dies out among endlessly many peers, where each telling is lost with probability `drop`.
///
/// ```
/// use sottovoce_views::rumor::survival;
/// assert!((survival(0.5, 0.1) - 8.0 / 9.0).abs() < 1e-12);
/// assert_eq!((survival(0.1, 0.1), survival(0.0, 0.01), survival(0.0, 0.0)), (0.0, 0.0, 1.0));
/// ```
pub fn survival(muting: f64, drop: f64) -> f64 {
    match () {
        () if drop == 0.0 => 1.0,
        () if muting <= drop => 0.0,
        () => (muting - drop) / (muting * (1.0 - drop)),
    }
}

/// Everyone among so many peers learns with no larger probability than this, in rounds and by clocks, on any graph. For more than 4096 peers it is that of 4096.
pub fn survival_at_most(peers: usize, muting: f64, drop: f64) -> f64 {
    let needed = peers.clamp(1, MOST) - 1; // whole numbers
    if drop == 0.0 || needed == 0 {
        return 1.0;
    }
    // Of the tellings that change anything: one more active, as many, one fewer.
    let weights = [muting * (1.0 - drop), (1.0 - muting) * (1.0 - drop), (1.0 - muting) * drop];
    let all: f64 = weights.iter().sum();
    let [more, same, fewer] = weights.map(|weight| weight / all);
    // By number of active peers, after so many arrivals.
    let mut law = vec![0.0, 1.0];
    for _ in 0..needed {
        let mut next = vec![0.0; law.len() + 1];
        for active in (1..law.len()).rev() {
            next[active] += law[active] * same;
            next[active + 1] += law[active] * more;
            law[active - 1] += law[active] * fewer;
        }
        law = next;
    }
    let sum = law.iter().sum::<f64>() * (1.0 + 4.0 * needed as f64 * f64::EPSILON);
    if sum < 1.0 { sum } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_crowds_survive_as_the_branching_process_does() {
        for (s, drop) in [(0.5, 0.1), (0.9, 0.3), (0.3, 0.2)] {
            let (limit, finite) = (survival(s, drop), survival_at_most(4000, s, drop));
            assert!(finite >= limit - 1e-12 && finite < limit + 1e-6, "{s} {drop}: {limit} {finite}");
        }
        assert!(survival_at_most(2, 0.3, 0.2) > survival_at_most(3, 0.3, 0.2));
        // Two peers: the first arrival is all it takes, and each attempt is lost before it with probability l, the last with muting.
        let (s, l) = (0.3, 0.2);
        assert!((survival_at_most(2, s, l) - (1.0 - l) / (1.0 - s * l)).abs() < 1e-15);
    }

    #[test]
    fn a_walk_survives_if_nothing_is_lost_for_as_long_as_it_takes() {
        assert!((survival_at_most(11, 0.0, 0.1) - 0.9f64.powi(10)).abs() < 1e-14);
        assert_eq!(survival_at_most(1000, 0.5, 0.0), 1.0);
        assert_eq!(survival_at_most(1000, 1.0, 0.3), 1.0);
    }
}

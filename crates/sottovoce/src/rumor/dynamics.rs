//! The mean dynamics of a rumour in rounds: what a very large crowd does, and a crowd of thousands does nearly.
//!
//! With a share `a` active and `u` not informed, the tellings of one round miss a given peer with probability `e^-a`; whoever was
//! active stays so with probability `s`. So `a' = 1 - (1 - s a) e^-a` and `u' = u e^-a`.

/// Rounds after which a share has settled.
const SETTLED: usize = 100_000;

/// Shares informed and active, round by round and without end, from one peer of so many.
pub fn mean_dynamics(peers: usize, muting: f64) -> impl Iterator<Item = (f64, f64)> {
    let least = 1.0 / peers as f64;
    let next = move |&(untold, active): &(f64, f64)| {
        // Nobody is ever the last to be silent.
        Some((untold * (-active).exp(), after(active, muting).max(least)))
    };
    std::iter::successors(Some((1.0 - least, least)), next).map(|(untold, active)| (1.0 - untold, active))
}

/// The share active in the end, of a crowd without end: the fixed point of the mean dynamics, about `2 s` of a small `s`.
///
/// ```
/// assert!((sottovoce::rumor::plateau(1.0) - 1.0).abs() < 1e-12);
/// assert!((sottovoce::rumor::plateau(0.001) / 0.002 - 1.0).abs() < 0.01);
/// ```
pub fn plateau(muting: f64) -> f64 {
    let from_above = std::iter::successors(Some(1.0), |&active| Some(after(active, muting)));
    let pairs = from_above.clone().zip(from_above.skip(1)).take(SETTLED);
    pairs.skip_while(|(before, after)| before - after > 1e-15).map(|(_, after)| after).next().unwrap_or(0.0)
}

fn after(active: f64, muting: f64) -> f64 {
    muting * active * (-active).exp() - (-active).exp_m1()
}

/// The round after this one that is kept of a course that may be very long: every one at first, then ever fewer.
pub(crate) fn kept_after(round: u64) -> u64 {
    const DENSE: u64 = 400;
    const THIN: u64 = 50;
    if round < DENSE { round + 1 } else { round + round / THIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plateau_is_where_the_dynamics_end() {
        for s in [0.05, 0.1, 0.5, 0.9, 1.0] {
            let level = plateau(s);
            assert!((level - (1.0 - (1.0 - s * level) * (-level).exp())).abs() < 1e-12, "{s}");
            let late = mean_dynamics(1 << 16, s).nth(2000).map(|(_, active)| active);
            assert!((late.unwrap_or(0.0) - level).abs() < 1e-9, "{s}");
        }
        assert!(plateau(0.0) < 1e-4);
    }

    #[test]
    fn a_walk_has_one_walker() {
        let (informed, active) = mean_dynamics(100, 0.0).nth(50).unwrap_or_default();
        assert!(active == 0.01 && (0.3..0.5).contains(&informed));
    }

    #[test]
    fn few_rounds_of_a_long_course_are_kept() {
        let kept = std::iter::successors(Some(0), |round| Some(kept_after(*round)));
        assert!(kept.take_while(|round| *round < 1_000_000).count() < 900);
    }
}

//! From a target to the muting parameter: the largest `s`, hence the quickest rumour, that keeps `(0, delta)`.

use super::{Rumor, check_crowd};
use crate::{Error, Result, require};

/// Halvings in a search.
const HALVINGS: u32 = 24;
/// Most peers for whom it is searched; beyond, the closed form decides, which then is close.
const SEARCHED: usize = 300_000;
/// Effort of one sharp loss in the search.
const EFFORT: f64 = 5e6;

/// The largest `s` for which Theorem 7 promises `(0, delta)`: `(delta - f/n) / (q delta)` with `q = 1 - f/n`.
///
/// ```
/// use sottovoce_views::rumor::{Rumor, muting_for};
/// let s = muting_for(1000, 100, 0.2)?;
/// assert!((s - 5.0 / 9.0).abs() < 1e-12);
/// assert!(Rumor::new(1000, 100, s)?.delta(0.0, 1)? <= 0.2);
/// assert!(muting_for(1000, 100, 0.09).unwrap_err().to_string().contains("f/n = 0.1"));
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
pub fn muting_for(peers: usize, curious: usize, delta: f64) -> Result<f64> {
    let least = check(peers, curious, delta)?;
    if curious == 0 {
        return Ok(1.0);
    }
    let s = ((delta - least) / ((1.0 - least) * delta)).clamp(0.0, 1.0 - f64::EPSILON);
    Ok(stepped_back(s, |s| Rumor { peers, curious, muting: s }.theorem7() <= delta))
}

/// The same with our closed form: `(n - f/delta) / (h-1)`, at most 1.
pub fn improved_muting_for(peers: usize, curious: usize, delta: f64) -> Result<f64> {
    check(peers, curious, delta)?;
    let (n, f, rest) = (peers as f64, curious as f64, (peers - curious) as f64 - 1.0);
    if curious == 0 || rest == 0.0 {
        return muting_for(peers, curious, delta);
    }
    let s = ((n - f / delta) / rest).clamp(0.0, 1.0);
    Ok(stepped_back(s, |s| Rumor { peers, curious, muting: s }.improved_delta() <= delta))
}

/// A muting parameter that keeps `(0, delta)` in rounds as well, and at most that of [`muting_for`]: found by halving, and checked.
pub fn rounds_muting_for(peers: usize, curious: usize, delta: f64) -> Result<f64> {
    let most = muting_for(peers, curious, delta)?;
    let holds = |s: f64| Rumor { peers, curious, muting: s }.rounds_delta() <= delta;
    Ok(if holds(most) { most } else { halved(0.0, most, holds) })
}

/// The same with the sharp loss, which is that of asynchronous tellings: found by halving, and checked.
pub fn sharp_muting_for(peers: usize, curious: usize, delta: f64) -> Result<f64> {
    let low = improved_muting_for(peers, curious, delta)?;
    if peers > SEARCHED {
        return Ok(low);
    }
    let holds = |s: f64| {
        let sharp = Rumor { peers, curious, muting: s }.sharp_within(EFFORT);
        sharp.is_some_and(|sharp| sharp.at_zero.upper <= delta)
    };
    if holds(1.0) {
        return Ok(1.0);
    }
    Ok(halved(low, 1.0, holds))
}

/// Between a parameter that keeps a promise and one that does not, one that does.
fn halved(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Refuses what cannot be kept; returns `f/n`.
fn check(peers: usize, curious: usize, delta: f64) -> Result<f64> {
    check_crowd(peers, curious)?;
    require(delta > 0.0 && delta < 1.0, "delta", delta, "give a number between 0 and 1")?;
    let least = curious as f64 / peers as f64;
    if delta < least {
        let remedy = format!(
            "give at least f/n = {least}, the probability that the source's first telling is overheard: \
             no protocol in which the source acts like everyone else promises less"
        );
        return Err(Error::parameter("delta", delta, remedy));
    }
    Ok(least)
}

/// The given `s`, less what rounding added to it.
fn stepped_back(mut s: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let mut step = f64::EPSILON;
    while s > 0.0 && !holds(s) {
        (s, step) = ((s - step).max(0.0), 2.0 * step);
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn targets_that_cannot_be_kept_are_refused() {
        for delta in [0.0, 1.0, -0.5, f64::NAN] {
            let error = muting_for(10, 1, delta).unwrap_err().to_string();
            assert!(error.contains("`delta` is") && error.contains("between 0 and 1"), "{error}");
        }
        assert!(improved_muting_for(10, 4, 0.3).unwrap_err().to_string().contains("f/n = 0.4"));
        assert!(muting_for(10, 10, 0.3).unwrap_err().to_string().contains("`curious` is 10"));
        assert_eq!(muting_for(10, 1, 0.1).unwrap(), 0.0);
        assert_eq!(muting_for(10, 0, 0.1).unwrap(), 1.0);
    }

    #[test]
    fn sharper_losses_allow_quicker_rumours() {
        let (published, improved) =
            (muting_for(40, 4, 0.27).unwrap(), improved_muting_for(40, 4, 0.27).unwrap());
        let sharp = sharp_muting_for(40, 4, 0.27).unwrap();
        assert!(
            (published - 0.6995).abs() < 1e-3 && (improved - 0.7196).abs() < 1e-3,
            "{published} {improved}"
        );
        assert!(sharp > 0.7618 && Rumor::new(40, 4, sharp).unwrap().sharp().unwrap().at_zero.upper <= 0.27);
        // Of a small crowd even push keeps something back.
        assert_eq!(sharp_muting_for(40, 4, 0.44).unwrap(), 1.0);
    }

    proptest! {
        #[test]
        fn planned_mutings_keep_their_promise_and_are_the_largest(
            n in 2usize..5000, share in 0.0f64..1.0, d in 0.0f64..1.0,
        ) {
            let f = ((n as f64 * share) as usize).min(n - 1);
            let least = f as f64 / n as f64;
            let delta = (least + (1.0 - least) * d).clamp(1e-9, 1.0 - 1e-9);
            let (s, t) = (muting_for(n, f, delta).unwrap(), improved_muting_for(n, f, delta).unwrap());
            let rumor = |s: f64| Rumor::new(n, f, s).unwrap();
            prop_assert!(s == 0.0 || rumor(s).delta(0.0, 1).unwrap() <= delta);
            prop_assert!(t == 0.0 || rumor(t).improved_delta() <= delta);
            prop_assert!(f + 1 == n || t >= s - 1e-9);
            let r = rounds_muting_for(n, f, delta).unwrap();
            prop_assert!(r <= s && (r == 0.0 || rumor(r).rounds_delta() <= delta));
            let above = (s + 1e-6 * (1.0 - s)).min(1.0);
            prop_assert!(f == 0 || rumor(above).delta(0.0, 1).unwrap() >= delta - 1e-12);
        }
    }
}

//! Numbers for people, rounded to the safe side.

/// Scientific, six digits, never below the value.
pub(super) fn up(value: f64) -> String {
    directed(value, |shown| shown >= value, 1.0 + 1e-5)
}

/// Scientific, six digits, never above the value.
pub(super) fn down(value: f64) -> String {
    directed(value, |shown| shown <= value, 1.0 - 1e-5)
}

fn directed(value: f64, safe: impl Fn(f64) -> bool, nudge: f64) -> String {
    let plain = format!("{value:.5e}");
    if plain.parse().is_ok_and(safe) { plain } else { format!("{:.5e}", value * nudge) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_cut_to_the_safe_side() {
        for i in 0..1000 {
            let value = 1.234_567_8e-9 * 1.037_f64.powi(i);
            let (high, low): (f64, f64) = (up(value).parse().unwrap(), down(value).parse().unwrap());
            assert!(low <= value && value <= high && high <= low * (1.0 + 3e-5), "{low} {value} {high}");
        }
        assert_eq!((up(0.0), down(0.0)), ("0.00000e0".into(), "0.00000e0".into()));
        assert_eq!(up(f64::INFINITY), "inf");
    }
}

//! Numbers for people, rounded to the safe side.

/// Scientific, six digits, never below the value.
pub(super) fn up(value: f64) -> String {
    let plain = format!("{value:.5e}");
    if plain.parse().is_ok_and(|shown: f64| shown >= value) {
        plain
    } else {
        format!("{:.5e}", value * (1.0 + 1e-5))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_cut_to_the_safe_side() {
        for i in 0..1000 {
            let value = 1.234_567_8e-9 * 1.037_f64.powi(i);
            let shown: f64 = up(value).parse().unwrap();
            assert!(value <= shown && shown <= value * (1.0 + 3e-5), "{value} {shown}");
        }
        assert_eq!(up(0.0), "0.00000e0");
        assert_eq!(up(f64::INFINITY), "inf");
    }
}

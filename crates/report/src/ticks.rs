//! Where an axis is marked: round numbers, few enough to read.

use crate::text::{digits, superscript};

/// A marked place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Multiples of 1, 2 or 5 times a power of ten within the range, about `wanted` of them.
pub(crate) fn linear(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let step = step(high - low, wanted);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let places = (-step.log10().floor()).max(0.0) as usize;
    (first..=last)
        .map(|k| {
            let value = k as f64 * step;
            let label = if value.abs() >= 1e6 || (places > 5 && k != 0) {
                digits(value, 3)
            } else {
                format!("{value:.places$}").replace('-', "−")
            };
            Tick { value, label }
        })
        .collect()
}

/// The smallest round step that gives at most `wanted` intervals.
pub(crate) fn step(span: f64, wanted: usize) -> f64 {
    let rough = span / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// Powers of ten within the range; every second, third … where there are more than `wanted`, and 2 and 5 between them
/// where there is only one decade or so.
pub(crate) fn log10(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let first = (low.log10() - 1e-9).ceil() as i32;
    let last = (high.log10() + 1e-9).floor() as i32;
    let every = ((last - first).max(0) as usize / wanted.max(1) + 1) as i32;
    let mut ticks: Vec<Tick> = (first..=last)
        .filter(|k| (last - k) % every == 0)
        .map(|k| Tick { value: 10f64.powi(k), label: power(k) })
        .collect();
    if last - first < 2 {
        ticks.extend(between(first - 1, last, low, high));
        ticks.sort_by(|a, b| a.value.total_cmp(&b.value));
    }
    ticks
}

fn between(first: i32, last: i32, low: f64, high: f64) -> impl Iterator<Item = Tick> {
    (first..=last)
        .flat_map(|k| [2.0, 5.0].map(|m| m * 10f64.powi(k)))
        .filter(move |v| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v))
        .map(|value| Tick { value, label: digits(value, 1) })
}

fn power(k: i32) -> String {
    match k {
        0..=4 => format!("{}", 10i64.pow(k as u32)),
        -4..=-1 => format!("{:.*}", -k as usize, 10f64.powi(k)),
        _ => format!("10{}", superscript(k)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(&linear(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&linear(0.0, 87.0, 5)), ["0", "20", "40", "60", "80"]);
        assert_eq!(labels(&linear(-0.3, 0.31, 4)), ["−0.2", "0.0", "0.2"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(labels(&log10(1e-3, 1.0, 6)), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(&log10(1e-6, 1.0, 3)), ["10⁻⁶", "0.001", "1"]);
        assert_eq!(labels(&log10(0.1, 1.0, 5)), ["0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(&log10(3.0, 6.0, 5)), ["5"]);
    }

    #[test]
    fn the_number_of_ticks_is_bounded() {
        for exponent in -8..8 {
            let high = 3.7 * 10f64.powi(exponent);
            assert!((3..=7).contains(&linear(0.0, high, 6).len()), "{high}");
        }
    }
}

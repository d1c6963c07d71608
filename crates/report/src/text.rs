//! Text for readers and for markup: escaping, and numbers with a stated direction of rounding.

use std::fmt::Write as _;

/// Text made safe inside XML and HTML, in elements and in quoted attributes alike.
///
/// Characters that XML 1.0 forbids become the replacement character: an untrusted label must not be able to make a
/// picture unreadable.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// A number to `digits` significant digits, rounded to the nearest.
pub fn digits(value: f64, digits: usize) -> String {
    show(value, digits, f64::round)
}

/// A number to `digits` significant digits, rounded up: what a privacy loss is shown with. What exceeds a round number
/// only by the error of one division counts as that number.
pub fn up(value: f64, digits: usize) -> String {
    show(value, digits, f64::ceil)
}

/// A parameter as it was given: at most `digits` significant digits, and no zeros at the end.
pub fn short(value: f64, digits: usize) -> String {
    let text = self::digits(value, digits);
    if !text.contains('.') || text.contains('·') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// The number that [`up`] shows: at least `value`, with no more than `digits` significant digits.
pub(crate) fn up_value(value: f64, digits: usize) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = digits as i32;
    let (whole, exponent) = round_to(value, digits, f64::ceil);
    let rounded = decimal(whole, digits - 1 - exponent);
    if rounded >= value { rounded } else { decimal(whole + 1.0, digits - 1 - exponent) }
}

fn show(value: f64, digits: usize, round: impl Fn(f64) -> f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return if value.is_nan() { "unknown" } else { ["−∞", "∞"][usize::from(value > 0.0)] }.into();
    }
    let (whole, exponent) = round_to(value, digits as i32, round);
    let places = digits as i32 - 1 - exponent;
    if (-4..6).contains(&exponent) {
        // Parsing the decimal form divides exactly once, so that no second rounding can undo the first.
        return minus(&format!("{:.*}", places.max(0) as usize, decimal(whole, places)));
    }
    let mantissa = minus(&format!("{:.*}", digits - 1, decimal(whole, digits as i32 - 1)));
    format!("{mantissa}·10{}", superscript(exponent))
}

/// The whole number of units in the last kept digit, and the decimal exponent of the first digit.
fn round_to(value: f64, digits: i32, round: impl Fn(f64) -> f64) -> (f64, i32) {
    let mut exponent = value.abs().log10().floor() as i32;
    loop {
        let scaled = value / 10f64.powi(exponent + 1 - digits);
        // A number that already has so few digits must not be moved by the error of the division.
        let nearest = scaled.round();
        let exact = (scaled - nearest).abs() <= 4.0 * f64::EPSILON * nearest.abs();
        let whole = if exact { nearest } else { round(scaled) };
        match whole.abs() {
            w if w >= 10f64.powi(digits) => exponent += 1,
            w if w < 10f64.powi(digits - 1) => exponent -= 1,
            _ => return (whole, exponent),
        }
    }
}

fn decimal(whole: f64, places: i32) -> f64 {
    format!("{whole:.0}e{}", -places).parse().unwrap_or(f64::NAN)
}

fn minus(text: &str) -> String {
    text.replacen('-', "−", 1)
}

/// A whole number in raised digits, for powers of ten.
pub fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|b| if b == b'-' { '⁻' } else { DIGITS[usize::from(b - b'0')] }).collect()
}

/// A coordinate in a picture: two decimals are finer than any screen, and no `-0` or trailing zeros.
pub(crate) fn coordinate(value: f64) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "{:.2}", if value.is_finite() { value } else { 0.0 });
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".into() } else { trimmed.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_and_forbidden_characters_are_escaped() {
        assert_eq!(escape("<b a='1'>&\"\u{0}\n"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;\u{fffd} ");
    }

    #[test]
    fn numbers_are_short_and_rounded_as_asked() {
        for (value, shown) in
            [(0.031_21, "0.0313"), (1.0, "1.00"), (0.999_9, "1.00"), (12.31, "12.4"), (0.05, "0.0500")]
        {
            assert_eq!(up(value, 3), shown);
        }
        assert_eq!(digits(0.031_21, 3), "0.0312");
        assert_eq!(digits(123_456.0, 3), "123000");
        assert_eq!(digits(1.5e-7, 2), "1.5·10⁻⁷");
        assert_eq!(digits(-2.0, 2), "−2.0");
        assert_eq!([0.25, 1.0, 200.0, 1e-9].map(|v| short(v, 3)), ["0.25", "1", "200", "1.00·10⁻⁹"]);
        assert_eq!((up(0.0, 3).as_str(), up(f64::INFINITY, 3).as_str()), ("0", "∞"));
    }

    #[test]
    fn coordinates_are_tidy() {
        assert_eq!([1.0, -0.001, 2.5, f64::NAN].map(coordinate), ["1", "0", "2.5", "0"].map(String::from));
    }

    proptest! {
        #[test]
        fn rounding_up_never_shows_less(value in 1e-4f64..1e5) {
            let shown: f64 = up(value, 3).parse().unwrap();
            prop_assert!(shown >= value * (1.0 - 1e-15));
            prop_assert!(up_value(value, 3) >= value);
            prop_assert_eq!(up(up_value(value, 3), 3).parse::<f64>().unwrap(), up_value(value, 3));
            prop_assert!(shown <= value * 1.010_001);
        }
    }
}

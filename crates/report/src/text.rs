//! Text for readers and for markup: escaping, and numbers with a stated direction of rounding.

use std::fmt::Write as _;

use sottovoce_fault::decimal::{Decimal, Rounding};

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
    show(value, digits, Rounding::Nearest)
}

/// A number to `digits` significant digits, rounded up: what a privacy loss is shown with.
pub fn up(value: f64, digits: usize) -> String {
    show(value, digits, Rounding::Up)
}

/// A parameter as it was given: at most `digits` significant digits, and no zeros at the end.
pub fn short(value: f64, digits: usize) -> String {
    let text = self::digits(value, digits);
    if !text.contains('.') || text.contains('·') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn show(value: f64, digits: usize, rounding: Rounding) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let Some(shown) = Decimal::significant(value, digits, rounding) else {
        return if value.is_nan() { "unknown" } else { ["−∞", "∞"][usize::from(value > 0.0)] }.into();
    };
    if (-4..6).contains(&shown.exponent()) {
        return minus(&shown.to_string());
    }
    format!("{}·10{}", minus(&shown.mantissa()), superscript(shown.exponent()))
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
}

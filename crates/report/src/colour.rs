//! Colours: the roles a page may restyle, and the scale that shows a value between zero and one.
//!
//! Every colour of a chart is a role. A stand-alone picture writes the light colour itself; a picture inside a page
//! writes a CSS variable, which the page sets for light and for dark. Series differ in lightness and in dash as well
//! as in hue, so that they stay apart in print and for colour-blind readers.

/// A colour as red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// The colour as `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// What a shape is coloured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ink {
    /// The background.
    Paper,
    /// Text and axes.
    Text,
    /// Secondary text.
    Muted,
    /// Grid lines.
    Grid,
    /// Edges of a graph.
    Edge,
    /// The one thing to look at, such as the observer.
    Accent,
    /// The series of this number; numbers beyond the palette start again.
    Series(usize),
    /// A colour that stays the same in light and dark.
    Fixed(Rgb),
}

/// Light colours of the series. Each has a contrast of at least 3 with white (WCAG 1.4.11).
const SERIES: [Rgb; 6] = [
    Rgb(0x1f, 0x5f, 0xa8),
    Rgb(0xc4, 0x4e, 0x0a),
    Rgb(0x0b, 0x7d, 0x62),
    Rgb(0xa8, 0x4a, 0x84),
    Rgb(0x6b, 0x6b, 0x6b),
    Rgb(0x8a, 0x6d, 0x00),
];

/// Dashes that go with them; empty is a full line.
const DASHES: [&[f64]; 6] = [&[], &[7.0, 3.5], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[4.0, 3.0], &[1.0, 2.5]];

impl Ink {
    /// The colour on a light background.
    pub fn light(self) -> Rgb {
        match self {
            Self::Paper => Rgb(0xff, 0xff, 0xff),
            Self::Text => Rgb(0x1d, 0x21, 0x26),
            Self::Muted => Rgb(0x5a, 0x62, 0x6b),
            Self::Grid => Rgb(0xe3, 0xe5, 0xe8),
            Self::Edge => Rgb(0xb4, 0xba, 0xc2),
            Self::Accent => Rgb(0xc2, 0x2f, 0x2f),
            Self::Series(i) => SERIES[i % SERIES.len()],
            Self::Fixed(rgb) => rgb,
        }
    }

    /// The colour as a page's stylesheet knows it.
    pub(crate) fn variable(self) -> String {
        match self {
            Self::Paper => "var(--paper)".into(),
            Self::Text => "var(--text)".into(),
            Self::Muted => "var(--muted)".into(),
            Self::Grid => "var(--grid)".into(),
            Self::Edge => "var(--edge)".into(),
            Self::Accent => "var(--accent)".into(),
            Self::Series(i) => format!("var(--series-{})", i % SERIES.len()),
            Self::Fixed(rgb) => rgb.hex(),
        }
    }
}

/// The dash of the series of this number.
pub(crate) fn dash(series: usize) -> &'static [f64] {
    DASHES[series % DASHES.len()]
}

/// Stops of the scale in Oklab (lightness, green-red, blue-yellow): lightness rises evenly from dark violet through
/// teal to pale yellow, which is what makes equal steps look equal and keeps the order without any hue.
const STOPS: [[f64; 3]; 5] = [
    [0.29, 0.055, -0.115],
    [0.435, -0.005, -0.105],
    [0.58, -0.085, -0.015],
    [0.725, -0.125, 0.095],
    [0.92, -0.045, 0.165],
];

/// The colour of a value between zero (dark violet) and one (pale yellow); values outside are clamped, and what is
/// not a number counts as one.
pub fn scale(value: f64) -> Rgb {
    let value = if value.is_nan() { 1.0 } else { value.clamp(0.0, 1.0) };
    let position = value * (STOPS.len() - 1) as f64;
    let left = (position as usize).min(STOPS.len() - 2);
    let part = position - left as f64;
    let mix = |k: usize| STOPS[left][k] + part * (STOPS[left + 1][k] - STOPS[left][k]);
    // Lightness is exactly even; only the hue follows the stops.
    oklab(STOPS[0][0] + value * (STOPS[STOPS.len() - 1][0] - STOPS[0][0]), mix(1), mix(2))
}

/// Oklab to sRGB (Ottosson 2020).
fn oklab(l: f64, a: f64, b: f64) -> Rgb {
    let long = (l + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let medium = (l - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let short = (l - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let byte = |linear: f64| {
        let x = linear.clamp(0.0, 1.0);
        let encoded = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        (255.0 * encoded).round() as u8
    };
    Rgb(
        byte(4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short),
        byte(-1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short),
        byte(-0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The contrast of two colours (WCAG 2).
    pub(crate) fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        if a > b { a / b } else { b / a }
    }

    /// Relative luminance (WCAG 2).
    fn luminance(Rgb(r, g, b): Rgb) -> f64 {
        let linear = |c: u8| {
            let x = f64::from(c) / 255.0;
            if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
        };
        0.212_6 * linear(r) + 0.715_2 * linear(g) + 0.072_2 * linear(b)
    }

    #[test]
    fn the_scale_rises_in_lightness_all_the_way() {
        let shades: Vec<f64> = (0..=64).map(|i| luminance(scale(f64::from(i) / 64.0))).collect();
        assert!(shades.windows(2).all(|w| w[1] > w[0]));
        assert!(shades[0] < 0.05 && shades[64] > 0.7);
        assert_eq!(scale(f64::NAN), scale(2.0));
    }

    #[test]
    fn text_and_series_stand_out_from_paper() {
        let contrast = |ink: Ink| contrast(ink.light(), Rgb(255, 255, 255));
        assert!(contrast(Ink::Text) > 7.0 && contrast(Ink::Muted) > 4.5);
        assert!((0..6).all(|i| contrast(Ink::Series(i)) > 3.0));
    }
}

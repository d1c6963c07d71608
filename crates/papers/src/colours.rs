//! From a loss to a colour, and the marks beside the scale.

use sottovoce_report::{ColourBar, text};

/// A scale of colours.
#[derive(Debug, Clone)]
pub(super) struct Colours {
    title: String,
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Colours {
    /// From no loss to all of local DP; what is above is drawn as that.
    pub(super) fn clipped() -> Self {
        Self { title: "loss (local DP = 1), clipped".into(), low: 0.0, high: 1.0, logarithmic: false }
    }

    /// By the logarithm, from the smallest positive of some values to the largest.
    pub(super) fn logarithmic(title: &str, values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let (low, high) =
            positive.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
        let (low, high) = if low < high { (low, high) } else { (0.1, 1.0) };
        Self { title: title.into(), low, high, logarithmic: true }
    }

    /// Where on the scale a value lies, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        part.clamp(0.0, 1.0)
    }

    /// The scale as it is drawn.
    pub(super) fn bar(&self) -> ColourBar {
        let ticks = self.marks().into_iter().map(|value| (self.place(value), label(value)));
        ColourBar { title: self.title.clone(), ticks: ticks.collect() }
    }

    /// Some round values, evenly spread.
    fn marks(&self) -> Vec<f64> {
        if !self.logarithmic {
            return (0..=4).map(|i| self.low + f64::from(i) / 4.0 * (self.high - self.low)).collect();
        }
        let decades = (self.high / self.low).log10();
        let factors: &[f64] = if decades > 2.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let step = (1 + decades as usize / 5).max(1);
        let all =
            (first..=last).step_by(step).flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)));
        let inside: Vec<f64> = all.filter(|value| (self.low..=self.high).contains(value)).collect();
        if inside.len() > 1 { inside } else { vec![self.low, self.high] }
    }
}

/// A mark in few letters: a power of ten where the number would be long.
fn label(value: f64) -> String {
    let power = value.log10();
    let long = value > 0.0 && power.abs() >= 4.0 && (power - power.round()).abs() < 1e-9;
    if long { format!("10{}", text::superscript(power.round() as i32)) } else { text::short(value, 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_even_and_ends_are_ends() {
        let colours = Colours::logarithmic("x", [0.0, 0.01, 100.0, 1.0].into_iter());
        assert_eq!(
            [0.0, 0.01, 1.0, 100.0, 1e9].map(|x| (2.0 * colours.place(x)).round()),
            [0.0, 0.0, 1.0, 2.0, 2.0]
        );
        assert_eq!(colours.marks(), [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(Colours::logarithmic("x", [3.0, 3.0].into_iter()).marks().len(), 4);
    }

    #[test]
    fn long_numbers_are_powers() {
        assert_eq!([0.0, 0.5, 100.0, 1e6, 1e-7].map(label), ["0", "0.5", "100", "10⁶", "10⁻⁷"]);
    }

    #[test]
    fn clipping_ends_at_local_dp() {
        let colours = Colours::clipped();
        assert_eq!([-1.0, 0.25, 7.0].map(|x| colours.place(x)), [0.0, 0.25, 1.0]);
        assert_eq!(colours.marks(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    }
}

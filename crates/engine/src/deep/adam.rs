//! Draws behind Adam's steps, along one parameter, from messages alone.
//!
//! A listener hears `d_t = m_t / sqrt(v_t)`, both made up for their beginning (`epsilon` is far below a gradient, and is left out). Of the first draw that tells the sign and
//! no more: steps are the same if all draws are doubled. So draws are counted in units of the first. Given `m` and `v` the next draw `g` solves
//!
//! ```text
//! A + B g = Y sqrt(V + W g²),     A = beta m, B = 1 - beta, V = square v, W = 1 - square, Y = d_t (1 - beta^t) / sqrt(1 - square^t):
//! (B² - Y² W) g² + 2 A B g + A² - Y² V = 0,     with Y on the side of A + B g
//! ```
//!
//! which has one root, or two in the first rounds, when `v` is still small. The likelier is believed: draws up to here are as likely as Gaussian ones of their own scale that
//! lead to what was heard, `prod_t phi(g_t/s)/s / |dY/dg_t|` at the best `s`. A wrong choice, and the rounding of models to single precision, make the attack weaker and never
//! invalid: canaries that are in and canaries that are out are heard in the same way, and nothing but messages is looked at.

/// Where both roots are one, this share of the usual slope counts.
const FLAT: f64 = 1e-3;

/// A parameter that is listened to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Unstepped {
    rounds: f64,
    /// Adam's means of draws and of their squares.
    mean: f64,
    square: f64,
    /// The sum of the draws' squares.
    squares: f64,
}

impl Unstepped {
    /// A round later, the draw: `direction` is by how much the model moved against the gradient, over the rate. Adam keeps so much of its mean, and of its mean square.
    pub(super) fn hear(&mut self, (beta, square): (f64, f64), direction: f64) -> f64 {
        self.rounds += 1.0;
        let [lacks, root] = [beta, square].map(|kept| 1.0 - kept.powf(self.rounds));
        let draw = self.draw((beta, square), direction * lacks / root.sqrt());
        self.mean = beta * self.mean + (1.0 - beta) * draw;
        self.square = square * self.square + (1.0 - square) * draw * draw;
        self.squares += draw * draw;
        draw
    }

    /// The draw that explains `y`; 0 where rounding left none.
    fn draw(&self, (beta, square): (f64, f64), y: f64) -> f64 {
        if self.square <= 0.0 {
            // The first one: its sign is heard, and it is the unit.
            return if y == 0.0 || y.is_nan() { 0.0 } else { y.signum() };
        }
        let (a, b, v, w) = (beta * self.mean, 1.0 - beta, square * self.square, 1.0 - square);
        let likely = |g: f64| {
            let slope = (b * v - a * w * g).abs();
            let slope = if slope > FLAT * b * v { slope } else { FLAT * b * v };
            1.5 * (v + w * g * g).ln() - slope.ln() - 0.5 * self.rounds * (self.squares + g * g).ln()
        };
        let (bend, half, rest) = (b * b - y * y * w, a * b, a * a - y * y * v);
        let roots = roots(bend, half, rest).into_iter();
        let fitting = roots.filter(|g| g.is_finite() && (a + b * g) * y >= 0.0);
        fitting.max_by(|one, other| likely(*one).total_cmp(&likely(*other))).unwrap_or(0.0)
    }
}

/// Where `bend g² + 2 half g + rest = 0`, or comes closest to it, without cancellation.
fn roots(bend: f64, half: f64, rest: f64) -> [f64; 2] {
    let inside = half * half - bend * rest;
    let root = if inside > 0.0 { inside.sqrt() } else { 0.0 };
    let far = if half < 0.0 { root - half } else { -root - half };
    if far == 0.0 { [0.0; 2] } else { [far / bend, rest / far] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};
    use sottovoce_protocol::consensus::{Moments, Optimiser, Rule};

    const KEEPS: (f64, f64) = (0.9, 0.999);

    /// Steps of the very optimiser, in single precision, give away what draws add up to, in units of their length: to a few hundredths of what noise moves it by.
    #[test]
    fn draws_are_found_behind_steps() {
        let (parameters, rate) = (2000, 0.1);
        let optimiser = Optimiser::new(Rule::ADAM);
        let (mut moments, mut x) = (Moments::default(), vec![0.1f32; parameters]);
        let (mut heard, mut sums) =
            (vec![Unstepped::default(); parameters], vec![[(0.0, 0.0); 2]; parameters]);
        for round in 0..24 {
            let mut draws = vec![0.15; parameters];
            SimulatedNoise::new(3, 1, round).add(ContinuousLaw::STANDARD, &mut draws);
            let gradient: Vec<f32> = draws.iter().map(|z| 2e-3 * *z as f32).collect();
            let before = x.clone();
            optimiser.step(&mut moments, rate, &gradient, &mut x);
            for k in 0..parameters {
                let found = heard[k].hear(KEEPS, (f64::from(before[k]) - f64::from(x[k])) / rate);
                for (sum, draw) in sums[k].iter_mut().zip([found, draws[k]]) {
                    *sum = (sum.0 + draw, sum.1 + draw * draw);
                }
            }
        }
        let apart = sums
            .iter()
            .map(|both| both.map(|(sum, squares)| sum / squares.sqrt()))
            .map(|[found, drawn]| found - drawn);
        let error = (apart.map(|x| x * x).sum::<f64>() / parameters as f64).sqrt();
        assert!(error < 0.05, "{error}");
    }

    #[test]
    fn what_is_no_step_is_no_draw() {
        let mut silent = Unstepped::default();
        assert!((0..5).all(|_| silent.hear(KEEPS, 0.0) == 0.0));
        let mut wild = Unstepped::default();
        assert!(
            [0.5, 1e9, -1e9, f64::NAN, f64::INFINITY, 1.0].iter().all(|y| wild.hear(KEEPS, *y).is_finite())
        );
    }
}

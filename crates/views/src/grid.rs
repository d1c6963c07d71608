//! What observers learn where values and noises are integers (`docs/theorems/grid.md`).
//!
//! Exact losses are proven of real Gaussian noise. On integers one message `w a + v b` in floating point may give both `a` and `b` away, however small the loss of real
//! numbers is. Two ways of saying things keep the loss but for a stated extra: sums of integers in nested groups, and messages that are rounded and hidden
//! anew each time. Everything else counts as local.

use sottovoce_privacy::Loss;
use sottovoce_privacy::noise::exact::Grid;

use crate::{Error, Result, require};

/// How integers are said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Route {
    /// Sums of first values over groups that are nested or disjoint: butterflies, trees (Theorem 1).
    Sums,
    /// The same under noise of pairs that cancels, towards someone who sees all that is first said (Theorem 1).
    Pairs {
        /// How many pairs there are.
        pairs: usize,
        /// The scale of their noise, in units of the own.
        kappa: f64,
    },
    /// Every message is rounded to the grid and hidden under fresh noise before it is sent; rows are convex, nothing is accelerated, results are kept (Theorem 2).
    Relay {
        /// The scale of that noise.
        tau: f64,
        /// Rounds.
        rounds: usize,
        /// The most terms of a row.
        terms: usize,
        /// No value is larger: others' are refused beyond it.
        range: f64,
    },
    /// Anything else: what is first said is seen by everybody.
    Local,
}

/// Values on a grid, and the noise on them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gridded {
    /// The grid.
    pub grid: Grid,
    /// Numbers of a value.
    pub width: usize,
    /// How many peers there are.
    pub peers: usize,
    /// How far one person can move a value before it is rounded, in the 2-norm.
    pub sensitivity: f64,
    /// The scale of the noise on a private value.
    pub sigma: f64,
}

impl Gridded {
    /// The loss towards an observer who has the share `leak` of local privacy's squared loss if noises were real numbers.
    ///
    /// ```
    /// use sottovoce_privacy::{Loss, noise::exact::Grid};
    /// use sottovoce_views::grid::{Gridded, Route};
    /// let grid = Grid::new(2f64.powi(-20))?;
    /// let gridded = Gridded { grid, width: 1, peers: 64, sensitivity: 1.0, sigma: 2.0 };
    /// let Loss::Zcdp(rho) = gridded.loss(Route::Sums, 0.02)? else { panic!("concentrated") };
    /// assert!(rho >= 0.02 / 8.0 && rho < 0.02 / 8.0 * 1.0002);
    /// let Loss::Zcdp(local) = gridded.loss(Route::Local, 0.02)? else { panic!("concentrated") };
    /// assert!(local >= 1.0 / 8.0);
    /// # Ok::<(), sottovoce_views::Error>(())
    /// ```
    pub fn loss(&self, route: Route, leak: f64) -> Result<Loss> {
        require(
            (0.0..=1.0).contains(&leak),
            "leak",
            leak,
            "give a share of local privacy's loss, from 0 to 1",
        )?;
        require(
            self.sigma > 0.0 && self.sigma.is_finite(),
            "sigma",
            self.sigma,
            "give a positive, finite number",
        )?;
        let moved = self.grid.l2_sensitivity(self.sensitivity, self.width)?;
        let scale = self.grid.units_of(self.sigma);
        let local = up(moved / scale);
        let extra = match route {
            Route::Local => return concentrated(local),
            Route::Sums => up((self.width as f64 * self.peers as f64).sqrt() / scale),
            Route::Pairs { pairs, kappa } => {
                require(kappa > 0.0 && kappa.is_finite(), "cancel", kappa, "give a positive, finite number")?;
                let squared = if kappa < 1.0 { kappa * kappa } else { 1.0 };
                let draws = self.peers as f64 + up(pairs as f64 / squared);
                up((self.width as f64 * draws).sqrt() / scale)
            }
            Route::Relay { tau, rounds, terms, range } => self.relayed(tau, rounds, terms, range)?,
        };
        let root = up(up(leak.sqrt()) * local) + extra;
        // Nobody learns more than who is told the first things that everybody says.
        concentrated(if root < local { up(root) } else { local })
    }

    /// `(2 + 2e) sqrt(width * sum over all draws of 1/scale²)`, in steps.
    fn relayed(&self, tau: f64, rounds: usize, terms: usize, range: f64) -> Result<f64> {
        let remedy = "give a positive, finite number: without noise on messages the loss is local";
        require(tau > 0.0 && tau.is_finite(), "tau", tau, remedy)?;
        let remedy = "noise on messages of less than a step hides no rounding; take a finer grid";
        require(self.grid.units_of(tau) >= 1.0, "grid", self.grid.step(), remedy)?;
        let largest = self.grid.units_of(range);
        // A row's sum in floating point: each term is rounded when it is multiplied and when it is added.
        let error = 2.0 * (terms as f64 + 1.0) * f64::EPSILON * largest;
        let remedy = "values of so many steps are rounded by doubles themselves; take a coarser grid";
        require(error <= 0.5, "range", range, remedy)?;
        let inverse = |scale: f64| (1.0 / self.grid.units_of(scale)).powi(2);
        let draws = self.peers as f64 * (inverse(self.sigma) + rounds as f64 * inverse(tau));
        // Rows may miss 1 by 1e-11.
        Ok(up((2.0 + 1e-9 + 2.0 * error) * (self.width as f64 * draws).sqrt()))
    }
}

/// What rounding may have taken is added: a handful of operations.
fn up(x: f64) -> f64 {
    x * (1.0 + 16.0 * f64::EPSILON)
}

fn concentrated(root: f64) -> Result<Loss> {
    Loss::zcdp(up(root * root / 2.0)).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The discrete Gaussian from `-reach` to `reach`, and everything else in the ends.
    fn discrete(scale: f64, reach: i64) -> Vec<f64> {
        let weights: Vec<f64> =
            (-reach..=reach).map(|x| (-(x * x) as f64 / (2.0 * scale * scale)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// Rényi divergence of two laws at an order.
    fn renyi(order: f64, laws: impl Iterator<Item = (f64, f64)>) -> f64 {
        let terms = laws
            .filter(|(p, q)| *p > 0.0 && *q > 0.0)
            .map(|(p, q)| (order * p.ln() + (1.0 - order) * q.ln()).exp());
        terms.sum::<f64>().ln() / (order - 1.0)
    }

    fn rho(loss: &Loss) -> f64 {
        let Loss::Zcdp(rho) = loss else { panic!("{loss:?}") };
        *rho
    }

    #[test]
    fn one_message_gives_both_its_terms_away() {
        let (first, second) = (0.489_897_948_556_635_6, 0.510_102_051_443_364_4_f64);
        let leak = first * first / (first * first + second * second);
        assert!((leak - 0.48).abs() < 1e-3, "of real numbers: {leak}");
        // Values of 17 and -5 steps, noises of a thousand steps: 412 and -1303 came.
        for (a, b) in [(17 + 412, -5 - 1303), (3, 4), (-2999, 2998)] {
            let message = first * f64::from(a) + second * f64::from(b);
            let guess = |a: i32| (a, ((message - first * f64::from(a)) / second).round() as i32);
            let fits = |&(a, b): &(i32, i32)| first * f64::from(a) + second * f64::from(b) == message;
            let found: Vec<_> = (-6000..=6000).map(guess).filter(fits).collect();
            assert_eq!(found, [(a, b)], "nothing was hidden");
        }
    }

    /// Peers 0, 1 and 2 in a row; 0 listens for two rounds, and wants to know of 2. Every law is summed up.
    #[test]
    fn rounded_messages_lose_no_more_than_is_said() {
        let (own, heard) = (0.613, 0.387);
        let reach = 60i64;
        for (sigma, tau) in [(3.0, 2.0), (5.0, 4.0), (2.0, 6.0), (4.0, 1.0)] {
            let (private, relay) = (discrete(sigma, reach), discrete(tau, reach));
            // What 2 says first: its value and two noises.
            let mut said = vec![0.0; 4 * reach as usize + 1];
            for (i, p) in private.iter().enumerate() {
                for (j, q) in relay.iter().enumerate() {
                    said[i + j] += p * q;
                }
            }
            // What 1 says then, given what it said first: rounded, and one noise more.
            let law = |mine: i64, value: i64| {
                let mut law = vec![0.0; 8 * reach as usize + 1];
                for (place, p) in said.iter().enumerate() {
                    let hers = place as i64 - 2 * reach + value;
                    let middle = (own * mine as f64 + heard * hers as f64).round_ties_even() as i64;
                    for (j, q) in relay.iter().enumerate() {
                        law[(middle + j as i64 + 3 * reach) as usize] += p * q;
                    }
                }
                law
            };
            let (h, s, t) = (heard, sigma, tau);
            let leak = (h * s).powi(2) / ((h * s).powi(2) + (h * t).powi(2) + t * t);
            for moved in [1i64, 2, 5] {
                let gridded = Gridded {
                    grid: Grid::new(1.0).unwrap(),
                    width: 1,
                    peers: 3,
                    sensitivity: (moved - 1) as f64,
                    sigma,
                };
                let loss = gridded.loss(Route::Relay { tau, rounds: 2, terms: 3, range: 1e3 }, leak).unwrap();
                for order in [1.5, 2.0, 6.0] {
                    // Given each of what 1 may have said first, which 2 has no part in.
                    for mine in [0i64, 1, 7] {
                        let (p, q) = (law(mine, 0), law(mine, moved));
                        let (there, back) = (
                            p.iter().copied().zip(q.iter().copied()),
                            q.iter().copied().zip(p.iter().copied()),
                        );
                        for lost in [renyi(order, there), renyi(order, back)] {
                            assert!(
                                lost <= order * rho(&loss),
                                "{sigma} {tau} {moved} {order} {mine}: {lost} of {}",
                                order * rho(&loss)
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_integers_lose_no_more_than_is_said() {
        for sigma in [0.8, 2.0, 10.0] {
            let one = discrete(sigma, 60);
            let mut law = one.clone();
            for others in 1..4 {
                let mut next = vec![0.0; law.len() + 120];
                for (i, p) in law.iter().enumerate() {
                    one.iter().enumerate().for_each(|(j, q)| next[i + j] += p * q);
                }
                law = next;
                for moved in [1usize, 2, 5] {
                    let gridded = Gridded {
                        grid: Grid::new(1.0).unwrap(),
                        width: 1,
                        peers: others + 1,
                        sensitivity: (moved - 1) as f64,
                        sigma,
                    };
                    let loss = gridded.loss(Route::Sums, 1.0 / (others + 1) as f64).unwrap();
                    let pairs = law[moved..].iter().copied().zip(law.iter().copied());
                    let lost = renyi(3.0, pairs);
                    assert!(
                        lost <= 3.0 * rho(&loss)
                            && lost
                                > 0.2 * 3.0 * (moved * moved) as f64
                                    / (2.0 * sigma * sigma * (others + 1) as f64),
                        "{sigma} {others} {moved}: {lost}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_fine_grid_costs_next_to_nothing_and_a_coarse_one_is_local_at_worst() {
        let gridded = |step: i32| Gridded {
            grid: Grid::new(2f64.powi(step)).unwrap(),
            width: 100,
            peers: 256,
            sensitivity: 1.0,
            sigma: 2.0,
        };
        let relay = Route::Relay { tau: 0.5, rounds: 30, terms: 9, range: 200.0 };
        let at = |step, leak| rho(&gridded(step).loss(relay, leak).unwrap());
        assert!(at(-34, 0.01) < 0.01 / 8.0 * 1.001 && at(-34, 0.01) > 0.01 / 8.0);
        assert!((-30..-4).all(|step| at(step, 0.01) <= at(step + 1, 0.01)));
        assert_eq!(at(-4, 0.01), rho(&gridded(-4).loss(Route::Local, 0.01).unwrap()));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let gridded =
            Gridded { grid: Grid::new(1.0).unwrap(), width: 1, peers: 3, sensitivity: 1.0, sigma: 2.0 };
        for leak in [-0.1, 1.1, f64::NAN] {
            assert!(gridded.loss(Route::Sums, leak).is_err(), "{leak}");
        }
        for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Gridded { sigma, ..gridded }.loss(Route::Local, 0.5).is_err(), "{sigma}");
        }
        for tau in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(
                gridded.loss(Route::Relay { tau, rounds: 1, terms: 2, range: 1.0 }, 0.5).is_err(),
                "{tau}"
            );
        }
        for range in [1e18, f64::NAN, f64::INFINITY] {
            assert!(
                gridded.loss(Route::Relay { tau: 1.0, rounds: 1, terms: 2, range }, 0.5).is_err(),
                "{range}"
            );
        }
        // Noise of less than a step hides no rounding.
        assert!(gridded.loss(Route::Relay { tau: 0.9, rounds: 1, terms: 2, range: 1.0 }, 0.5).is_err());
    }
}

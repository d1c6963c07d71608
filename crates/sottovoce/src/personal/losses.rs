//! What every agent's rows lose, at a delta that may be 0.

use sottovoce_privacy::{Adjacency, Composition};
use sottovoce_protocol::Release;
use sottovoce_views::door::{Account, Released};

use crate::Result;

/// What one row of each agent loses at most; 0 without rows, infinite where something was not hidden.
pub(crate) fn losses(account: &Account<Released>, releases: &[Vec<Release>], delta: f64) -> Result<Vec<f64>> {
    match delta == 0.0 {
        true => releases.iter().map(|all| pure(all)).collect(),
        false => Ok(account.leakage.epsilons(delta)?),
    }
}

/// Without a delta the largest losses are added; infinite where one of them has no bound.
fn pure(releases: &[Release]) -> Result<f64> {
    if releases.is_empty() {
        return Ok(0.0);
    }
    // Sensitivities are those of replacing a row, so that nothing is doubled here.
    let mut all = Composition::new(Adjacency::AddRemove);
    for alike in releases.chunk_by(|one, other| one == other) {
        let hidden = alike[0].mechanism().ok().filter(|_| alike[0].loss().is_ok());
        let Some(mechanism) = hidden else { return Ok(f64::INFINITY) };
        all.add(sottovoce_privacy::Release::Mechanism(mechanism), alike.len() as u64)?;
    }
    Ok(all.epsilon(0.0)?.upper())
}

/// Who loses most, and how much. What is no number is no bound.
pub(super) fn largest(losses: &[f64]) -> (usize, f64) {
    let mut largest = (0, 0.0);
    for (agent, &loss) in losses.iter().enumerate() {
        let loss = if loss.is_nan() { f64::INFINITY } else { loss };
        largest = if loss > largest.1 { (agent, loss) } else { largest };
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_losses_are_added_and_gaussian_ones_have_no_bound() {
        let laplace = vec![Release::laplace(1.0, 4.0); 3];
        assert!((pure(&laplace).unwrap() - 0.75).abs() < 1e-9 && pure(&laplace).unwrap() >= 0.75);
        let warm = [vec![Release::radial(0.5, 5.0)], laplace].concat();
        assert!((pure(&warm).unwrap() - 0.85).abs() < 1e-9);
        assert_eq!(pure(&[Release::gaussian(1.0, 9.0)]).unwrap(), f64::INFINITY);
        assert_eq!(pure(&[Release::laplace(1.0, 0.0)]).unwrap(), f64::INFINITY);
        assert_eq!(pure(&[]).unwrap(), 0.0);
        assert_eq!(largest(&[0.5, f64::NAN, 1.0]), (1, f64::INFINITY));
    }
}

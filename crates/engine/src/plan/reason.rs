//! Why a plan was chosen, in plain sentences.

use super::cancelling::vanished;
use super::{Problem, Protocol, Row};

/// A sentence or two on the chosen row.
pub fn reason(problem: &Problem, rows: &[Row], chosen: usize) -> String {
    let row = &rows[chosen];
    let others = rows.iter().enumerate().filter(|(i, other)| *i != chosen && !other.protocol.is_baseline());
    let next = others
        .map(|(_, other)| other)
        .filter(|other| other.error >= row.error)
        .min_by(|a, b| a.error.total_cmp(&b.error));
    let mut text = format!(
        "{} has the least predicted error of all that keep {}: {} that of local DP and {} that of a trusted party",
        name(row),
        problem.target,
        times(row.error_over_local),
        times(row.error_over_central)
    );
    if let Some(next) = next {
        text += &format!("; the next best, {}, has {} its error", name(next), times(next.error / row.error));
    }
    text += ". ";
    text + &why(problem, rows, row)
}

fn name(row: &Row) -> String {
    match &row.graph {
        Some(graph) => format!("{} on {graph}", row.protocol.name()),
        None => row.protocol.name().into(),
    }
}

/// `0.12 times`.
fn times(ratio: f64) -> String {
    format!("{ratio:.3} times")
}

fn why(problem: &Problem, rows: &[Row], row: &Row) -> String {
    let plain =
        rows.iter().find(|other| other.graph == row.graph && other.protocol == Protocol::AcceleratedGossip);
    let unprotected = problem.target.worst.is_none()
        && problem.falling.is_none()
        && row.mu_squared.worst > 100.0 * problem.target.tightest();
    if unprotected {
        return "Mind that neighbours are hardly protected here; add --target-worst if they should be."
            .into();
    }
    match (row.protocol, plain) {
        _ if row.error_over_local > 0.999 => {
            "At this target nothing between peers does better than publishing noisy values: neighbours hear each other directly, \
             and their loss decides."
                .into()
        }
        (Protocol::RelayGossip, Some(plain)) if plain.sigma > row.sigma => format!(
            "Fresh noise on every message (tau = {}) lets the local noise fall from {} to {}, which is worth more than it costs.",
            row.tau, plain.sigma, row.sigma
        ),
        (Protocol::RelayGossip, Some(plain)) if plain.steps < row.steps => format!(
            "Fresh noise on every message (tau = {}) hides peers well enough for {} steps instead of {}, so that less is left unmixed.",
            row.tau, row.steps, plain.steps
        ),
        (Protocol::Butterfly, _) => {
            "It reaches the exact mean in the fewest messages, and what a peer hears in later rounds is already a mean of many."
                .into()
        }
        (Protocol::MaskedButterfly, _) => {
            "Masks of pairs hide everything but the sum, which is that of the integers bit for bit, and noise is exact. A peer that vanishes after the others have \
             spoken leaves no result."
                .into()
        }
        (protocol, _) if let (true, Some(secrets)) = (protocol.cancels(), &problem.secrets) => format!(
            "What one end of a pair adds the other takes away, so that the mean knows nothing of it and everybody else hears it. A peer that vanishes after \
             the others have spoken leaves no result in strict rounds; were they to go on, its pairs' noise would stay, with an error of ± {:.3}.",
            vanished(secrets, row.sigma).sqrt()
        ),
        (Protocol::AcceleratedGossip, _) => {
            "Acceleration costs no privacy and mixes in fewer steps, so less is overheard.".into()
        }
        _ => "It strikes the best balance between what is overheard and what is left unmixed.".into(),
    }
}

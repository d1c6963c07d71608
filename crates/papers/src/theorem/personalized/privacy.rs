//! What an agent's messages reveal of one row: Theorem 1, Lemma 1, Remark 4, and what the text leaves out.

use sottovoce_privacy::allotment::{Allocation, LargeDelta, Law, Method, Request, gaussian_noise};
use sottovoce_privacy::{Accountant, Adjacency, Gdp, Mechanism, Standing, kov};

use super::super::{Answer, Inputs};
use crate::Result;

/// Most updates of an agent.
const UPDATES: usize = 10_000;

fn warned(answer: Answer, delta: f64, rows: u64) -> Answer {
    match LargeDelta::of(delta, rows) {
        Some(warning) => answer.note(format!("Careful: {warning}.")),
        None => answer,
    }
}

pub(super) fn theorem_1(inputs: &Inputs) -> Result<Answer> {
    let says = "With Laplace noise of scale 2 L0/(eps_k m) at wake-up k all messages of an agent are (eps, delta)-private, eps the least of Σ eps_k, \
                A + sqrt(2 S ln(e + sqrt(S)/delta)) and A + sqrt(2 S ln(1/delta)), where S = Σ eps_k² and A = Σ eps_k tanh(eps_k/2).";
    let (epsilon, delta) = (inputs.epsilon()?, inputs.delta()?);
    let (updates, rows) = (inputs.iterations(UPDATES)?.unwrap_or(20), inputs.rows()?);
    let request = Request {
        epsilon,
        delta,
        law: Law::Laplace,
        method: Method::Theorem1,
        allocation: Allocation::Uniform,
        updates,
        factor: 1.0,
        before: 0.0,
    };
    let allotment = request.allot()?;
    let noise = allotment.noises().first().copied().unwrap_or_default();
    let bounds = kov::heterogeneous(&vec![1.0 / noise; updates], delta)?;
    let mut accountant = Accountant::new(Adjacency::Replace);
    // Relative to one row's share, of which a replacement moves two.
    accountant.compose(Mechanism::laplace(2.0 * noise)?, updates as u64)?;
    let exact = accountant.epsilon(delta)?;
    let sharp = Request { method: Method::Pld, ..request }.allot()?;
    let standing = Standing::Conditional(vec![
        "every row's gradient is at most L0 in the 1-norm".into(),
        "steps, sizes, graph and features are public".into(),
    ]);
    let answer = Answer::new(says, standing)
        .case("epsilon", epsilon, "budget")
        .case("delta", delta, "its delta")
        .case("updates", updates as f64, "of the agent, sharing alike")
        .case("m", rows as f64, "rows")
        .printed("each", 1.0 / noise, "epsilon of each update")
        .printed("s", inputs.sensitivity(1.0)? * noise, "scale of the noise")
        .printed("sum", bounds.naive, "the first form")
        .printed("second", bounds.moderate, "the second form")
        .printed("third", bounds.small_delta, "the third form")
        .printed("total", bounds.total(), "the least of them")
        .truth("at least", exact.lower, "epsilon of these releases, certified from below")
        .truth("at most", exact.upper, "and from above")
        .truth("saved", 1.0 - sharp.noises()[0] / noise, "share of the noise that certified accounting saves")
        .holds(exact.lower <= bounds.total());
    Ok(warned(answer, delta, rows))
}

pub(super) fn remark_4(inputs: &Inputs) -> Result<Answer> {
    let says = "With Gaussian noise of s >= 2 L0 sqrt(2 ln(2/delta_k))/eps_k each update is (eps_k, delta_k)-private, and Theorem 1 holds for the total with delta \
                1 - (1 - delta') Π (1 - delta_k).";
    let (epsilon, delta) = (inputs.epsilon()?, inputs.delta()?);
    let (updates, rows) = (inputs.iterations(UPDATES)?.unwrap_or(20), inputs.rows()?);
    // Half of delta for the closed form, the other half for the updates.
    let each = 0.5 * delta / updates as f64;
    let total = kov::total_delta(&vec![each; updates], 0.5 * delta)?;
    let request = Request {
        epsilon,
        delta: 0.5 * delta,
        law: Law::Laplace,
        method: Method::Theorem1,
        allocation: Allocation::Uniform,
        updates,
        factor: 1.0,
        before: 0.0,
    };
    let share = 1.0 / request.allot()?.noises()[0];
    let noise = gaussian_noise(share, each)?;
    let sensitivity = inputs.sensitivity(1.0)?;
    let exact = Request { delta: total, law: Law::Gaussian, method: Method::Gdp, ..request }.allot()?;
    let spent = Gdp::of_noise(noise)?.times(updates as u64).epsilon(total)?;
    let answer = Answer::new(says, Standing::Published)
        .case("epsilon", epsilon, "budget")
        .case("delta", delta, "half of it for the updates together, half for the closed form")
        .case("updates", updates as f64, "of the agent, sharing alike")
        .case("m", rows as f64, "rows")
        .printed("s", sensitivity * noise * rows as f64, "standard deviation of the noise")
        .printed("delta", total, "of everything")
        .truth("corrected", sensitivity * noise, "standard deviation with the sensitivity 2 L0/m, which suffices")
        .truth("exact", sensitivity * exact.noises()[0], "what suffices by exact Gaussian accounting")
        .truth("spent", spent.upper, "epsilon that the corrected noise really costs")
        .holds(spent.lower <= epsilon)
        .note("What is printed lacks 1/m: safe, and m times more noise than it takes. The formula is proven for eps_k up to 1 (and needs some such limit).");
    Ok(warned(answer, delta, rows))
}

/// The largest loss of Laplace noise of this scale in every coordinate, if a row moves a vector so far.
fn laplace_loss(moved: &[f64], scale: f64) -> f64 {
    moved.iter().map(|by| by.abs() / scale).sum()
}

pub(super) fn lemma_1(inputs: &Inputs) -> Result<Answer> {
    let says = "If every row's loss is L0-Lipschitz in the 1-norm, then neighbouring gradients differ by at most 2 L0/m in the 1-norm.";
    let (p, epsilon) = (inputs.dimension()?, inputs.epsilon()?);
    // The loss y (theta_1 + … + theta_p), y = -1 or 1, has the constant 1 in the 1-norm; its gradient is y in every coordinate. m = 1.
    let moved = vec![2.0; p];
    let loss = laplace_loss(&moved, 2.0 / epsilon);
    Ok(Answer::new(says, Standing::Refuted)
        .case("p", p as f64, "parameters of a model")
        .case("epsilon", epsilon, "of one update, by Laplace noise of scale 2 L0/(epsilon m)")
        .printed("moved", 2.0, "1-norm of the difference of gradients, in L0/m, at most")
        .printed("loss", epsilon, "of one update, at most")
        .truth("moved", moved.iter().sum(), "for the loss y (theta_1 + … + theta_p), a label y = ±1 exchanged")
        .truth("loss", loss, "what the update really loses there")
        .holds(loss <= epsilon * (1.0 + 1e-12))
        .note("The dual of the 1-norm is the largest coordinate: what is needed is |gradient|_1 <= L0, for which the loss must be Lipschitz in the largest coordinate."))
}

/// Where one agent's message lies, and the scale of its noise: `T`, the neighbours' mean 0, gradient `g`, smoothness from the longest row.
fn sent(model: f64, gradient: f64, longest: f64, scale: f64) -> (f64, f64) {
    let step = 1.0 / (1.0 + 0.25 * longest * longest);
    ((1.0 - step) * model - step * gradient, step * scale)
}

/// The logarithm of the ratio of two Laplace densities, given by centre and scale, at an outcome.
fn ratio(one: (f64, f64), other: (f64, f64), outcome: f64) -> f64 {
    (other.1 / one.1).ln() - (outcome - one.0).abs() / one.1 + (outcome - other.0).abs() / other.1
}

pub(super) fn equation_4(inputs: &Inputs) -> Result<Answer> {
    let says = "Each update has the step 1/(1 + mu c_i L_i), L_i the smoothness of the agent's own loss, and Theorem 1 holds of it: only the gradient depends on the data.";
    let (rows, epsilon) = (inputs.rows()?, inputs.epsilon()?);
    // Logistic rows with |x| <= 1; the longest has 1/2, and one is exchanged for one with 1. Their gradients agree at this point.
    let scale = 2.0 / (epsilon * rows as f64);
    let (before, after) = (sent(1.0, 0.0, 0.5, scale), sent(1.0, 0.0, 1.0, scale));
    let loss = ratio(after, before, after.0);
    Ok(Answer::new(says, Standing::Refuted)
        .case("epsilon", epsilon, "of one update")
        .case("m", rows as f64, "rows, the longest of length 1/2; one is exchanged for one of length 1, of the same gradient")
        .printed("loss", epsilon, "of one update, at most")
        .truth("steps", before.1 / after.1, "the step before over that after, where L_i is the longest row squared over 4")
        .truth("loss", loss, "logarithm of the likelihood ratio at what is most likely sent, the model at 1, neighbours' at 0")
        .holds(loss <= epsilon)
        .note("The scale of the noise differs, too, so that the loss has no bound. Here steps come from a promised radius of rows, never from the rows."))
}

/// By how much the clipped mean gradient at 0 of `(theta·phi - r)²` moves if a rating of 1 becomes 5: the other rows are rated 3, with `phi = 1`, that one has
/// `phi = -1`, and ratings are centred by their mean.
fn centred(rows: u64, clip: f64) -> f64 {
    let m = rows as f64;
    let clipped = |gradient: f64| {
        if gradient > clip {
            clip
        } else if gradient < -clip {
            -clip
        } else {
            gradient
        }
    };
    let gradient = |rating: f64| {
        let mean = (3.0 * (m - 1.0) + rating) / m;
        ((m - 1.0) * clipped(-2.0 * (3.0 - mean)) + clipped(2.0 * (rating - mean))) / m
    };
    (gradient(5.0) - gradient(1.0)).abs()
}

pub(super) fn appendix_d2(inputs: &Inputs) -> Result<Answer> {
    let says = "Ratings are centred by each user's mean, features are learned from the training ratings for convenience, and gradients are clipped to the norm C: then \
                Theorem 1 holds with C in place of L0.";
    let (p, epsilon, rows) = (inputs.dimension()?, inputs.epsilon()?, inputs.rows()?);
    let clip = inputs.clip(2.0)?;
    let sensitivity = inputs.sensitivity(2.0)?;
    let scale = sensitivity / epsilon;
    // A gradient of 2-norm C along the diagonal, and its opposite.
    let moved = vec![sensitivity / (p as f64).sqrt(); p];
    let by_clipping = laplace_loss(&moved, scale);
    let by_centring = laplace_loss(&[centred(rows, clip)], scale);
    let range = 4.0;
    Ok(Answer::new(says, Standing::Refuted)
        .case("p", p as f64, "parameters of a model")
        .case("epsilon", epsilon, "of one update, by Laplace noise of scale 2 C/(epsilon m)")
        .case("m", rows as f64, "ratings of the user, from 1 to 5")
        .case("C", clip, "gradients are clipped to")
        .printed("loss", epsilon, "of one update, at most")
        .truth("2-norm", by_clipping, "the loss if gradients are clipped in the 2-norm: sqrt(p) epsilon")
        .truth("centred", by_centring, "the loss if ratings are centred, for one whose exchange moves all others")
        .truth("widened", (2.0 * clip + 2.0 * range) / rows as f64, "a sensitivity that covers centring, |phi| <= 1: (2 C + 2 range |phi|)/m")
        .truth("as claimed", sensitivity, "the sensitivity 2 C/m")
        .holds(by_clipping <= epsilon * (1.0 + 1e-12) && by_centring <= epsilon)
        .note(
            "Features learned from everybody's ratings are sent, or known, without noise: they tell one rating's exchange for certain. They are public by assumption, and \
             every guarantee says so, or come from elsewhere.",
        ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn value(numbers: &[crate::theorem::Number], name: &str) -> f64 {
        numbers.iter().find(|number| number.name == name).unwrap().value
    }

    #[test]
    fn lemma_1_takes_the_wrong_dual_norm() {
        for p in [1, 2, 30] {
            let answer =
                lemma_1(&Inputs { dimension: Some(p), epsilon: Some(0.5), ..Inputs::default() }).unwrap();
            assert!((value(&answer.truth, "loss") - 0.5 * p as f64).abs() < 1e-12);
            assert_eq!(answer.holds, Some(p == 1));
        }
        // The loss is Lipschitz as stated: a step of 1-norm 1 changes it by 1 at most, and some do.
        let (loss, steps) = (|theta: [f64; 2]| theta[0] + theta[1], [[1.0, 0.0], [0.5, 0.5], [-0.3, 0.7]]);
        assert!(steps.iter().all(|step| (loss(*step) - loss([0.0; 2])).abs() <= 1.0 + 1e-15));
    }

    /// Gradients of 2-norm `C` under Laplace noise of scale `2C/(eps m)` lose more than `eps`.
    #[test]
    fn clipping_in_the_2_norm_does_not_cover_laplace_noise() {
        let answer = appendix_d2(&Inputs { dimension: Some(9), ..Inputs::default() }).unwrap();
        assert!((value(&answer.truth, "2-norm") - 3.0).abs() < 1e-12 && answer.holds == Some(false));
        // The likelihood ratio itself, in nine coordinates, at an outcome beyond both centres.
        let (m, clip, epsilon) = (10.0, 2.0, 1.0);
        let (scale, centre) = (2.0 * clip / (epsilon * m), clip / (3.0 * m));
        let log_ratio: f64 = (0..9).map(|_| ratio((centre, scale), (-centre, scale), 5.0)).sum();
        assert!((log_ratio - 3.0).abs() < 1e-12, "{log_ratio}");
    }

    /// Centring moves every row's label: more than `2C/m`, and never more than the widened sensitivity.
    #[test]
    fn centring_moves_all_rows() {
        for rows in [3, 20, 500] {
            for clip in [0.5, 2.0, 4.0, 10.0] {
                let (moved, m) = (centred(rows, clip), rows as f64);
                assert!(moved <= (2.0 * clip + 8.0) / m * (1.0 + 1e-12), "{rows} {clip} {moved}");
                if rows > 3 && clip == 2.0 {
                    assert!(moved > 2.5 * 2.0 * clip / m, "{rows} {clip} {moved}");
                }
            }
        }
    }

    /// A step that is computed from the rows changes by itself where the gradient does not.
    #[test]
    fn steps_from_private_rows_leak() {
        let answer = equation_4(&Inputs::default()).unwrap();
        assert!(value(&answer.truth, "loss") > 2.0 && answer.holds == Some(false));
        // Without bound: scales differ.
        let (before, after) = (sent(1.0, 0.0, 0.5, 0.01), sent(1.0, 0.0, 1.0, 0.01));
        assert!(ratio(before, after, 100.0) > 1000.0);
    }

    /// One alternating step, as for rank-1 features: one rating changes what everybody is told of an item, without noise.
    #[test]
    fn features_learned_from_ratings_tell_a_rating() {
        let users = [0.8, -0.3, 0.5];
        let feature = |ratings: [f64; 3]| {
            let (products, squares) =
                users.iter().zip(ratings).fold((0.0, 0.1), |(a, b), (u, r)| (a + u * r, b + u * u));
            products / squares
        };
        let (one, other) = (feature([4.0, 2.0, 3.0]), feature([5.0, 2.0, 3.0]));
        assert!((one - other).abs() > 0.5, "told apart for certain: {one} {other}");
    }

    #[test]
    fn theorem_1_holds_and_certified_accounting_saves_noise() {
        let answer = theorem_1(&Inputs::default()).unwrap();
        assert_eq!(answer.holds, Some(true));
        assert!(value(&answer.truth, "at most") < value(&answer.printed, "total"));
        assert!(value(&answer.truth, "saved") > 0.0);
        assert!(answer.notes.iter().all(|note| !note.contains("Careful")), "e^-5 is below 1/100");
        let many = theorem_1(&Inputs { rows: Some(200), ..Inputs::default() }).unwrap();
        assert!(many.notes.iter().any(|note| note.contains("above 1/200")));
    }

    /// What is printed lacks `1/m`; corrected it suffices, and costs less than it claims.
    #[test]
    fn remark_4_lacks_the_number_of_rows() {
        let answer = remark_4(&Inputs { rows: Some(50), ..Inputs::default() }).unwrap();
        let (printed, corrected) = (value(&answer.printed, "s"), value(&answer.truth, "corrected"));
        assert!((printed / corrected - 50.0).abs() < 1e-9);
        assert!(value(&answer.truth, "spent") < 1.0 && value(&answer.truth, "exact") < corrected);
    }
}

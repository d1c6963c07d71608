//! Sentences that several verdicts share. True losses are rounded up, printed ones to the nearest.

use sottovoce_report::text;

use super::four::{Above, Study};
use super::walk::ALPHA;
use crate::muffliato::words::percent;

/// A printed loss, a ratio or a correlation.
pub(super) fn number(value: f64) -> String {
    text::digits(value, 3)
}

/// Whether the theorem says anything at these parameters.
pub(super) fn condition(sigma: f64) -> String {
    let least = 2.0 * ALPHA * (ALPHA - 1.0);
    if sigma * sigma >= least {
        return format!(
            "; sigma = {sigma} is inside the theorem's condition sigma² >= 2 alpha (alpha - 1) = {least}"
        );
    }
    format!(
        "; sigma = {sigma} is outside the theorem's own condition sigma² >= 2 alpha (alpha - 1) = {least}, so that it claims nothing of these \
         very numbers"
    )
}

/// Who surely loses more than printed.
pub(super) fn surely(above: &Above) -> String {
    if above.share() == 0.0 {
        return "no pair surely more than printed".into();
    }
    format!(
        "{} of pairs surely more than printed, up to {} times",
        percent(above.share()),
        text::digits(above.ratio, 2)
    )
}

/// So many of something, with an s where it belongs.
pub(super) fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A whole number, or its mean over runs.
pub(super) fn count(value: f64) -> String {
    format!("{:.0}", value.round())
}

/// How long walks are, and how it differs from the authors' code.
pub(super) fn lengths(studies: &[Study]) -> String {
    let one = |study: &Study| {
        format!(
            "{} {} ({} with the weights of the authors' code)",
            study.name,
            count(study.steps),
            count(study.steps_by_code)
        )
    };
    let replaced: Vec<&str> = studies.iter().filter(|study| study.replaced).map(|study| study.name).collect();
    let replaced = if replaced.is_empty() {
        String::new()
    } else {
        format!(
            " On the {} those would send the token to even and odd peers in turn for ever, which the paper excludes \
             (Assumption 1): there the weights are 1/(max(d) + 1), as in the authors' code everywhere.",
            replaced.join(" and the ")
        )
    };
    format!(
        "Transitions are 1/max(d_u, d_v) with the remainder on the diagonal, as the text has it.{replaced} Steps: {}.",
        studies.iter().map(one).collect::<Vec<_>>().join(", ")
    )
}

//! Sentences that several verdicts share. Losses are rounded up, shares to the nearest.

use sottovoce_report::text;

use super::study::Study;

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", text::digits(100.0 * share, 3))
}

/// A loss that is the truth, or a bound on it.
pub(crate) fn loss(value: f64) -> String {
    text::up(value, 3)
}

/// The test of a claim about distances, after what it takes to be reproduced.
pub(super) fn test(reproduced: &str) -> String {
    format!("reproduced if {reproduced}; holds if nobody loses more than the printed formula says")
}

/// What exact accounting says of several graphs: who is understated, and by how much at most.
pub(super) fn exactly(studies: &[&Study]) -> String {
    let part = |study: &&Study| {
        let far = study.understated().far.map_or("nobody is that far".into(), percent);
        if studies.len() > 1 { format!("{} {far}", study.name) } else { far }
    };
    let parts: Vec<String> = studies.iter().map(part).collect();
    format!("peers at 3 hops or more who lose more than printed: {}{}", parts.join(", "), worst(studies))
}

/// The largest understatement among several graphs.
pub(super) fn worst(studies: &[&Study]) -> String {
    let all = studies.iter().map(|study| (study, study.understated().worst));
    let gap = |worst: &(usize, f64, f64)| worst.2 - worst.1;
    match all.max_by(|a, b| gap(&a.1).total_cmp(&gap(&b.1))) {
        Some((study, (peer, printed, exact))) if exact > printed => format!(
            "; at worst {} instead of {} ({}, peer {} at {} hops)",
            loss(exact),
            text::digits(printed, 2),
            study.name,
            study.graph.label(peer),
            study.hops[peer]
        ),
        _ => "; nobody loses more than printed".into(),
    }
}

/// What the repair does.
pub(super) fn repair(studies: &[&Study]) -> String {
    let part = |study: &&Study| {
        let relay = study.relay.as_ref()?;
        let far = |losses: &[f64]| Some(study.summary(losses, |hops| hops >= 3)?.mean);
        Some(format!(
            "{}: {} instead of {}, for {} more error",
            study.name,
            loss(far(&relay.losses)?),
            loss(far(&study.exact.losses)?),
            percent(relay.error - 1.0)
        ))
    };
    let parts: Vec<String> = studies.iter().filter_map(part).collect();
    if parts.is_empty() {
        return "The repair was left out: so many messages make its exact accounting slow.".into();
    }
    format!("Relay noise: mean exact loss at 3 hops or more is {}.", parts.join("; "))
}

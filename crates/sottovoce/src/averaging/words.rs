//! What came of an averaging, in words.

use std::fmt;

use sottovoce_privacy::{Adversary, Guarantee, round_up};
use sottovoce_views::door::Source;

use super::account::Local;
use super::run::Averaged;
use crate::Result;
use crate::experiment::Ready;
use crate::terms::short_up;

/// What the star behind a fact means.
pub const STARRED: &str =
    "* computed from the private values without privacy: whoever publishes it reveals more than is promised.";

/// The result and what it costs, in a sentence.
pub(super) fn headline(
    found: &Averaged,
    all: &[(String, Guarantee)],
    pairs: bool,
    local: Option<Local>,
) -> Result<String> {
    let result = match found.finished {
        0 => "Nobody has a result".to_owned(),
        n if n < found.peers => format!("{} (of {n} of {} peers)", average(found), found.peers),
        _ => average(found),
    };
    let torn = local.is_some() && found.source != Source::Planned;
    let result = if torn { format!("{result}, with noise of pairs left in it") } else { result };
    costs(&result, all, found.delta, pairs, local)
}

/// A result, and what it costs. Only where all `pairs` were accounted for is anything said of every peer. `local` is what a peer's own noise would cost it, where
/// noise that cancels hides more from whoever sees everything.
pub(super) fn costs(
    result: &str,
    all: &[(String, Guarantee)],
    delta: f64,
    pairs: bool,
    local: Option<Local>,
) -> Result<String> {
    if let (Some(Local { epsilon: local, without }), Some((_, tapped))) = (local, all.first()) {
        let (epsilon, local) = (short_up(tapped.epsilon(delta)?.upper), short_up(local));
        let who = match &tapped.adversary {
            Adversary::WireTapperWith(peers) => format!(", and holds the secrets of {} peers,", peers.len()),
            Adversary::WireTapperWithAny(1) => ", and holds the secrets of any one peer,".to_owned(),
            Adversary::WireTapperWithAny(any) => format!(", and holds the secrets of any {any} peers,"),
            _ => String::new(),
        };
        return Ok(format!(
            "{result}; who sees every message{who} learns no more than epsilon {epsilon}; without {without} it would be {local} (delta {delta:e})."
        ));
    }
    let mut local = f64::INFINITY;
    let mut peers: Option<(bool, f64)> = None;
    for (_, guarantee) in all.iter().filter(|(_, guarantee)| guarantee.standing.is_reliable()) {
        let value = guarantee.epsilon(delta)?.upper;
        match &guarantee.adversary {
            Adversary::WireTapper => local = value,
            other => {
                let single = matches!(other, Adversary::Peer(_));
                if peers.is_none_or(|(_, most)| value > most) {
                    peers = Some((single, value));
                }
            }
        }
    }
    let learnt = match peers {
        Some((true, most)) if pairs => format!("no peer learns more than epsilon {}", short_up(most)),
        Some((_, most)) => format!("the observers learn no more than epsilon {}", short_up(most)),
        None => "nothing is promised towards single peers".to_owned(),
    };
    Ok(format!("{result}; {learnt}; plain local privacy would be {} (delta {delta:e}).", short_up(local)))
}

fn average(found: &Averaged) -> String {
    let error = found.predicted_error.sqrt();
    match &found.coordinates[..] {
        [one] => format!("Average {:.2} ± {error:.2}", one.estimate),
        several => {
            let all: Vec<String> =
                several.iter().map(|one| format!("{} {:.2}", one.name, one.estimate)).collect();
            format!("Averages {} (each ± {error:.2})", all.join(", "))
        }
    }
}

/// The facts of a run.
pub(super) fn summary(found: &Averaged, ready: &Ready) -> Vec<(String, String)> {
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let both = |own: f64, plain: Option<f64>| match plain {
        Some(plain) if found.tau > 0.0 => {
            format!("{} (without relay noise {})", percent(own), percent(plain))
        }
        _ => percent(own),
    };
    let range = ready.experiment.values.range;
    let mut facts = vec![
        ("peers", format!("{} on {} with {} edges", found.peers, ready.place.name, found.edges)),
        (
            "noise",
            format!(
                "local {}, relay {} (standard deviations; values lie between {} and {})",
                round_up(found.sigma),
                round_up(found.tau),
                range.low,
                range.high
            ),
        ),
        ("gossip steps", found.steps.to_string()),
    ];
    if let Some(pairs) = &ready.setting.cancelling {
        let (kappa, keys) = (pairs.kappa(), pairs.keys());
        let each = 2.0 * keys.edge_count() as f64 / keys.nodes() as f64;
        facts.push(("noise that cancels", format!("{kappa} of it for each pair; {each:.1} secrets a peer")));
    }
    if let Some(masks) = &found.masks {
        facts.push(("masks", masks.words(&found.names)));
    }
    let many = found.coordinates.len() > 1;
    for one in &found.coordinates {
        let of = if many { format!(" of {}", one.name) } else { String::new() };
        facts.push(("mean of the private values *", format!("{}{of}", placed(one.mean, 4))));
        let estimate = match one.estimate.is_nan() {
            true => "none: nobody has a result".to_owned(),
            false => format!("{}{of}", placed(one.estimate, 4)),
        };
        facts.push(("mean of the peers' results", estimate));
    }
    facts.push((
        "mean squared error of a peer's result *",
        match found.measured_error.is_nan() {
            true => format!("{} predicted", placed(found.predicted_error, 5)),
            false => format!(
                "{} predicted, {} measured",
                placed(found.predicted_error, 5),
                placed(found.measured_error, 5)
            ),
        },
    ));
    if found.error.runs > 1 {
        facts.push(("error over seeds (root mean square) *", found.error.words()));
        facts.push(("everything else is of", "the run of the first seed".to_owned()));
    }
    if found.moved > 0 {
        facts.push(("numbers moved into the range *", found.moved.to_string()));
    }
    if let Some(mean) = found.mean_loss {
        facts.push(("mean loss over pairs, of local DP's", both(mean, found.mean_loss_without_relay)));
    }
    // Where everyone is everyone's neighbour nobody is far.
    let complete = 2 * found.edges == found.peers * (found.peers - 1);
    if let Some(far) = found.worst_far.filter(|far| *far > 0.0 || !complete) {
        facts.push(("largest loss at distance 2 or more", both(far, found.worst_far_without_relay)));
    }
    if ready.setting.cancelling.is_some() && found.source != Source::Planned {
        let text =
            "somebody was missed: noise of its pairs is left in the results, and errors are not as predicted";
        facts.push(("pairs torn apart", text.to_owned()));
    }
    if let Some(trade) = &found.trade {
        facts.push(("hiding from whoever sees everything", trade.words()));
    }
    facts
        .push(("messages", format!("{}, in {:.2} s of virtual time", found.messages, found.virtual_seconds)));
    if found.finished < found.peers {
        facts.push(("peers with a result", format!("{} of {}", found.finished, found.peers)));
    }
    facts.push(("seed", found.seed.to_string()));
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

impl fmt::Display for Averaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{}\n", self.headline, self.title)?;
        for (label, value) in &self.summary {
            writeln!(f, "  {label:<40} {value}")?;
        }
        if f.alternate() {
            writeln!(f, "\nResults of all peers")?;
            for (peer, result) in self.results.iter().enumerate() {
                let shown = result.as_ref().map_or_else(
                    || "-".to_owned(),
                    |result| result.iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(", "),
                );
                writeln!(f, "  {} {shown}", self.names.cell(peer, 24))?;
            }
        }
        writeln!(f, "\n{STARRED}\n\nWhat is promised")?;
        crate::terms::promised(f, &self.statements, &self.not_covered)?;
        writeln!(f, "\nThe attack\n  {}", self.attack)?;
        if let Some(violation) = self.violations.first() {
            writeln!(f, "\nBROKEN INVARIANT: {violation}")?;
        }
        Ok(())
    }
}

/// So many digits after the point; of large numbers the first ones alone.
fn placed(x: f64, digits: usize) -> String {
    if x.abs() < 1e9 { format!("{x:.digits$}") } else { format!("{x:.digits$e}") }
}

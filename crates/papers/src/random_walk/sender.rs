//! Figure 4: the same with senders known.

use sottovoce_report::text;

use super::anonymous::CODE;
use super::curves::chart;
use super::four::{HEADER, Study};
use super::tally::Tally;
use super::walk::SIGMA;
use super::words::{condition, lengths, many, number, surely};
use crate::muffliato::words::loss;
use crate::{Item, Result, Verdict};

/// “The same asymptotic”: at the farthest distance at most this times the loss of anonymous senders.
const SAME: f64 = 2.0;

pub(super) fn figure(mut item: Item, studies: &[Study]) -> Result<Item> {
    item.say(lengths(studies));
    item.say(
        "As figure 1, for observers who know who sent them the token. The printed loss is then the largest to a neighbour of the observer. \
         Where that neighbour is the contributor itself, the formula counts walks that return to it, but not the token that comes \
         straight from it, whose contribution only its own noise hides: so it is no bound there. Whoever is told the whole path knows the senders, too.",
    );
    for (study, part) in studies.iter().zip(["hypercube", "erdos-renyi", "geometric", "grid"]) {
        let picture = chart(study, "Loss by distance, senders known", &study.sender);
        item.picture(part, &picture, format!("{}: senders known.", study.name))?;
    }
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    item.table(
        &[
            "graph",
            "anonymous, 1 hop",
            "known, 1 hop",
            "contributions",
            "farthest",
            "anonymous there",
            "known there",
            "over paths, 1 hop",
            "largest over printed",
        ],
        studies.iter().map(row).collect(),
    );
    studies.iter().for_each(|study| numbers(&mut item, study));
    Ok(judge(item, studies))
}

fn row(study: &Study) -> Vec<String> {
    let far = study.walk.farthest();
    let (ratio, hops) = study.worst(&study.sampled_sender);
    vec![
        study.name.into(),
        number(study.walk.mean(1)),
        number(study.sender.mean(1)),
        text::digits(study.contributions, 3),
        format!("{far} hops"),
        number(study.walk.mean(far)),
        number(study.sender.mean(far)),
        loss(study.path.mean(1)),
        format!("{} at {}", number(ratio), many(hops as usize, "hop")),
    ]
}

fn numbers(item: &mut Item, study: &Study) {
    let far = study.walk.farthest();
    let mut note = |what: &str, value: f64| item.number(format!("{}: {what}", study.name), value);
    note("anonymous, 1 hop", study.walk.mean(1));
    note("known, 1 hop", study.sender.mean(1));
    note("anonymous, farthest", study.walk.mean(far));
    note("known, farthest", study.sender.mean(far));
    note("mean over paths, 1 hop", study.path.mean(1));
    note("largest ratio of paths to printed at a distance", study.worst(&study.sampled_sender).0);
    note("share of pairs surely above", study.above_sender.share());
}

/// How much of the loss at 1 hop is left at the farthest distance.
fn left(tally: &Tally, far: u32) -> f64 {
    tally.mean(far) / tally.mean(1)
}

/// Whether printed losses with senders known are as the paper says, beside those of anonymous senders.
fn met(study: &Study, sender: &Tally, walk: &Tally) -> bool {
    let far = walk.farthest();
    let more = sender.mean(1) > walk.mean(1);
    let amplified = sender.mean(1) < study.contributions;
    let same = sender.mean(far) <= SAME * walk.mean(far);
    more && amplified && same && left(sender, far) > left(&study.gossip, far)
}

/// Weights and clipping as in the authors' code.
fn by_code(item: &mut Item, studies: &[Study]) {
    let met = |study: &&Study| met(study, &study.sender_by_code, &study.walk_by_code);
    let names: Vec<&str> = studies.iter().filter(met).map(|study| study.name).collect();
    let each = |study: &Study| {
        let (sender, walk) = (&study.sender_by_code, &study.walk_by_code);
        format!("{} {} instead of {}", study.name, number(sender.mean(1)), number(walk.mean(1)))
    };
    item.by_code(
        CODE,
        names.len() == studies.len(),
        format!(
            "at 1 hop: {}; the claim is met on {}",
            studies.iter().map(each).collect::<Vec<_>>().join("; "),
            if names.is_empty() { "no graph".into() } else { names.join(", ") }
        ),
    );
}

fn judge(mut item: Item, studies: &[Study]) -> Item {
    by_code(&mut item, studies);
    let ratios: Vec<String> = studies.iter().map(exactly).collect();
    let parts: Vec<String> = studies.iter().map(ours).collect();
    item.judge(Verdict {
        reproduced: studies.iter().all(|s| met(s, &s.sender, &s.walk)),
        holds: studies.iter().all(|study| study.worst(&study.sampled_sender).0 <= 1.0),
        claim: "with senders known amplification is smaller for close peers but visible, the asymptotic is the same, and the decay slower \
                than for gossip"
            .into(),
        criterion: format!(
            "reproduced if on each graph the printed mean loss at 1 hop is above that of anonymous senders and below local DP of as many \
             contributions, at the farthest distance (that at least one pair in 10,000 has) at most {SAME} times that of anonymous senders, and the share of the loss at 1 hop \
             that is left there above gossip's (clipped); holds if at no such distance the mean over random paths is \
             above what is printed"
        ),
        ours: parts.join("; "),
        exact: format!("mean over random paths: {}{}", ratios.join("; "), condition(SIGMA)),
    })
}

fn ours(study: &Study) -> String {
    let far = study.walk.farthest();
    format!(
        "{}: at 1 hop {} instead of {} (local DP {}), at {far} hops {} instead of {}",
        study.name,
        number(study.sender.mean(1)),
        number(study.walk.mean(1)),
        number(study.contributions),
        number(study.sender.mean(far)),
        number(study.walk.mean(far)),
    )
}

fn exactly(study: &Study) -> String {
    let (ratio, hops) = study.worst(&study.sampled_sender);
    let hops = many(hops as usize, "hop");
    let pairs = surely(&study.above_sender);
    format!("{} at a distance at most {} of what is printed ({hops}), {pairs}", study.name, number(ratio))
}

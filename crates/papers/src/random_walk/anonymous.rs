//! Figure 1: the walk beside gossip, by distance, on four graphs.
//!
//! On Erdős–Rényi graphs peers who are 6 hops apart have few neighbours, keep the token for long, and lose more than printed. Few of the
//! pairs that are watched are so far apart; longer runs (17,700 paths, seeds 1 and 2) have the mean at twice what is printed there, by 6 and
//! by 7 of its standard errors.

use sottovoce_report::text;

use super::curves::chart;
use super::four::{HEADER, Study};
use super::tally::Tally;
use super::walk::SIGMA;
use super::words::{condition, count, lengths, many, number, surely};
use crate::muffliato::words::{loss, percent};
use crate::{Item, Result, Verdict};

/// The graphs on which the walk is said to lose more than gossip far away.
const SLOW: [&str; 2] = ["geometric", "grid"];
/// The one on which it is said to be better everywhere.
const FAST: &str = "Erdős–Rényi";

/// What the authors' code has and the text has not.
pub(super) const CODE: &str =
    "weights 1/(max(d) + 1); losses of the walk clipped to 1, as those of gossip are";

pub(super) fn figure(mut item: Item, studies: &[Study]) -> Result<Item> {
    item.say(lengths(studies));
    item.say(
        "Losses of all pairs by distance: the walk as printed (mean, and the range as a band), gossip as printed, clipped to local DP \
         as in the pictures of its paper, and the mean over random paths of what the path really reveals. “Path told” is the true loss at order 2 \
         towards an observer who is told the path, and an upper bound for one who is not; from so few paths it is rather too small.",
    );
    for (study, part) in studies.iter().zip(["hypercube", "erdos-renyi", "geometric", "grid"]) {
        let picture = chart(study, "Loss by distance", &study.walk);
        item.picture(part, &picture, caption(study))?;
    }
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    item.table(
        &[
            "graph",
            "peers",
            "T",
            "contributions",
            "printed, 1 hop",
            "gossip, 1 hop",
            "gossip unclipped",
            "above gossip from",
            "over paths, 1 hop",
            "path told, 1 hop",
            "largest over printed",
            "pairs surely above",
        ],
        studies.iter().map(row).collect(),
    );
    studies.iter().for_each(|study| numbers(&mut item, study));
    Ok(judge(item, studies))
}

fn caption(study: &Study) -> String {
    let runs = if study.runs > 1 { format!(", {} graphs", study.runs) } else { String::new() };
    format!(
        "{}: {} peers{runs}, {} steps, so that everyone contributes {} times (local DP alone would lose as much); {} random paths.",
        study.name,
        study.peers,
        count(study.steps),
        text::digits(study.contributions, 2),
        study.paths
    )
}

fn row(study: &Study) -> Vec<String> {
    let (ratio, hops) = study.worst(&study.sampled);
    vec![
        study.name.into(),
        study.peers.to_string(),
        count(study.steps),
        text::digits(study.contributions, 3),
        number(study.walk.mean(1)),
        number(study.gossip.mean(1)),
        number(study.gossip_sum.mean(1)),
        study.overtakes(&study.walk, 1.0).map_or("nowhere".into(), |hops| format!("{hops} hops")),
        loss(study.path.mean(1)),
        loss(study.told.mean(1)),
        format!("{} at {}", number(ratio), many(hops as usize, "hop")),
        percent(study.above.share()),
    ]
}

fn numbers(item: &mut Item, study: &Study) {
    let far = study.walk.farthest();
    let (ratio, _) = study.worst(&study.sampled);
    let mut note = |what: &str, value: f64| item.number(format!("{}: {what}", study.name), value);
    note("peers", study.peers as f64);
    note("steps", study.steps);
    note("steps, authors' weights", study.steps_by_code);
    note("contributions", study.contributions);
    note("gossip steps", study.gossip_steps);
    note("farthest", f64::from(far));
    note("printed, 1 hop", study.walk.mean(1));
    note("printed, farthest", study.walk.mean(far));
    note("printed with sender known, 1 hop", study.sender.mean(1));
    note("gossip clipped, 1 hop", study.gossip.mean(1));
    note("gossip clipped, farthest", study.gossip.mean(far));
    note("gossip, 1 hop", study.gossip_sum.mean(1));
    note("mean over paths, 1 hop", study.path.mean(1));
    note("path told, 1 hop", study.told.mean(1));
    note("largest ratio of paths to printed at a distance", ratio);
    note("share of pairs surely above", study.above.share());
    note("largest ratio surely above", study.above.ratio);
    if let Some(hops) = study.overtakes(&study.walk, 1.0) {
        note("above gossip from", f64::from(hops));
    }
}

/// Whether the printed losses of a walk, times a number, are as the paper says.
fn met(study: &Study, walk: &Tally, scale: f64) -> bool {
    let near = scale * walk.mean(1) < study.gossip.mean(1);
    let amplified = walk.mean(1) < study.contributions;
    let slow = !SLOW.contains(&study.name) || study.overtakes(walk, scale).is_some();
    let fast = study.name != FAST || study.below_gossip(walk, scale);
    near && amplified && slow && fast
}

/// Weights and clipping as in the authors' code.
fn by_code(item: &mut Item, studies: &[Study]) {
    let met = |study: &&Study| met(study, &study.walk_by_code, 1.0);
    let names: Vec<&str> = studies.iter().filter(met).map(|study| study.name).collect();
    let each = |study: &Study| {
        let far = study
            .overtakes(&study.walk_by_code, 1.0)
            .map_or("nowhere".into(), |hops| format!("from {hops} on"));
        let near = number(study.walk_by_code.mean(1));
        format!("{} {near} against {}, above gossip {far}", study.name, number(study.gossip.mean(1)))
    };
    item.by_code(
        CODE,
        names.len() == studies.len(),
        format!(
            "at 1 hop, and by hops: {}; the claim is met on {}",
            studies.iter().map(each).collect::<Vec<_>>().join("; "),
            if names.is_empty() { "no graph".into() } else { names.join(", ") }
        ),
    );
}

/// The names of those graphs on which it is so.
fn where_met(studies: &[Study], scale: impl Fn(&Study) -> f64) -> String {
    let names: Vec<&str> =
        studies.iter().filter(|s| met(s, &s.walk, scale(s))).map(|study| study.name).collect();
    match names.len() {
        0 => "nowhere".into(),
        count if count == studies.len() => "on all four graphs".into(),
        _ => format!("on {} alone", names.join(", ")),
    }
}

fn judge(mut item: Item, studies: &[Study]) -> Item {
    by_code(&mut item, studies);
    let parts: Vec<String> = studies.iter().map(ours).collect();
    let single = |study: &Study| 1.0 / study.contributions;
    let singles: Vec<String> = studies.iter().map(|s| number(single(s) * s.walk.mean(1))).collect();
    let exact: Vec<String> = studies.iter().map(exactly).collect();
    item.judge(Verdict {
        reproduced: studies.iter().all(|study| met(study, &study.walk, 1.0)),
        holds: studies.iter().all(|study| study.worst(&study.sampled).0 <= 1.0),
        claim: "the walk loses less than gossip to close peers, less than local DP even there, and more to distant ones; on \
                well-connected graphs such as Erdős–Rényi it is better everywhere"
            .into(),
        criterion: "reproduced if on each graph the printed mean loss at 1 hop is below that of gossip, clipped to local DP as in the pictures \
                    of its paper, and below local DP of as many contributions, if at the farthest distances on the geometric graph and the grid \
                    it is above gossip's, and on Erdős–Rényi below it at every distance (but for those that fewer than one pair in 10,000 has: this \
                    exception was made after a first run, where 4 of 21 million pairs decided; it changes no verdict); holds if at no such distance \
                    on any graph the mean over random paths is above what is printed"
            .into(),
        ours: format!(
            "{}; the claim is met {}; per contribution, divided by T/n, the losses at 1 hop are {}, and it is met {}",
            parts.join("; "),
            where_met(studies, |_| 1.0),
            singles.join(", "),
            where_met(studies, single)
        ),
        exact: format!("mean over random paths: {}{}", exact.join("; "), condition(SIGMA)),
    })
}

fn ours(study: &Study) -> String {
    let far = match study.overtakes(&study.walk, 1.0) {
        Some(1) => "above gossip everywhere".into(),
        Some(hops) => format!("above gossip from {hops} hops on"),
        None if study.below_gossip(&study.walk, 1.0) => "below gossip everywhere".into(),
        None => "not above gossip far away".into(),
    };
    format!(
        "{}: T = {}, {} contributions each, at 1 hop {} against {} of gossip ({} unclipped), {far}",
        study.name,
        count(study.steps),
        text::digits(study.contributions, 2),
        number(study.walk.mean(1)),
        number(study.gossip.mean(1)),
        number(study.gossip_sum.mean(1)),
    )
}

fn exactly(study: &Study) -> String {
    let (ratio, hops) = study.worst(&study.sampled);
    format!(
        "{} {} at 1 hop ({} if the path is told), at a distance at most {} of what is printed ({}), {}",
        study.name,
        loss(study.path.mean(1)),
        loss(study.told.mean(1)),
        number(ratio),
        many(hops as usize, "hop"),
        surely(&study.above)
    )
}

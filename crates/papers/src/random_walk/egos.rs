//! Figure 6: the nine other social graphs.

use sottovoce_report::text;

use super::pairs::{HEADER, Pairs};
use super::walk::{LARGE_SIGMA, Walk};
use super::words::{condition, number};
use crate::colours::Colours;
use crate::communities::communities;
use crate::graphs::{self, EGOS, NO_EGOS, SMALL_EGOS};
use crate::map::{Map, Scene};
use crate::muffliato::words::{loss, percent};
use crate::registry::Desk;
use crate::statistics::{Summary, choose};
use crate::{Item, Result, Verdict};

/// The one that figure 3a shows.
const SHOWN: u64 = 0;
/// The loss matches the community if outside it is, on average, below this share of inside; as for gossip.
const LIMITED: f64 = 0.5;

/// One graph and one peer.
struct Study {
    pairs: Pairs,
    peer: usize,
    labels: Vec<usize>,
}

pub(super) fn figure(mut item: Item, desk: &Desk) -> Result<Item> {
    let (options, watch) = (desk.options, desk.watch);
    let Some(data) = &options.data else { return Ok(item.skip(NO_EGOS)) };
    let egos: &[u64] = if options.quick { &SMALL_EGOS } else { &EGOS };
    let study = |ego: &u64| {
        (watch.doing)(&format!("6: ego {ego}"));
        let graph = graphs::ego(data, *ego)?;
        let (peer, labels) = (choose(options.seed, *ego, graph.nodes()), communities(&graph));
        let walk = Walk::new(&graph, LARGE_SIGMA)?;
        let pairs = Pairs::to(&format!("ego {ego}"), walk, graph, &[peer], (options.seed, options.quick))?;
        Ok(Study { pairs, peer, labels })
    };
    let studies = egos.iter().filter(|ego| **ego != SHOWN).map(study).collect::<Result<Vec<_>>>()?;
    item.say(
        "Left what each peer loses to the ringed one, as printed (which is what that one loses to each: the formula is symmetric), right the mean \
         over random paths. Peers are chosen at random, with the seed.",
    );
    for study in &studies {
        draw(&mut item, study, options.seed)?;
        numbers(&mut item, study);
    }
    item.csv(HEADER, studies.iter().flat_map(|study| study.pairs.lines(|_, _| String::new())));
    item.table(
        &[
            "graph",
            "peers",
            "T",
            "neighbours",
            "printed inside",
            "printed outside",
            "paths inside",
            "paths outside",
            "surely above",
        ],
        studies.iter().map(row).collect(),
    );
    Ok(judge(item, &studies))
}

impl Study {
    /// Mean losses inside the peer's own community and outside it; none where there is no outside.
    fn by_community(&self, losses: &[f64]) -> Option<(f64, f64)> {
        let mean = |inside: bool| {
            let some = (0..losses.len()).filter(|&u| u != self.peer);
            let some = some.filter(|&u| (self.labels[u] == self.labels[self.peer]) == inside);
            Some(Summary::of(some.map(|u| losses[u]))?.mean)
        };
        Some((mean(true)?, mean(false)?))
    }

    fn limited(&self) -> bool {
        self.by_community(self.pairs.printed(0)).is_some_and(|(inside, outside)| outside < LIMITED * inside)
    }
}

fn draw(item: &mut Item, study: &Study, seed: u64) -> Result<()> {
    let pairs = &study.pairs;
    let map = Map::new(Scene { name: &pairs.name, graph: &pairs.graph, peer: study.peer }, seed);
    let part = pairs.name.trim_start_matches("ego ");
    let (printed, path) = (pairs.printed(0), pairs.seen(0).means());
    let colours = Colours::logarithmic("loss (local DP = 1)", printed.iter().chain(&path).copied());
    for (kind, losses, said) in
        [("published", printed, "as printed"), ("paths", &path, "mean over random paths")]
    {
        let picture = map.picture(&format!("Loss, {said}"), losses, &colours);
        item.picture(
            &format!("{part}-{kind}"),
            &picture,
            format!("{}: what each loses, {said}.", pairs.name),
        )?;
    }
    Ok(())
}

fn row(study: &Study) -> Vec<String> {
    let pairs = &study.pairs;
    let two = |losses: &[f64], show: &dyn Fn(f64) -> String| {
        study.by_community(losses).map_or(["–".into(), "–".into()], |(a, b)| [show(a), show(b)])
    };
    let [inside, outside] = two(pairs.printed(0), &number);
    let [path_inside, path_outside] = two(&pairs.seen(0).means(), &loss);
    vec![
        pairs.name.clone(),
        pairs.graph.nodes().to_string(),
        pairs.walk.steps.to_string(),
        pairs.graph.degree(study.peer).to_string(),
        inside,
        outside,
        path_inside,
        path_outside,
        percent(pairs.above().0),
    ]
}

fn numbers(item: &mut Item, study: &Study) {
    let pairs = &study.pairs;
    let mut note = |what: &str, value: f64| item.number(format!("{}: {what}", pairs.name), value);
    note("peers", pairs.graph.nodes() as f64);
    note("steps", pairs.walk.steps as f64);
    note("paths", pairs.paths as f64);
    note("share of pairs surely above", pairs.above().0);
    note("mean over paths, relative", pairs.part());
    if let Some((inside, outside)) = study.by_community(pairs.printed(0)) {
        note("printed mean inside the community", inside);
        note("printed mean outside the community", outside);
    }
}

fn judge(item: Item, studies: &[Study]) -> Item {
    let matched = studies.iter().filter(|study| study.limited()).count();
    let lower = studies
        .iter()
        .filter(|study| study.by_community(study.pairs.printed(0)).is_some_and(|(a, b)| b < a))
        .count();
    let above: Vec<String> = studies
        .iter()
        .map(|study| {
            let ratio = study.pairs.above().1.map_or(String::new(), |worst| {
                format!(", up to {} times", text::digits(worst.path / worst.printed, 2))
            });
            format!("{} {}{ratio}", study.pairs.name, percent(study.pairs.above().0))
        })
        .collect();
    item.judge(Verdict {
        // “Match the existing clusters.”
        reproduced: 2 * matched > studies.len(),
        holds: studies.iter().all(|study| study.pairs.above().0 == 0.0),
        claim: "losses match the clusters of the graph".into(),
        criterion: "reproduced if on most graphs the mean loss outside the peer's community (by label propagation) is below half of that inside, \
                    the test that gossip was put to; holds if no pair surely (by 5 standard errors) loses more than printed"
            .into(),
        ours: format!("so it is on {matched} of {} graphs; below that inside it is on {lower} (see the table)", studies.len()),
        exact: format!("peers who surely lose more than printed: {}{}", above.join(", "), condition(LARGE_SIGMA)),
    })
}

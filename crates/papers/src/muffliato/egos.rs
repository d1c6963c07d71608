//! Figures 1b and 5: friends of one person, from SNAP's Facebook data.

use std::path::Path;

use sottovoce_report::text;

use super::study::{HEADER, NOISE, Study, Symmetry};
use super::words::{exactly, loss, percent, repair, test, worst};
use crate::colours::Colours;
use crate::communities::communities;
use crate::graphs::{self, EGOS, NO_EGOS, SMALL_EGOS};
use crate::map::Map;
use crate::registry::Desk;
use crate::statistics::{Summary, choose};
use crate::{Item, Options, Result, Verdict, Watch};

/// The graph of figure 1b.
const FIRST: u64 = 1912;

/// The variance of the noise in the authors' code.
const CODE_NOISE: f64 = 3.75;

/// The loss is limited to the community if outside it is, on average and clipped as drawn, below this share of inside.
const LIMITED: f64 = 0.5;

const TEST: &str = "the mean loss outside the peer's community (by label propagation), clipped to 1 as drawn, is below half \
                    of that inside";

/// Figure 1b.
pub(super) fn one(mut item: Item, desk: &Desk) -> Result<Item> {
    let (options, watch) = (desk.options, desk.watch);
    let Some(data) = &options.data else { return Ok(item.skip(NO_EGOS)) };
    let study = study(data, FIRST, options, watch)?;
    item.say(format!(
        "Ego {FIRST}: {} peers in the largest component, {} steps; peer {}, chosen at random, has {} neighbours.",
        study.graph.nodes(),
        study.steps,
        study.graph.label(study.peer),
        study.graph.degree(study.peer)
    ));
    draw(&mut item, &study, options.seed)?;
    if let Some(relay) = &study.relay {
        let picture = Map::new(study.scene(), options.seed).picture(
            "Exact loss, relay noise",
            &relay.losses,
            &Colours::clipped(),
        );
        item.picture(
            &format!("{FIRST}-relay"),
            &picture,
            format!("{}: exact, with relay noise.", study.name),
        )?;
    }
    item.say(repair(&[&study]));
    numbers(&mut item, &study);
    item.csv(HEADER, study.lines().into_iter());
    let (near, far) = near_and_far(&study, &study.published);
    one_by_code(&mut item, &study);
    Ok(item.judge(Verdict {
        reproduced: Confined::by_text(&study).so(),
        holds: study.sound(),
        claim: "leakage is limited outside the peer's own community".into(),
        criterion: test(TEST),
        ours: format!(
            "{} peers, T = {}: mean loss {} to neighbours and {} at 3 hops or more; clipped to 1, as drawn, {}",
            study.graph.nodes(),
            study.steps,
            text::digits(near, 3),
            text::digits(far, 3),
            Confined::by_text(&study).text()
        ),
        exact: said(&study),
    }))
}

/// Figure 5.
pub(super) fn others(mut item: Item, desk: &Desk) -> Result<Item> {
    let (options, watch) = (desk.options, desk.watch);
    let Some(data) = &options.data else { return Ok(item.skip(NO_EGOS)) };
    let egos: &[u64] = if options.quick { &SMALL_EGOS } else { &EGOS };
    let others = egos.iter().filter(|ego| **ego != FIRST);
    let studies: Vec<Study> = others.map(|&ego| study(data, ego, options, watch)).collect::<Result<_>>()?;
    item.say("Left the printed loss, right the exact one. Peers are chosen at random, with the seed.");
    for study in &studies {
        draw(&mut item, study, options.seed)?;
        numbers(&mut item, study);
    }
    item.csv(HEADER, studies.iter().flat_map(Study::lines));
    item.table(
        &[
            "graph",
            "peers",
            "T",
            "neighbours",
            "printed near",
            "printed far",
            "clipped, by community",
            "exact near",
            "exact far",
            "relay far",
            "understated",
        ],
        studies.iter().map(row).collect(),
    );
    others_by_code(&mut item, &studies);
    let all: Vec<&Study> = studies.iter().collect();
    let confined = studies.iter().filter(|study| Confined::by_text(study).so()).count();
    let sound = studies.iter().filter(|study| study.sound()).count();
    let shares: Vec<String> =
        studies.iter().map(|s| format!("{} {}", s.name, percent(s.understated().share))).collect();
    Ok(item.judge(Verdict {
        // “Consistent through datasets”.
        reproduced: 2 * confined > studies.len(),
        holds: sound == studies.len(),
        claim: "losses limited to visible communities, consistently across the graphs".into(),
        criterion: test(&format!("on most graphs {TEST}")),
        ours: format!("so it is on {confined} of {} graphs (see the table)", studies.len()),
        exact: format!("peers with more than printed: {}{}", shares.join(", "), worst(&all)),
    }))
}

fn draw(item: &mut Item, study: &Study, seed: u64) -> Result<()> {
    let part = study.name.trim_start_matches("ego ");
    study.draw(item, part, &Map::new(study.scene(), seed), ["the peer", "it"])
}

fn study(data: &Path, ego: u64, options: &Options, watch: &Watch) -> Result<Study> {
    (watch.doing)(&format!("ego {ego}"));
    let graph = graphs::ego(data, ego)?;
    let peer = choose(options.seed, ego, graph.nodes());
    Study::new(&format!("ego {ego}"), graph, peer, Symmetry::None)
}

/// Mean losses of neighbours, and at three hops or more (none: 0).
fn near_and_far(study: &Study, losses: &[f64]) -> (f64, f64) {
    let mean = |at: &dyn Fn(u32) -> bool| study.summary(losses, at).map_or(0.0, |summary| summary.mean);
    (mean(&|hops| hops == 1), mean(&|hops| hops >= 3))
}

/// Mean losses of a peer, clipped as drawn, inside its own community and outside it.
#[derive(Clone, Copy)]
struct Means {
    inside: f64,
    outside: f64,
}

impl Means {
    /// Of printed losses of `peer`, by noise of this variance; none where there is no outside.
    fn new(study: &Study, labels: &[usize], peer: usize, noise: f64) -> Option<Self> {
        let n = study.graph.nodes();
        let losses = &study.everyone[peer * n..(peer + 1) * n];
        let mean = |inside: bool| {
            let some = (0..n).filter(|&u| u != peer && (labels[u] == labels[peer]) == inside);
            Some(Summary::of(some.map(|u| (losses[u] / noise).min(1.0)))?.mean)
        };
        Some(Self { inside: mean(true)?, outside: mean(false)? })
    }

    fn limited(means: Option<Self>) -> bool {
        means.is_some_and(|means| means.outside < LIMITED * means.inside)
    }

    fn text(means: Option<Self>) -> String {
        means.map_or("one community only".into(), |Self { inside, outside }| {
            format!("{} inside and {} outside", text::digits(inside, 3), text::digits(outside, 3))
        })
    }
}

/// What a graph shows at one level of noise: the means of one peer, and of how many of all peers the claim is true.
struct Confined {
    peer: usize,
    means: Option<Means>,
    share: f64,
}

impl Confined {
    fn new(study: &Study, peer: usize, noise: f64) -> Self {
        let labels = communities(&study.graph);
        let n = study.graph.nodes();
        let so = (0..n).filter(|&u| Means::limited(Means::new(study, &labels, u, noise))).count();
        Self { peer, means: Means::new(study, &labels, peer, noise), share: so as f64 / n as f64 }
    }

    /// As the text has it.
    fn by_text(study: &Study) -> Self {
        Self::new(study, study.peer, NOISE)
    }

    /// With the noise of the authors' code, and the first of the peers with the fewest neighbours, of whom it chooses one.
    fn by_code(study: &Study, noise: f64) -> Self {
        let fewest = (0..study.graph.nodes()).min_by_key(|&u| study.graph.degree(u));
        Self::new(study, fewest.unwrap_or(study.peer), noise)
    }

    fn so(&self) -> bool {
        Means::limited(self.means)
    }

    fn text(&self) -> String {
        format!(
            "{} the community (so it is for {} of all peers)",
            Means::text(self.means),
            percent(self.share)
        )
    }
}

/// Figure 1b with the noise of the authors' code.
fn one_by_code(item: &mut Item, study: &Study) {
    let found = Confined::new(study, study.peer, CODE_NOISE);
    item.number("share of all peers for whom it is so, authors' noise", found.share);
    item.by_code(
        format!("noise of variance {CODE_NOISE}; losses of more than 1 clipped, as in the text's picture"),
        found.so(),
        found.text(),
    );
}

/// Figure 5 with a peer as the authors' code chooses it.
fn others_by_code(item: &mut Item, studies: &[Study]) {
    let found: Vec<[Confined; 2]> = studies
        .iter()
        .map(|study| [NOISE, CODE_NOISE].map(|noise| Confined::by_code(study, noise)))
        .collect();
    let row = |(study, [one, other]): (&Study, &[Confined; 2])| {
        let degree = study.graph.degree(one.peer).to_string();
        vec![study.name.clone(), study.graph.label(one.peer).to_string(), degree, one.text(), other.text()]
    };
    let noise = format!("noise of variance {CODE_NOISE}");
    item.table(
        &["graph", "peer by the code", "neighbours", "noise 1, by community", &noise],
        studies.iter().zip(&found).map(row).collect(),
    );
    let confined = [0, 1].map(|which: usize| found.iter().filter(|both| both[which].so()).count());
    item.number("graphs on which it is so, authors' peer", confined[0] as f64);
    item.number("graphs on which it is so, authors' peer and noise", confined[1] as f64);
    item.by_code(
        "a peer with one neighbour, or else with the fewest, instead of a random one",
        2 * confined[0] > studies.len(),
        format!(
            "so it is on {} of {} graphs (with the noise of figure 1b, of variance {CODE_NOISE}, on {})",
            confined[0],
            studies.len(),
            confined[1]
        ),
    );
}

fn said(study: &Study) -> String {
    let (_, far) = near_and_far(study, &study.exact.losses);
    format!("mean loss {} at 3 hops or more; {}", loss(far), exactly(&[study]))
}

fn row(study: &Study) -> Vec<String> {
    let (printed, exact) = (near_and_far(study, &study.published), near_and_far(study, &study.exact.losses));
    let relay = study.relay.as_ref().map_or("–".into(), |relay| loss(near_and_far(study, &relay.losses).1));
    vec![
        study.name.clone(),
        study.graph.nodes().to_string(),
        study.steps.to_string(),
        study.graph.degree(study.peer).to_string(),
        text::digits(printed.0, 3),
        text::digits(printed.1, 3),
        Means::text(Confined::by_text(study).means),
        loss(exact.0),
        loss(exact.1),
        relay,
        percent(study.understated().share),
    ]
}

fn numbers(item: &mut Item, study: &Study) {
    let found = study.understated();
    let mut note = |what: &str, value: f64| item.number(format!("{}: {what}", study.name), value);
    note("peers", study.graph.nodes() as f64);
    note("steps", study.steps as f64);
    note("neighbours", study.graph.degree(study.peer) as f64);
    note("exact mean", study.exact.mean());
    note("certified", f64::from(u8::from(study.exact.certified)));
    let confined = Confined::by_text(study);
    note("share of all peers for whom it is so", confined.share);
    if let Some(Means { inside, outside }) = confined.means {
        note("printed mean inside the community, clipped", inside);
        note("printed mean outside the community, clipped", outside);
    }
    note("share understated", found.share);
    note("share understated at 3 hops or more", found.far.unwrap_or(0.0));
}

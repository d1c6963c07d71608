//! What came of a rumour by messages: how often it survived, how many knew, what is promised of its source.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use sottovoce_audit::source::Share;
use sottovoce_privacy::Risk;
use sottovoce_report::rumor::{Frame, Moment, State, Survival};
use sottovoce_report::{GuaranteeLine, Provenance, RumorReport, text};
use sottovoce_simulator::rumor::Dice;
use sottovoce_views::rumor::{survival, survival_at_most};

use super::course::{dots, kept_after, thinned};
use super::network::{Networked, Promise, Run};
use crate::experiment::{self, Clocks, Experiment};
use crate::spine::{Beside, Context, Files, Outcome};
use crate::terms::Stated;
use crate::{Error, Result, transcript};

/// Confidence of the interval.
const CONFIDENCE: f64 = 0.99;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum End {
    /// Everyone knew.
    Everyone,
    /// Nobody told it any more although somebody did not know.
    Died,
    /// It was still told when the run was given up.
    Unfinished,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ran {
    /// Its seed.
    pub seed: u64,
    /// Who began.
    pub source: usize,
    /// How it ended.
    pub end: End,
    /// Peers who knew in the end.
    pub informed: usize,
    /// When the last of them learned it, in rounds.
    pub rounds: f64,
    /// Messages, answers included.
    pub sent: u64,
    /// Of these, lost.
    pub lost: u64,
}

/// Whether a rumour survives.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survived {
    /// What came of it, in a sentence.
    pub headline: String,
    /// All peers.
    pub peers: usize,
    /// How many of them listen.
    pub curious: usize,
    /// Which.
    pub curious_peers: Vec<usize>,
    /// What those are called, where peers have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curious_names: Vec<String>,
    /// The muting parameter.
    pub muting: f64,
    /// When active peers tell.
    pub clocks: Clocks,
    /// Probability that a message is lost.
    pub drop: f64,
    /// Share of the time for which a peer is away.
    pub churn: f64,
    /// Whether tellings are acknowledged and repeated.
    pub acknowledged: bool,
    /// Number of runs.
    pub runs: usize,
    /// Of these, those in which everyone knew.
    pub everyone: usize,
    /// Those in which the rumour died.
    pub died: usize,
    /// Those that were given up.
    pub unfinished: usize,
    /// The share in which everyone knew.
    pub share: f64,
    /// Clopper and Pearson's limits of that probability, from below
    pub low: f64,
    /// and from above.
    pub high: f64,
    /// With which confidence they hold together.
    pub confidence: f64,
    /// The probability that it survives among endlessly many peers who lose so much; none where tellings are repeated or peers are away.
    pub branching: Option<f64>,
    /// Everyone learns with no larger probability than this, proven; none where tellings are repeated.
    pub at_most: Option<f64>,
    /// The mean share of peers who knew in the end.
    pub mean_informed: f64,
    /// Rounds until everyone knew, on average over the runs in which that happened.
    pub mean_rounds: Option<f64>,
    /// Messages of a run, on average.
    pub mean_messages: f64,
    /// Each run.
    pub each: Vec<Ran>,
    /// What is promised of the source, in words.
    pub statement: String,
    /// The same as numbers.
    pub guarantees: Vec<Stated>,
    /// What is not promised.
    pub not_covered: Vec<String>,
    /// What happened in the first run.
    #[serde(skip)]
    pub transcript: Option<transcript::Messages>,
    /// Everything the report shows.
    #[serde(skip)]
    pub report: RumorReport,
    /// What was noticed in the graph's file, and its hash.
    #[serde(skip)]
    pub notes: (Option<String>, Vec<String>),
}

/// Runs a rumour under all its seeds. `done` is called once a run.
pub fn survive(
    asked: &experiment::Rumor,
    folder: &Path,
    seed: u64,
    done: impl Fn() + Sync,
) -> Result<Survived> {
    let net = Networked::new(asked, folder, seed)?;
    let promise = net.promise(&net.curious)?;
    let runs = net.runs(done)?;
    let mut found = Survived::new(&net, &promise, &runs)?;
    found.transcript = Some(transcript::Messages::new(&Experiment::Rumor(asked.clone()), &net, &runs[0])?);
    Ok(found)
}

/// The same with its progress and its transcript, as every run returns it.
pub(super) fn outcome(asked: &experiment::Rumor, context: &Context<'_>) -> Result<Outcome> {
    let &Context { folder, seed, progress, .. } = context;
    progress.begin(asked.seeds.unwrap_or(100), "spreading");
    let mut found = survive(asked, folder, seed, || progress.step(""))?;
    let (hash, notes) = std::mem::take(&mut found.notes);
    let (report, transcript) = (std::mem::take(&mut found.report), found.transcript.take());
    let experiment = context.again(Experiment::Rumor(asked.clone()));
    Ok(Outcome::new(found, experiment, &transcript)?.of_graph(hash, notes).with_page(page_of(report)))
}

/// The page of a rumour.
pub(super) fn page_of(report: RumorReport) -> impl Fn(Beside) -> Result<Files> {
    move |beside| {
        let mut report = report.clone();
        report.provenance = beside.over(report.provenance);
        report.beside = beside.files;
        Ok(report.files()?)
    }
}

impl Run {
    fn ran(&self) -> Ran {
        let outcome = &self.outcome;
        let (informed, peers) = (outcome.informed(0), outcome.learned[0].len());
        let end = match () {
            () if informed == peers => End::Everyone,
            () if outcome.died(0) => End::Died,
            () => End::Unfinished,
        };
        let (seed, source, sent, lost) = (self.seed, self.source, outcome.sent, outcome.lost);
        Ran { seed, source, end, informed, rounds: outcome.duration, sent, lost }
    }
}

impl Survived {
    fn new(net: &Networked, promise: &Promise, runs: &[Run]) -> Result<Self> {
        let each: Vec<Ran> = runs.iter().map(Run::ran).collect();
        let count = |end: End| each.iter().filter(|ran| ran.end == end).count();
        let mean = |of: &dyn Fn(&Ran) -> f64, all: &[&Ran]| {
            (!all.is_empty()).then(|| all.iter().map(|ran| of(ran)).sum::<f64>() / all.len() as f64)
        };
        let all: Vec<&Ran> = each.iter().collect();
        let whole: Vec<&Ran> = each.iter().filter(|ran| ran.end == End::Everyone).collect();
        let everyone = count(End::Everyone);
        let share = Share { hits: everyone as u64, runs: each.len() as u64 };
        let (low, high) = share.interval(CONFIDENCE);
        let names = net.names();
        let curious_peers = net.curious.members();
        let lost = !net.acknowledge;
        let (statement, stated) = net.stated(&net.curious, promise);
        let mut found = Self {
            headline: String::new(),
            peers: net.peers,
            curious: net.curious.count(),
            curious_names: names.beside(&curious_peers),
            curious_peers,
            muting: net.muting,
            clocks: net.clocks,
            drop: net.drop,
            churn: net.churn,
            acknowledged: net.acknowledge,
            runs: each.len(),
            everyone,
            died: count(End::Died),
            unfinished: count(End::Unfinished),
            share: share.estimate(),
            low,
            high,
            confidence: CONFIDENCE,
            branching: (lost && net.churn == 0.0).then(|| survival(net.muting, net.drop)),
            at_most: lost.then(|| survival_at_most(net.peers, net.muting, net.drop)),
            mean_informed: mean(&|ran| ran.informed as f64 / net.peers as f64, &all).unwrap_or(0.0),
            mean_rounds: mean(&|ran| ran.rounds, &whole),
            mean_messages: mean(&|ran| ran.sent as f64, &all).unwrap_or(0.0),
            each,
            statement,
            guarantees: vec![stated],
            not_covered: net.not_covered(),
            transcript: None,
            report: RumorReport::default(),
            notes: net
                .place
                .as_ref()
                .map(|place| (place.sha256.clone(), place.notes.clone()))
                .unwrap_or_default(),
        };
        found.headline = found.sentence();
        found.report = found.page(net, &runs[0], promise)?;
        Ok(found)
    }

    fn sentence(&self) -> String {
        format!(
            "The rumour reached all {} peers in {} of {} runs ({} to {} %), and died in {}",
            self.peers,
            self.everyone,
            self.runs,
            text::digits(100.0 * self.low, 3),
            text::digits(100.0 * self.high, 3),
            self.died
        )
    }

    /// Labels and values, for the page and for people.
    fn rows(&self) -> Vec<(String, String)> {
        let clocks = if self.clocks == Clocks::Rounds { "in rounds" } else { "by Poisson clocks" };
        let share = |p: f64| format!("{} %", text::digits(100.0 * p, 4));
        let none = || "not known".to_owned();
        [
            ("muting parameter s", text::short(self.muting, 4)),
            ("active peers tell", clocks.to_owned()),
            ("messages lost", share(self.drop)),
            ("peers away", share(self.churn)),
            ("acknowledged and repeated", if self.acknowledged { "yes" } else { "no" }.to_owned()),
            ("everyone knew", format!("{} of {} runs", self.everyone, self.runs)),
            ("it died", format!("{} runs", self.died)),
            ("given up while still told", format!("{} runs", self.unfinished)),
            (
                "probability of survival",
                format!("{} to {} (99 % confidence)", share(self.low), share(self.high)),
            ),
            ("among endlessly many peers", self.branching.map_or_else(none, share)),
            ("at most, proven", self.at_most.map_or_else(none, share)),
            ("peers who knew, on average", share(self.mean_informed)),
            (
                "rounds until everyone knew",
                self.mean_rounds.map_or_else(none, |rounds| text::digits(rounds, 3)),
            ),
            ("messages of a run", text::digits(self.mean_messages, 4)),
        ]
        .map(|(label, value)| (label.to_owned(), value))
        .to_vec()
    }

    /// The first run as a page, and what came of all of them.
    fn page(&self, net: &Networked, run: &Run, promise: &Promise) -> Result<RumorReport> {
        let heard = run.outcome.seen.get(&0).and_then(|seen| {
            seen.iter().map(|seen| seen.sender as usize).find(|&sender| !net.curious.has(sender))
        });
        let dots = dots(&net.curious, run.source, heard, &mut Dice::new(run.seed, 0, 1 << 40));
        let place = |peer: usize| dots.iter().position(|dot| dot.peer == peer);
        let frames = frames(run, &dots.iter().map(|dot| dot.peer).collect::<Vec<_>>());
        let line = GuaranteeLine {
            statement: "Whoever began, what the curious peers notice differs by at most delta between any two sources".into(),
            adversary: "the curious peers, who pool what they hear and tell, without a clock".into(),
            unit: "the source".into(),
            adjacency: "any two honest peers as the source".into(),
            loss: format!("epsilon = 0, delta <= {} ({})", text::up(promise.delta, 3), promise.by),
            risk: Risk::of_pair(0.0, promise.delta).to_string(),
            standing: "proven".into(),
            not_covered: self.not_covered.clone(),
        };
        let (rows, headline) = (self.rows(), format!("{}.", self.headline));
        let report = RumorReport {
            title: format!("Does a rumour among {} peers survive?", self.peers),
            headline,
            summary: rows[..5].to_vec(),
            peers: self.peers,
            source: place(run.source).ok_or_else(|| Error::refused("the source has no dot: please report this"))?,
            guess: heard.and_then(place),
            course: frames.iter().map(|frame| frame.moment).collect(),
            frames: thinned(frames),
            survival: Some(Survival {
                text: vec![
                    "A telling that is lost makes nobody active, and its teller may fall silent all the same: so a rumour dies, most often at its beginning, when few \
                     tell it."
                        .into(),
                ],
                rows: rows[5..].to_vec(),
                knew: self.each.iter().map(|ran| ran.informed as f64 / self.peers as f64).collect(),
            }),
            guarantees: vec![line],
            notes: vec![
                crate::SIMULATED.into(),
                "The course shown is that of the first seed. Its proofs are in docs/theorems/rumor-graphs.md.".into(),
            ],
            dots,
            provenance: Provenance { seed: Some(net.seed), ..Provenance::default() },
            ..RumorReport::default()
        };
        report.check()?;
        Ok(report)
    }
}

/// The course of a run, round by round: who knows, and who of these tells in the next.
fn frames(run: &Run, peers: &[usize]) -> Vec<Frame> {
    let outcome = &run.outcome;
    let learned = &outcome.learned[0];
    let last_telling = outcome.tellings.last().map_or(0.0, |(time, _)| *time);
    let last = if last_telling > outcome.duration { last_telling } else { outcome.duration }.ceil() as u64;
    let (mut frames, mut round) = (Vec::new(), 0);
    loop {
        let (now, next) = (round as f64, round as f64 + 1.0);
        let knows = |peer: usize| learned[peer].is_some_and(|time| time <= now);
        let from = outcome.tellings.partition_point(|(time, _)| *time <= now);
        let to = outcome.tellings.partition_point(|(time, _)| *time <= next);
        let mut telling: Vec<usize> = outcome.tellings[from..to].iter().map(|(_, peer)| *peer).collect();
        if round == last {
            telling.extend(&outcome.still);
        }
        telling.retain(|&peer| knows(peer));
        telling.sort_unstable();
        telling.dedup();
        let state = |&peer: &usize| match (telling.binary_search(&peer).is_ok(), knows(peer)) {
            (true, _) => State::Active,
            (false, true) => State::Informed,
            (false, false) => State::Unaware,
        };
        let informed = (0..learned.len()).filter(|&peer| knows(peer)).count();
        let moment = Moment { round, informed, active: telling.len() };
        frames.push(Frame { moment, states: peers.iter().map(state).collect() });
        if round >= last {
            return frames;
        }
        round = kept_after(round).min(last); // whole numbers
    }
}

impl fmt::Display for Survived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(f, "  {:<28} {}, {} of them curious", "peers", self.peers, self.curious)?;
        self.rows().iter().try_for_each(|(label, value)| writeln!(f, "  {label:<28} {value}"))?;
        if f.alternate() {
            writeln!(
                f,
                "\n  {:>12} {:>8} {:>10} {:>10} {:>10}",
                "seed", "source", "knew", "rounds", "messages"
            )?;
            for Ran { seed, source, informed, rounds, sent, .. } in &self.each {
                writeln!(f, "  {seed:>12} {source:>8} {informed:>10} {rounds:>10.1} {sent:>10}")?;
            }
        }
        writeln!(f, "\nWhat is promised")?;
        crate::terms::promised(f, std::slice::from_ref(&self.statement), &self.not_covered)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::experiment::Rumor;

    fn survived(asked: &Rumor) -> Survived {
        survive(asked, Path::new(""), 5, || ()).unwrap()
    }

    fn crowd(muting: f64) -> Rumor {
        Rumor { peers: 64, curious: Some(4), muting: Some(muting), seeds: Some(60), ..Rumor::default() }
    }

    #[test]
    fn losses_kill_as_often_as_the_branching_process_says() {
        for clocks in [Clocks::Rounds, Clocks::Poisson] {
            let found =
                survived(&Rumor { drop: Some(0.2), clocks: Some(clocks), seeds: Some(300), ..crowd(0.5) });
            let expected = found.branching.unwrap();
            assert!(
                (expected - 0.75).abs() < 1e-12 && found.low < expected && expected < found.high,
                "{found:?}"
            );
            assert!(found.low <= found.at_most.unwrap() && found.died > 0 && found.unfinished == 0);
        }
    }

    #[test]
    fn nothing_lost_reaches_everyone_and_acknowledgements_save_a_walk() {
        let whole = survived(&Rumor { clocks: Some(Clocks::Poisson), ..crowd(0.5) });
        assert_eq!((whole.everyone, whole.died), (60, 0));
        let walk = Rumor { drop: Some(0.1), seeds: Some(10), ..crowd(0.0) };
        assert_eq!(survived(&walk).died, 10);
        let saved = survived(&Rumor { acknowledge: true, ..walk });
        assert_eq!((saved.everyone, saved.guarantees[0].delta), (10, 1.0));
    }

    #[test]
    fn what_no_theorem_covers_promises_nothing() {
        let churned = survived(&Rumor { churn: Some(0.3), seeds: Some(3), ..crowd(0.6) });
        assert!(churned.guarantees[0].delta == 1.0 && churned.statement.contains("nothing is proven"));
        let lossy = survived(&Rumor { drop: Some(0.1), seeds: Some(3), ..crowd(0.6) });
        assert!(lossy.guarantees[0].delta < 1.0);
    }

    #[test]
    fn a_run_is_a_function_of_its_seed_and_its_page_fits() {
        let asked = Rumor {
            drop: Some(0.1),
            churn: Some(0.2),
            clocks: Some(Clocks::Poisson),
            seeds: Some(8),
            ..crowd(0.7)
        };
        let (one, other) = (survived(&asked), survived(&asked));
        assert_eq!((&one.each, &one.report), (&other.each, &other.report));
        assert!(one.report.html().contains("Does it survive?"));
        let moments = &one.report.course;
        assert!(moments.windows(2).all(|pair| pair[0].informed <= pair[1].informed));
        assert_eq!(moments.last().unwrap().informed, one.each[0].informed);
    }
}

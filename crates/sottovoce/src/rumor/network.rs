//! A rumour by messages, on a graph or among all: rounds or clocks, losses, peers who come and go. Does it survive?
//!
//! Every run goes through the event driver with the peers' own state machines. What is promised of its source is what a theorem covers: independent losses are, answers
//! that may be lost and peers who are away are not.

use std::path::Path;
use std::time::Duration;

use sottovoce_audit::source::Share;
use sottovoce_privacy::Adversary;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::public::{Among, Curious};
use sottovoce_protocol::rumor::{Chance, Muting, RumorRules, Start};
use sottovoce_report::text;
use sottovoce_simulator::network::{Absence, Faults, Latency, Network};
use sottovoce_simulator::rumor::{Dice, RumorOutcome, RumorRun};
use sottovoce_views::door::{self, Told, ToldOn};
use sottovoce_views::parallel;
use sottovoce_views::rumor::{Course, MOST_HONEST, NOT_COVERED, ON_GRAPHS, Proven, Rumor};

use super::listeners::listeners;
use crate::experiment::{self, Clocks, Place};
use crate::names::Names;
use crate::terms::Stated;
use crate::{Error, Result, require};

/// Most peers: beyond, messages one by one take long.
const MOST_PEERS: usize = 100_000;
/// Most runs.
const MOST_SEEDS: usize = 10_000;
/// Runs where nothing is said.
const SEEDS: usize = 100;
/// Mean length of an absence, in rounds.
const AWAY: f64 = 10.0;
/// Absences of all peers together, at most.
const MOST_ABSENCES: f64 = 1e6;
/// Rounds after which a run is given up, at most.
const MOST_ROUNDS: f64 = 1e7;
/// A round.
const PERIOD: Duration = Duration::from_secs(1);

/// What is run.
pub(crate) struct Networked {
    pub(crate) place: Option<Place>,
    pub(crate) peers: usize,
    pub(crate) curious: Curious,
    pub(crate) muting: f64,
    pub(super) clocks: Clocks,
    pub(super) drop: f64,
    pub(super) churn: f64,
    pub(crate) acknowledge: bool,
    pub(super) seeds: usize,
    pub(super) seed: u64,
    deadline: f64,
}

/// What is proven about its source.
pub(super) struct Promise {
    /// Delta at epsilon 0; 1 where nothing is.
    pub(super) delta: f64,
    /// By which theorem, or why there is none.
    pub(super) by: String,
    /// Whatever was heard, nobody is the source with a larger probability, if all were equally likely before; 1 where that is not proven.
    pub(super) posterior: f64,
}

impl From<Proven> for Promise {
    fn from(proven: Proven) -> Self {
        let posterior = proven.posterior.unwrap_or(1.0);
        Self { delta: proven.at_zero, by: proven.by.to_owned(), posterior }
    }
}

/// One run.
pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(super) source: usize,
    pub(crate) outcome: RumorOutcome,
}

impl Networked {
    /// Checks and reads all that is asked for.
    pub(super) fn new(asked: &experiment::Rumor, folder: &Path, seed: u64) -> Result<Self> {
        Self::on(asked, asked.place(folder)?, seed)
    }

    /// The same where the graph is known, if there is one.
    pub(crate) fn on(asked: &experiment::Rumor, place: Option<Place>, seed: u64) -> Result<Self> {
        let graph = place.as_ref().map(|place| &place.graph);
        let peers = graph.map_or(asked.peers, sottovoce_topology::Graph::nodes);
        let remedy = format!("give a number from 2 to {MOST_PEERS}");
        require((2..=MOST_PEERS).contains(&peers), "peers", peers, remedy)?;
        let (drop, churn) = (asked.drop.unwrap_or(0.0), asked.churn.unwrap_or(0.0));
        for (field, share) in [("drop", drop), ("churn", churn)] {
            require((0.0..1.0).contains(&share), field, share, "give a number from 0 to below 1")?;
        }
        let seeds = asked.seeds.unwrap_or(SEEDS);
        let remedy = format!("give a number from 1 to {MOST_SEEDS}");
        require((1..=MOST_SEEDS).contains(&seeds), "seeds", seeds, remedy)?;
        let muting = muting(asked, graph.is_some(), seed)?;
        let count = asked.curious.unwrap_or((peers / 16).max(1)); // whole numbers
        let curious = listeners(&asked.curious_peers, count, graph, peers, seed)?;
        let deadline = deadline(peers, muting, graph.is_some());
        let absences = churn / AWAY * deadline * peers as f64;
        let remedy = "that many absences take too long: give less, fewer peers, or a larger muting parameter";
        require(absences <= MOST_ABSENCES, "churn", churn, remedy)?;
        let clocks = asked.clocks.unwrap_or(Clocks::Rounds);
        let acknowledge = asked.acknowledge;
        let run =
            Self { place, peers, curious, muting, clocks, drop, churn, acknowledge, seeds, seed, deadline };
        run.among().check()?;
        Ok(run)
    }

    /// Who can tell whom.
    pub(crate) fn among(&self) -> Among<'_> {
        self.place.as_ref().map_or(Among::Everyone(self.peers), |place| Among::Graph(&place.graph))
    }

    /// All runs, in the order of their seeds.
    pub(super) fn runs(&self, done: impl Fn() + Sync) -> Result<Vec<Run>> {
        let one = |i: usize| self.run(self.seed.wrapping_add(i as u64));
        parallel::map(self.seeds, one, |_| done()).into_iter().collect()
    }

    pub(crate) fn run(&self, seed: u64) -> Result<Run> {
        let source = self.source(seed);
        Ok(Run { seed, source, outcome: self.spread(source, &self.curious, seed)? })
    }

    /// Who begins under a seed: any honest peer.
    pub(crate) fn source(&self, seed: u64) -> usize {
        let honest = self.curious.honest();
        honest[Dice::new(seed, 3, 0).below(honest.len())]
    }

    fn spread(&self, source: usize, curious: &Curious, seed: u64) -> Result<RumorOutcome> {
        let run = RumorRun {
            among: self.among(),
            rules: RumorRules {
                muting: Muting::new(self.muting)
                    .map_err(|_| Error::parameter("muting", self.muting, "give a probability from 0 to 1"))?,
                clock: self.clocks.into(),
                start: Start::Alike,
                acknowledged: self.acknowledge,
            },
            // Messages take no time: so rounds are rounds, and clocks tell in the order of Algorithm 1.
            network: Network {
                latency: Latency::Constant(Duration::ZERO),
                drop: self.drop,
                ..Network::perfect()
            },
            faults: self.faults(seed),
            rumors: vec![(source, Vec::new())],
            curious: Some(curious),
            period: PERIOD,
            deadline: PERIOD.mul_f64(self.deadline),
            seed,
        };
        let outcome = run.run()?;
        if let Some(violation) = outcome.violations.first() {
            return Err(Error::refused(format!(
                "an invariant broke ({}): please report the seed {seed}",
                violation.message
            )));
        }
        Ok(outcome)
    }

    /// How often the first suspect that listeners hear is the source, which is any of the suspects; where none is heard they guess.
    pub(super) fn found(
        &self,
        listeners: &Curious,
        suspects: &[usize],
        runs: u64,
        seed: u64,
        done: impl Fn() + Sync,
    ) -> Result<Share> {
        let most = MOST_SEEDS as u64;
        let remedy = format!("each run goes by messages; give a number from 1 to {most}");
        require((1..=most).contains(&runs), "runs", runs, remedy)?;
        let one = |run: usize| -> Result<u64> {
            let seed = Seed(seed).part(run as u64).0;
            let mut dice = Dice::new(seed, 4, 0);
            let source = suspects[dice.below(suspects.len())];
            let seen = self.spread(source, listeners, seed)?.seen.remove(&0).unwrap_or_default();
            let heard = seen.iter().map(|seen| seen.sender as usize).find(|peer| suspects.contains(peer));
            let named = heard.unwrap_or_else(|| suspects[dice.below(suspects.len())]);
            Ok(u64::from(named == source))
        };
        let hits = parallel::map(runs as usize, one, |_| done()).into_iter().sum::<Result<u64>>()?;
        Ok(Share { hits, runs })
    }

    /// Who is away when: there for a while, then away for ten rounds on average, both without memory.
    fn faults(&self, seed: u64) -> Faults {
        if self.churn == 0.0 {
            return Faults::default();
        }
        let there = AWAY * (1.0 - self.churn) / self.churn;
        let mut departures = Vec::new();
        for peer in 0..self.peers {
            let mut dice = Dice::new(Seed(seed).part(7).0, 0, peer as u64);
            let mut span = |mean: f64| -mean * dice.unit().ln();
            let mut now = span(there);
            while now < self.deadline {
                let until = now + span(AWAY);
                let [from, until_time] = [now, until].map(|rounds| PERIOD.mul_f64(rounds));
                if from < until_time {
                    departures.push(Absence { peer, from, until: until_time });
                }
                now = until + span(there);
            }
        }
        Faults { departures, ..Faults::default() }
    }

    /// What is proven about the source: against these peers, who know their own tellings, without a clock.
    pub(super) fn promise(&self, listeners: &Curious) -> Result<Promise> {
        let none =
            |why: &str| Ok(Promise { delta: 1.0, by: format!("nothing is proven: {why}"), posterior: 1.0 });
        let adversary = Adversary::Coalition(listeners.members());
        let rounds = self.clocks == Clocks::Rounds;
        match &self.place {
            _ if self.churn > 0.0 => none("what peers lose who are away depends on who they are"),
            _ if self.acknowledge && self.drop > 0.0 => {
                none("lost answers make tellers repeat what was heard, and that can be seen")
            }
            Some(place) => {
                if listeners.honest().len() > MOST_HONEST {
                    return none("the graph is too large for its chain of active sets");
                }
                let told = ToldOn { graph: &place.graph, muting: self.muting, drop: self.drop, rounds };
                match door::account(&told, &adversary) {
                    Ok(account) => Ok(account.leakage.0.into()),
                    Err(_) => none("the graph has too many edges for its chain of active sets"),
                }
            }
            None => {
                let course = Course { rounds, timed: false, lossy: self.drop > 0.0 };
                let told = Told { peers: self.peers, muting: self.muting, course };
                Ok(door::account(&told, &adversary)?.leakage.into())
            }
        }
    }

    /// What the peers are called.
    pub(crate) fn names(&self) -> Names {
        self.place.as_ref().map(|place| Names::of_graph(&place.graph)).unwrap_or_default()
    }

    /// What no promise speaks of.
    pub(super) fn not_covered(&self) -> Vec<String> {
        match self.place {
            Some(_) => ON_GRAPHS.map(str::to_owned).to_vec(),
            None => NOT_COVERED.map(str::to_owned).to_vec(),
        }
    }

    /// A promise in words, and as numbers.
    pub(super) fn stated(&self, listeners: &Curious, promise: &Promise) -> (String, Stated) {
        let about = match self.clocks {
            Clocks::Rounds => "tellings in rounds",
            Clocks::Poisson => "tellings one at a time, by Poisson clocks",
        };
        let statement = format!(
            "epsilon = 0 at delta <= {} against {} curious peers who log who tells them and whom they tell, without a clock, for the source; {}",
            text::up(promise.delta, 4),
            listeners.count(),
            promise.by
        );
        let stated = Stated::of_source(about, 0.0, promise.delta);
        (statement, Stated { not_covered: self.not_covered(), ..stated })
    }
}

/// The muting parameter: given, or chosen for a delta where everyone can reach everyone.
fn muting(asked: &experiment::Rumor, graph: bool, seed: u64) -> Result<f64> {
    if let (Some(delta), true) = (asked.delta, graph || asked.drop.is_some() || asked.churn.is_some()) {
        let remedy =
            "it is chosen for peers who can all reach each other and lose nothing; give muting instead";
        return Err(Error::parameter("delta", delta, remedy));
    }
    match (asked.muting, graph) {
        (Some(muting), _) => Ok(Rumor::new(2, 0, muting)?.muting()),
        (None, true) => {
            Err(Error::missing("muting", "on a graph it is not chosen: give a number from 0 to 1"))
        }
        (None, false) => Ok(asked.crowd(seed)?.rumor()?.muting()),
    }
}

/// When a run that neither dies nor reaches everyone is given up, in rounds: many times what it takes.
fn deadline(peers: usize, muting: f64, graph: bool) -> f64 {
    let n = peers as f64;
    let log = n.ln() + 1.0;
    let rounds = match () {
        () if graph && muting * n > 1.0 => 10.0 * (n + 10.0 * log) / muting,
        () if graph => 10.0 * n * n + 400.0,
        () if muting * n > 1.0 => 100.0 * log / muting,
        () => 100.0 * n * log,
    };
    if rounds < MOST_ROUNDS { rounds } else { MOST_ROUNDS }
}

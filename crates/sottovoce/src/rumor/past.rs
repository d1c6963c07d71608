//! What a rumour reveals, planned or past; and whom those who listened to one that is over would suspect.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::public::{Curious, Rules};
use sottovoce_report::rumor::Suspicion;
use sottovoce_report::text;
use sottovoce_views::rumor::{Rumor, attack_success};

use super::{CONFIDENCE, Example, Networked, posterior, within, words};
use crate::Result;
use crate::experiment::{self, Place};
use crate::names::Names;
use crate::terms::Stated;
use crate::transcript;

/// What a rumour reveals of its source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// In a sentence.
    pub headline: String,
    /// Number of peers.
    pub peers: usize,
    /// How many listen, and pool what they hear.
    pub curious: usize,
    /// Which, where others than the run's own are named.
    pub observers: Vec<usize>,
    /// Probability of staying active after a telling.
    pub muting: f64,
    /// Rounds until everyone knew; none where peers have clocks of their own, and before a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
    /// Tellings that reached one who listens from one who does not; none before a run.
    pub heard: Option<usize>,
    /// Guarantees in words.
    pub statements: Vec<String>,
    /// As numbers.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
}

/// Whom those who listened would suspect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suspected {
    /// In a sentence.
    pub headline: String,
    /// Number of peers.
    pub peers: usize,
    /// How many listened, and pool what they heard.
    pub curious: usize,
    /// Who began.
    pub source: Option<usize>,
    /// Whom the curious suspect: who told one of them first. None was heard: they can only guess.
    pub suspect: Option<usize>,
    /// Whether they are right, this time.
    pub right: bool,
    /// Whatever they heard, nobody is the source with a larger probability, if all were equally likely before; 1 where that is not proven.
    pub posterior: f64,
    /// Whom a wire-tapper suspects, who sees every telling: the source.
    pub wire_tapper: Option<usize>,
    /// How often the same attack finds the source of other rumours, by the number of suspects.
    pub suspicions: Vec<Suspicion>,
    /// Whether it stayed within what is proven.
    pub within_bounds: bool,
    /// What was promised.
    pub guarantees: Vec<Stated>,
    /// What peers are called.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
}

fn example(file: &transcript::Rumor, observers: &[usize], seed: u64) -> Result<Example> {
    let curious = file.listeners(observers)?;
    let rumor = Rumor::new(file.peers, curious.count(), file.muting)?;
    Ok(Example { seed, rumor, rules: Rules::new(file.muting)?, curious, target: None })
}

/// What a run revealed to those who listened, or to other observers; refused where peers did not do what was agreed.
pub fn reveal(file: &transcript::Rumor, observers: &[usize]) -> Result<Revealed> {
    file.require_kept()?;
    let example = example(file, observers, file.seed)?;
    let account = example.rumor.account(0.0, 1)?;
    let stated = example.stated(&account)?;
    let heard = Some(file.tellings.heard(&example.curious).count());
    Ok(Revealed {
        headline: heard_of(heard, &example.curious, stated.delta),
        peers: file.peers,
        curious: example.curious.count(),
        observers: observers.to_vec(),
        muting: file.muting,
        rounds: Some(file.tellings.rounds.len()),
        heard,
        statements: words::guarantees(&account, &example.rumor).1,
        guarantees: vec![stated],
        not_covered: words::not_covered(&account),
    })
}

/// Whom those who listened would suspect after this very run; and how often such a suspicion is right, in `runs` others of the same kind.
pub fn audit(file: &transcript::Rumor, observers: &[usize], runs: u64, seed: u64) -> Result<Suspected> {
    let example = example(file, observers, seed)?;
    let suspicions = example.attack(runs, &|| ())?;
    let (source, suspect) = (file.tellings.first(), file.tellings.heard(&example.curious).next());
    let account = example.rumor.account(0.0, 1)?;
    let promised = (posterior(&example.rumor), example.stated(&account)?);
    Ok(Suspected::new(&example.curious, (source, suspect), suspicions, promised, Names::default()))
}

/// What a run by messages would reveal to those who listen.
pub fn account(asked: &experiment::Rumor, place: Option<Place>, seed: u64) -> Result<Revealed> {
    let net = Networked::on(asked, place, seed)?;
    by_messages(&net, &net.curious, Vec::new(), None)
}

/// What a run by messages revealed to those who listened, or to others.
pub fn reveal_messages(file: &transcript::Messages, observers: &[String]) -> Result<Revealed> {
    file.require_kept()?;
    let (net, others) = (file.network()?, file.numbers(observers)?);
    let listeners = file.listeners(&net, &others)?;
    by_messages(&net, &listeners, others, Some(file.heard(&listeners).count()))
}

/// What a run by messages reveals to those who listen, planned or past.
fn by_messages(
    net: &Networked,
    listeners: &Curious,
    others: Vec<usize>,
    heard: Option<usize>,
) -> Result<Revealed> {
    let promise = net.promise(listeners)?;
    let (statement, stated) = net.stated(listeners, &promise);
    Ok(Revealed {
        headline: heard_of(heard, listeners, promise.delta),
        peers: net.peers,
        curious: listeners.count(),
        observers: others,
        muting: net.muting,
        rounds: None,
        heard,
        statements: vec![statement],
        guarantees: vec![stated],
        not_covered: net.not_covered(),
    })
}

/// Whom those who listened would suspect after a run by messages; and how often such a suspicion is right, in `runs` others by messages.
pub fn audit_messages(
    file: &transcript::Messages,
    observers: &[String],
    (runs, seed): (u64, u64),
    done: impl Fn() + Sync,
) -> Result<Suspected> {
    let net = file.network()?;
    let listeners = file.listeners(&net, &file.numbers(observers)?)?;
    let (promise, honest) = (net.promise(&listeners)?, listeners.honest());
    let numbers: Vec<usize> =
        [2].into_iter().filter(|few| 2 * few <= honest.len()).chain([honest.len()]).collect();
    let confidence = 1.0 - (1.0 - CONFIDENCE) / numbers.len() as f64;
    let one = |(part, &suspects): (u64, &usize)| -> Result<Suspicion> {
        let found = net.found(&listeners, &honest[..suspects], runs, Seed(seed).part(1 + part).0, &done)?;
        let (low, high) = found.interval(confidence);
        let all = suspects == honest.len();
        Ok(Suspicion {
            suspects,
            found: found.estimate(),
            low,
            high,
            bound: attack_success(suspects, promise.delta),
            uncertainty: all.then_some(promise.posterior),
        })
    };
    let suspicions = (0..).zip(&numbers).map(one).collect::<Result<Vec<_>>>()?;
    let who = (file.source(), file.heard(&listeners).next());
    let promised = (promise.posterior, net.stated(&listeners, &promise).1);
    Ok(Suspected::new(&listeners, who, suspicions, promised, net.names()))
}

/// What was heard and what it tells, in a sentence.
fn heard_of(heard: Option<usize>, listeners: &Curious, delta: f64) -> String {
    let told = match delta < 1.0 {
        true => format!("tell two sources apart with delta {} at most", text::up(delta, 3)),
        false => {
            "tell two sources apart as well as may be, since nothing is proven that limits it".to_owned()
        }
    };
    let heard = heard.map_or_else(String::new, |heard| format!(" heard of {heard} tellings, and"));
    format!("{} listeners{heard} {told}; a wire-tapper knows who began", listeners.count())
}

impl Suspected {
    fn new(
        listeners: &Curious,
        (source, suspect): (Option<usize>, Option<usize>),
        suspicions: Vec<Suspicion>,
        (posterior, stated): (f64, Stated),
        names: Names,
    ) -> Self {
        let right = suspect.is_some() && suspect == source;
        let who = suspect.map_or_else(|| "nobody".to_owned(), |peer| names.peers(&[peer]));
        Self {
            headline: format!(
                "{} listeners suspect {who}, and are {} this time; a wire-tapper knows it",
                listeners.count(),
                if right { "right" } else { "wrong" }
            ),
            peers: listeners.peers(),
            curious: listeners.count(),
            source,
            suspect,
            right,
            posterior,
            wire_tapper: source,
            within_bounds: within(&suspicions),
            suspicions,
            guarantees: vec![stated],
            names,
        }
    }
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let rounds = self.rounds.map_or_else(String::new, |rounds| format!(", {rounds} rounds"));
        writeln!(f, "  {} peers{rounds}, muting parameter {}\n", self.peers, self.muting)?;
        writeln!(f, "What is promised")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        crate::terms::not_covered(f, &self.not_covered)
    }
}

impl fmt::Display for Suspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let number =
            |peer: Option<usize>| peer.map_or_else(|| "nobody".to_owned(), |peer| self.names.of(peer));
        writeln!(f, "  the source                     {}", number(self.source))?;
        writeln!(f, "  the listeners suspect          {}", number(self.suspect))?;
        writeln!(f, "  they are right with probability {} at most", text::up(self.posterior, 3))?;
        writeln!(f, "  a wire-tapper suspects         {}", number(self.wire_tapper))?;
        let found: Vec<String> = self.suspicions.iter().map(words::finding).collect();
        writeln!(f, "\nThe same attack on other rumours found the source {}.", found.join(", "))
    }
}

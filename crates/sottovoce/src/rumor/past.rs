//! A rumour that is over, from its transcript: what it revealed, and whom those who listened would suspect.

use std::fmt;

use serde::Serialize;
use sottovoce_report::rumor::Suspicion;
use sottovoce_report::text;
use sottovoce_simulator::rumor::Rules;
use sottovoce_views::rumor::Rumor;

use super::{Example, posterior, within, words};
use crate::Result;
use crate::terms::Stated;
use crate::transcript;

/// What a rumour revealed of its source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// In a sentence.
    pub headline: String,
    /// Number of peers.
    pub peers: usize,
    /// How many listened, and pool what they heard.
    pub curious: usize,
    /// Which, where others than the run's own were named.
    pub observers: Vec<usize>,
    /// Probability of staying active after a telling.
    pub muting: f64,
    /// Rounds until everyone knew.
    pub rounds: usize,
    /// Tellings that reached one who listens from one who does not.
    pub heard: usize,
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
    /// Whatever they heard, nobody is the source with a larger probability, if all were equally likely before.
    pub posterior: f64,
    /// Whom a wire-tapper suspects, who sees every telling: the source.
    pub wire_tapper: Option<usize>,
    /// How often the same attack finds the source of other rumours, by the number of suspects.
    pub suspicions: Vec<Suspicion>,
    /// Whether it stayed within what is proven.
    pub within_bounds: bool,
    /// What was promised.
    pub guarantees: Vec<Stated>,
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
    let heard = file.tellings.heard(&example.curious).count();
    Ok(Revealed {
        headline: format!(
            "{} listeners heard of {heard} tellings, and tell two sources apart with delta {} at most; a wire-tapper knows who began",
            example.curious.count(),
            text::up(stated.delta, 3)
        ),
        peers: file.peers,
        curious: example.curious.count(),
        observers: observers.to_vec(),
        muting: file.muting,
        rounds: file.tellings.rounds.len(),
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
    let right = suspect.is_some() && suspect == source;
    let who = suspect.map_or_else(|| "nobody".to_owned(), |peer| format!("peer {peer}"));
    let account = example.rumor.account(0.0, 1)?;
    Ok(Suspected {
        headline: format!(
            "{} listeners suspect {who}, and are {} this time; a wire-tapper knows it",
            example.curious.count(),
            if right { "right" } else { "wrong" }
        ),
        peers: file.peers,
        curious: example.curious.count(),
        source,
        suspect,
        right,
        posterior: posterior(&example.rumor),
        wire_tapper: source,
        within_bounds: within(&suspicions),
        suspicions,
        guarantees: vec![example.stated(&account)?],
    })
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(f, "  {} peers, {} rounds, muting parameter {}\n", self.peers, self.rounds, self.muting)?;
        writeln!(f, "What is promised")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        writeln!(f, "\n  not covered:")?;
        self.not_covered.iter().try_for_each(|what| writeln!(f, "  * {what}"))
    }
}

impl fmt::Display for Suspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let number = |peer: Option<usize>| peer.map_or_else(|| "nobody".to_owned(), |peer| peer.to_string());
        writeln!(f, "  the source                     {}", number(self.source))?;
        writeln!(f, "  the listeners suspect          {}", number(self.suspect))?;
        writeln!(f, "  they are right with probability {} at most", text::up(self.posterior, 3))?;
        writeln!(f, "  a wire-tapper suspects         {}", number(self.wire_tapper))?;
        let found: Vec<String> = self.suspicions.iter().map(words::finding).collect();
        writeln!(f, "\nThe same attack on other rumours found the source {}.", found.join(", "))
    }
}

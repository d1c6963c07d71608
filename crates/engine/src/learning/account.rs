//! What a learning run reveals, planned or past: one document, whether flags, a file or a transcript ask. Of a plan the transcript is the one that its run will leave.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::{Adversary, Standing, round_up};
use sottovoce_topology::mixing::Mixing;

use super::{Run, Transcript};
use crate::names::Names;
use crate::terms::{Stated, before_a_run};
use crate::{Result, require};

/// What a learning run reveals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revealed {
    /// In a sentence.
    pub headline: String,
    /// The method's name.
    pub method: &'static str,
    /// Number of peers.
    pub peers: usize,
    /// Their names, where they have some.
    #[serde(skip_serializing_if = "Names::are_numbers")]
    pub names: Names,
    /// Contributions of each peer that were agreed on.
    pub iterations: usize,
    /// Rounds of averaging after each of them.
    pub rounds: usize,
    /// Steps of the whole run.
    pub steps: usize,
    /// After how many of them it is paused, if it is. All are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_after: Option<usize>,
    /// Releases of the peer that releases most.
    pub releases: usize,
    /// Noise on a gradient, in units of its sensitivity.
    pub sigma: f64,
    /// How far one user moves a gradient.
    pub sensitivity: f64,
    /// Squared Gaussian loss of that peer's releases; none without noise.
    pub spent: Option<f64>,
    /// What the losses are computed from: `paths` that tokens take, `positions` of every averaging, or `releases` alone.
    pub source: &'static str,
    /// Towards whom the leakage is.
    pub adversary: String,
    /// The observers who pool what they hear; none where the adversary hears everybody.
    pub observers: Vec<usize>,
    /// What each peer reveals to that adversary, in units of one local release, of which there are as many as iterations; 0 of the observers.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Option<f64>>"))]
    pub leakage: Vec<f64>,
    /// By what right the leakage is stated.
    pub standing: Standing,
    /// Mean of the leakage over all peers. A guarantee for nobody.
    pub mean: f64,
    /// Guarantees, with their standing.
    pub statements: Vec<String>,
    /// The same as numbers.
    pub guarantees: Vec<Stated>,
    /// What they do not speak of.
    pub not_covered: Vec<String>,
}

impl Run<'_> {
    /// What it will reveal, before it begins, to these observers, who pool what they hear; without any, to the peer that learns most.
    pub fn account(&self, observers: &[usize], delta: f64) -> Result<Revealed> {
        let mut planned = self.planned()?;
        before_a_run(&mut planned.not_covered);
        reveal(&planned, self.mixings(), observers, delta, self.called())
    }
}

/// What a run reveals to these observers, who pool what they hear; without any, to the peer that learns most.
pub fn reveal(
    run: &Transcript,
    mixings: &[Mixing],
    observers: &[usize],
    delta: f64,
    names: Names,
) -> Result<Revealed> {
    require(delta > 0.0 && delta < 1.0, "delta", delta, "give a number between 0 and 1")?;
    let learnt = run.learnt(mixings, observers)?;
    let all = run.guarantees(mixings, delta)?;
    let stated = |about: &str, one| Ok(Stated::new(about, one, delta)?.named(&names));
    let mut guarantees: Vec<Stated> =
        all.iter().map(|one| stated("any peer's data", one)).collect::<Result<_>>()?;
    let mut statements =
        all.iter().map(|one| names.state(one, delta)).collect::<sottovoce_privacy::Result<Vec<_>>>()?;
    if !observers.is_empty() && !all.is_empty() {
        let (peer, found) = run.towards(&learnt, delta)?;
        let about = format!("peer {}, the worst off", names.of(peer));
        statements.push(format!("{about}: {}", names.state(&found, delta)?));
        guarantees.push(stated(&about, &found)?);
    }
    let way = run.settings.method.way();
    Ok(Revealed {
        headline: headline(&guarantees, delta, &names),
        method: way.name(),
        peers: run.peers,
        iterations: run.settings.iterations,
        rounds: way.rounds(run.peers),
        steps: run.steps,
        paused_after: None,
        releases: run.releases.iter().map(|released| released.count).max().unwrap_or(0), // whole numbers
        sigma: run.settings.sigma,
        sensitivity: run.sensitivity,
        spent: run.spent()?.filter(|spent| spent.is_finite()),
        source: match (way.hides_from_peers(), way.tokens() > 0) {
            (true, true) if run.nonexpansive => "paths",
            (true, false) => "positions",
            _ => "releases",
        },
        adversary: names.adversary(&learnt.adversary),
        observers: match learnt.adversary {
            Adversary::Peer(one) => vec![one],
            Adversary::Coalition(several) => several,
            _ => Vec::new(),
        },
        mean: learnt.leakage.mean(),
        leakage: learnt.leakage.losses,
        standing: learnt.leakage.standing.given(&run.assumptions),
        statements,
        guarantees,
        not_covered: run.not_covered.clone(),
        names,
    })
}

fn headline(guarantees: &[Stated], delta: f64, names: &Names) -> String {
    match guarantees {
        [] => "Nobody is protected, as there is no noise".to_owned(),
        [all] => format!("Epsilon {} at delta {delta:e} towards a {}", all.shown(), all.who()),
        [all, .., less] => format!(
            "Epsilon {} at delta {delta:e} towards a {}; towards {}, {}",
            all.shown(),
            all.who(),
            names.peers(&less.observers),
            less.shown()
        ),
    }
}

impl Revealed {
    /// Of a run that was paused after so many steps.
    pub fn paused(self, after: Option<usize>) -> Self {
        let Some(steps) = after else { return self };
        let headline = format!(
            "The run is paused after {steps} of {} steps, and all of them are counted. {}",
            self.steps, self.headline
        );
        Self { headline, paused_after: after, ..self }
    }

    /// What each peer reveals.
    fn list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  {:<24} leakage", "peer")?;
        let one =
            |(peer, loss): (usize, &f64)| writeln!(f, "  {} {}", self.names.cell(peer, 24), round_up(*loss));
        self.leakage.iter().enumerate().try_for_each(one)
    }
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(
            f,
            "  {} peers, {}; {} steps, {} releases of a peer at most; sigma {}, sensitivity {}; losses {}",
            self.peers,
            self.method,
            self.steps,
            self.releases,
            round_up(self.sigma),
            self.sensitivity,
            match self.source {
                "paths" => "along the paths that tokens take",
                "positions" => "in the positions of every averaging",
                _ => "of the releases alone",
            }
        )?;
        let largest =
            self.leakage.iter().copied().fold(0.0, |most, loss| if loss <= most { most } else { loss });
        writeln!(
            f,
            "  leakage to {}, in local releases: mean {}, largest {} of {}; {}",
            self.adversary,
            round_up(self.mean),
            round_up(largest),
            self.iterations,
            self.standing
        )?;
        if f.alternate() {
            self.list(f)?;
        }
        writeln!(f, "\nWhat is promised")?;
        self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
        crate::terms::not_covered(f, &self.not_covered)
    }
}

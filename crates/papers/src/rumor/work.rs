//! What has to be simulated for the figures that are wanted, and the results: several figures share them.

use sottovoce_audit::source::{Pace, Setting, Share, Sight, precision, vote};
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::public::{Among, Curious, Rules};

use super::spread::Spread;
use super::theory::Theory;
use crate::{Error, Options, Result, Watch};

/// Muting parameters of the spreading figures and of the table: as many curves as can be told apart.
pub(super) const MUTINGS: [f64; 6] = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0];
/// Of the attack with prior knowledge: those above among them.
const FINE: [f64; 10] = [0.0, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0];
/// Sizes of the prior sets; every honest peer is one more.
const SUSPECTS: [usize; 4] = [2, 10, 100, 1000];
/// Most rumours of one source.
pub(super) const RUMORS: usize = 10;
/// First contacts of each rumour that have a vote.
const FIRST: usize = 10;

/// How large everything is: as in the paper, or small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) peers: usize,
    pub(super) curious: usize,
    /// Runs of each rumour that is watched spreading.
    pub(super) runs: usize,
    /// Runs of each that is timed in crowds of several sizes.
    pub(super) timed: usize,
    /// Runs of each attack on one rumour.
    pub(super) attacks: u64,
    /// Runs of each attack on several.
    pub(super) votes: u64,
}

impl Size {
    pub(super) fn new(options: &Options) -> Self {
        match options.quick {
            true => Self { peers: 1 << 12, curious: 410, runs: 20, timed: 200, attacks: 5000, votes: 1000 },
            false => {
                Self { peers: 1 << 16, curious: 6554, runs: 100, timed: 400, attacks: 15_000, votes: 15_000 }
            }
        }
    }

    /// The share of curious peers.
    pub(super) fn share(self) -> f64 {
        self.curious as f64 / self.peers as f64
    }

    pub(super) fn honest(self) -> usize {
        self.peers - self.curious
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) size: Size,
    spreads: Vec<f64>,
    /// Muting parameters and numbers of peers, to see how time grows.
    growth: Vec<(f64, usize)>,
    /// Muting parameters and numbers of suspects.
    attacks: Vec<(f64, usize)>,
    /// Muting parameters and numbers of rumours.
    votes: Vec<(f64, usize)>,
}

/// What was found.
pub(super) struct Found {
    pub(super) size: Size,
    pub(super) spreads: Vec<Spread>,
    pub(super) growth: Vec<Spread>,
    pub(super) attacks: Vec<Attack>,
    pub(super) votes: Vec<Attack>,
    theories: Vec<Theory>,
}

/// How often the source was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Attack {
    pub(super) muting: f64,
    /// Suspects, or rumours.
    pub(super) number: usize,
    pub(super) found: Share,
}

impl Plan {
    /// Of the figures with these numbers.
    pub(super) fn new(figures: &[&str], options: &Options) -> Self {
        let size = Size::new(options);
        let wants = |some: &[&str]| figures.iter().any(|figure| some.contains(figure));
        let spreading = wants(&["2a", "2b", "table1"]);
        let pairs = |of: &[f64], numbers: &[usize]| -> Vec<(f64, usize)> {
            of.iter().flat_map(|&s| numbers.iter().map(move |&number| (s, number))).collect()
        };
        let suspects: Vec<usize> =
            SUSPECTS.into_iter().filter(|&count| 2 * count < size.honest()).chain([size.honest()]).collect();
        let rumors: Vec<usize> = (1..=RUMORS).collect();
        Self {
            size,
            spreads: if spreading { MUTINGS.to_vec() } else { Vec::new() },
            growth: match (wants(&["2a"]), options.quick) {
                (true, false) => pairs(&MUTINGS[1..], &[6, 4, 2, 0].map(|shift| size.peers >> shift)),
                (true, true) => pairs(&MUTINGS[1..], &[4, 2, 0].map(|shift| size.peers >> shift)),
                (false, _) => Vec::new(),
            },
            attacks: match (wants(&["3a"]), wants(&["table1"])) {
                (true, _) => pairs(if options.quick { &MUTINGS } else { &FINE }, &suspects),
                (false, true) => pairs(&MUTINGS, &[2]),
                (false, false) => Vec::new(),
            },
            votes: if wants(&["3b"]) { pairs(&MUTINGS, &rumors) } else { Vec::new() },
        }
    }

    /// Into how many parts the work falls.
    pub(super) fn parts(&self) -> usize {
        self.spreads.len() + self.growth.len() + self.attacks.len() + self.votes.len()
    }

    /// Does it. Each part has random numbers of its own.
    pub(super) fn carry_out(&self, options: &Options, watch: &Watch) -> Result<Found> {
        let mut part = 0;
        let mut begin = |what: String| {
            (watch.doing)(&what);
            part += 1;
            Seed(options.seed).part(part).0
        };
        let mut spread = |peers: usize, s: f64, runs: usize| {
            let seed = begin(format!("spreading, s = {s}"));
            let spread = Spread::new(peers, s, runs, seed);
            (watch.finished)();
            spread
        };
        let spreads = self.spreads.iter().map(|&s| spread(self.size.peers, s, self.size.runs));
        let spreads = spreads.collect::<Result<_>>()?;
        let growth = self.growth.iter().map(|&(s, peers)| spread(peers, s, self.size.timed));
        let growth = growth.collect::<Result<_>>()?;
        let curious = Curious::last(self.size.curious, self.size.peers)?;
        let mut attack = |(muting, number): (f64, usize), votes: bool| {
            let what = if votes { "rumours" } else { "suspects" };
            let seed = begin(format!("attack, s = {muting}, {number} {what}"));
            let found = self.attack(&curious, muting, number, votes, seed)?;
            (watch.finished)();
            Ok(Attack { muting, number, found })
        };
        let attacks = self.attacks.iter().map(|&one| attack(one, false));
        let attacks = attacks.collect::<Result<_>>()?;
        let votes = self.votes.iter().map(|&one| attack(one, true)).collect::<Result<_>>()?;
        (watch.doing)("theory");
        let theories = Theory::all(self.size, if self.attacks.is_empty() { &MUTINGS } else { &FINE })?;
        Ok(Found { size: self.size, spreads, growth, attacks, votes, theories })
    }

    fn attack(&self, curious: &Curious, s: f64, number: usize, votes: bool, seed: u64) -> Result<Share> {
        let setting = Setting {
            among: Among::Everyone(self.size.peers),
            rules: Rules::new(s)?,
            curious,
            pace: Pace::Steps,
            sight: Sight::Senders,
        };
        Ok(match votes {
            true => vote(&setting, number, FIRST, self.size.votes, seed, |_| ())?,
            false => precision(&setting, &curious.honest()[..number], self.size.attacks, seed, |_| ())?,
        })
    }
}

impl Found {
    /// What is known of a muting parameter.
    pub(super) fn theory(&self, muting: f64) -> Result<&Theory> {
        let found = self.theories.iter().find(|theory| theory.rumor.muting() == muting);
        found.ok_or_else(|| Error::refused(format!("no theory of s = {muting}")))
    }

    /// The attack on so many suspects.
    pub(super) fn attack(&self, muting: f64, suspects: usize) -> Option<&Attack> {
        self.attacks.iter().find(|attack| attack.muting == muting && attack.number == suspects)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_done() {
        let full = Options::default();
        let plan = |figures: &[&str]| Plan::new(figures, &full);
        assert_eq!(plan(&["2b"]).parts(), 6);
        assert_eq!(plan(&["2a"]).parts(), 6 + 20);
        assert_eq!(plan(&["table1"]).parts(), 6 + 6);
        assert_eq!(plan(&["2a", "2b", "3a", "3b", "table1"]).parts(), 6 + 20 + 50 + 60);
        assert_eq!(plan(&[]).parts(), 0);
        assert!(MUTINGS.iter().all(|s| FINE.contains(s)));
        assert!((Size::new(&full).share() - 0.1).abs() < 1e-4);
    }
}

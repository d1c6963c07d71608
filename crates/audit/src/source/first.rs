//! Name the first suspect who was heard: with a uniform prior over the suspects, no attack on a complete graph is right more often.

use std::ops::ControlFlow;

use sottovoce_protocol::rumor::Chance;
use sottovoce_simulator::rumor::{Crowd, Dice, Seen, Told};
use sottovoce_views::parallel;

use super::watch::{Awake, Watcher, watch};
use super::{Error, Result, Setting, Share};
use crate::reconstruct::require;

/// Runs that one piece of work does: enough to make setting up worthwhile.
pub(super) const PIECE: u64 = 100;

/// How often the first suspect to be heard is the source, which is any of the suspects. Where none is heard the attacker guesses.
///
/// `done` hears how many runs are over.
///
/// ```
/// use sottovoce_audit::source::{Pace, Setting, Sight, precision};
/// use sottovoce_protocol::public::{Among, Curious, Rules};
/// let curious = Curious::last(10, 100)?;
/// let setting = Setting {
///     among: Among::Everyone(100),
///     rules: Rules::new(0.0)?,
///     curious: &curious,
///     pace: Pace::Steps,
///     sight: Sight::Senders,
/// };
/// let share = precision(&setting, &curious.honest(), 4000, 7, |_| ())?;
/// let (lower, upper) = share.interval(0.999);
/// assert!(lower < 11.0 / 100.0 && 11.0 / 100.0 < upper); // (f + 1)/n, and no attack does better
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn precision(
    setting: &Setting<'_>,
    suspects: &[usize],
    runs: u64,
    seed: u64,
    done: impl Fn(u64) + Sync,
) -> Result<Share> {
    setting.check()?;
    check_suspects(setting, suspects)?;
    let hits = in_pieces(runs, done, |from, to| {
        let mut crowd = setting.crowd(suspects[0], Dice::new(seed, 0, 0))?;
        let mut first = First::new(setting, suspects);
        let mut hits = 0;
        for run in from..to {
            sottovoce_fault::stop::look();
            let mut dice = Dice::new(seed, run, 0);
            let source = suspects[dice.below(suspects.len())];
            crowd.again(source, dice)?;
            first.begin(&crowd);
            watch(setting, &mut crowd, &mut first);
            let named = first.named.unwrap_or_else(|| suspects[crowd.below(suspects.len())]);
            hits += u64::from(named == source);
        }
        Ok(hits)
    })?;
    Ok(Share { hits: hits.iter().sum(), runs })
}

/// Waits for the first suspect.
pub(super) struct First {
    awake: Awake,
    symmetric: bool,
    /// The first suspect heard.
    pub(super) named: Option<usize>,
}

impl First {
    pub(super) fn new(setting: &Setting<'_>, suspects: &[usize]) -> Self {
        let awake = Awake::new(suspects, setting.among.peers());
        Self { awake, symmetric: setting.is_symmetric(), named: None }
    }

    /// A new rumour.
    pub(super) fn begin(&mut self, crowd: &Crowd<'_>) {
        self.named = None;
        self.awake.begin(crowd);
    }
}

impl Watcher for First {
    fn see(&mut self, seen: Seen) -> ControlFlow<()> {
        if !self.awake.is_suspect(seen.sender) {
            return ControlFlow::Continue(());
        }
        self.named = Some(seen.sender as usize);
        ControlFlow::Break(())
    }

    /// Suspects who are all silent are all alike: the first to be heard will be any of them.
    fn foretold(&mut self, crowd: &Crowd<'_>, told: Option<Told>) -> bool {
        self.awake.none_after(crowd, told) && self.symmetric
    }
}

/// `work(from, to)` for pieces of the runs, on all cores.
pub(super) fn in_pieces<T: Send>(
    runs: u64,
    done: impl Fn(u64) + Sync,
    work: impl Fn(u64, u64) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    crate::check_total("runs", runs).map_err(Error::from)?;
    let piece = |i: usize| work(i as u64 * PIECE, runs.min((i as u64 + 1) * PIECE));
    let pieces = runs.div_ceil(PIECE) as usize;
    parallel::map(pieces, piece, |finished| done(runs.min(finished as u64 * PIECE))).into_iter().collect()
}

fn check_suspects(setting: &Setting<'_>, suspects: &[usize]) -> Result<()> {
    require(!suspects.is_empty(), "prior", "empty", "name one suspect at least")?;
    for &suspect in suspects {
        setting.curious.check_source(suspect)?;
    }
    Ok(())
}

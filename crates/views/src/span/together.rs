//! Several observers of one schedule, each on its own: coefficients are carried along once, and everyone takes what it hears.

use sottovoce_topology::schedule::{Schedule, Step};

use super::Space;
use super::digits::{affordable, conclude};
use super::echelon::{Echelon, News};
use super::elimination::Elimination;
use super::field::Residue;
use super::fixed::Fixed;
use super::rows::{Rounds, Source};

/// A schedule, and who listens to whom.
struct Watched<'a> {
    rounds: Rounds,
    observers: &'a [usize],
    /// In each round, for each sender that is heard (in increasing order): the numbers of those who hear it.
    ears: Vec<Vec<(usize, Vec<usize>)>>,
}

/// What each of these observers learns in the first `steps` steps; none where it cannot be certified.
pub(crate) fn together(schedule: &Schedule, observers: &[usize], steps: usize) -> Vec<Option<Space>> {
    let watched = Watched::new(schedule, observers, steps);
    let news = watched.news();
    let mut found: Vec<Option<Space>> = vec![None; observers.len()];
    for attempt in
        [Watched::attempt::<2>, Watched::attempt::<4>, Watched::attempt::<8>, Watched::attempt::<16>]
    {
        attempt(&watched, &news, &mut found);
    }
    // The few that take more digits than that are asked one by one.
    for (i, space) in found.iter_mut().enumerate().filter(|(_, space)| space.is_none()) {
        *space = Space::of(&Rounds::scheduled(schedule, &[observers[i]], steps, &[]));
    }
    found
}

impl<'a> Watched<'a> {
    fn new(schedule: &Schedule, observers: &'a [usize], steps: usize) -> Self {
        let ears = |t: usize| {
            let step = schedule.step(t).unwrap_or(Step::Idle);
            let mut pairs: Vec<(usize, usize)> = Vec::new();
            for (i, &v) in observers.iter().enumerate() {
                let senders = crate::exact::heard(&step, &[v]).into_iter().filter(|&w| w != v);
                pairs.extend(senders.map(|w| (w, i)));
            }
            pairs.sort_unstable();
            let groups = pairs.chunk_by(|a, b| a.0 == b.0);
            groups.map(|group| (group[0].0, group.iter().map(|pair| pair.1).collect())).collect()
        };
        let ears: Vec<Vec<(usize, Vec<usize>)>> = (0..steps).map(ears).collect();
        let heard = ears.iter().map(|round| round.iter().map(|(w, _)| *w).collect()).collect();
        Self { rounds: Rounds::watched(schedule, heard), observers, ears }
    }

    /// Those who hear a message.
    fn ears(&self, t: usize, w: usize) -> &[usize] {
        let round = self.ears.get(t).map_or(&[][..], |round| round);
        round.binary_search_by_key(&w, |(sender, _)| *sender).map_or(&[], |i| &round[i].1)
    }

    fn news(&self) -> Vec<News> {
        let mut echelons: Vec<Echelon> = self.observers.iter().map(|_| Echelon::default()).collect();
        let mut messages = vec![Vec::new(); self.observers.len()];
        self.rounds.each::<Residue>(
            |_, _| true,
            |t, w, row| {
                let mut row = row.to_vec();
                for &i in self.ears(t, w) {
                    let own = std::mem::replace(&mut row[self.observers[i]], Residue::ZERO);
                    if echelons[i].add(&row) {
                        messages[i].push((t, w));
                    }
                    row[self.observers[i]] = own;
                }
                true
            },
        );
        let exposed = echelons.iter().map(|echelon| echelon.exposed(self.rounds.nodes()));
        messages.into_iter().zip(exposed).map(|(messages, exposed)| News { messages, exposed }).collect()
    }

    /// Looks for those spaces that were not found yet.
    fn attempt<const L: usize>(&self, news: &[News], found: &mut [Option<Space>]) {
        let open = |i: usize| found[i].is_none() && affordable(&self.rounds, &news[i], L);
        let start = || Elimination::<L>::new(self.rounds.nodes());
        let mut all: Vec<Option<Elimination<L>>> = (0..found.len()).map(|i| open(i).then(start)).collect();
        if all.iter().all(Option::is_none) {
            return;
        }
        self.rounds.each::<Fixed<L>>(
            |_, _| true,
            |t, w, row| {
                for &i in self.ears(t, w) {
                    let wanted = news[i].messages.binary_search(&(t, w)).is_ok();
                    if let (true, Some(messages)) = (wanted, &mut all[i]) {
                        let mut row = row.to_vec();
                        row[self.observers[i]] = Fixed::ZERO;
                        if !messages.add(&row) {
                            all[i] = None;
                        }
                    }
                }
                true
            },
        );
        for ((messages, news), found) in all.into_iter().zip(news).zip(found) {
            if let Some(messages) = messages {
                *found = conclude(messages, &self.rounds, news).filter(|space| space.is_certified(news));
            }
        }
    }
}

//! A rumour among very many peers, without messages: sets of bits, and a list of who is active.
//!
//! [`Crowd::step`] is Algorithm 1: any active peer, all equally likely, tells. [`Crowd::round`] lets every active peer tell once.
//!
//! A telling is one random number and two or three places of random access: a list entry, and the bits of teller and told. Whether one
//! stays active or is new to the rumour cannot be foretold, so bits are set without branches. With 65,536 peers the bits fit the
//! first cache; with ten million their cache misses bound the speed. The benchmark `rumor` prints nanoseconds per telling.

use sottovoce_protocol::public::{Among, Rules, check_source};
use sottovoce_protocol::rumor::{Chance, Contacts, Start, Telling, tell};

use super::Dice;
use super::bits::Bits;
use crate::Result;

/// A telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Who told.
    pub from: u32,
    /// Whom.
    pub to: u32,
    /// Whether it was lost.
    pub lost: bool,
}

/// All peers of one rumour.
///
/// ```
/// use sottovoce_protocol::public::{Among, Rules};
/// use sottovoce_simulator::rumor::{Crowd, Dice};
/// let mut crowd = Crowd::new(Among::Everyone(1000), Rules::new(0.5)?, 3, Dice::new(7, 0, 0))?;
/// while crowd.informed() < 1000 {
///     crowd.round(|_| ());
/// }
/// assert!((20..100).contains(&crowd.rounds()));
/// # Ok::<(), sottovoce_protocol::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Crowd<'a> {
    among: Among<'a>,
    rules: Rules,
    dice: Dice,
    /// Who is active: how many, the set, and the list where it is up to date.
    count: usize,
    listed: bool,
    active: Vec<u32>,
    next: Vec<u32>,
    is_active: Bits,
    will_be: Bits,
    knows: Bits,
    informed: usize,
    tellings: u64,
    rounds: u64,
}

impl<'a> Crowd<'a> {
    /// Everyone silent but the source.
    pub fn new(among: Among<'a>, rules: Rules, source: usize, dice: Dice) -> Result<Self> {
        among.check()?;
        rules.check()?;
        check_source(source, among.peers())?;
        let none = Bits::new(among.peers());
        let mut crowd = Self {
            among,
            rules,
            dice,
            count: 1,
            listed: true,
            active: vec![source as u32],
            next: Vec::new(),
            is_active: none.clone(),
            will_be: none.clone(),
            knows: none,
            informed: 1,
            tellings: 0,
            rounds: 0,
        };
        crowd.is_active.set(source, true);
        crowd.knows.set(source, true);
        Ok(crowd)
    }

    /// The same crowd before anything was told, with another source and other dice: saves the memory's setting up.
    pub fn again(&mut self, source: usize, dice: Dice) -> Result<()> {
        check_source(source, self.among.peers())?;
        self.is_active.clear();
        self.knows.clear();
        self.active.clear();
        self.active.push(source as u32);
        (self.count, self.listed) = (1, true);
        self.is_active.set(source, true);
        self.knows.set(source, true);
        (self.dice, self.informed, self.tellings, self.rounds) = (dice, 1, 0, 0);
        Ok(())
    }

    /// Peers who know the rumour.
    pub fn informed(&self) -> usize {
        self.informed
    }

    /// Peers who are passing it on.
    pub fn active(&self) -> usize {
        self.count
    }

    /// Who they are, in increasing order.
    pub fn active_peers(&self) -> impl Iterator<Item = u32> + '_ {
        self.is_active.members()
    }

    /// Whether a peer is passing it on.
    pub fn is_active(&self, peer: usize) -> bool {
        self.is_active.has(peer)
    }

    /// Whether a peer knows the rumour.
    pub fn knows(&self, peer: usize) -> bool {
        self.knows.has(peer)
    }

    /// Tellings so far, those that were lost and those to oneself included.
    pub fn tellings(&self) -> u64 {
        self.tellings
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// A number from the crowd's own dice, for whoever watches it and has a choice to make.
    pub fn below(&mut self, count: usize) -> usize {
        self.dice.below(count)
    }

    /// One of the active peers tells. `None`: nobody is active, and nothing ever happens again.
    #[inline]
    pub fn step(&mut self) -> Option<Told> {
        self.write_list();
        let last = self.active.len().checked_sub(1)?;
        let place = self.dice.below(last + 1);
        let from = self.active[place] as usize;
        let Telling { to, stays } = self.telling(from)?;
        let lost = loses(&self.rules, from, to, &mut self.dice);
        // Who tells itself is as active as before. No branches: they would be wrong half of the time.
        let silent = !stays & (from != to) & !(lost & self.rules.repeated);
        let moved = self.active[last];
        self.active[place] = if silent { moved } else { from as u32 };
        self.is_active.set(from, !silent);
        self.active.truncate(last + usize::from(!silent));
        self.informed += usize::from(self.knows.add(to, !lost));
        let new = self.is_active.add(to, !lost);
        self.active.push(to as u32);
        self.active.truncate(self.active.len() - usize::from(!new));
        self.count = self.active.len();
        Some(Told { from: from as u32, to: to as u32, lost })
    }

    /// Every active peer tells once; who is told begins in the next round. `hear` hears them in random order: that in which they
    /// became active is nobody's business.
    pub fn round(&mut self, mut hear: impl FnMut(Told)) {
        let mut all = Vec::with_capacity(self.count);
        self.tell_all(|told| all.push(told));
        for i in (0..all.len()).rev() {
            let chosen = self.dice.below(i + 1);
            all.swap(i, chosen);
            hear(all[i]);
        }
    }

    /// As [`Self::round`], where nobody listens.
    pub fn silent_round(&mut self) {
        self.tell_all(|_| ());
    }

    fn tell_all(&mut self, hear: impl FnMut(Told)) {
        sottovoce_fault::stop::look();
        if self.count < self.among.peers() / 256 {
            self.round_of_few(hear);
        } else {
            self.round_of_many(hear);
        }
        self.rounds += 1;
    }

    /// Along the list.
    fn round_of_few(&mut self, mut hear: impl FnMut(Told)) {
        self.write_list();
        let before = std::mem::take(&mut self.active);
        self.next.clear();
        for &from in &before {
            let from = from as usize;
            let Some(Telling { to, stays }) = self.telling(from) else { continue };
            let lost = loses(&self.rules, from, to, &mut self.dice);
            self.will_be.add(from, stays | lost & self.rules.repeated);
            self.will_be.add(to, !lost);
            self.next.push(to as u32);
            hear(Told { from: from as u32, to: to as u32, lost });
        }
        before.iter().for_each(|&peer| self.is_active.set(peer as usize, false));
        for &peer in self.next.iter().chain(&before) {
            // Each once: the first time it is taken out of the one set and put into the other.
            if self.will_be.has(peer as usize) {
                self.will_be.set(peer as usize, false);
                self.is_active.set(peer as usize, true);
                self.informed += usize::from(self.knows.add(peer as usize, true));
                self.active.push(peer);
            }
        }
        self.count = self.active.len();
    }

    /// Along the bits.
    fn round_of_many(&mut self, hear: impl FnMut(Told)) {
        let (alike, lossy) = (self.is_alike(), self.rules.drop > 0.0);
        // Four times the same code, so that the usual case decides nothing that is known beforehand.
        match (self.among, lossy) {
            (Among::Everyone(n), false) => self.tell_words::<false>(alike, |_| Contacts::Everyone(n), hear),
            (Among::Everyone(n), true) => self.tell_words::<true>(alike, |_| Contacts::Everyone(n), hear),
            (among, false) => self.tell_words::<false>(alike, |from| among.contacts(from), hear),
            (among, true) => self.tell_words::<true>(alike, |from| among.contacts(from), hear),
        }
        self.tellings += self.count as u64;
        self.is_active.clear();
        std::mem::swap(&mut self.is_active, &mut self.will_be);
        self.informed += self.knows.unite(&self.is_active);
        self.count = self.is_active.count();
        self.listed = false;
    }

    /// 64 peers at a time: who stays of them is written once.
    #[inline]
    fn tell_words<const LOSSY: bool>(
        &mut self,
        alike: bool,
        contacts: impl Fn(usize) -> Contacts<'a>,
        mut hear: impl FnMut(Told),
    ) {
        let rules = self.rules;
        // A copy that nothing else can reach stays in registers.
        let mut dice = self.dice.clone();
        for (i, &word) in self.is_active.0.iter().enumerate() {
            let (mut left, mut keep) = (word, 0);
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let from = i * 64 + bit as usize;
                let Some(Telling { to, stays }) = tell(contacts(from), rules.muting, &mut dice) else {
                    continue;
                };
                let lost = LOSSY && loses(&rules, from, to, &mut dice);
                keep |= u64::from(stays & alike | lost & rules.repeated) << bit;
                self.will_be.add(to, !lost);
                hear(Told { from: from as u32, to: to as u32, lost });
            }
            self.will_be.0[i] |= keep;
        }
        self.dice = dice;
    }

    fn write_list(&mut self) {
        if !self.listed {
            self.active.clear();
            self.active.extend(self.is_active.members());
            self.listed = true;
        }
    }

    /// Whether the next to tell behaves like everyone.
    fn is_alike(&self) -> bool {
        self.tellings > 0 || self.rules.start == Start::Alike
    }

    #[inline]
    fn telling(&mut self, from: usize) -> Option<Telling> {
        let mut telling = tell(self.among.contacts(from), self.rules.muting, &mut self.dice)?;
        telling.stays &= self.is_alike();
        self.tellings += 1;
        Some(telling)
    }
}

/// Nobody loses what it tells itself.
#[inline]
fn loses(rules: &Rules, from: usize, to: usize, dice: &mut Dice) -> bool {
    rules.drop > 0.0 && dice.unit() < rules.drop && from != to
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::rumor::{Begin, Clock, Input, Message, Output, RumorRules, Teller, Tick};
    use sottovoce_protocol::{Machine, Means, Overspent, Release, Uncovered};

    const EVERYONE: Among<'static> = Among::Everyone(40);

    fn rules(s: f64) -> Rules {
        Rules::new(s).unwrap()
    }

    fn crowd(s: f64, run: u64) -> Crowd<'static> {
        Crowd::new(EVERYONE, rules(s), 0, Dice::new(1, run, 0)).unwrap()
    }

    /// The state machines, driven as Algorithm 1 has it with the dice of a crowd, tell the same peers in the same order.
    #[test]
    fn state_machines_tell_the_same_tale() {
        for (s, start) in [(0.0, Start::Alike), (0.6, Start::Alike), (1.0, Start::Delayed)] {
            let muting = rules(s).muting;
            let alike = RumorRules { muting, clock: Clock::Rounds, start, acknowledged: false };
            let mut tellers: Vec<Teller> = (0..40).map(|me| Teller::in_crowd(me, 40, alike)).collect();
            let mut dice = Nameless(Dice::new(1, 5, 0));
            let mut ticks = vec![0; 40];
            tellers[0].handle(Input::Command(Begin { id: 1, payload: vec![] }), &mut dice);
            let mut active = vec![0];
            let mut crowd = Crowd::new(EVERYONE, Rules { start, ..rules(s) }, 0, Dice::new(1, 5, 0)).unwrap();
            drain(&mut tellers[0], &mut ticks[0]);
            for _ in 0..2000 {
                let told = crowd.step().unwrap();
                let place = dice.below(active.len());
                let from: usize = active[place];
                tellers[from].handle(Input::Timer(Tick { id: 1, tick: ticks[from] }), &mut dice);
                let to = drain(&mut tellers[from], &mut ticks[from]).unwrap_or((from, None));
                if !tellers[from].is_active(1) {
                    active.swap_remove(place);
                }
                if let (to, Some(message)) = to {
                    let was = tellers[to].is_active(1);
                    tellers[to].handle(Input::heard(from, message), &mut dice);
                    drain(&mut tellers[to], &mut ticks[to]);
                    if !was {
                        active.push(to);
                    }
                }
                assert_eq!((told.from as usize, told.to as usize), (from, to.0));
                assert!((0..40).all(|peer| tellers[peer].knows(1) == crowd.knows(peer)));
                assert!((0..40).all(|peer| tellers[peer].is_active(1) == crowd.is_active(peer)));
            }
        }
    }

    /// A crowd has no need of names for its tellings: here they are no throws of the dice either.
    struct Nameless(Dice);

    impl Chance for Nameless {
        fn bits(&mut self) -> u64 {
            self.0.bits()
        }

        fn name(&mut self) -> u64 {
            self.0.clone().bits()
        }
    }

    impl Means<()> for Nameless {
        fn admit(&mut self, _: &Release) -> std::result::Result<(), Overspent> {
            Ok(())
        }

        fn cover(&mut self, draw: u64, scale: f64, (): &mut ()) -> std::result::Result<(), Uncovered> {
            Err(Uncovered { draw, scale })
        }
    }

    fn drain(teller: &mut Teller, tick: &mut u64) -> Option<(usize, Option<Message>)> {
        let mut sent = None;
        while let Some(output) = teller.poll() {
            match output {
                Output::Send { to, message } => sent = Some((to[0], Some(message))),
                Output::Wait { timer, .. } => *tick = timer.tick,
                _ => {}
            }
        }
        sent
    }

    #[test]
    fn everyone_learns_and_nobody_forgets() {
        for s in [0.0, 0.3, 1.0] {
            let mut crowd = crowd(s, 0);
            let mut last = 1;
            while crowd.informed() < 40 {
                crowd.step();
                assert!(crowd.informed() >= last && crowd.active() > 0);
                last = crowd.informed();
            }
            assert!((0..40).all(|peer| crowd.knows(peer)));
        }
    }

    #[test]
    fn a_walk_has_one_walker_and_push_keeps_all() {
        let (mut walk, mut push) = (crowd(0.0, 1), crowd(1.0, 1));
        for _ in 0..500 {
            walk.step();
            push.step();
            assert_eq!(walk.active(), 1);
            assert_eq!(push.active(), push.informed());
        }
    }

    #[test]
    fn rounds_double_a_push_at_most() {
        let mut push = crowd(1.0, 2);
        while push.informed() < 40 {
            let before = push.active() as u64;
            let tellings = push.tellings();
            push.round(|_| ());
            assert_eq!(push.tellings(), tellings + before);
            assert!(push.active() as u64 <= 2 * before);
        }
    }

    /// With losses a walk dies; with repetition it does not.
    #[test]
    fn a_walk_survives_losses_only_by_repetition() {
        let lossy = Rules { drop: 0.2, ..rules(0.0) };
        let run = |rules: Rules| {
            let mut crowd = Crowd::new(EVERYONE, rules, 0, Dice::new(3, 0, 0)).unwrap();
            for _ in 0..20_000 {
                crowd.step();
            }
            (crowd.active(), crowd.informed())
        };
        assert_eq!(run(lossy).0, 0);
        assert_eq!(run(Rules { repeated: true, ..lossy }), (1, 40));
    }

    #[test]
    fn the_same_seed_gives_the_same_run_also_when_used_again() {
        let mut first = crowd(0.4, 7);
        let tale: Vec<_> = (0..300).map(|_| first.step()).collect();
        first.again(0, Dice::new(1, 7, 0)).unwrap();
        assert_eq!(tale, (0..300).map(|_| first.step()).collect::<Vec<_>>());
    }
}

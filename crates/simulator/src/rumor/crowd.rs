//! A rumour among very many peers, without messages: sets of bits, and a list of who is active.
//!
//! [`Crowd::step`] is Algorithm 1: any active peer, all equally likely, tells. [`Crowd::round`] lets every active peer tell once.
//!
//! A step is two or three random numbers and two or three places of random access: a list entry, and the bits of the told one. With
//! 65,536 peers the bits fit the first cache and the arithmetic of the random numbers bounds the speed; with ten million the list's and
//! the bits' cache misses do. The benchmark `rumor` prints nanoseconds per telling.

use sottovoce_protocol::rumor::{Chance, Start, Telling, tell};

use super::{Among, Dice, Rules, check_source};
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
/// use sottovoce_simulator::rumor::{Among, Crowd, Dice, Rules};
/// let mut crowd = Crowd::new(Among::Everyone(1000), Rules::new(0.5)?, 3, Dice::new(7, 0, 0))?;
/// while crowd.informed() < 1000 {
///     crowd.round(|_| ());
/// }
/// assert!((20..100).contains(&crowd.rounds()));
/// # Ok::<(), sottovoce_simulator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Crowd<'a> {
    among: Among<'a>,
    rules: Rules,
    dice: Dice,
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
            active: vec![source as u32],
            next: Vec::new(),
            is_active: none.clone(),
            will_be: none.clone(),
            knows: none,
            informed: 1,
            tellings: 0,
            rounds: 0,
        };
        crowd.is_active.insert(source);
        crowd.knows.insert(source);
        Ok(crowd)
    }

    /// The same crowd before anything was told, with another source and other dice: saves the memory's setting up.
    pub fn again(&mut self, source: usize, dice: Dice) -> Result<()> {
        check_source(source, self.among.peers())?;
        for &peer in &self.active {
            self.is_active.remove(peer as usize);
        }
        self.knows.clear();
        self.active.clear();
        self.active.push(source as u32);
        self.is_active.insert(source);
        self.knows.insert(source);
        (self.dice, self.informed, self.tellings, self.rounds) = (dice, 1, 0, 0);
        Ok(())
    }

    /// Peers who know the rumour.
    pub fn informed(&self) -> usize {
        self.informed
    }

    /// Peers who are passing it on.
    pub fn active(&self) -> usize {
        self.active.len()
    }

    /// Who they are, in no order that means anything.
    pub fn active_peers(&self) -> &[u32] {
        &self.active
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
        if self.active.is_empty() {
            return None;
        }
        let place = self.dice.below(self.active.len());
        let from = self.active[place] as usize;
        let Telling { to, stays } = self.telling(from)?;
        let lost = self.is_lost(from, to);
        // Who tells itself is as active as before.
        if !stays && from != to && !(lost && self.rules.repeated) {
            self.active.swap_remove(place);
            self.is_active.remove(from);
        }
        if !lost {
            self.informed += usize::from(self.knows.insert(to));
            if self.is_active.insert(to) {
                self.active.push(to as u32);
            }
        }
        Some(Told { from: from as u32, to: to as u32, lost })
    }

    /// Every active peer tells once, in random order as far as `hear` can see; who is told begins in the next round.
    pub fn round(&mut self, mut hear: impl FnMut(Told)) {
        // The order of the list is that in which peers became active: observers must not see it.
        for i in (1..self.active.len()).rev() {
            let other = self.dice.below(i + 1);
            self.active.swap(i, other);
        }
        self.tell_all(&mut hear);
    }

    /// As [`Self::round`], where nobody listens and the order does not matter.
    pub fn silent_round(&mut self) {
        self.tell_all(&mut |_| ());
    }

    fn tell_all(&mut self, hear: &mut impl FnMut(Told)) {
        let active = std::mem::take(&mut self.active);
        for &from in &active {
            let from = from as usize;
            let Some(Telling { to, stays }) = self.telling(from) else { continue };
            let lost = self.is_lost(from, to);
            if (stays || lost && self.rules.repeated) && self.will_be.insert(from) {
                self.next.push(from as u32);
            }
            hear(Told { from: from as u32, to: to as u32, lost });
            if !lost {
                self.informed += usize::from(self.knows.insert(to));
                if self.will_be.insert(to) {
                    self.next.push(to as u32);
                }
            }
        }
        for &from in &active {
            self.is_active.remove(from as usize);
        }
        std::mem::swap(&mut self.is_active, &mut self.will_be);
        self.active = std::mem::replace(&mut self.next, active);
        self.next.clear();
        self.rounds += 1;
    }

    #[inline]
    fn telling(&mut self, from: usize) -> Option<Telling> {
        let mut telling = tell(self.among.contacts(from), self.rules.muting, &mut self.dice)?;
        telling.stays &= !(self.tellings == 0 && self.rules.start == Start::Delayed);
        self.tellings += 1;
        Some(telling)
    }

    /// Nobody loses what it tells itself.
    #[inline]
    fn is_lost(&mut self, from: usize, to: usize) -> bool {
        self.rules.loss > 0.0 && self.dice.unit() < self.rules.loss && from != to
    }
}

/// A set of peers.
#[derive(Debug, Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(peers: usize) -> Self {
        Self(vec![0; peers.div_ceil(64)])
    }

    /// Returns whether it is new.
    #[inline]
    fn insert(&mut self, peer: usize) -> bool {
        let (word, bit) = (&mut self.0[peer / 64], 1 << (peer % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    #[inline]
    fn remove(&mut self, peer: usize) {
        self.0[peer / 64] &= !(1 << (peer % 64));
    }

    #[inline]
    fn has(&self, peer: usize) -> bool {
        self.0[peer / 64] >> (peer % 64) & 1 == 1
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::rumor::{Clock, Input, Manner, Output, Teller};

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
            let manner = Manner { muting: rules(s).muting, clock: Clock::Rounds, start, acknowledged: false };
            let mut tellers: Vec<Teller> = (0..40).map(|me| Teller::in_crowd(me, 40, manner)).collect();
            let mut dice = Dice::new(1, 5, 0);
            let mut ticks = vec![0; 40];
            tellers[0].handle(Input::Begin { id: 1, payload: vec![] }, &mut dice);
            let mut active = vec![0];
            let mut crowd = Crowd::new(EVERYONE, Rules { start, ..rules(s) }, 0, Dice::new(1, 5, 0)).unwrap();
            drain(&mut tellers[0], &mut ticks[0]);
            for _ in 0..2000 {
                let told = crowd.step().unwrap();
                let place = dice.below(active.len());
                let from: usize = active[place];
                tellers[from].handle(Input::Tick { id: 1, tick: ticks[from] }, &mut dice);
                let to = drain(&mut tellers[from], &mut ticks[from]).unwrap_or((from, None));
                if !tellers[from].is_active(1) {
                    active.swap_remove(place);
                }
                if let (to, Some(message)) = to {
                    let was = tellers[to].is_active(1);
                    tellers[to].handle(Input::Message { from, message }, &mut dice);
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

    fn drain(
        teller: &mut Teller,
        tick: &mut u64,
    ) -> Option<(usize, Option<sottovoce_protocol::rumor::Message>)> {
        let mut sent = None;
        while let Some(output) = teller.poll() {
            match output {
                Output::Send { to, message } => sent = Some((to, Some(message))),
                Output::Tick { tick: number, .. } => *tick = number,
                Output::Learned { .. } => {}
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
        let lossy = Rules { loss: 0.2, ..rules(0.0) };
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

//! What everybody signs for everybody, and neighbours pass on: that they are there, and who stopped responding.
//!
//! **Presence.** Each peer draws a number when it opens a run. Once it knows everybody's, it signs the hash of all of them. A run begins when everybody has signed the same
//! numbers, this peer's own among them: each signature was made after that number was drawn, so nobody can show an old one, and nobody can sign for another.
//!
//! **Silence.** A peer that waited in vain says for whom, and in which round. Peers that wait for it then know that it is not the cause.
//!
//! **Result.** Where the result is with whoever a token ended with, that peer says so.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sottovoce_protocol::Peer;

use crate::ledger::salt;
use crate::{Hash, Key, Mark, Name, Result};

/// Notices of a peer's presence that are passed on: more than a run needs, and no flood.
const MOST: u32 = 2_000;

/// So often a peer replaces what an earlier process may have said with its key. More is said by one that runs now.
const TWIN: u32 = 8;

/// Something that a peer has signed, for everybody in the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Who says it.
    pub peer: u32,
    /// A later one replaces an earlier one.
    pub turn: u64,
    /// What it says.
    pub says: Says,
    /// Its hash, signed.
    mark: Mark,
}

/// What a notice says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Says {
    /// It is there.
    Here {
        /// Drawn for this meeting.
        number: [u8; 32],
        /// The hash of everybody's numbers, once they are known; zeros before.
        all: Hash,
    },
    /// It waited in vain, and says nothing more.
    Silent {
        /// In this round ...
        round: u64,
        /// ... for these.
        missing: Vec<u32>,
    },
    /// It has the result, which not everybody has.
    Result,
}

impl Notice {
    /// Signed by the peer that says it.
    pub fn new(key: &Key, run: Hash, (peer, turn): (u32, u64), says: Says) -> Result<Self> {
        let mark = Mark::of(key, Self::text(run, (peer, turn), &says)?);
        Ok(Self { peer, turn, says, mark })
    }

    /// The hash of everybody's numbers, in the order of the roster.
    pub fn meeting(numbers: &[[u8; 32]]) -> Hash {
        let pieces: Vec<&[u8]> = numbers.iter().map(|number| &number[..]).collect();
        Hash::labelled("sottovoce meeting", &pieces)
    }

    fn text(run: Hash, (peer, turn): (u32, u64), says: &Says) -> Result<Hash> {
        let says = postcard::to_stdvec(says)?;
        let pieces: [&[u8]; 4] = [&run.0, &peer.to_le_bytes(), &turn.to_le_bytes(), &says];
        Ok(Hash::labelled("sottovoce notice", &pieces))
    }

    /// Whether it was signed for this run by the peer that it names.
    fn is_of(&self, run: Hash, by: &Name) -> bool {
        let text = Self::text(run, (self.peer, self.turn), &self.says);
        text.is_ok_and(|text| text == self.mark.hash) && self.mark.is_of(by)
    }
}

/// Why a run ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Who stopped responding first.
    pub silent: Vec<Peer>,
    /// In this round.
    pub round: u64,
    /// Who says so, by their own signatures.
    pub seen_by: Vec<Peer>,
}

impl Cause {
    /// In a sentence, with these names.
    pub fn told(&self, names: &[String]) -> String {
        let list = |peers: &[Peer]| called(peers, names).join(", ");
        let (silent, seen_by) = (list(&self.silent), list(&self.seen_by));
        format!("{silent} stopped responding in round {} (signed by {seen_by})", self.round)
    }
}

/// Names of peers.
pub(crate) fn called(peers: &[Peer], names: &[String]) -> Vec<String> {
    peers.iter().filter_map(|&peer| names.get(peer)).cloned().collect()
}

/// What a notice led to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct News {
    /// To be passed on.
    pub(crate) notices: Vec<Notice>,
    /// Another process signs with this peer's key.
    pub(crate) twin: bool,
}

/// All notices of a run that this peer knows.
pub(crate) struct Bulletin {
    run: Hash,
    me: Peer,
    roster: Vec<Name>,
    here: BTreeMap<Peer, Notice>,
    silent: BTreeMap<Peer, Notice>,
    results: BTreeMap<Peer, Notice>,
    /// The number that was drawn here.
    number: [u8; 32],
    accepted: BTreeMap<Peer, u32>,
    /// How often something was replaced that this process has not said.
    replaced: u32,
    /// Whether everybody has signed what was drawn here. Then all had this process's word as the latest: a later one is of a process that opened the run since.
    complete: bool,
    /// Whether the run had ended here before: who was silent is known, and nothing is added.
    over: bool,
}

impl Bulletin {
    /// With this peer's own notice, and what the ledger knows of who was silent, and who has a result.
    pub(crate) fn new(run: Hash, roster: Vec<Name>, key: &Key, known: Vec<Notice>) -> Result<Self> {
        let me = roster.iter().position(|name| *name == key.name());
        let me =
            me.ok_or_else(|| crate::Error::parameter("key", key.name(), "it is not among those who agreed"))?;
        let known = known.into_iter().filter(|notice| is_possible(&notice.says, roster.len()));
        let known = known.map(|notice| (notice.peer as Peer, notice));
        let (results, silent): (BTreeMap<_, _>, BTreeMap<_, _>) =
            known.partition(|(_, one)| one.says == Says::Result);
        // What was said when the run ended here stays what it was.
        let over = silent.contains_key(&me);
        let (here, accepted, number) = (BTreeMap::new(), BTreeMap::new(), salt()?);
        let mut bulletin = Self {
            run,
            me,
            roster,
            here,
            silent,
            results,
            number,
            accepted,
            replaced: 0,
            complete: false,
            over,
        };
        // Later than whatever an earlier process has said, if the clock is right; else that is replaced.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        bulletin.sign(u64::try_from(since.as_millis()).unwrap_or(0), key)?;
        bulletin.refresh(key)?;
        Ok(bulletin)
    }

    /// Everything that is known, for a peer that was met.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Notice> {
        self.here.values().chain(self.silent.values()).chain(self.results.values())
    }

    /// Whether everybody has signed the same numbers.
    pub(crate) fn is_complete(&self) -> bool {
        let mine = self.digest();
        mine.is_some()
            && self.here.len() == self.roster.len()
            && self.here.values().all(|one| signed(one) == mine)
    }

    /// Whether this peer has signed everybody's numbers: others may begin.
    pub(crate) fn is_signed(&self) -> bool {
        self.digest().is_some()
    }

    /// Who has not shown that it is there.
    pub(crate) fn absent(&self) -> Vec<Peer> {
        let unknown: Vec<Peer> =
            (0..self.roster.len()).filter(|peer| !self.here.contains_key(peer)).collect();
        if !unknown.is_empty() {
            return unknown;
        }
        let mine = self.digest();
        self.here.iter().filter(|(_, one)| signed(one) != mine).map(|(&peer, _)| peer).collect()
    }

    /// A notice was heard. One that nobody signed so is an error about who handed it over.
    pub(crate) fn hear(&mut self, notice: Notice, key: &Key) -> std::result::Result<News, String> {
        let peer = notice.peer as Peer;
        let Some(name) = self.roster.get(peer) else {
            return Err(format!("a notice of peer {peer}, who is not in this run"));
        };
        let known = match notice.says {
            Says::Here { .. } => self.here.get(&peer),
            Says::Silent { .. } => self.silent.get(&peer),
            Says::Result => self.results.get(&peer),
        };
        if known == Some(&notice) {
            return Ok(News::default());
        }
        if !is_possible(&notice.says, self.roster.len()) {
            return Err(format!(
                "a notice of peer {peer} that names nobody, or somebody who is not in this run"
            ));
        }
        if !notice.is_of(self.run, name) {
            return Err(format!("a notice of peer {peer} that it has not signed for this run"));
        }
        let says = |error: crate::Error| error.to_string();
        match &notice.says {
            // The first one counts: it is in its ledger.
            Says::Silent { .. } => {
                if known.is_some() || self.over {
                    return Ok(News::default());
                }
                self.silent.insert(peer, notice.clone());
                Ok(News { notices: vec![notice], twin: false })
            }
            Says::Result => {
                self.results.insert(peer, notice.clone());
                Ok(News { notices: vec![notice], twin: false })
            }
            Says::Here { .. } if peer == self.me => {
                if known.is_some_and(|known| known.turn > notice.turn) {
                    return Ok(News::default());
                }
                // What an earlier process said is replaced. One that runs now replaces it back, again and again.
                self.replaced += 1;
                let own = self.sign(notice.turn.saturating_add(1), key).map_err(says)?;
                Ok(News { notices: vec![own], twin: self.complete || self.replaced >= TWIN })
            }
            Says::Here { .. } => {
                if known.is_some_and(|known| known.turn >= notice.turn) {
                    return Ok(News::default());
                }
                let accepted = self.accepted.entry(peer).or_insert(0);
                *accepted += 1;
                if *accepted > MOST {
                    return Err(format!("more notices of peer {peer} than a run needs"));
                }
                self.here.insert(peer, notice.clone());
                let own = self.refresh(key).map_err(says)?;
                self.complete |= self.is_complete();
                Ok(News { notices: std::iter::once(notice).chain(own).collect(), twin: false })
            }
        }
    }

    /// A neighbour has gone before the run began: everybody has to sign again.
    pub(crate) fn again(&mut self, key: &Key) -> Result<Notice> {
        (self.number, self.complete) = (salt()?, false);
        let turn = self.here.get(&self.me).map_or(0, |own| own.turn.saturating_add(1));
        self.sign(turn, key)
    }

    /// Says for whom this peer has waited in vain; nothing where it has said so.
    pub(crate) fn report_silence(
        &mut self,
        round: u64,
        missing: &[Peer],
        key: &Key,
    ) -> Result<Option<Notice>> {
        if self.silent.contains_key(&self.me) || missing.is_empty() {
            return Ok(None);
        }
        let missing = missing.iter().map(|&peer| peer as u32).collect();
        let notice = Notice::new(key, self.run, (self.me as u32, 0), Says::Silent { round, missing })?;
        self.silent.insert(self.me, notice.clone());
        Ok(Some(notice))
    }

    /// Says that this peer has the result; nothing where it has said so.
    pub(crate) fn report_result(&mut self, key: &Key) -> Result<Option<Notice>> {
        if self.results.contains_key(&self.me) {
            return Ok(None);
        }
        let notice = Notice::new(key, self.run, (self.me as u32, 0), Says::Result)?;
        self.results.insert(self.me, notice.clone());
        Ok(Some(notice))
    }

    /// Who has said that it has the result.
    pub(crate) fn results(&self) -> Vec<Peer> {
        self.results.keys().copied().collect()
    }

    /// Who has said that it waited in vain.
    pub(crate) fn has_reported(&self, peer: Peer) -> bool {
        self.silent.contains_key(&peer)
    }

    /// The first peer that stopped responding, by all notices: one that others waited for and that has not said for whom it waited. Where all have, the one that was
    /// waited for first, and by most.
    pub(crate) fn cause(&self) -> Option<Cause> {
        let mut waited: Vec<(u64, Peer, Peer)> = Vec::new();
        for (&by, notice) in &self.silent {
            if let Says::Silent { round, missing } = &notice.says {
                waited.extend(missing.iter().map(|&peer| (*round, peer as Peer, by)));
            }
        }
        let mute: Vec<_> = waited.iter().copied().filter(|(_, peer, _)| !self.has_reported(*peer)).collect();
        let candidates = if mute.is_empty() { waited } else { mute };
        let round = candidates.iter().map(|(round, ..)| *round).min()?;
        let mut first: BTreeMap<Peer, usize> = BTreeMap::new();
        for (_, peer, _) in candidates.iter().filter(|one| one.0 == round) {
            *first.entry(*peer).or_insert(0) += 1;
        }
        let most = first.values().copied().max()?; // whole numbers
        let first: BTreeSet<Peer> = first.into_iter().filter(|one| one.1 == most).map(|one| one.0).collect();
        let seen_by: BTreeSet<Peer> =
            candidates.iter().filter(|one| first.contains(&one.1)).map(|one| one.2).collect();
        Some(Cause { silent: first.into_iter().collect(), round, seen_by: seen_by.into_iter().collect() })
    }

    /// The hash of everybody's numbers, where they are known.
    fn digest(&self) -> Option<Hash> {
        let number = |peer: Peer| match self.here.get(&peer)?.says {
            Says::Here { number, .. } => Some(number),
            Says::Silent { .. } | Says::Result => None,
        };
        let all: Vec<[u8; 32]> = (0..self.roster.len()).map(number).collect::<Option<_>>()?;
        Some(Notice::meeting(&all))
    }

    /// Signs this peer's own presence.
    fn sign(&mut self, turn: u64, key: &Key) -> Result<Notice> {
        let sign = |bulletin: &Self| {
            let all = bulletin.digest().unwrap_or_default();
            let says = Says::Here { number: bulletin.number, all };
            Notice::new(key, bulletin.run, (bulletin.me as u32, turn), says)
        };
        // The hash of all numbers has this one in it.
        let first = sign(self)?;
        self.here.insert(self.me, first);
        let own = sign(self)?;
        self.here.insert(self.me, own.clone());
        Ok(own)
    }

    /// Signs again where the numbers are others by now.
    fn refresh(&mut self, key: &Key) -> Result<Option<Notice>> {
        let Some(own) = self.here.get(&self.me) else { return Ok(None) };
        if signed(own) == self.digest() {
            return Ok(None);
        }
        let turn = own.turn.saturating_add(1);
        self.sign(turn, key).map(Some)
    }
}

/// Whether a notice can be one of a run of so many peers.
fn is_possible(says: &Says, peers: usize) -> bool {
    match says {
        Says::Here { .. } | Says::Result => true,
        Says::Silent { missing, .. } => {
            let different: BTreeSet<_> = missing.iter().collect();
            let known = missing.iter().all(|&peer| (peer as usize) < peers);
            known && !missing.is_empty() && different.len() == missing.len()
        }
    }
}

/// The numbers that a notice signs; none before all are known.
fn signed(notice: &Notice) -> Option<Hash> {
    match notice.says {
        Says::Here { all, .. } if all != Hash::default() => Some(all),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Hash = Hash([7; 32]);

    fn key(peer: usize) -> Key {
        Key::simulated(peer as u64)
    }

    fn roster(peers: usize) -> Vec<Name> {
        (0..peers).map(|peer| key(peer).name()).collect()
    }

    fn bulletin(peer: usize, peers: usize) -> Bulletin {
        Bulletin::new(RUN, roster(peers), &key(peer), Vec::new()).unwrap()
    }

    /// Peers on a line tell each other everything until nothing is new.
    fn settle(all: &mut [Bulletin]) {
        loop {
            let mut news = false;
            for from in 0..all.len() {
                for to in [from.wrapping_sub(1), from + 1] {
                    let Some(_) = all.get(to) else { continue };
                    let said: Vec<Notice> = all[from].all().cloned().collect();
                    for notice in said {
                        let me = all[to].me;
                        let heard = all[to].hear(notice, &key(me)).unwrap();
                        assert!(!heard.twin);
                        news |= !heard.notices.is_empty();
                    }
                }
            }
            if !news {
                return;
            }
        }
    }

    #[test]
    fn a_run_begins_once_everybody_has_signed() {
        for peers in 1..7 {
            let mut all: Vec<Bulletin> = (0..peers).map(|peer| bulletin(peer, peers)).collect();
            let there = peers.saturating_sub(1).max(1);
            settle(&mut all[..there]);
            for one in &all[..there] {
                assert_eq!(one.is_complete(), peers == 1);
                assert_eq!(one.absent(), if peers == 1 { vec![] } else { vec![peers - 1] });
            }
            settle(&mut all);
            assert!(all.iter().all(Bulletin::is_complete) && all[0].absent().is_empty());
        }
    }

    #[test]
    fn who_has_the_result_says_so_to_all_and_nobody_else_can() {
        let mut all: Vec<Bulletin> = (0..4).map(|peer| bulletin(peer, 4)).collect();
        assert!(all[3].report_result(&key(3)).unwrap().is_some());
        assert!(all[3].report_result(&key(3)).unwrap().is_none(), "once");
        settle(&mut all);
        assert!(all.iter().all(|one| one.results() == [3] && one.cause().is_none()));
        let forged = Notice::new(&key(1), RUN, (2, 0), Says::Result).unwrap();
        assert!(all[0].hear(forged, &key(0)).is_err());
        let other = Notice::new(&key(2), Hash([8; 32]), (2, 0), Says::Result).unwrap();
        assert!(all[0].hear(other, &key(0)).is_err());
        // What the ledger has kept is known after a restart.
        let kept: Vec<Notice> = all[0].results.values().cloned().collect();
        assert_eq!(Bulletin::new(RUN, roster(4), &key(0), kept).unwrap().results(), [3]);
    }

    #[test]
    fn nobody_shows_an_old_presence_or_speaks_for_another() {
        let mut all: Vec<Bulletin> = (0..3).map(|peer| bulletin(peer, 3)).collect();
        settle(&mut all);
        let old = all[2].here[&2].clone();
        // The next meeting: peer 2 never comes, and peer 0 shows what it has of it.
        let mut ana = bulletin(0, 3);
        let mut ben = bulletin(1, 3);
        ana.hear(old.clone(), &key(0)).unwrap();
        for _ in 0..4 {
            for notice in ana.all().cloned().collect::<Vec<_>>() {
                ben.hear(notice, &key(1)).unwrap();
            }
            for notice in ben.all().cloned().collect::<Vec<_>>() {
                ana.hear(notice, &key(0)).unwrap();
            }
        }
        assert!(!ben.is_complete() && ben.absent() == [2] && !ana.is_complete());
        // What it makes up itself has the wrong signature.
        let Says::Here { all: digest, .. } = ben.here[&1].says else { panic!() };
        let forged = Notice::new(&key(0), RUN, (2, 9), Says::Here { number: [1; 32], all: digest }).unwrap();
        assert!(ben.hear(forged, &key(1)).unwrap_err().contains("has not signed"));
        for missing in [vec![], vec![3], vec![1, 1]] {
            let says = Says::Silent { round: 1, missing };
            let nobody = Notice::new(&key(2), RUN, (2, 0), says).unwrap();
            assert!(ben.hear(nobody, &key(1)).unwrap_err().contains("names nobody"));
        }
        let other = Notice::new(&key(2), Hash([8; 32]), (2, 9), old.says.clone()).unwrap();
        assert!(ben.hear(other, &key(1)).is_err(), "it is of another run");
        // It comes after all, and replaces what is said of it.
        let mut all = vec![ana, ben, bulletin(2, 3)];
        settle(&mut all);
        assert!(all.iter().all(Bulletin::is_complete));
        // It goes again before the run has begun.
        all[1].again(&key(1)).unwrap();
        settle(&mut all[..2]);
        assert!(all[..2].iter().all(|one| !one.is_complete() && one.absent() == [2]));
    }

    #[test]
    fn a_key_that_runs_twice_is_noticed() {
        let mut twins = [bulletin(1, 2), bulletin(1, 2)];
        let mut noticed = false;
        for _ in 0..TWIN {
            for (from, to) in [(0, 1), (1, 0)] {
                let said = twins[from].here[&1].clone();
                noticed |= twins[to].hear(said, &key(1)).unwrap().twin;
            }
        }
        assert!(noticed);
        // One that opens the run after all have signed is noticed at its first word; one that has ended before is none.
        let mut all = vec![bulletin(0, 2), bulletin(1, 2)];
        let earlier = all[1].here[&1].clone();
        all[1] = bulletin(1, 2);
        all[0].hear(earlier.clone(), &key(0)).unwrap();
        settle(&mut all);
        assert!(all.iter().all(Bulletin::is_complete));
        assert!(!all[1].hear(earlier, &key(1)).unwrap().twin);
        let mut clone = bulletin(1, 2);
        let turn = all[1].here[&1].turn + 1;
        let said = clone.sign(turn, &key(1)).unwrap();
        assert!(
            !all[0].hear(said.clone(), &key(0)).unwrap().twin,
            "a neighbour cannot tell it from a restart"
        );
        assert!(all[1].hear(said, &key(1)).unwrap().twin);
    }

    /// On a line 0 - 1 - 2 - 3, peer 3 goes: each waits for the next.
    #[test]
    fn the_first_to_stop_is_named() {
        let mut all: Vec<Bulletin> = (0..4).map(|peer| bulletin(peer, 4)).collect();
        for peer in [2, 1, 0] {
            all[peer].report_silence(6 - peer as u64, &[peer + 1], &key(peer)).unwrap();
        }
        assert_eq!(all[0].cause().unwrap().silent, [1], "all that it knows");
        settle(&mut all[..3]);
        for one in &all[..3] {
            assert_eq!(one.cause(), Some(Cause { silent: vec![3], round: 4, seen_by: vec![2] }));
        }
        assert_eq!(all[3].cause(), None);
        // Two who do not hear each other are both named.
        let mut pair: Vec<Bulletin> = (0..2).map(|peer| bulletin(peer, 2)).collect();
        for (peer, one) in pair.iter_mut().enumerate() {
            one.report_silence(1, &[1 - peer], &key(peer)).unwrap();
        }
        settle(&mut pair);
        assert_eq!(pair[0].cause(), Some(Cause { silent: vec![0, 1], round: 1, seen_by: vec![0, 1] }));
        // One who stood still and accuses others afterwards is named by more.
        let mut ring: Vec<Bulletin> = (0..3).map(|peer| bulletin(peer, 3)).collect();
        for (peer, missing) in [(0, vec![2]), (1, vec![2]), (2, vec![0, 1])] {
            ring[peer].report_silence(4, &missing, &key(peer)).unwrap();
        }
        settle(&mut ring);
        assert!(ring.iter().all(|one| one.cause().unwrap().silent == [2]));
        // After a restart nothing is added to what ended the run here.
        let known = vec![all[0].silent[&0].clone(), all[0].silent[&1].clone(), all[0].silent[&2].clone()];
        let mut again = Bulletin::new(RUN, roster(4), &key(0), known).unwrap();
        let late = Notice::new(&key(3), RUN, (3, 0), Says::Silent { round: 1, missing: vec![1] }).unwrap();
        assert_eq!(again.hear(late, &key(0)).unwrap(), News::default());
        assert_eq!(again.cause().unwrap().silent, [3]);
    }
}

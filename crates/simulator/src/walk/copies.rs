//! The path of every copy of every token, as a transcript tells it.
//!
//! ```text
//! holder ── copy 0, step 7 ──► u      no answer in time: the same value goes to another neighbour
//!    └───── copy 1, step 7 ──► w      u never got it:  one path goes on            (nothing was seen twice)
//!                                     u got it:        two paths, apart from step 7 (both begin with what the holder sent)
//! ```
//!
//! Whoever gets a copy sees it, even where it swallows it because it has seen a later one: it is the last holder of that copy, and passes nothing on.

use std::collections::BTreeMap;

use sottovoce_protocol::Peer;
use sottovoce_protocol::walk::{Epoch, Label, Note, Sent, TokenPath, Visit};

use super::run::WalkTranscript;

/// What is known of one copy.
#[derive(Debug, Default)]
struct Copy {
    /// The step at which it left another, and which.
    start: usize,
    parent: Option<Epoch>,
    visits: BTreeMap<usize, (Peer, Visit)>,
    /// Who got it and passed it on no more, and at which step.
    swallowed: Option<(usize, Peer)>,
    forks: Vec<(usize, Epoch)>,
    finished: bool,
}

type Copies = BTreeMap<(usize, Epoch), Copy>;

/// The paths of all copies of all tokens, after everything. Where what is told does not fit together, as if every value had been seen by everyone.
pub fn copies(transcript: &WalkTranscript) -> Vec<TokenPath> {
    gather(transcript).and_then(|copies| paths(&copies, true)).unwrap_or_else(|| open(transcript))
}

/// The same while something is under way: a token that has not arrived is not lost, and somebody, who may be anybody, will see it.
pub fn copies_so_far(transcript: &WalkTranscript) -> Vec<TokenPath> {
    gather(transcript).and_then(|copies| paths(&copies, false)).unwrap_or_else(|| open(transcript))
}

/// Who held this copy of a token, and what it was copied from before; none where what is told does not fit together.
pub fn lineage(transcript: &WalkTranscript, token: Sent) -> Option<Vec<(Peer, Visit)>> {
    let copies = gather(transcript)?;
    let (mut epoch, mut until) = (token.epoch, usize::MAX);
    let mut visits = BTreeMap::new();
    loop {
        let copy = copies.get(&(token.id, epoch))?;
        visits.extend(copy.visits.iter().filter(|(step, _)| **step < until));
        match copy.parent {
            Some(parent) => (epoch, until) = (parent, copy.start),
            None => return Some(visits.into_values().copied().collect()),
        }
    }
}

/// None where two copies, or two holders of one, go by one name.
fn gather(transcript: &WalkTranscript) -> Option<Copies> {
    let mut copies = Copies::new();
    for (peer, note) in &transcript.notes {
        match note {
            Note::Visited { token: Sent { id, epoch, step }, visit } => {
                let copy = copies.entry((*id, *epoch)).or_default();
                if copy.visits.insert(*step, (*peer, *visit)).is_some() {
                    return None;
                }
            }
            Note::Rerouted { token: Sent { id, epoch, step }, detour, .. } => {
                copies.entry((*id, *epoch)).or_default().forks.push((*step, *detour));
                let branch = Copy { start: *step, parent: Some(*epoch), ..Copy::default() };
                if copies.insert((*id, *detour), branch).is_some() {
                    return None;
                }
            }
            Note::Finished(Sent { id, epoch, .. }) => {
                copies.entry((*id, *epoch)).or_default().finished = true;
            }
            _ => {}
        }
    }
    for heard in &transcript.messages {
        let Label::Token(Sent { id, epoch, step }) = heard.label else { continue };
        let copy = copies.entry((id, epoch)).or_default();
        match (copy.visits.get(&step), copy.swallowed) {
            (Some((holder, _)), _) if *holder == heard.to => {}
            (None, None) => copy.swallowed = Some((step, heard.to)),
            (None, Some(before)) if before == (step, heard.to) => {}
            _ => return None,
        }
    }
    Some(copies)
}

impl Copy {
    /// Whether anybody got it from this step on.
    fn reached_beyond(&self, step: usize) -> bool {
        self.visits.range(step..).next().is_some() || self.swallowed.is_some_and(|(at, _)| at >= step)
    }

    /// Adds its holders to a path; false where some are missing.
    fn extend(&self, path: &mut TokenPath) -> bool {
        for (&step, &(peer, visit)) in &self.visits {
            if step != path.start() + path.len() {
                return false;
            }
            path.push(peer, visit);
        }
        match self.swallowed {
            Some((step, peer)) if step == path.start() + path.len() => path.push(peer, Visit::Relayed),
            Some(_) => return false,
            None => {}
        }
        true
    }
}

fn paths(copies: &Copies, over: bool) -> Option<Vec<TokenPath>> {
    let mut paths = Vec::new();
    let mut begun: Vec<((usize, Epoch), TokenPath)> = Vec::new();
    let firsts = copies.iter().filter(|((_, epoch), _)| epoch.0 == 0);
    begun.extend(firsts.map(|(name, _)| (*name, TokenPath::default())));
    // The first is taken up first, so that paths come in the order of tokens.
    begun.reverse();
    while let Some((name, mut path)) = begun.pop() {
        let copy = copies.get(&name)?;
        if !copy.extend(&mut path) {
            return None;
        }
        let mut next = None;
        for &(step, detour) in &copy.forks {
            if copy.reached_beyond(step) {
                path.fork(step);
                begun.push(((name.0, detour), TokenPath::from_step(step)));
            } else if next.replace(detour).is_some() || step != path.start() + path.len() {
                return None;
            }
        }
        match next {
            // Nobody got it: the same value went on elsewhere.
            Some(detour) => begun.push(((name.0, detour), path)),
            None => {
                if over && !copy.finished {
                    path.lose();
                }
                if !path.is_empty() {
                    paths.push(path);
                }
            }
        }
    }
    Some(paths)
}

/// All visits in the order of time, each seen by everyone: what nobody can exceed.
fn open(transcript: &WalkTranscript) -> Vec<TokenPath> {
    let mut path = TokenPath::default();
    for (peer, note) in &transcript.notes {
        if let Note::Visited { visit, .. } = note {
            path.fork(path.len());
            path.push(*peer, *visit);
        }
    }
    path.fork(path.len());
    vec![path]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::Heard;

    fn sent(epoch: Epoch, step: usize) -> Sent {
        Sent { id: 0, epoch, step }
    }

    fn visited(peer: Peer, epoch: Epoch, step: usize) -> (Peer, Note) {
        (peer, Note::Visited { token: sent(epoch, step), visit: Visit::Contributed })
    }

    fn heard(from: Peer, to: Peer, epoch: Epoch, step: usize) -> Heard<Label> {
        Heard { from, to, label: Label::Token(sent(epoch, step)) }
    }

    /// Peer 0 begins, peer 1 is silent, and the token goes to peer 2 and ends there.
    fn detour() -> WalkTranscript {
        let reroute = Note::Rerouted { token: sent((0, 0), 1), detour: (1, 0), silent: 1 };
        WalkTranscript {
            notes: vec![
                visited(0, (0, 0), 0),
                (0, reroute),
                visited(2, (1, 0), 1),
                (2, Note::Finished(sent((1, 0), 2))),
            ],
            messages: vec![heard(0, 2, (1, 0), 1)],
            ..WalkTranscript::default()
        }
    }

    fn holders(path: &TokenPath) -> Vec<Peer> {
        path.iter().map(|(peer, _)| peer).collect()
    }

    #[test]
    fn a_copy_that_nobody_got_is_no_copy() {
        let paths = copies(&detour());
        assert_eq!((paths.len(), holders(&paths[0])), (1, vec![0, 2]));
        assert!(paths[0].forks().is_empty() && !paths[0].is_lost());
    }

    #[test]
    fn a_copy_that_was_got_is_a_second_path() {
        let mut run = detour();
        // It was there after all: it contributed, and sent it to peer 2, who had seen the later copy.
        run.notes.push(visited(1, (0, 0), 1));
        run.messages.extend([heard(0, 1, (0, 0), 1), heard(1, 2, (0, 0), 2), heard(1, 2, (0, 0), 2)]);
        let paths = copies(&run);
        assert_eq!(
            (holders(&paths[0]), paths[0].forks(), paths[0].is_lost()),
            (vec![0, 1, 2], &[1][..], true)
        );
        assert_eq!(paths[0].iter().last(), Some((2, Visit::Relayed)));
        assert_eq!((holders(&paths[1]), paths[1].start(), paths[1].is_lost()), (vec![2], 1, false));
        let whole: Vec<Peer> =
            lineage(&run, sent((1, 0), 2)).unwrap().iter().map(|(peer, _)| *peer).collect();
        assert_eq!(whole, [0, 2]);
    }

    #[test]
    fn what_is_under_way_is_not_lost() {
        let mut run = detour();
        run.notes.pop();
        assert!(copies(&run)[0].is_lost() && !copies_so_far(&run)[0].is_lost());
        assert_eq!(holders(&copies_so_far(&run)[0]), [0, 2]);
    }

    #[test]
    fn what_does_not_fit_is_seen_by_all() {
        let mut run = detour();
        run.notes.push(visited(5, (1, 0), 1));
        let paths = copies(&run);
        assert_eq!((holders(&paths[0]), paths[0].forks()), (vec![0, 2, 5], &[0, 1, 2, 3][..]));
    }
}

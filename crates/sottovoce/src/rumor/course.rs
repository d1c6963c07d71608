//! One run, as it is shown: who knows and who tells after each round, and whom the curious hear first.

use sottovoce_protocol::public::{Among, Curious, Rules};
use sottovoce_protocol::rumor::Chance;
use sottovoce_report::rumor::{Dot, Frame, Moment, State};
use sottovoce_simulator::rumor::{Crowd, Dice};

use crate::Result;
use crate::transcript::Tellings;

/// Peers that are drawn at most.
const DOTS: usize = 1024;
/// Frames that are kept at most.
const FRAMES: usize = 120;

/// What happened.
pub(super) struct Course {
    pub(super) source: usize,
    /// Who told a curious peer first.
    pub(super) heard: Option<usize>,
    pub(super) moments: Vec<Moment>,
    pub(super) tellings: u64,
    /// The round after which each peer knew.
    pub(super) knew: Vec<Option<u64>>,
    pub(super) told: Tellings,
    pub(super) dots: Vec<Dot>,
    pub(super) frames: Vec<Frame>,
}

impl Course {
    /// Runs it. The source is any peer that is not curious; dots are shuffled, since places mean nothing.
    pub(super) fn new(curious: &Curious, rules: Rules, seed: u64) -> Result<Self> {
        let mut layout = Dice::new(seed, 0, 1);
        let honest = curious.honest();
        let source = honest[layout.below(honest.len())];
        // The same dice twice: whom the curious hear first must have a dot.
        let heard = Run::new(curious, rules, source, seed)?.first_heard();
        let dots = dots(curious, source, heard, &mut layout);
        let mut run = Run::new(curious, rules, source, seed)?;
        let frames = run.frames(&dots);
        Ok(Self {
            source,
            heard,
            moments: frames.iter().map(|frame| frame.moment).collect(),
            tellings: run.crowd.tellings(),
            knew: run.knew,
            told: run.told,
            dots,
            frames: thinned(frames),
        })
    }

    /// The dot of a peer.
    pub(super) fn dot(&self, peer: usize) -> Option<usize> {
        self.dots.iter().position(|dot| dot.peer == peer)
    }
}

struct Run<'a> {
    crowd: Crowd<'static>,
    curious: &'a Curious,
    heard: Option<usize>,
    knew: Vec<Option<u64>>,
    told: Tellings,
}

impl<'a> Run<'a> {
    fn new(curious: &'a Curious, rules: Rules, source: usize, seed: u64) -> Result<Self> {
        let everyone = Among::Everyone(curious.peers());
        let mut knew = vec![None; curious.peers()];
        knew[source] = Some(0);
        let crowd = Crowd::new(everyone, rules, source, Dice::new(seed, 0, 0))?;
        Ok(Self { crowd, curious, heard: None, knew, told: Tellings::default() })
    }

    fn is_over(&self) -> bool {
        self.crowd.informed() == self.curious.peers()
    }

    fn round(&mut self) {
        let (curious, heard, knew, mut all) = (self.curious, &mut self.heard, &mut self.knew, Vec::new());
        let round = self.crowd.rounds() + 1;
        self.crowd.round(|told| {
            all.push((told.from, told.to));
            let (from, to) = (told.from as usize, told.to as usize);
            knew[to].get_or_insert(round);
            if heard.is_none() && curious.has(to) && !curious.has(from) {
                *heard = Some(from);
            }
        });
        self.told.push(all, curious);
    }

    fn first_heard(mut self) -> Option<usize> {
        while !self.is_over() && self.heard.is_none() {
            self.round();
        }
        self.heard
    }

    /// The rounds that are kept, the first and the last among them.
    fn frames(&mut self, dots: &[Dot]) -> Vec<Frame> {
        let (mut frames, mut kept) = (Vec::new(), 0);
        loop {
            if self.crowd.rounds() == kept || self.is_over() {
                frames.push(self.frame(dots));
                kept = kept_after(kept);
            }
            if self.is_over() {
                return frames;
            }
            self.round();
        }
    }

    fn frame(&self, dots: &[Dot]) -> Frame {
        let crowd = &self.crowd;
        let moment = Moment { round: crowd.rounds(), informed: crowd.informed(), active: crowd.active() };
        let state = |dot: &Dot| match (crowd.knows(dot.peer), crowd.is_active(dot.peer)) {
            (_, true) => State::Active,
            (true, false) => State::Informed,
            (false, false) => State::Unaware,
        };
        Frame { moment, states: dots.iter().map(state).collect() }
    }
}

/// Peers in random order: all, or as many as are drawn, with the source and whom the curious hear first among them.
pub(super) fn dots(curious: &Curious, source: usize, heard: Option<usize>, dice: &mut Dice) -> Vec<Dot> {
    let mut peers: Vec<usize> = (0..curious.peers()).collect();
    let wanted = peers.len().min(DOTS);
    let mut marked: Vec<usize> = [Some(source), heard].into_iter().flatten().collect();
    marked.dedup();
    marked.iter().enumerate().for_each(|(place, &peer)| {
        let now = peers.iter().position(|&other| other == peer).unwrap_or(place);
        peers.swap(place, now);
    });
    for place in marked.len()..wanted {
        let other = place + dice.below(peers.len() - place);
        peers.swap(place, other);
    }
    peers.truncate(wanted);
    // So that those with marks do not stand at the beginning.
    for place in (1..wanted).rev() {
        peers.swap(place, dice.below(place + 1));
    }
    peers.into_iter().map(|peer| Dot { peer, curious: curious.has(peer) }).collect()
}

/// At most [`FRAMES`] of them, evenly chosen, the first and the last among them.
pub(super) fn thinned(frames: Vec<Frame>) -> Vec<Frame> {
    let (last, step) = (frames.len() - 1, frames.len().div_ceil(FRAMES));
    let keep = |i: usize| i == last || i.is_multiple_of(step) && i + step / 2 <= last;
    frames.into_iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, frame)| frame).collect()
}

/// The round after this one that is kept of a course that may be very long: every one at first, then ever fewer.
pub fn kept_after(round: u64) -> u64 {
    const DENSE: u64 = 400;
    const THIN: u64 = 50;
    if round < DENSE { round + 1 } else { round + round / THIN }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn course(peers: usize, muting: f64) -> Course {
        let curious = Curious::last(peers / 10, peers).unwrap();
        Course::new(&curious, Rules::new(muting).unwrap(), 5).unwrap()
    }

    #[test]
    fn the_first_and_the_last_frame_are_kept_and_everyone_knows_in_the_end() {
        for (peers, muting) in [(60, 0.0), (300, 0.5), (300, 1.0), (2000, 0.3)] {
            let course = course(peers, muting);
            let (first, last) = (course.frames[0].moment, course.frames.last().unwrap().moment);
            assert_eq!((first.round, first.informed, first.active), (0, 1, 1));
            assert_eq!((last.informed, last), (peers, *course.moments.last().unwrap()));
            assert!(course.frames.len() <= FRAMES + 1, "{}", course.frames.len());
            assert!(course.frames.windows(2).all(|pair| pair[0].moment.round < pair[1].moment.round));
        }
    }

    #[test]
    fn source_and_first_heard_have_dots_and_are_not_curious() {
        for peers in [60, 5000] {
            let course = course(peers, 0.4);
            assert_eq!(course.dots.len(), peers.min(DOTS));
            let source = course.dot(course.source).unwrap();
            assert!(!course.dots[source].curious && course.frames[0].states[source] == State::Active);
            assert!(!course.dots[course.dot(course.heard.unwrap()).unwrap()].curious);
            let mut peers: Vec<usize> = course.dots.iter().map(|dot| dot.peer).collect();
            peers.sort_unstable();
            peers.dedup();
            assert_eq!(peers.len(), course.dots.len(), "nobody twice");
        }
    }

    #[test]
    fn few_rounds_of_a_long_course_are_kept() {
        let kept = std::iter::successors(Some(0), |round| Some(kept_after(*round)));
        assert!(kept.take_while(|round| *round < 1_000_000).count() < 900);
    }
}

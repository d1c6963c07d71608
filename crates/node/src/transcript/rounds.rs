//! Whether a peer's records follow the plan of an averaging in strict rounds: each neighbour once a round, in order, nothing before everybody was heard, nothing after the end.

use std::collections::{BTreeMap, BTreeSet};

use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{Note, Plan, Round};

use crate::part::Course;
use crate::{Hash, Receipt, Record};

/// What a message is called.
pub(crate) fn label(bytes: &[u8]) -> Option<Round> {
    exactly(bytes)
}

/// What was noted.
pub(crate) fn note(bytes: &[u8]) -> Option<Note> {
    exactly(bytes)
}

/// All of the bytes, and nothing behind.
fn exactly<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::take_from_bytes(bytes).ok().filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}

/// A note in words.
pub(crate) fn told(note: &Note, names: &[String]) -> String {
    let name = |peer: &Peer| names.get(*peer).cloned().unwrap_or_else(|| format!("number {peer}"));
    match note {
        Note::Finished => "it has its result".to_owned(),
        Note::Silent { round, missing } => {
            let missing: Vec<String> = missing.iter().map(name).collect();
            format!("in round {round} it had not heard {}, and says nothing more", missing.join(", "))
        }
        Note::Stopped(overspent) => format!("nothing was released: {overspent}"),
        Note::Uncovered(uncovered) => format!("it says nothing more: {uncovered}"),
        Note::Refused { from, reason } => format!("a message of {} was refused: {reason}", name(from)),
        Note::Missed { round, from, .. } => format!("in round {round} it went on without {}", name(from)),
    }
}

/// What is known of a peer as one goes through its records.
struct Walk<'a> {
    plans: &'a [Box<dyn Plan>],
    me: Peer,
    /// Whether every message has noise of its own.
    relay: bool,
    names: &'a [String],
    /// Rounds in which this peer is to speak to each, and each to it.
    to: Vec<Vec<usize>>,
    from: Vec<Vec<usize>>,
    /// Rounds in which somebody was heard, and how many of the first ones are complete.
    heard: BTreeSet<(usize, Peer)>,
    complete: usize,
    /// How many messages went to each, and came from each.
    said: BTreeMap<Peer, usize>,
    came: BTreeMap<Peer, usize>,
    released: bool,
    over: bool,
    course: Course,
}

/// Goes through a peer's records.
pub(crate) fn follow(
    plans: &[Box<dyn Plan>],
    me: Peer,
    relay: bool,
    names: &[String],
    records: &[Record],
) -> Course {
    let all = 0..plans.len();
    let mut walk = Walk {
        plans,
        me,
        relay,
        names,
        to: all.clone().map(|peer| planned(plans[me].as_ref(), peer)).collect(),
        from: all.map(|peer| planned(plans[peer].as_ref(), me)).collect(),
        heard: BTreeSet::new(),
        complete: 0,
        said: BTreeMap::new(),
        came: BTreeMap::new(),
        released: false,
        over: false,
        course: Course::default(),
    };
    walk.advance();
    records.iter().for_each(|record| walk.step(record));
    walk.end();
    walk.course
}

/// Rounds in which one peer speaks to another.
fn planned(plan: &dyn Plan, to: Peer) -> Vec<usize> {
    (0..plan.rounds()).filter(|&round| plan.row(round).to.contains(&to)).collect()
}

impl Walk<'_> {
    fn name(&self, peer: Peer) -> &str {
        self.names.get(peer).map_or("somebody unknown", String::as_str)
    }

    fn problem(&mut self, problem: &str) {
        self.course.problems.push(format!("{}: {problem}", self.name(self.me)));
    }

    fn step(&mut self, record: &Record) {
        let notes: Vec<Option<Note>> = record.notes.iter().map(|bytes| note(bytes)).collect();
        let refused = |from: Peer| {
            let is =
                |note: &Option<Note>| matches!(note, Some(Note::Refused { from: by, .. }) if *by == from);
            notes.iter().any(is)
        };
        if let Some(receipt) = &record.heard {
            let counts = !refused(receipt.peer) && !self.over;
            self.hear(receipt, counts);
        }
        self.released |= !record.releases.is_empty();
        if !self.released && !record.said.is_empty() {
            self.problem("it spoke before it had released anything");
        }
        let mut hashes: BTreeMap<usize, Hash> = BTreeMap::new();
        for receipt in &record.said {
            if let Some(round) = self.say(receipt, record)
                && *hashes.entry(round).or_insert(receipt.hash) != receipt.hash
            {
                self.problem(&format!("it said round {round} to several peers in several ways"));
            }
        }
        for note in notes {
            self.heed(note);
        }
    }

    /// A message came: the next one of its sender's plan?
    fn hear(&mut self, receipt: &Receipt, counts: bool) {
        let Receipt { peer, label: bytes, .. } = receipt;
        let place = self.came.entry(*peer).or_insert(0);
        *place += 1;
        let number = *place - 1;
        let planned = self.from.get(*peer).and_then(|rounds| rounds.get(number).copied());
        let round = label(bytes).map(|round| round.0);
        if planned.is_none() || round != planned {
            let from = self.name(*peer).to_owned();
            self.course.problems.push(format!("{from}: {}", unlike("said", number, round, planned)));
        }
        if let Some(round) = round.filter(|_| counts) {
            self.heard.insert((round, *peer));
            self.advance();
        }
    }

    /// Who of a round was not heard.
    fn unheard(&self, round: usize) -> Option<Peer> {
        let row = self.plans[self.me].row(round);
        row.from.iter().map(|(from, _)| *from).find(|from| !self.heard.contains(&(round, *from)))
    }

    /// Rounds are complete as far as everybody was heard.
    fn advance(&mut self) {
        while self.complete < self.plans[self.me].rounds() && self.unheard(self.complete).is_none() {
            self.complete += 1;
        }
    }

    /// A message went: which round it is of, if it is what was planned.
    fn say(&mut self, receipt: &Receipt, record: &Record) -> Option<usize> {
        let Receipt { peer, label: bytes, .. } = receipt;
        let place = self.said.entry(*peer).or_insert(0);
        *place += 1;
        let number = *place - 1;
        if self.over {
            self.problem(&format!(
                "it spoke to {} after it had said that it says nothing more",
                self.name(*peer)
            ));
        }
        let planned = self.to.get(*peer).and_then(|rounds| rounds.get(number).copied());
        let round = label(bytes).map(|round| round.0);
        let (Some(round), true) = (round, planned.is_some() && round == planned) else {
            let to = self.name(*peer).to_owned();
            self.problem(&format!("to {to}: {}", unlike("it said", number, round, planned)));
            return None;
        };
        if let Some(from) = (self.complete < round).then(|| self.unheard(self.complete)).flatten() {
            let (from, before) = (self.name(from).to_owned(), self.complete);
            self.problem(&format!("it said round {round} and had not heard {from} in round {before}"));
        }
        let fresh = round as u64 + 1;
        if self.relay && !record.covered.iter().any(|(draw, _)| *draw == fresh) {
            self.problem(&format!("it said round {round} without the fresh noise that was agreed on"));
        }
        Some(round)
    }

    fn heed(&mut self, note: Option<Note>) {
        let Some(note) = note else {
            return self.problem("it noted what is no note of this protocol");
        };
        let words = format!("{}: {}", self.name(self.me), told(&note, self.names));
        match note {
            Note::Finished => (self.over, self.course.finished) = (true, true),
            Note::Silent { .. } | Note::Stopped(_) | Note::Uncovered(_) => {
                self.over = true;
                self.course.remarks.push(words);
            }
            Note::Refused { .. } => self.course.remarks.push(words),
            Note::Missed { .. } => self.course.problems.push(words),
        }
    }

    /// Who has a result has said and heard everything.
    fn end(&mut self) {
        if !self.course.finished {
            return;
        }
        if let Some(from) =
            (self.complete < self.plans[self.me].rounds()).then(|| self.unheard(self.complete)).flatten()
        {
            let (from, round) = (self.name(from).to_owned(), self.complete);
            self.problem(&format!("it says that it has a result, and had not heard {from} in round {round}"));
        }
        let said = |to: Peer| self.said.get(&to).copied().unwrap_or(0);
        if let Some(to) = (0..self.to.len()).find(|&to| said(to) < self.to[to].len()) {
            let to = self.name(to).to_owned();
            self.problem(&format!("it says that it has a result, and did not say everything to {to}"));
        }
    }
}

/// What was said, and what was planned in its place.
fn unlike(who: &str, number: usize, round: Option<usize>, planned: Option<usize>) -> String {
    let round =
        round.map_or_else(|| "no message of this protocol".to_owned(), |round| format!("round {round}"));
    let planned = planned.map_or_else(|| "nothing".to_owned(), |round| format!("round {round}"));
    format!("{who} {round} as message {number}, where {planned} was planned")
}

//! What is kept of a run: the driver's book, the machine's state, the last mark of each peer, messages, and who has not answered them.
//!
//! All of it is in one table, so that a small step changes few pages: each is a write of its own, and a sync waits for all of them.

use redb::{ReadableTable, Table, TableDefinition};
use sottovoce_protocol::Peer;

use super::{Bytes32, Page, Waiting, decode, encode};
use crate::splice::Spliced;
use crate::{Error, Hash, Mark, Name, Result};

type Place = (Bytes32, u64, u64);

/// By run, kind and number, and what that has several of.
pub(super) const RUNS: TableDefinition<'_, Place, &[u8]> = TableDefinition::new("runs");

const BOOK: u64 = 0;
/// In pieces.
const STATE: u64 = 1 << 56;
/// By peer: its name, its last mark, and how long this ledger was then.
const SEEN: u64 = 2 << 56;
/// By message and peer: its number there, and the mark of the step that said it.
const OUTBOX: u64 = 3 << 56;
/// By number, in pieces.
const MESSAGES: u64 = 4 << 56;

/// Bytes of a piece of something large: a quarter of a mebibyte, with room for what storage adds to it. Space is handed out in powers of two, and half of what a
/// large vector takes would be written for nothing.
const PIECE: usize = (1 << 18) - 256;

/// Reads, from the table of a transaction that reads or writes.
pub(super) trait Runs: ReadableTable<Place, &'static [u8]> {
    /// Runs that something is kept of.
    fn all(&self) -> Result<Vec<Hash>> {
        let mut all = Vec::new();
        let mut next = self.first()?;
        while let Some((place, _)) = next {
            let run = *place.value().0;
            all.push(Hash(run));
            next = self.range((&run, u64::MAX, u64::MAX)..)?.next().transpose()?;
        }
        Ok(all)
    }

    /// The driver's book, if the run has begun.
    fn book(&self, run: Hash) -> Result<Option<Vec<u8>>> {
        Ok(self.get((&run.0, BOOK, 0))?.map(|book| book.value().to_vec()))
    }

    /// The machine's state, as it was; none if it is not whole.
    fn state(&self, run: Hash) -> Result<Option<Vec<u8>>> {
        let Some(stored) = whole(self, run, STATE)? else { return Ok(None) };
        let Some(spliced) = Spliced::from_bytes(&stored) else { return Ok(None) };
        let body = spliced.message().map(|message| whole(self, run, MESSAGES | message)).transpose()?;
        Ok(spliced.whole(body.flatten().as_deref()))
    }

    /// The last mark that was seen of a peer's ledger in a run, and how long this one was then.
    fn seen(&self, run: Hash, name: &Name) -> Result<Option<(Mark, u64)>> {
        for entry in self.range((&run.0, SEEN, 0)..=(&run.0, SEEN, u64::MAX))? {
            let (known, mark, when): (Name, Mark, u64) = decode(entry?.1.value())?;
            if known == *name {
                return Ok(Some((mark, when)));
            }
        }
        Ok(None)
    }

    /// Messages that were not answered, in order: which it is, to whom, its number there, and the mark of the step that said it.
    fn unanswered(&self, run: Hash) -> Result<Vec<(u64, Peer, u64, Mark)>> {
        let mut all = Vec::new();
        for entry in self.range((&run.0, OUTBOX, 0)..(&run.0, MESSAGES, 0))? {
            let (place, value) = entry?;
            let (_, message, peer) = place.value();
            let (number, mark): (u64, Mark) = decode(value.value())?;
            all.push((message - OUTBOX, peer as Peer, number, mark));
        }
        Ok(all)
    }

    /// Messages to a peer that it has not answered, in order.
    fn waiting(&self, run: Hash, to: Peer) -> Result<Vec<Waiting>> {
        let mut all = Vec::new();
        for (message, _, number, mark) in self.unanswered(run)?.into_iter().filter(|one| one.1 == to) {
            let body = whole(self, run, MESSAGES | message)?;
            let body = body.ok_or_else(|| Error::storage("the ledger", "a message is missing"))?;
            all.push(Waiting { number, mark, body });
        }
        Ok(all)
    }

    /// Whether somebody has not answered a message.
    fn is_waited_for(&self, run: Hash, message: u64) -> Result<bool> {
        let place = OUTBOX | message;
        Ok(self.range((&run.0, place, 0)..=(&run.0, place, u64::MAX))?.next().is_some())
    }
}

impl<T: ReadableTable<Place, &'static [u8]> + ?Sized> Runs for T {}

/// All pieces of something, one behind the other; none if there is none.
fn whole<T: ReadableTable<Place, &'static [u8]> + ?Sized>(
    runs: &T,
    run: Hash,
    place: u64,
) -> Result<Option<Vec<u8>>> {
    let mut all: Option<Vec<u8>> = None;
    for piece in runs.range((&run.0, place, 0)..=(&run.0, place, u64::MAX))? {
        all.get_or_insert_default().extend_from_slice(piece?.1.value());
    }
    Ok(all)
}

/// Whether others may follow a piece.
fn is_full(piece: &[u8]) -> bool {
    piece.len() == PIECE
}

/// Changes of one step.
pub(super) struct Step<'a, 'b, 'c> {
    pub(super) runs: Table<'a, Place, &'static [u8]>,
    pub(super) page: &'b Page<'c>,
}

impl Step<'_, '_, '_> {
    /// Stores something in pieces; what was longer before leaves nothing behind.
    fn put(&mut self, place: u64, bytes: &[u8]) -> Result<()> {
        let run = &self.page.run.0;
        let (mut pieces, mut more) = (0, false);
        for piece in bytes.chunks(PIECE).chain(bytes.is_empty().then_some(&[][..])) {
            more = self.runs.insert((run, place, pieces), piece)?.is_some_and(|old| is_full(old.value()));
            pieces += 1;
        }
        if more { self.cut(place, pieces) } else { Ok(()) }
    }

    /// Removes the pieces of something from this one on.
    fn cut(&mut self, place: u64, mut piece: u64) -> Result<()> {
        while self.runs.remove((&self.page.run.0, place, piece))?.is_some_and(|old| is_full(old.value())) {
            piece += 1;
        }
        Ok(())
    }

    /// The book, the state as it is stored, and what was seen of who was heard, when this ledger was so long.
    pub(super) fn keep(&mut self, state: &[u8], count: u64) -> Result<()> {
        let run = &self.page.run.0;
        self.runs.insert((run, BOOK, 0), &self.page.book[..])?;
        if let Some(heard) = &self.page.heard {
            let seen = encode(&(heard.name, heard.mark, count))?;
            self.runs.insert((run, SEEN, heard.from as u64), &seen[..])?;
        }
        let before = self.runs.get((run, STATE, 0))?.and_then(|old| Spliced::refers(old.value()));
        self.put(STATE, state)?;
        before.map_or(Ok(()), |message| self.forget(message, Spliced::refers(state)))
    }

    /// Stores what is to be sent, and forgets what was answered, but for what a state refers to.
    pub(super) fn post(&mut self, mark: Mark, kept: Option<u64>) -> Result<()> {
        let (run, page) = (&self.page.run.0, self.page);
        for said in &page.said {
            self.put(MESSAGES | said.message, &said.body)?;
            for &(peer, number) in &said.to {
                self.runs.insert((run, OUTBOX | said.message, peer as u64), &encode(&(number, mark))?[..])?;
            }
        }
        if page.answered.is_empty() {
            return Ok(());
        }
        let answered = |&(_, peer, number, _): &(u64, Peer, u64, Mark)| {
            page.answered.iter().any(|&(by, upto)| by == peer && number <= upto)
        };
        for (message, peer, ..) in self.runs.unanswered(page.run)?.into_iter().filter(answered) {
            self.runs.remove((run, OUTBOX | message, peer as u64))?;
            self.forget(message, kept)?;
        }
        Ok(())
    }

    /// Forgets a message that a state does not refer to (any more), if all have answered it.
    fn forget(&mut self, message: u64, kept: Option<u64>) -> Result<()> {
        if Some(message) == kept || self.runs.is_waited_for(self.page.run, message)? {
            return Ok(());
        }
        self.cut(MESSAGES | message, 0)
    }
}

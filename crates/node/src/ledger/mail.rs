//! Messages that were said, and who has not answered them.
//!
//! Both are of one run, and what was answered is forgotten.

use redb::{ReadableTable, TableDefinition, WriteTransaction};

use super::{Bytes32, PIECE, Page, Waiting, decode, encode};
use crate::{Error, Hash, Mark, Result};
use sottovoce_protocol::Peer;

/// Of each run: messages, by their number and that of the piece.
pub(super) const MESSAGES: TableDefinition<'_, (Bytes32, u64, u64), &[u8]> = TableDefinition::new("messages");
/// Of each run: who has not answered which message, and its number and mark there.
pub(super) const OUTBOX: TableDefinition<'_, (Bytes32, u64, u64), &[u8]> = TableDefinition::new("outbox");

/// A message of a run, if it is kept.
pub(super) fn message(
    messages: &impl ReadableTable<(Bytes32, u64, u64), &'static [u8]>,
    run: Hash,
    message: u64,
) -> Result<Option<Vec<u8>>> {
    let mut body: Option<Vec<u8>> = None;
    for piece in messages.range((&run.0, message, 0)..=(&run.0, message, u64::MAX))? {
        body.get_or_insert_default().extend_from_slice(piece?.1.value());
    }
    Ok(body)
}

/// Messages of a run that were not answered: to whom, and their numbers.
pub(super) fn unanswered(
    outbox: &impl ReadableTable<(Bytes32, u64, u64), &'static [u8]>,
    run: Hash,
) -> Result<Vec<(Peer, u64)>> {
    let mut all = Vec::new();
    for entry in outbox.range((&run.0, 0, 0)..=(&run.0, u64::MAX, u64::MAX))? {
        let (key, value) = entry?;
        let (number, _): (u64, Mark) = decode(value.value())?;
        all.push((key.value().2 as Peer, number));
    }
    Ok(all)
}

/// Messages to a peer that it has not answered, in order.
pub(super) fn waiting(
    outbox: &impl ReadableTable<(Bytes32, u64, u64), &'static [u8]>,
    messages: &impl ReadableTable<(Bytes32, u64, u64), &'static [u8]>,
    run: Hash,
    to: Peer,
) -> Result<Vec<Waiting>> {
    let mut all = Vec::new();
    for entry in outbox.range((&run.0, 0, 0)..=(&run.0, u64::MAX, u64::MAX))? {
        let (key, value) = entry?;
        let (_, said, peer) = key.value();
        if peer != to as u64 {
            continue;
        }
        let (number, mark): (u64, Mark) = decode(value.value())?;
        let body = message(messages, run, said)?;
        let body = body.ok_or_else(|| Error::storage("the ledger", "a message is missing"))?;
        all.push(Waiting { number, mark, body });
    }
    Ok(all)
}

/// Stores what is to be sent, and forgets what was answered, but for what a state refers to.
pub(super) fn post(write: &WriteTransaction, page: &Page<'_>, mark: Mark, kept: Option<u64>) -> Result<()> {
    let (mut messages, mut outbox) = (write.open_table(MESSAGES)?, write.open_table(OUTBOX)?);
    for said in &page.said {
        // An empty message has a piece, too.
        let pieces = said.body.chunks(PIECE).chain(said.body.is_empty().then_some(&[][..]));
        for (piece, bytes) in (0..).zip(pieces) {
            messages.insert((&page.run.0, said.message, piece), bytes)?;
        }
        for &(peer, number) in &said.to {
            outbox.insert((&page.run.0, said.message, peer as u64), &encode(&(number, mark))?[..])?;
        }
    }
    let mut done = Vec::new();
    for &(peer, upto) in &page.answered {
        for entry in outbox.range((&page.run.0, 0, 0)..=(&page.run.0, u64::MAX, u64::MAX))? {
            let (key, value) = entry?;
            let (_, message, to) = key.value();
            let (number, _): (u64, Mark) = decode(value.value())?;
            if to == peer as u64 && number <= upto {
                done.push((message, to));
            }
        }
    }
    for &(message, to) in &done {
        outbox.remove((&page.run.0, message, to))?;
    }
    drop((messages, outbox));
    done.into_iter().try_for_each(|(message, _)| forget(write, page.run, Some(message), kept))
}

/// Forgets a message that a state does not refer to (any more), if all have answered it.
pub(super) fn forget(
    write: &WriteTransaction,
    run: Hash,
    before: Option<u64>,
    kept: Option<u64>,
) -> Result<()> {
    let Some(message) = before.filter(|_| before != kept) else { return Ok(()) };
    let outbox = write.open_table(OUTBOX)?;
    if outbox.range((&run.0, message, 0)..=(&run.0, message, u64::MAX))?.next().is_none() {
        let mut messages = write.open_table(MESSAGES)?;
        messages.retain_in((&run.0, message, 0)..=(&run.0, message, u64::MAX), |_, _| false)?;
    }
    Ok(())
}

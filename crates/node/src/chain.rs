//! A ledger's records: each names the one before it, and its owner signs it.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::{Peer, Release};

use crate::{Cost, Error, Hash, Key, Name, Result};

/// A record of a ledger as its owner shows it to others: a salted hash, signed. It says nothing of what is in the record, nor of how many there are, and nobody else
/// can make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The record.
    pub hash: Hash,
    /// Its owner's signature, in two halves.
    signature: ([u8; 32], [u8; 32]),
}

impl Mark {
    fn text(hash: Hash) -> [u8; 32] {
        Hash::labelled("sottovoce mark", &[&hash.0]).0
    }

    /// Of this record.
    pub(crate) fn of(key: &Key, hash: Hash) -> Self {
        Self { hash, signature: halves(&key.sign(&Self::text(hash))) }
    }

    /// Whether this peer made it.
    pub fn is_of(&self, owner: &Name) -> bool {
        owner.signed(&Self::text(self.hash), &whole(&self.signature))
    }
}

fn halves(signature: &[u8; 64]) -> ([u8; 32], [u8; 32]) {
    let (mut first, mut second) = ([0; 32], [0; 32]);
    first.copy_from_slice(&signature[..32]);
    second.copy_from_slice(&signature[32..]);
    (first, second)
}

fn whole((first, second): &([u8; 32], [u8; 32])) -> [u8; 64] {
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(first);
    signature[32..].copy_from_slice(second);
    signature
}

/// How far a ledger has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Head {
    /// How many records there are.
    pub count: u64,
    /// The hash of the last; zeros if there is none.
    pub hash: Hash,
}

/// A message, without what it says: at its sender's and at its receiver's it is the same, but for whose the other is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The other one.
    pub peer: Peer,
    /// Its number among all messages between the two, in this direction.
    pub number: u64,
    /// What it is called in a transcript, as bytes.
    pub label: Vec<u8>,
    /// The hash of what it says.
    pub hash: Hash,
}

/// One step of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The records before it.
    pub before: Head,
    /// Random: marks are shown to others, who must not be able to guess what is in a record.
    pub salt: [u8; 32],
    /// The run: the hash of what was agreed on.
    pub run: Hash,
    /// The data set ...
    pub label: String,
    /// ... and its file.
    pub data: Hash,
    /// What was debited.
    pub cost: Option<Cost>,
    /// What was released.
    pub releases: Vec<Release>,
    /// Numbers of the draws, and the hashes of what they hide.
    pub covered: Vec<(u64, Hash)>,
    /// The message that was heard, from whom.
    pub heard: Option<Receipt>,
    /// Messages, and to whom.
    pub said: Vec<Receipt>,
    /// What the machine noted, as bytes: never a value.
    pub notes: Vec<Vec<u8>>,
    /// The machine's state.
    pub state: Hash,
}

/// A record as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signed {
    /// The record.
    pub bytes: Vec<u8>,
    /// Its owner's signature, in two halves.
    signature: ([u8; 32], [u8; 32]),
}

impl Record {
    /// The record as it is kept, and the head after it.
    pub(crate) fn sign(&self, key: &Key) -> Result<(Signed, Head)> {
        let bytes = postcard::to_stdvec(self)?;
        let signature = halves(&key.sign(&bytes));
        let head = Head { count: self.before.count + 1, hash: Hash::of(&bytes) };
        Ok((Signed { bytes, signature }, head))
    }
}

impl Signed {
    /// The record, if this peer signed it.
    pub fn open(&self, owner: &Name) -> Result<Record> {
        if !owner.signed(&self.bytes, &whole(&self.signature)) {
            return Err(Error::storage("the ledger", "a record was not signed by its owner"));
        }
        Ok(postcard::from_bytes(&self.bytes)?)
    }

    /// The head after it, where so many went before.
    pub(crate) fn head(&self, before: u64) -> Head {
        Head { count: before + 1, hash: Hash::of(&self.bytes) }
    }
}

//! A ledger's records: each names the one before it, and its owner signs it.

use serde::{Deserialize, Serialize};
use sottovoce_protocol::{Peer, Release};

use crate::{Cost, Error, Hash, Key, Name, Result};

/// How far a ledger has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Head {
    /// How many records there are.
    pub count: u64,
    /// The hash of the last; zeros if there is none.
    pub hash: Hash,
}

/// One step of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The records before it.
    pub before: Head,
    /// Random: heads are shown to others, who must not be able to guess what is in a record.
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
    /// The message that was heard: its sender, its number and its hash.
    pub heard: Option<(Peer, u64, Hash)>,
    /// Messages: receiver, number, hash.
    pub said: Vec<(Peer, u64, Hash)>,
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
        let signature = key.sign(&bytes);
        let (mut first, mut second) = ([0; 32], [0; 32]);
        first.copy_from_slice(&signature[..32]);
        second.copy_from_slice(&signature[32..]);
        let head = Head { count: self.before.count + 1, hash: Hash::of(&bytes) };
        Ok((Signed { bytes, signature: (first, second) }, head))
    }
}

impl Signed {
    /// The record, if this peer signed it.
    pub fn open(&self, owner: &Name) -> Result<Record> {
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&self.signature.0);
        signature[32..].copy_from_slice(&self.signature.1);
        if !owner.signed(&self.bytes, &signature) {
            return Err(Error::storage("the ledger", "a record was not signed by its owner"));
        }
        Ok(postcard::from_bytes(&self.bytes)?)
    }

    /// The head after it, where so many went before.
    pub(crate) fn head(&self, before: u64) -> Head {
        Head { count: before + 1, hash: Hash::of(&self.bytes) }
    }
}

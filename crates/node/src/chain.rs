//! A ledger's records: each names the one before it, and its owner signs it.
//!
//! A record can be shown to others. Of what is private it holds sealed hashes, which only its owner can make again: who guesses a value, or a file, cannot see whether the guess
//! is right. A record of another run is shown as a [`Link`]: whose turn it is in the chain, and nothing of what is in it.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Unit;
use sottovoce_protocol::{Peer, Release};

use crate::{Allowed, Before, Cost, Error, Hash, Key, Name, Notice, Observer, Result};

/// A signature in two halves.
type Halves = ([u8; 32], [u8; 32]);

/// A record of a ledger as its owner shows it to others: a salted hash, signed. It says nothing of what is in the record, nor of how many there are, and nobody else
/// can make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The record.
    pub hash: Hash,
    /// Its owner's signature.
    signature: Halves,
}

impl Mark {
    /// Of a record with this hash.
    pub(crate) fn of(key: &Key, hash: Hash) -> Self {
        Self { hash, signature: halves(&key.sign(&hash.0)) }
    }

    /// Whether this peer made it.
    pub fn is_of(&self, owner: &Name) -> bool {
        owner.signed(&self.hash.0, &whole(&self.signature))
    }
}

fn halves(signature: &[u8; 64]) -> Halves {
    let (mut first, mut second) = ([0; 32], [0; 32]);
    first.copy_from_slice(&signature[..32]);
    second.copy_from_slice(&signature[32..]);
    (first, second)
}

fn whole((first, second): &Halves) -> [u8; 64] {
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
    /// The hash of what it says, and of random bytes that are sent with it: both ends know them, and nobody else can try what it may have said.
    pub hash: Hash,
    /// Of a message that was heard, the sender's record that says it: who sent it cannot write another one afterwards.
    pub mark: Option<Hash>,
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
    /// ... and its file, sealed.
    pub data: Hash,
    /// What was debited.
    pub cost: Option<Cost>,
    /// What was released.
    pub releases: Vec<Release>,
    /// Numbers of the draws, and what noise made of the values, sealed.
    pub covered: Vec<(u64, Hash)>,
    /// The message that was heard, from whom.
    pub heard: Option<Receipt>,
    /// Messages, and to whom.
    pub said: Vec<Receipt>,
    /// What the machine noted, as bytes: never a value.
    pub notes: Vec<Vec<u8>>,
    /// The machine's state, sealed.
    pub state: Hash,
}

/// What its owner writes into a ledger between runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Entry {
    /// A budget of which nothing was spent.
    Declared { label: String, observer: Observer, allowed: Allowed },
    /// A budget of which something was spent before this ledger began.
    Begun { label: String, observer: Observer, allowed: Allowed, spent: Before },
    /// A file that a data set holds.
    Held { label: String, file: Hash },
    /// What prices of a data set are of.
    Priced { label: String, unit: Unit },
    /// No data sets but those that are known by now are used.
    Closed,
    /// Others have seen more of this ledger than it holds.
    Doubted(String),
    /// Who was silent in a run, as somebody has signed it.
    Silent { run: Hash, notice: Notice },
}

/// A record of an entry. It belongs to no run, and nobody else is shown more of it than its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Own {
    /// The records before it.
    pub(crate) before: Head,
    pub(crate) salt: [u8; 32],
    pub(crate) entry: Entry,
}

/// The run of records that belong to none.
pub(crate) const NO_RUN: Hash = Hash([0; 32]);

/// A record's place in the chain, and its owner's word for it. It says which run a record belongs to, and nothing of what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The records before it.
    pub before: Head,
    /// The run.
    pub run: Hash,
    /// The hash of the record's bytes.
    pub rest: Hash,
    /// Its owner's signature.
    signature: Halves,
}

impl Link {
    fn text(before: Head, run: Hash, rest: Hash) -> Hash {
        let count = before.count.to_le_bytes();
        Hash::labelled("sottovoce record", &[&count, &before.hash.0, &run.0, &rest.0])
    }

    /// The head after it.
    pub fn head(&self) -> Head {
        let Self { before, run, rest, .. } = *self;
        Head { count: before.count.saturating_add(1), hash: Self::text(before, run, rest) }
    }

    /// What others are shown of it: its hash, and its owner's signature.
    pub fn mark(&self) -> Mark {
        Mark { hash: self.head().hash, signature: self.signature }
    }

    /// Whether this peer signed it.
    pub fn is_of(&self, owner: &Name) -> bool {
        self.mark().is_of(owner)
    }
}

/// A record as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signed {
    /// Its place in the chain.
    pub link: Link,
    /// The record.
    pub bytes: Vec<u8>,
}

/// A record as others are shown it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Shown {
    /// All of it.
    Whole(Signed),
    /// Its place in the chain alone: it belongs to another run.
    Withheld(Link),
}

impl Shown {
    /// Its place in the chain.
    pub fn link(&self) -> &Link {
        match self {
            Self::Whole(signed) => &signed.link,
            Self::Withheld(link) => link,
        }
    }
}

/// The hash of something private, as a record holds it: who does not know `blind` learns nothing from it.
pub(crate) fn sealed(blind: Hash, what: &str, bytes: &[u8]) -> Hash {
    Hash::labelled("sottovoce sealed", &[&blind.0, what.as_bytes(), bytes])
}

/// What a draw's value is sealed as.
pub(crate) fn of_draw(draw: u64) -> String {
    format!("draw {draw}")
}

impl Record {
    /// The record as it is kept.
    pub(crate) fn sign(&self, key: &Key) -> Result<Signed> {
        Ok(Signed::new(key, self.before, self.run, postcard::to_stdvec(self)?))
    }

    /// Whether noise made this, as bytes, of the value at this draw: its owner knows, and who is shown its key.
    pub fn covers(&self, owner: &Key, draw: u64, bytes: &[u8]) -> bool {
        let known = sealed(owner.blind(&self.salt), &of_draw(draw), bytes);
        self.covered.contains(&(draw, known))
    }
}

impl Own {
    /// The record as it is kept.
    pub(crate) fn sign(&self, key: &Key) -> Result<Signed> {
        Ok(Signed::new(key, self.before, NO_RUN, postcard::to_stdvec(self)?))
    }
}

/// What a record holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// A step of a run.
    Step(Box<Record>),
    /// An entry between runs.
    Entry(Box<Entry>),
}

impl Signed {
    fn new(key: &Key, before: Head, run: Hash, bytes: Vec<u8>) -> Self {
        let rest = Hash::of(&bytes);
        let signature = halves(&key.sign(&Link::text(before, run, rest).0));
        Self { link: Link { before, run, rest, signature }, bytes }
    }

    /// The record, if this peer signed it.
    pub fn open(&self, owner: &Name) -> Result<Record> {
        if !self.link.is_of(owner) {
            return Err(Error::storage("the ledger", "a record was not signed by its owner"));
        }
        match self.content()? {
            Content::Step(record) => Ok(*record),
            Content::Entry(_) => Err(Error::storage("the ledger", "a record belongs to no run")),
        }
    }

    /// What it holds, if that is what its link says; whether its owner signed the link is another matter.
    pub(crate) fn content(&self) -> Result<Content> {
        let wrong = |cause: &str| Error::storage("the ledger", cause);
        if self.link.rest != Hash::of(&self.bytes) {
            return Err(wrong("a record is not what its owner signed"));
        }
        let (before, content) = match self.link.run {
            NO_RUN => {
                let own: Own = postcard::from_bytes(&self.bytes)?;
                (own.before, Content::Entry(Box::new(own.entry)))
            }
            run => {
                let record: Record = postcard::from_bytes(&self.bytes)?;
                if record.run != run {
                    return Err(wrong("a record is of another run"));
                }
                (record.before, Content::Step(Box::new(record)))
            }
        };
        if before != self.link.before {
            return Err(wrong("a record is not where its owner signed it"));
        }
        Ok(content)
    }
}

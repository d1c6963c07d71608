//! A peer's own record of one run as a file that others can judge: what it revealed, and whether it did what was agreed on.
//!
//! ```text
//! node transcript ──► file: agreement with all signatures, the signed chain, budgets ──► account transcript: what it revealed to whom
//!                                                                                    └──► audit transcript:   did it do what was agreed? do several peers' files fit together?
//! ```
//!
//! **What is in it.** What was agreed on, releases, prices, and of every message its number, its label and a salted hash; the data set's label; the keys of all observers for whom
//! there is a budget, those of other runs too. No value, no noise, no hash that a guess could be tried on (`chain.rs`). Of other runs' records in between, the links alone.
//!
//! **What it proves.** Its owner says so, and cannot say otherwise to somebody else: everything is signed. That nothing was done besides, a file alone does not prove; its
//! neighbours' files do, as far as they heard it.

mod judge;
mod pairs;
pub(crate) mod rounds;
mod told;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sottovoce_protocol::Peer;

pub use judge::{Judged, Learnt};
pub use pairs::{Together, together};
pub use told::{Debited, Step, Summary, Told};

use crate::error::require;
use crate::hash::{from_hex, to_hex};
use crate::{
    Agreement, Allowed, Error, Hash, Key, Ledger, Name, Observer, Record, Result, Shown, Signatures,
};

const SCHEMA_VERSION: u32 = 1;
/// Bytes of the longest file.
const MOST: u64 = 1 << 33;

/// A peer's record of a run, as a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    schema_version: u32,
    /// The program's version.
    version: String,
    /// Whose it is, by name: a file that has this is a node's.
    node: String,
    peer: Peer,
    key: String,
    /// What was agreed on, as it is hashed and signed.
    agreement: String,
    /// Everybody's signature, by key.
    signatures: BTreeMap<String, String>,
    /// Budgets that the run was paid from.
    budgets: Vec<Budgeted>,
    /// Whether others have seen more of the ledger than it holds.
    doubted: bool,
    /// Records, as bytes.
    records: Vec<String>,
    /// The same for people.
    summary: Summary,
    /// Its owner's signature of everything else.
    signature: String,
}

/// A budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Budgeted {
    /// The keys of the observer: none is someone who sees every message.
    observer: Vec<String>,
    epsilon: f64,
    delta: f64,
    chances: f64,
}

impl Budgeted {
    fn new(observer: &Observer, allowed: Allowed) -> Self {
        let Allowed { epsilon, delta, chances } = allowed;
        Self { observer: observer.keys(), epsilon, delta, chances }
    }

    fn read(&self) -> Result<(Observer, Allowed)> {
        let Self { observer, epsilon, delta, chances } = self;
        let allowed = Allowed { epsilon: *epsilon, delta: *delta, chances: *chances };
        Ok((Observer::of_keys(observer)?, allowed))
    }
}

/// A file that was read, and everything in it.
#[derive(Debug, Clone)]
pub struct Read {
    /// What was agreed on.
    pub agreement: Agreement,
    /// Whose it is.
    pub peer: Peer,
    owner: Name,
    signatures: Vec<(Name, [u8; 64])>,
    budgets: Vec<(Observer, Allowed)>,
    doubted: bool,
    shown: Vec<Shown>,
    /// Its records of the run.
    records: Vec<Record>,
}

impl Transcript {
    /// Of a run that something is stored of.
    pub fn of(ledger: &Ledger, agreement: &Agreement, signatures: &Signatures) -> Result<Self> {
        let (run, owner) = (agreement.hash()?, ledger.name());
        let missing = agreement.unsigned(&signatures.all())?;
        if !missing.is_empty() {
            let all = missing.join(", ");
            let why = format!("{all} has not signed agreement {run:?}: give all signatures");
            return Err(Error::disagreement(why, &missing));
        }
        let remedy = "this node's key is not among its peers";
        let peer = agreement.roster()?.iter().position(|key| *key == owner);
        let peer = peer.ok_or_else(|| Error::parameter("agreement", &agreement.name, remedy))?;
        agreement.role(peer)?.may_be_shown()?;
        let records = ledger.records(run)?;
        let remedy = "nothing is stored of it; give the agreement of a run that was begun";
        require(!records.is_empty(), "agreement", &agreement.name, remedy)?;
        let key = |by: &Name| signatures.signed.get_key_value(&by.to_string());
        let signed =
            agreement.roster()?.iter().filter_map(key).map(|(by, text)| (by.clone(), text.clone())).collect();
        let paid = |observer: &Observer| {
            let costs = records.iter().filter_map(|record| record.cost.as_ref());
            costs.flat_map(|cost| &cost.prices).any(|(priced, _)| priced == observer)
        };
        let label = &records[0].label;
        let budgets = ledger.budgets()?.into_iter().filter(|one| one.label == *label && paid(&one.observer));
        let bytes = |shown: &Shown| Ok(to_hex(&postcard::to_stdvec(shown)?));
        let file = Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            node: agreement.peers[peer].name.clone(),
            peer,
            key: owner.to_string(),
            agreement: agreement.canonical()?,
            signatures: signed,
            budgets: budgets.map(|one| Budgeted::new(&one.observer, one.allowed)).collect(),
            doubted: ledger.doubted().is_some(),
            records: ledger.shown(run)?.iter().map(bytes).collect::<Result<_>>()?,
            summary: Summary::of(agreement, agreement.role(peer)?.as_ref(), &records)?,
            signature: String::new(),
        };
        file.sign(ledger.key())
    }

    fn sign(mut self, key: &Key) -> Result<Self> {
        self.signature = to_hex(&key.sign(&self.text()?.0));
        Ok(self)
    }

    /// What is signed: everything but the signature.
    fn text(&self) -> Result<Hash> {
        let unsigned = Self { signature: String::new(), ..self.clone() };
        let text =
            serde_json::to_vec(&unsigned).map_err(|problem| Error::storage("the transcript", problem))?;
        Ok(Hash::labelled("sottovoce transcript", &[&text]))
    }

    /// As the bytes of a file.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|problem| Error::storage("the transcript", problem))?;
        text.push(b'\n');
        Ok(text)
    }

    /// What people call its owner.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The same for people.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Reads a file, if it is what its owner signed.
    pub fn read(path: &Path) -> Result<Read> {
        let text = sottovoce_fault::file::read("transcript", path, MOST)?;
        Self::parse(&text).map_err(|problem| match problem {
            Error::Parameter(fault) if fault.field == "transcript" => Error::parameter(
                "transcript",
                path.display(),
                format!("it is {}; {}", fault.value, fault.remedy),
            ),
            other => Error::parameter("transcript", path.display(), other.to_string()),
        })
    }

    /// The same of the bytes of a file.
    pub fn parse(text: &[u8]) -> Result<Read> {
        let refused = |what: &str| Error::parameter("transcript", what, "ask its owner for it again");
        let file: Self = serde_json::from_slice(text).map_err(|problem| {
            Error::parameter("transcript", "no transcript of a node", problem.to_string())
        })?;
        let remedy = format!("this program reads version {SCHEMA_VERSION}");
        require(file.schema_version == SCHEMA_VERSION, "schema_version", file.schema_version, remedy)?;
        let owner: Name = file.key.parse()?;
        let signature = from_hex(&file.signature).and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
        let text = file.text()?;
        if !signature.is_some_and(|signature| owner.signed(&text.0, &signature)) {
            return Err(refused("not what its owner signed"));
        }
        let agreement = Agreement::parse(&file.agreement)?;
        if agreement.canonical()? != file.agreement {
            return Err(refused("with an agreement that is not as it is signed"));
        }
        let member = agreement.peers.get(file.peer).filter(|member| member.name == file.node);
        if member.is_none() || agreement.roster()?[file.peer] != owner {
            return Err(refused("of a key that is not that of its peer"));
        }
        let shown = |hex: &String| {
            let bytes = from_hex(hex).ok_or_else(|| refused("with a record that is none"))?;
            match postcard::take_from_bytes::<Shown>(&bytes) {
                Ok((shown, [])) => Ok(shown),
                _ => Err(refused("with a record that is none")),
            }
        };
        let shown = file.records.iter().map(shown).collect::<Result<Vec<_>>>()?;
        let mut records = Vec::new();
        for one in &shown {
            if let Shown::Whole(signed) = one {
                let record = postcard::from_bytes::<Record>(&signed.bytes);
                records.push(record.map_err(|_| refused("with a record that is none"))?);
            }
        }
        let role = agreement.role(file.peer)?;
        if Summary::of(&agreement, role.as_ref(), &records)? != file.summary {
            return Err(refused("with a summary that is not what its records say"));
        }
        Ok(Read {
            agreement,
            peer: file.peer,
            owner,
            signatures: Signatures { signed: file.signatures }.all(),
            budgets: file.budgets.iter().map(Budgeted::read).collect::<Result<_>>()?,
            doubted: file.doubted,
            shown,
            records,
        })
    }
}

#[cfg(test)]
mod tests;

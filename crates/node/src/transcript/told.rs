//! Records in words and numbers that people can read. Nothing is computed: it is what the records hold.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::Loss;
use sottovoce_protocol::Release;

use crate::part::Role;
use crate::{Agreement, Receipt, Record, Result};

/// What a peer's records say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Names the agreement.
    pub agreement: String,
    /// What was run, in a few words.
    pub called: String,
    /// The data set, as its owner calls it.
    pub label: String,
    /// Every step.
    pub steps: Vec<Step>,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its number in the ledger.
    pub record: u64,
    /// What was debited, towards whom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub debited: Vec<Debited>,
    /// What was released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<Release>,
    /// Numbers of draws of noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<u64>,
    /// A message that was heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Told>,
    /// Messages that were said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Told>,
    /// What was noted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Debited {
    /// Towards whom.
    pub observer: String,
    /// In concentrated terms, where it is stated so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// A delta beside it.
    pub delta: f64,
}

/// A message, without what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// The other one.
    pub peer: String,
    /// Its number between the two.
    pub number: u64,
    /// What it is called.
    pub label: String,
    /// The hash of what it says, with its salt.
    pub hash: String,
}

impl Summary {
    pub(super) fn of(agreement: &Agreement, role: &dyn Role, records: &[Record]) -> Result<Self> {
        let words = Words { role, names: agreement.names(), agreement };
        Ok(Self {
            agreement: agreement.hash()?.to_string(),
            called: role.called(),
            label: records.first().map_or_else(String::new, |record| record.label.clone()),
            steps: records.iter().map(|record| words.step(record)).collect::<Result<_>>()?,
        })
    }
}

struct Words<'a> {
    role: &'a dyn Role,
    names: Vec<String>,
    agreement: &'a Agreement,
}

impl Words<'_> {
    fn step(&self, record: &Record) -> Result<Step> {
        let roster = self.agreement.roster()?;
        let debited = record.cost.iter().flat_map(|cost| &cost.prices).map(|(observer, price)| Debited {
            observer: observer.called(&roster, &self.names),
            rho: price
                .loss
                .as_ref()
                .and_then(|loss| if let Loss::Zcdp(rho) = loss { Some(*rho) } else { None }),
            delta: price.delta,
        });
        let unknown = || "nothing that this program knows".to_owned();
        let note = |bytes: &Vec<u8>| self.role.note(bytes, &self.names).unwrap_or_else(unknown);
        Ok(Step {
            record: record.before.count,
            debited: debited.collect(),
            released: record.releases.clone(),
            draws: record.covered.iter().map(|(draw, _)| *draw).collect(),
            heard: record.heard.as_ref().map(|receipt| self.told(receipt)),
            said: record.said.iter().map(|receipt| self.told(receipt)).collect(),
            notes: record.notes.iter().map(note).collect(),
        })
    }

    fn told(&self, receipt: &Receipt) -> Told {
        let unknown = || "nothing that this program knows".to_owned();
        Told {
            peer: self.names.get(receipt.peer).cloned().unwrap_or_else(|| format!("number {}", receipt.peer)),
            number: receipt.number,
            label: self.role.label(&receipt.label).unwrap_or_else(unknown),
            hash: receipt.hash.to_string(),
        }
    }
}

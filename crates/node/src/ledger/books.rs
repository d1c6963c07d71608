//! What the chain comes to: budgets and what was spent of them, files, units. Nothing of it is stored beside the chain, so nothing can differ from it.

use std::collections::BTreeMap;

use sottovoce_privacy::{Adjacency, Unit};

use super::Standing;
use crate::account::Account;
use crate::chain::Entry;
use crate::{Allowed, Cost, Error, Hash, Notice, Observer, Record, Result, Set};

/// The sum of all records of a chain.
#[derive(Debug, Clone, Default)]
pub(super) struct Books {
    accounts: BTreeMap<(String, Observer), Account>,
    /// Which data set a file belongs to.
    files: BTreeMap<Hash, String>,
    /// What prices of a data set are of.
    units: BTreeMap<String, Unit>,
    adjacency: Option<Adjacency>,
    /// Whether data sets that are not known yet may not be used.
    closed: bool,
    doubted: Option<String>,
    /// Who was silent, by run.
    silent: BTreeMap<Hash, Vec<Notice>>,
}

impl Books {
    /// What an owner writes down between runs. False where it is known already.
    pub(super) fn enter(&mut self, entry: &Entry) -> Result<bool> {
        match entry {
            Entry::Declared { label, observer, allowed } => self.declare(label, observer, *allowed),
            Entry::Begun { label, observer, allowed, spent } => {
                let remedy = "it is known here already, and nothing is declared twice";
                let place = (label.clone(), observer.clone());
                let value = format_args!("`{label}` towards {observer}");
                crate::error::require(!self.accounts.contains_key(&place), "budget", value, remedy)?;
                self.accounts.insert(place, Account::begun(*allowed, *spent)?);
                Ok(true)
            }
            Entry::Held { label, file } => match self.files.get(file) {
                Some(other) if other != label => {
                    let remedy =
                        format!("the same file is data set `{other}`, and so is its budget; use that label");
                    Err(Error::parameter("data", label, remedy))
                }
                Some(_) => Ok(false),
                None => {
                    self.files.insert(*file, label.clone());
                    Ok(true)
                }
            },
            Entry::Priced { label, unit } => {
                let before = self.units.get(label).copied();
                self.one_unit(label, *unit)?;
                Ok(before != self.units.get(label).copied())
            }
            Entry::Closed => Ok(!std::mem::replace(&mut self.closed, true)),
            Entry::Doubted(why) => {
                self.doubted.get_or_insert_with(|| why.clone());
                Ok(true)
            }
            Entry::Silent { run, notice } => {
                let known = self.silent.entry(*run).or_default();
                let new = !known.contains(notice);
                known.extend(new.then(|| notice.clone()));
                Ok(new)
            }
        }
    }

    /// Which data set something is held as.
    pub(super) fn holder(&self, file: Hash) -> Option<&str> {
        self.files.get(&file).map(String::as_str)
    }

    pub(super) fn doubted(&self) -> Option<&str> {
        self.doubted.as_deref()
    }

    /// Who was silent in a run, as it was signed.
    pub(super) fn silent(&self, run: Hash) -> Vec<Notice> {
        self.silent.get(&run).cloned().unwrap_or_default()
    }

    /// A budget that is declared: one that is known stays what it is, and nobody begins at nothing who may have heard something.
    fn declare(&mut self, label: &str, observer: &Observer, allowed: Allowed) -> Result<bool> {
        let place = (label.to_owned(), observer.clone());
        match self.accounts.get(&place) {
            Some(known) if known.allowed != allowed => {
                let (new, old) = allowed.against(&known.allowed);
                let value = format!("{new} towards {observer}");
                let remedy =
                    format!("data set `{label}` has {old} there, and a budget is declared once; keep it");
                return Err(Error::parameter("budget", value, remedy));
            }
            Some(_) => return Ok(false),
            None => {}
        }
        // What it learnt together in earlier runs is not known: nobody may begin at nothing who heard something.
        if matches!(observer, Observer::Coalition(_))
            && self.of(label).any(|(_, one)| one.spent() != (0.0, 0.0))
        {
            let remedy = format!(
                "data set `{label}` was used before this coalition was named, and what it learnt together until then is not known; leave it out"
            );
            return Err(Error::parameter("coalitions", observer, remedy));
        }
        if self.closed {
            let value = format!("`{label}` towards {observer}");
            let remedy = "this ledger took up one that had forgotten something, and nobody knows whether this was among it: what was spent counts as all";
            return Err(Error::parameter("budget", value, remedy));
        }
        self.accounts.insert(place, Account::new(allowed)?);
        Ok(true)
    }

    /// The budgets of a data set.
    fn of(&self, label: &str) -> impl Iterator<Item = (&Observer, &Account)> {
        let label = label.to_owned();
        self.accounts.iter().filter(move |((of, _), _)| *of == label).map(|((_, who), one)| (who, one))
    }

    /// Debits a cost: towards everybody whom a budget is declared for, and nobody else. All of it or, where an error is returned, some of it: use a copy.
    pub(super) fn debit(&mut self, label: &str, cost: &Cost) -> Result<()> {
        match self.adjacency {
            Some(known) if known != cost.adjacency => {
                let remedy = format!("this ledger's prices are stated under {known}; state these so, too");
                return Err(Error::parameter("adjacency", cost.adjacency, remedy));
            }
            _ => self.adjacency = Some(cost.adjacency),
        }
        self.one_unit(label, cost.unit)?;
        let remedy =
            format!("declare what data set `{label}` may cost towards someone who sees every message");
        let tapper = (label.to_owned(), Observer::WireTapper);
        crate::error::require(
            self.accounts.contains_key(&tapper),
            "budget",
            "none towards the wire-tapper",
            remedy,
        )?;
        for (observer, _) in self.of(label) {
            let priced = cost.prices.iter().any(|(priced, _)| priced == observer);
            let value = format_args!("none towards {observer}");
            crate::error::require(priced, "prices", value, "every declared observer needs a price")?;
        }
        for (observer, price) in &cost.prices {
            let Some(account) = self.accounts.get_mut(&(label.to_owned(), observer.clone())) else {
                let remedy = format!("declare what data set `{label}` may cost towards {observer}");
                return Err(Error::parameter("budget", "none", remedy));
            };
            account.spend(price).map_err(|(asked, left)| Error::Overspent {
                observer: observer.clone(),
                who: observer.to_string(),
                label: label.to_owned(),
                asked,
                left,
            })?;
        }
        Ok(())
    }

    /// Debits what a step of the chain cost. What was admitted once counts in full, and more than a budget as all of it.
    pub(super) fn settle(&mut self, record: &Record) -> Result<()> {
        let Some(cost) = &record.cost else { return Ok(()) };
        let mut paid = self.clone();
        match paid.debit(&record.label, cost) {
            Ok(()) => *self = paid,
            Err(_) => {
                let label = &record.label;
                let of = self.accounts.iter_mut().filter(|((known, _), _)| known == label);
                of.map(|(_, account)| account).try_for_each(Account::exhaust)?;
            }
        }
        Ok(())
    }

    /// All prices of a data set speak of all of it, or all of one row. A price of all of it bounds that of a row, and never the other way round.
    fn one_unit(&mut self, label: &str, unit: Unit) -> Result<()> {
        match (self.units.get(label), unit) {
            (None, Unit::User | Unit::Record) => drop(self.units.insert(label.to_owned(), unit)),
            (Some(Unit::User), Unit::User) | (Some(Unit::Record), Unit::User | Unit::Record) => {}
            (_, unit) => {
                let remedy = format!(
                    "what was spent of data set `{label}` is stated of all that it holds, and a price of one row is none of that; keep rows that are priced one by one in a data set of their own"
                );
                return Err(Error::parameter("unit", format!("{unit:?}"), remedy));
            }
        }
        Ok(())
    }

    /// Every budget that was declared, and what was spent of it.
    pub(super) fn standings(&self) -> Vec<Standing> {
        let standing = |((label, observer), account): (&(String, Observer), &Account)| {
            let (loss, chances) = account.spent();
            Standing {
                label: label.clone(),
                observer: observer.clone(),
                allowed: account.allowed,
                epsilon: account.epsilon(),
                used: account.used(),
                loss,
                chances,
                unit: self.units.get(label).copied(),
            }
        };
        self.accounts.iter().map(standing).collect()
    }

    /// Every data set, what its prices are of, and which files were ever held as it.
    pub(super) fn sets(&self) -> Vec<Set> {
        let mut all: BTreeMap<&String, Vec<String>> = BTreeMap::new();
        for (label, _) in self.accounts.keys() {
            all.entry(label).or_default();
        }
        for (file, label) in &self.files {
            all.entry(label).or_default().push(file.to_string());
        }
        let set = |(label, files): (&String, _)| Set {
            label: label.clone(),
            unit: self.units.get(label).copied(),
            files,
        };
        all.into_iter().map(set).collect()
    }
}

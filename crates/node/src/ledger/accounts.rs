//! Budgets inside a transaction: which are declared, what a cost debits, and what prices of a data set are of.

use redb::{ReadableTable, WriteTransaction};
use sottovoce_privacy::Unit;

use super::{ACCOUNTS, CLOSED, META, Standing, decode, encode};
use crate::account::Account;
use crate::{Allowed, Cost, Error, Observer, Result};

/// Every budget of a table.
pub(super) fn standings(
    accounts: &impl ReadableTable<(&'static str, &'static [u8]), &'static [u8]>,
    meta: &impl ReadableTable<&'static str, &'static [u8]>,
) -> Result<Vec<Standing>> {
    let mut all = Vec::new();
    for entry in accounts.iter()? {
        let (key, value) = entry?;
        let (label, who) = key.value();
        let account: Account = decode(value.value())?;
        all.push(Standing {
            label: label.to_owned(),
            observer: decode(who)?,
            allowed: account.allowed,
            epsilon: account.epsilon(),
            loss: account.spent().0,
            chances: account.spent().1,
            unit: meta.get(unit_of(label).as_str())?.map(|unit| unit_in(unit.value())).transpose()?,
        });
    }
    Ok(all)
}

/// A budget that is declared: one that is known stays what it is, and nobody begins at nothing who may have heard something.
pub(super) fn declare(
    write: &WriteTransaction,
    label: &str,
    observer: &Observer,
    allowed: Allowed,
) -> Result<()> {
    let mut accounts = write.open_table(ACCOUNTS)?;
    let who = encode(observer)?;
    let known: Option<Account> =
        accounts.get((label, &who[..]))?.map(|bytes| decode(bytes.value())).transpose()?;
    match known {
        Some(known) if known.allowed != allowed => {
            let value = format!("epsilon {} towards {observer}", allowed.epsilon);
            let remedy = format!(
                "data set `{label}` has {} there, and a budget is declared once; keep it",
                known.allowed.epsilon
            );
            return Err(Error::parameter("budget", value, remedy));
        }
        Some(_) => {}
        // What it learnt together in earlier runs is not known: nobody may begin at nothing who heard something.
        None if matches!(observer, Observer::Coalition(_)) && any_spent(&accounts, label)? => {
            let remedy = format!(
                "data set `{label}` was used before this coalition was named, and what it learnt together until then is not known; leave it out"
            );
            return Err(Error::parameter("coalitions", observer, remedy));
        }
        None if write.open_table(META)?.get(CLOSED)?.is_some() => {
            let value = format!("`{label}` towards {observer}");
            let remedy = "this ledger took up one that had forgotten something, and nobody knows whether this was among it: what was spent counts as all";
            return Err(Error::parameter("budget", value, remedy));
        }
        None => {
            accounts.insert((label, &who[..]), &encode(&Account::new(allowed)?)?[..])?;
        }
    }
    Ok(())
}

/// Whether anything was spent of a data set.
fn any_spent(accounts: &redb::Table<'_, (&str, &[u8]), &[u8]>, label: &str) -> Result<bool> {
    for entry in accounts.iter()? {
        let (key, value) = entry?;
        if key.value().0 == label && decode::<Account>(value.value())?.spent() != (0.0, 0.0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Debits a cost: towards everybody whom a budget is declared for, and nobody else.
pub(super) fn debit(write: &WriteTransaction, label: &str, cost: &Cost) -> Result<()> {
    {
        let mut meta = write.open_table(META)?;
        let adjacency = cost.adjacency.to_string();
        let known = meta.get("adjacency")?.map(|known| String::from_utf8_lossy(known.value()).into_owned());
        match known {
            Some(known) if known != adjacency => {
                let remedy = format!("this ledger's prices are stated under {known}; state these so, too");
                return Err(Error::parameter("adjacency", adjacency, remedy));
            }
            _ => meta.insert("adjacency", adjacency.as_bytes())?,
        };
        one_unit(&mut meta, label, cost.unit)?;
    }
    let mut accounts = write.open_table(ACCOUNTS)?;
    let mut declared: Vec<Vec<u8>> = Vec::new();
    for entry in accounts.iter()? {
        let (key, _) = entry?;
        let (of, who) = key.value();
        if of == label {
            declared.push(who.to_vec());
        }
    }
    let tapper = encode(&Observer::WireTapper)?;
    if !declared.contains(&tapper) {
        let remedy =
            format!("declare what data set `{label}` may cost towards someone who sees every message");
        return Err(Error::parameter("budget", "none towards the wire-tapper", remedy));
    }
    for who in &declared {
        let observer: Observer = decode(who)?;
        if !cost.prices.iter().any(|(priced, _)| *priced == observer) {
            return Err(Error::parameter(
                "prices",
                format!("none towards {observer}"),
                "every declared observer needs a price",
            ));
        }
    }
    for (observer, price) in &cost.prices {
        let who = encode(observer)?;
        let account: Option<Account> =
            accounts.get((label, &who[..]))?.map(|bytes| decode(bytes.value())).transpose()?;
        let Some(mut account) = account else {
            let remedy = format!("declare what data set `{label}` may cost towards {observer}");
            return Err(Error::parameter("budget", "none", remedy));
        };
        account.spend(price).map_err(|(asked, left)| Error::Overspent {
            observer: observer.clone(),
            label: label.to_owned(),
            asked,
            left,
        })?;
        accounts.insert((label, &who[..]), &encode(&account)?[..])?;
    }
    Ok(())
}

/// Where it is written down what a data set's prices are of.
pub(super) fn unit_of(label: &str) -> String {
    format!("unit of {label}")
}

pub(super) fn unit_in(word: &[u8]) -> Result<Unit> {
    match word {
        b"user" => Ok(Unit::User),
        b"record" => Ok(Unit::Record),
        _ => Err(Error::storage("the ledger", "a data set is priced in a unit that there is not")),
    }
}

/// All prices of a data set speak of all of it, or all of one row. A price of all of it bounds that of a row, and never the other way round.
pub(super) fn one_unit(meta: &mut redb::Table<'_, &str, &[u8]>, label: &str, unit: Unit) -> Result<()> {
    let field = unit_of(label);
    let known = meta.get(field.as_str())?.map(|known| unit_in(known.value())).transpose()?;
    match (known, unit) {
        (None, Unit::User) => drop(meta.insert(field.as_str(), &b"user"[..])?),
        (None, Unit::Record) => drop(meta.insert(field.as_str(), &b"record"[..])?),
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

//! Several peers' files of one run: what one says it sent is what the other says it heard, and nobody says two things.

use std::collections::{BTreeMap, BTreeSet};

use sottovoce_protocol::Peer;

use super::Read;
use crate::error::require;
use crate::{Receipt, Result, Shown};

/// What several files say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Together {
    /// Where they contradict each other, each in a sentence.
    pub problems: Vec<String>,
    /// What one has said and the other has not heard, where the run did not finish.
    pub remarks: Vec<String>,
    /// Of whom there is no file.
    pub absent: Vec<String>,
    /// Messages that both ends tell alike.
    pub matched: usize,
}

/// A message between two peers, by sender, receiver and number.
type Place = (Peer, Peer, u64);

/// Holds files against each other; `finished` says which of their owners have a result. They must be of one agreement.
pub fn together(files: &[Read], finished: &[bool]) -> Result<Together> {
    let Some(first) = files.first() else { return Ok(Together::default()) };
    let run = first.agreement.hash()?;
    for (i, file) in files.iter().enumerate() {
        let same = file.agreement.hash()? == run;
        require(same, "transcript", "of several agreements", "give the files of one run")?;
        // (Two of one peer that differ are worth comparing.)
        let again = files[..i].iter().any(|other| {
            other.peer == file.peer && heads(std::slice::from_ref(other)) == heads(std::slice::from_ref(file))
        });
        let name = &file.agreement.peers[file.peer].name;
        require(!again, "transcript", format_args!("that of {name} twice"), "give each file once")?;
    }
    let names = first.agreement.names();
    let mut all = Together::default();
    twice(files, &mut all);
    let said = receipts(files, &mut all, &names, |file| {
        let said = file.records.iter().flat_map(|record| &record.said);
        said.map(|receipt| ((file.peer, receipt.peer, receipt.number), receipt)).collect()
    });
    let heard = receipts(files, &mut all, &names, |file| {
        let heard = file.records.iter().filter_map(|record| record.heard.as_ref());
        heard.map(|receipt| ((receipt.peer, file.peer, receipt.number), receipt)).collect()
    });
    let there: BTreeMap<Peer, bool> =
        files.iter().zip(finished).map(|(file, done)| (file.peer, *done)).collect();
    let name = |peer: Peer| names.get(peer).cloned().unwrap_or_else(|| format!("number {peer}"));
    for (&(from, to, number), receipt) in &said {
        match (heard.get(&(from, to, number)), there.get(&to)) {
            (Some(other), _) if (&other.label, other.hash) == (&receipt.label, receipt.hash) => all.matched += 1,
            (Some(_), _) => all.problems.push(format!(
                "{} and {} do not agree on what message {number} between them is: one of them says it in two ways",
                name(from),
                name(to)
            )),
            (None, None) => {}
            (None, Some(done)) => {
                let text = format!("{} says that it sent message {number} to {}, who has not heard it", name(from), name(to));
                let list = if *done { &mut all.problems } else { &mut all.remarks };
                list.push(text);
            }
        }
    }
    let (held, mut anew) = (heads(files), BTreeSet::new());
    for (&(from, to, number), receipt) in &heard {
        let mark = receipt.mark.unwrap_or_default();
        let known = held.get(&from).is_none_or(|held| held.contains(&mark));
        if !known && said.contains_key(&(from, to, number)) && anew.insert(from) {
            all.problems.push(format!(
                "{} has heard message {number} from {} under a record that is not in its file: it was written anew",
                name(to),
                name(from)
            ));
        }
        if there.contains_key(&from) && !said.contains_key(&(from, to, number)) {
            all.problems.push(format!(
                "{} has heard message {number} from {}, whose record does not have it: it was left out, or the file is older",
                name(to),
                name(from)
            ));
        }
    }
    all.absent = (0..names.len()).filter(|peer| !there.contains_key(peer)).map(name).collect();
    Ok(all)
}

/// Which records everybody's files hold.
fn heads(files: &[Read]) -> BTreeMap<Peer, BTreeSet<crate::Hash>> {
    let mut all: BTreeMap<Peer, BTreeSet<crate::Hash>> = BTreeMap::new();
    for file in files {
        let heads = file.shown.iter().map(|shown| shown.link().head().hash);
        all.entry(file.peer).or_default().extend(heads);
    }
    all
}

/// All receipts by their places; two that differ at one place are named.
fn receipts<'a>(
    files: &'a [Read],
    all: &mut Together,
    names: &[String],
    of: impl Fn(&'a Read) -> Vec<(Place, &'a Receipt)>,
) -> BTreeMap<Place, &'a Receipt> {
    let mut known: BTreeMap<Place, &Receipt> = BTreeMap::new();
    let name = |peer: Peer| names.get(peer).cloned().unwrap_or_else(|| format!("number {peer}"));
    for (place, receipt) in files.iter().flat_map(of) {
        let before = known.entry(place).or_insert(receipt);
        if (&before.label, before.hash) != (&receipt.label, receipt.hash) {
            let (from, to, number) = place;
            all.problems.push(format!(
                "message {number} from {} to {} is written down in two ways by the same peer",
                name(from),
                name(to)
            ));
        }
    }
    known
}

/// Two files of one peer: one must be the beginning of the other.
fn twice(files: &[Read], all: &mut Together) {
    let mut known: BTreeMap<(Peer, u64), crate::Hash> = BTreeMap::new();
    let mut forked = BTreeSet::new();
    for file in files {
        for link in file.shown.iter().map(Shown::link) {
            let head = link.head();
            let hash = *known.entry((file.peer, head.count)).or_insert(head.hash);
            if hash != head.hash && forked.insert(file.peer) {
                let name = &file.agreement.peers[file.peer].name;
                all.problems.push(format!(
                    "{name}: its record {} is there in two ways: it runs twice, or from an old copy",
                    link.before.count
                ));
            }
        }
    }
}

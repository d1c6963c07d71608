//! One peer's file: is the chain whole, was everything paid for, once and at the price that was agreed on, and was the plan followed?

use std::collections::{BTreeMap, BTreeSet};

use sottovoce_privacy::Guarantee;
use sottovoce_protocol::{Peer, Release};

use super::Read;
use crate::account::Account;
use crate::part::Role;
use crate::{Allowed, Cost, Observer, Price, Result, Shown};

/// What may differ between the accountant's price and what was debited: rounding on another machine.
const ALIKE: f64 = 1e-12;

/// What is held against a peer's file.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Where something was done that was not agreed on, each in a sentence; none, and the account stands.
    pub problems: Vec<String>,
    /// What is worth knowing all the same.
    pub remarks: Vec<String>,
    /// What cannot be told from the file.
    pub unchecked: Vec<String>,
    /// Whether the peer has a result, where that can be told.
    pub finished: Option<bool>,
    /// Who could learn what; nobody anything where nothing was paid for.
    pub learnt: Vec<Learnt>,
    /// How many records of the run there are, releases, and messages said and heard.
    pub counts: [usize; 4],
}

/// What one observer could learn.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// Who, as people call it.
    pub observer: String,
    /// What is promised; none where the observer takes no part in the run.
    pub guarantee: Option<Guarantee>,
    /// Epsilon at the budget's delta, in the budget's currency, as the accountant has it now ...
    pub epsilon: f64,
    /// ... and as it was debited.
    pub debited: f64,
    /// The budget.
    pub allowed: Allowed,
    /// A delta beside it.
    pub chances: f64,
}

impl Read {
    /// Holds the file against what was agreed on.
    pub fn judge(&self) -> Result<Judged> {
        let role = self.agreement.role(self.peer)?;
        let names = self.agreement.names();
        let mut judged = Judged {
            problems: Vec::new(),
            remarks: Vec::new(),
            unchecked: Vec::new(),
            finished: None,
            learnt: Vec::new(),
            counts: [
                self.records.len(),
                self.records.iter().map(|record| record.releases.len()).sum(),
                self.records.iter().map(|record| record.said.len()).sum(),
                self.records.iter().filter(|record| record.heard.is_some()).count(),
            ],
        };
        self.chain(&mut judged)?;
        self.paid(&mut judged, role.as_ref())?;
        self.drawn(&mut judged);
        self.numbered(&mut judged);
        match role.judge(&self.records, &names)? {
            Some(course) => {
                judged.problems.extend(course.problems);
                judged.remarks.extend(course.remarks);
                judged.finished = Some(course.finished);
            }
            None => judged
                .unchecked
                .push("whether messages follow the plan: it is not known of this protocol".into()),
        }
        if self.doubted {
            let doubt = "others have seen more of this ledger than it holds: what is missing is not known";
            judged.problems.push(self.says(doubt));
        }
        Ok(judged)
    }

    fn says(&self, what: &str) -> String {
        format!("{}: {what}", self.agreement.peers[self.peer].name)
    }

    /// Every record is signed and follows the one before; those of the run are shown, and no others.
    fn chain(&self, judged: &mut Judged) -> Result<()> {
        let run = self.agreement.hash()?;
        let missing = self.agreement.unsigned(&self.signatures)?;
        judged.problems.extend(missing.iter().map(|name| format!("{name}: it has not signed the agreement")));
        let mut problem = |what: String| judged.problems.push(self.says(&what));
        let ends = (self.shown.first(), self.shown.last());
        if !matches!(ends, (Some(Shown::Whole(_)), Some(Shown::Whole(_)))) {
            problem("its records do not begin and end with one of the run".to_owned());
        }
        let mut before = self.shown.first().map(|first| first.link().before);
        for shown in &self.shown {
            let (link, number) = (shown.link(), shown.link().before.count);
            let sound = match shown {
                Shown::Whole(signed) => signed.open(&self.owner).is_ok(),
                Shown::Withheld(link) => link.is_of(&self.owner),
            };
            if !sound {
                problem(format!("record {number} is not signed by it"));
            }
            if Some(link.before) != before {
                problem(format!(
                    "record {number} does not follow the one before: something was left out, or runs twice"
                ));
            }
            if (link.run == run) != matches!(shown, Shown::Whole(_)) {
                problem(format!("record {number} is shown as one of another run, or withheld"));
            }
            before = Some(link.head());
        }
        let labels: BTreeSet<&str> = self.records.iter().map(|record| record.label.as_str()).collect();
        if labels.len() > 1 {
            problem("the run was paid from several data sets".to_owned());
        }
        let withheld = self.shown.iter().filter(|shown| matches!(shown, Shown::Withheld(_))).count();
        if withheld > 0 {
            judged.remarks.push(
                self.says(&format!("{withheld} records in between belong to other runs and are withheld")),
            );
        }
        judged
            .unchecked
            .push(self.says("what its ledger holds before the first of these records and after the last"));
        judged.unchecked.push(self.says("what its budgets are: epsilons are told at its own deltas"));
        Ok(())
    }

    /// One cost, before the first release; it is the accountant's, and pays for every release.
    fn paid(&self, judged: &mut Judged, role: &dyn Role) -> Result<()> {
        let costs: Vec<(usize, &Cost)> = self
            .records
            .iter()
            .enumerate()
            .filter_map(|(i, record)| Some((i, record.cost.as_ref()?)))
            .collect();
        let released = self.records.iter().position(|record| !record.releases.is_empty());
        let mut problem = |what: &str| judged.problems.push(self.says(what));
        let [(paid, cost)] = costs[..] else {
            problem(match costs.len() {
                0 => "nothing was paid for: its beginning was left out",
                _ => "the run was paid for twice",
            });
            return Ok(());
        };
        // A run begins with what is paid for it.
        if paid > 0 {
            problem("something was done before it was paid for");
        }
        if released.is_some_and(|released| released < paid) {
            problem("something was released before it was paid for");
        }
        let mut left: Vec<(Release, u64)> = cost.releases.clone();
        for release in self.records.iter().flat_map(|record| &record.releases) {
            match left.iter_mut().find(|(known, times)| known == release && *times > 0) {
                Some((_, times)) => *times -= 1,
                None => problem(&format!(
                    "it released with sensitivity {} under noise {}, which was not paid for",
                    release.sensitivity, release.scale
                )),
            }
        }
        if left.iter().any(|(_, times)| *times > 0) {
            judged.remarks.push(self.says("it paid for more than it released"));
        }
        self.priced(judged, role, cost)
    }

    /// What was debited is what the accountant says, towards everybody.
    fn priced(&self, judged: &mut Judged, role: &dyn Role, cost: &Cost) -> Result<()> {
        let observers: Vec<Observer> = cost.prices.iter().map(|(observer, _)| observer.clone()).collect();
        let again = role.cost(&observers)?;
        let mut problem = |what: String| judged.problems.push(self.says(&what));
        if cost.adjacency != again.adjacency {
            problem(format!(
                "prices are stated under {}, where {} was agreed on",
                cost.adjacency, again.adjacency
            ));
        }
        if cost.unit != again.unit {
            problem(format!("prices are stated of {:?}, where {:?} was agreed on", cost.unit, again.unit));
        }
        let same = |(a, m): &(Release, u64), (b, n): &(Release, u64)| {
            let known = (a.law, a.rate, m) == (b.law, b.rate, n);
            known && alike(a.sensitivity, b.sensitivity) && alike(a.scale, b.scale)
        };
        let listed = cost.releases.len() == again.releases.len();
        if !listed || !cost.releases.iter().zip(&again.releases).all(|(a, b)| same(a, b)) {
            problem("it paid for other releases than were agreed on".to_owned());
        }
        let (roster, names) = (self.agreement.roster()?, self.agreement.names());
        let known = |observer: &Observer, cost: &Cost| {
            let mut prices = cost.prices.iter().filter(|(priced, _)| priced == observer);
            let first = prices.next().map(|(_, price)| price.clone());
            first.filter(|_| prices.next().is_none())
        };
        for (observer, price) in &again.prices {
            let who = observer.called(&roster, &names);
            let Some(debited) = known(observer, cost) else {
                problem(format!("nothing was debited towards {who}, or twice"));
                continue;
            };
            let budgets: Vec<&(Observer, Allowed)> =
                self.budgets.iter().filter(|(of, _)| of == observer).collect();
            let [(_, allowed)] = budgets[..] else {
                problem(format!("there is not one budget towards {who}"));
                continue;
            };
            let (Some(now), Some(then)) = (spent(*allowed, price), spent(*allowed, &debited)) else {
                problem(format!("the price towards {who} is more than its budget"));
                continue;
            };
            if !(alike(now.0, then.0) && alike(now.1, then.1) && alike(now.2, then.2)) {
                problem(format!("towards {who} epsilon {} was debited, where it costs {}", then.0, now.0));
            }
            judged.learnt.push(Learnt {
                observer: who,
                guarantee: role.guarantee(observer, price)?,
                epsilon: now.0,
                debited: then.0,
                allowed: *allowed,
                chances: now.2,
            });
        }
        Ok(())
    }

    /// Every release has noise, and no draw of it is used twice.
    fn drawn(&self, judged: &mut Judged) {
        if let Some(bare) = self.records.iter().find(|record| record.covered.len() < record.releases.len()) {
            let number = bare.before.count;
            judged.problems.push(self.says(&format!("record {number} releases something without noise")));
        }
        let mut draws = BTreeSet::new();
        for (draw, _) in self.records.iter().flat_map(|record| &record.covered) {
            if !draws.insert(*draw) {
                judged.problems.push(self.says(&format!("draw {draw} of noise was used twice")));
            }
        }
    }

    /// Messages are numbered from 0 with each peer, and each number is used once.
    fn numbered(&self, judged: &mut Judged) {
        let (mut said, mut heard): (BTreeMap<Peer, u64>, BTreeMap<Peer, u64>) = Default::default();
        let mut count = |receipt: &crate::Receipt, way: &str, counts: &mut BTreeMap<Peer, u64>| {
            let next = counts.entry(receipt.peer).or_insert(0);
            if receipt.number != *next {
                let name =
                    self.agreement.peers.get(receipt.peer).map_or("somebody unknown", |peer| &peer.name);
                let what = format!("message {} {way} {name} comes where {next} was next", receipt.number);
                judged.problems.push(self.says(&what));
            }
            *next = receipt.number.saturating_add(1);
        };
        for record in &self.records {
            record.heard.iter().for_each(|receipt| count(receipt, "from", &mut heard));
            record.said.iter().for_each(|receipt| count(receipt, "to", &mut said));
        }
    }
}

/// Epsilon, loss and deltas of a price in a budget's own currency; none where it is no price, or beyond the budget.
fn spent(allowed: Allowed, price: &Price) -> Option<(f64, f64, f64)> {
    let mut account = Account::new(allowed).ok()?;
    account.spend(price).ok()?;
    let (loss, chances) = account.spent();
    Some((account.epsilon(), loss, chances))
}

/// The same but for rounding; what is no finite number is like nothing.
fn alike(a: f64, b: f64) -> bool {
    a.is_finite() && b.is_finite() && (a - b).abs() <= ALIKE * a.abs()
}

//! `sottovoce node plan`: what a run could reveal of this node.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sottovoce_node::{Agreement, Bill, Error, Forecast, Hand, Observer, Options, Place, Ready, Signatures};

use super::run::RunFailed;
use super::{agree, up};
use crate::Global;

/// Arguments of `node plan`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node plan ana mean.toml\n\n\
                  It reads what the node holds, as a run would, and sends nothing. Exit code 2: what it holds does not suit. 3: it cannot be paid.")]
pub(crate) struct Plan {
    /// The node's folder.
    folder: PathBuf,
    /// The agreement.
    file: PathBuf,
    /// What it would cost to begin a rumour that says what is in this file (`-`: asks for it).
    #[arg(long, value_name = "FILE")]
    say: Option<PathBuf>,
    /// A data set with the same numbers as another one is another one all the same: other people's.
    #[arg(long)]
    new_data_set: bool,
}

/// What a run could reveal of a node.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Planned {
    /// What the run is called.
    name: String,
    /// Names the agreement.
    agreement: String,
    /// What is done.
    called: String,
    /// Everybody, in order.
    peers: Vec<String>,
    /// The data set.
    label: String,
    /// Who could learn what.
    observers: Vec<Learns>,
    /// Whether all of it can be paid.
    affordable: bool,
    /// Why not, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    #[serde(skip)]
    refused: Option<Error>,
    /// What its owner should know of what the node holds: values that would be clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
    /// Whether it has begun here, and is paid for.
    begun: bool,
    /// The epsilon that was agreed on as a target, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
    /// Rounds.
    rounds: usize,
    /// Messages that this node sends.
    messages: u64,
    /// Their bytes, about.
    bytes: u64,
    /// Seconds, at the most.
    seconds: f64,
    /// Standard deviation that noise leaves in each number of the result, where it is known beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    /// Of what this run's epsilons are: `all` that this node holds, or one `row` of it ...
    of: &'static str,
    /// ... and those of all runs.
    all_of: &'static str,
    /// What they hold against.
    holds: &'static str,
    /// Who has not signed yet.
    missing: Vec<String>,
}

/// What one observer could learn.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Learns {
    /// Who.
    observer: String,
    /// Epsilon of this run, at the budget's delta, where it follows the protocol ...
    epsilon: f64,
    /// ... where it sends anything at any time; none where nothing is promised then ...
    malicious: Option<f64>,
    /// ... and where somebody vanishes.
    vanishing: Option<f64>,
    /// The delta.
    delta: f64,
    /// A chance beside it that this observer learns all: of rumours.
    #[serde(skip_serializing_if = "is_zero")]
    chance: f64,
    /// Epsilon of all that was spent before ...
    spent: f64,
    /// ... and after this run, as the ledger adds it up; none if it cannot be paid.
    then: Option<f64>,
    /// The budget.
    budget: f64,
}

fn is_zero(chance: &f64) -> bool {
    *chance == 0.0
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worst = self.observers.iter().max_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        let worst = worst.map_or_else(String::new, |worst| {
            format!(
                "{} learns most: epsilon {:.4} at delta {:e}",
                worst.observer,
                up(worst.epsilon),
                worst.delta
            )
        });
        let can = match (self.begun, self.affordable) {
            (true, _) => "has begun here, and is paid for",
            (false, true) => "can be paid",
            (false, false) => "CANNOT BE PAID",
        };
        writeln!(f, "{worst}; the run {can}\n")?;
        writeln!(f, "  {:<24} {:^32} {:^32}", "", "this run, if that one is", "all runs")?;
        write!(f, "  {:<24} {:>10} {:>10} {:>10}", "who", "honest", "malicious", "vanishing")?;
        writeln!(f, " {:>10} {:>10} {:>10}", "spent", "then", "budget")?;
        for one in &self.observers {
            let told = |epsilon: Option<f64>| epsilon.map_or_else(|| "-".into(), |e| format!("{:.4}", up(e)));
            let (malicious, vanishing, then) = (told(one.malicious), told(one.vanishing), told(one.then));
            write!(f, "  {:<24} {:>10.4} {malicious:>10} {vanishing:>10}", one.observer, up(one.epsilon))?;
            writeln!(f, " {:>10.4} {then:>10} {:>10.4}", up(one.spent), one.budget)?;
        }
        let stated = self.observers.iter().fold(0.0, |most, one| f64::max(most, one.epsilon)); // each is a number
        if let Some(target) = self.target.filter(|target| stated > *target) {
            writeln!(
                f,
                "\n  The target is epsilon {target}: runs are added up as concentrated DP, which states {:.4} for the same noise.",
                up(stated)
            )?;
        }
        if let Some(remark) = &self.remark {
            writeln!(f, "\n  {remark}")?;
        }
        for one in self.observers.iter().filter(|one| one.chance > 0.0) {
            let chance = up(one.chance);
            writeln!(f, "  {:<44} a chance of {chance:.4} that it learns who began", one.observer)?;
        }
        match (self.of, self.all_of) {
            (_, "all") => {}
            ("row", _) => {
                writeln!(f, "\n  Epsilons are of one row of what this node holds, and not of all of it.")?;
            }
            _ => writeln!(
                f,
                "\n  Epsilons of this run are of all that this node holds; those of all runs are of one row of it."
            )?,
        }
        writeln!(f, "\n  {}", self.holds)?;
        writeln!(
            f,
            "  {} rounds, {} messages, about {} bytes, {:.0} seconds at the most",
            self.rounds, self.messages, self.bytes, self.seconds
        )?;
        if let Some(deviation) = self.deviation {
            writeln!(f, "  noise leaves {deviation:.3e} in each number of the result")?;
        }
        if !self.missing.is_empty() {
            writeln!(f, "  not signed yet: {}", self.missing.join(", "))?;
        }
        Ok(())
    }
}

impl Plan {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (agreement, place) = (agree::read(&self.file)?, Place::open(&self.folder)?);
        let say = super::said(self.say.as_deref())?;
        let signed = Signatures::read(&agree::signatures(&self.file))?;
        let held = Held::Read { new_data_set: self.new_data_set };
        let failed = |error| RunFailed::new(error, &place, &agreement);
        let planned = Planned::new(&place, &agreement, &signed, (say.as_deref(), held));
        let mut planned = planned.map_err(|error| match error.downcast() {
            Ok(error) => failed(error).into(),
            Err(other) => other,
        })?;
        let refused = planned.refused.take();
        global.print(&planned)?;
        refused.map_or(Ok(()), |error| Err(failed(error).into()))
    }
}

/// Whether what a node holds is read.
pub(super) enum Held {
    /// As a run would.
    Read {
        /// Whether a data set with the same numbers as another one is another one all the same.
        new_data_set: bool,
    },
    /// It need not be there yet.
    Later,
}

impl Planned {
    /// What is agreed on, in a line.
    pub(super) fn headline(&self) -> String {
        format!("agreement {} ({}): {}", self.name, &self.agreement[..12], self.called)
    }

    /// What a run could reveal of a node, and whether it would accept it.
    pub(super) fn new(
        place: &Place,
        agreement: &Agreement,
        signed: &Signatures,
        (say, held): (Option<&str>, Held),
    ) -> anyhow::Result<Self> {
        let (bill, remark) = match held {
            Held::Read { new_data_set } => {
                let options = Options { say: say.map(str::to_owned), new_data_set, ..Options::default() };
                let ready = Ready::of(place, agreement, &options, &Hand::default())?;
                (ready.bill, ready.holding.remark.told())
            }
            Held::Later => (Bill::of(place, agreement, say)?, None),
        };
        let Bill { role: part, config, ledger, begun, cost, then, .. } = bill;
        let (roster, names) = (agreement.roster()?, agreement.names());
        let spent = ledger.budgets()?;
        let (then, refused) = match then {
            Ok(then) => (then, None),
            Err(error @ (Error::Overspent { .. } | Error::Parameter(_))) => (Vec::new(), Some(error)),
            Err(error) => return Err(error.into()),
        };
        let refused = refused.map(|error| error.named(&roster, &names).0);
        let known_unit = spent.iter().find(|one| one.label == config.label).and_then(|one| one.unit);
        let of = |unit| if unit == sottovoce::privacy::Unit::Record { "row" } else { "all" };
        let covers = part.covers();
        let learns = |(observer, price): &(Observer, sottovoce_node::Price)| {
            let allowed = config.budget.towards(observer);
            let of_run = price.loss.as_ref().map(|loss| loss.epsilon(allowed.delta)).transpose()?;
            let of = |one: &&sottovoce_node::Standing| one.label == config.label && one.observer == *observer;
            let (before, after) = (spent.iter().find(of), then.iter().find(of));
            let epsilon = of_run.map_or(0.0, |epsilon| epsilon.upper);
            anyhow::Ok(Learns {
                observer: observer.called(&roster, &names),
                epsilon,
                malicious: covers.malicious.then_some(epsilon),
                vanishing: covers.vanishing.then_some(epsilon),
                then: after.map(|one| one.epsilon),
                delta: allowed.delta,
                chance: price.delta,
                spent: before.map_or(0.0, |one| one.epsilon),
                budget: allowed.epsilon,
            })
        };
        let Forecast { rounds, messages, bytes, deviation, .. } = part.forecast()?;
        Ok(Self {
            name: agreement.name.clone(),
            agreement: agreement.hash()?.to_string(),
            called: part.called(),
            peers: names.clone(),
            observers: cost.prices.iter().map(learns).collect::<anyhow::Result<_>>()?,
            label: config.label,
            affordable: refused.is_none(),
            refusal: refused.as_ref().map(ToString::to_string),
            refused,
            remark,
            begun,
            target: agreement
                .experiment
                .get("target")
                .and_then(|target| target.get("epsilon"))
                .and_then(|epsilon| epsilon.as_float()),
            rounds,
            messages,
            bytes,
            seconds: part.lasts().map_or(agreement.round * rounds as f64, |time| time.as_secs_f64()),
            deviation,
            of: of(cost.unit),
            all_of: of(known_unit.unwrap_or(cost.unit)),
            holds: part.holds(),
            missing: agreement.unsigned(&signed.all())?,
        })
    }
}

//! Counters and gauges as Prometheus and others read them, of one moment. Names of peers and observers are labels; there is never a value, a noise or a gradient.

use std::fmt;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;

use super::words;
use crate::status::{Neighbour, Phase, Spent, Status};

/// How its text is read.
pub(super) const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = Vec<(&'static str, String)>;

/// Numbers with labels, in this order: the library's own families are in the order of hashes, another one each time.
#[derive(Debug)]
struct Rows<M>(Vec<(Labels, M)>);

impl<M: EncodeMetric + TypedMetric> EncodeMetric for Rows<M> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(labels, metric)| metric.encode(encoder.encode_family(labels)?))
    }

    fn metric_type(&self) -> MetricType {
        M::TYPE
    }
}

/// All of them, as text.
pub(super) fn text(status: &Status) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("sottovoce");
    of_run(&mut registry, status);
    of_neighbours(&mut registry, status);
    of_budgets(&mut registry, status);
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

fn of_run(registry: &mut Registry, status: &Status) {
    let own = status.names.get(status.peer).cloned().unwrap_or_default();
    let about: Labels = vec![
        ("version", status.version.clone()),
        ("run", status.run.clone()),
        ("agreement", status.agreement.clone()),
        ("peer", own),
    ];
    registry.register("node", "The program, the run and this peer", Info::new(about));
    let phases = [Phase::Meeting, Phase::Running, Phase::Done, Phase::Halted].map(|phase| {
        let here = ConstGauge::new(i64::from(phase == status.phase));
        (vec![("phase", words::phase(phase).to_owned())], here)
    });
    registry.register("phase", "1 for where the run is, 0 for where it is not", Rows(phases.into()));
    let gauge = |value: u64| ConstGauge::new(value);
    registry.register("round", "The round that the run is in", gauge(status.round as u64));
    registry.register("rounds", "How many rounds there are", gauge(status.rounds as u64));
    registry.register("ledger_records", "Records of the ledger", gauge(status.records));
    let counter = |value: u64| ConstCounter::new(value);
    registry.register("sent_bytes", "Bytes that went out, as frames", counter(status.bytes_sent));
    registry.register("received_bytes", "Bytes that came in, as frames", counter(status.bytes_received));
}

fn of_neighbours(registry: &mut Registry, status: &Status) {
    let connected = status.neighbours.iter().filter(|one| one.connected).count() as u64;
    registry.register("connected_neighbours", "Neighbours who are connected", ConstGauge::new(connected));
    let labels = |one: &Neighbour| vec![("peer", one.name.clone())];
    let states = |one: &Neighbour| (labels(one), ConstGauge::new(i64::from(one.connected)));
    let states = status.neighbours.iter().map(states).collect();
    registry.register("connected", "1 for a neighbour who is connected, 0 for another", Rows(states));
    let each = |count: fn(&Neighbour) -> u64| {
        Rows(status.neighbours.iter().map(|one| (labels(one), ConstCounter::new(count(one)))).collect())
    };
    let help = "Messages that were handed to the network, repetitions included";
    registry.register("messages", help, each(|one| one.sent));
    registry.register("refused", "Frames that were refused", each(|one| one.refused));
}

fn of_budgets(registry: &mut Registry, status: &Status) {
    let each = |level: fn(&Spent) -> f64| {
        let row = |one: &Spent| {
            let of = if one.of_a_row { "row" } else { "all" };
            let labels = vec![
                ("dataset", one.label.clone()),
                ("observer", one.observer.clone()),
                ("of", of.to_owned()),
            ];
            // What cannot be told is as much as there can be, and no gap.
            let level = level(one);
            (labels, ConstGauge::new(if level.is_finite() { level } else { f64::MAX }))
        };
        Rows(status.budgets.iter().map(row).collect())
    };
    let help = "Epsilon that was spent, at the budget's delta, over all runs";
    registry.register("epsilon_spent", help, each(|one| one.epsilon));
    registry.register("epsilon_allowed", "The budget, over all runs", each(|one| one.allowed));
    registry.register("delta", "The delta of the budget", each(|one| one.delta));
    let help = "The sum of deltas that was spent beside epsilon, over all runs: rumours that began here";
    registry.register("chances_spent", help, each(|one| one.chances));
    registry.register("chances_allowed", "The budget of that sum", each(|one| one.most));
}

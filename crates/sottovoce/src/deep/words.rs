//! What came of it, in sentences. Losses are rounded up.

use std::fmt;

use sottovoce_engine::deep::Setting;
use sottovoce_privacy::allotment::LargeDelta;
use sottovoce_protocol::consensus::{At, Method};
use sottovoce_views::cancelling::Secrets;
use sottovoce_views::door::{Account, Drawn, Released};

use super::{Agent, Found, Lost, Ready};
use crate::experiment::{Deep, DeepMethod, Pictures};
use crate::personal::promised_of;
use crate::terms::{self, Stated, short_up};
use crate::{Result, SIMULATED};

/// Agents listed without --verbose.
pub(super) const LISTED: usize = 20;

/// From whom images are hidden.
pub(super) fn watcher(secrets: Option<&Secrets>) -> String {
    let told = match secrets.map(Secrets::colluders) {
        None => String::new(),
        Some(1) => " and is told the secrets of any one agent".to_owned(),
        Some(any) => format!(" and is told the secrets of any {any} agents"),
    };
    format!("someone who sees every message{told}")
}

/// What is promised to whoever loses most, as data and in words; nothing where something was not hidden.
pub(super) fn promised(
    account: &Account<Released>,
    worst: f64,
    delta: f64,
) -> Result<(Vec<Stated>, Vec<String>)> {
    promised_of("any image of anyone, in the whole run", account, (worst, delta), |_| ())
}

/// What came of it.
pub(super) fn headline(found: &Found, worst: f64, delta: f64) -> String {
    let who = match found.agents.len() {
        1 => "a centre".to_owned(),
        agents => format!("{agents} agents"),
    };
    let range = match found.agents.len() {
        1 => String::new(),
        _ => format!(" ({:.1} to {:.1})", 100.0 * found.least, 100.0 * found.most),
    };
    let paused = if found.paused { format!("Paused after {} rounds: ", found.rounds) } else { String::new() };
    let loss = match worst.is_finite() {
        true => format!("no image loses more than epsilon {} at delta {delta:e}", short_up(worst)),
        false => "images are not protected".to_owned(),
    };
    format!(
        "{paused}Accuracy {:.1} %{range} for {who} by {}; {loss}.",
        100.0 * found.accuracy,
        called(found.method)
    )
}

/// What people call an algorithm.
pub(crate) fn called(method: DeepMethod) -> &'static str {
    match method {
        DeepMethod::Dsgd => "DSGD",
        DeepMethod::Dsgt => "DSGT",
        DeepMethod::Dinno => "DiNNO",
        DeepMethod::Central => "central descent",
        DeepMethod::Local => "learning alone",
    }
}

/// How it was set up.
pub(super) fn setup(experiment: &Deep, ready: &Ready) -> Vec<(String, String)> {
    let (setting, asked) = (&ready.setting, &experiment.protocol);
    let sizes = setting.holdings.sizes();
    let (fewest, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
    let kind = experiment
        .task
        .kind
        .map_or(if experiment.task.data.is_some() { "read" } else { "drawn" }, Pictures::name);
    let images = format!(
        "{} ({kind}), {fewest} to {most} of each agent; {} more to judge by",
        sizes.iter().sum::<usize>(),
        setting.holdings.test.len()
    );
    let plan = setting.plan;
    let rates = format!("{} falling to {}", plan.rates.start, plan.rates.finish);
    let multipliers = setting.hidden.iter().flatten().map(|hidden| hidden.multiplier);
    let least = multipliers.clone().fold(f64::INFINITY, |least, one| if one < least { one } else { least });
    let largest = multipliers.fold(0.0, |most, one| if one > most { one } else { most });
    let noise = match largest > 0.0 {
        true => format!(
            "{least:.3} to {largest:.3} times the largest norm of an image's gradient, {}{}",
            experiment.noise.clip,
            match experiment.noise.band {
                Some(width) if width > 1 => format!("; correlated over cycles of {width} draws"),
                _ => String::new(),
            }
        ),
        false => "none".to_owned(),
    };
    let mut all = vec![
        ("images", images),
        ("net", format!("{} parameters for {} classes", setting.net.parameters(), setting.net.classes())),
        ("rounds", format!("{} by {}, steps of {rates}", asked.rounds, called(asked.method))),
        ("lots", format!("{} images on average, each by a coin of its own", asked.lot)),
        ("noise", noise),
    ];
    if let Some(secrets) = &setting.secrets {
        let (pairs, colluders) = (secrets.pairs(), secrets.colluders());
        let each = 2.0 * pairs.keys().edge_count() as f64 / pairs.peers() as f64;
        let who = if colluders == 1 { "one agent".to_owned() } else { format!("{colluders} agents") };
        all.push((
            "noise that cancels",
            format!(
                "{} times the noise for each pair, {each:.1} secrets an agent; any {who} may tell them",
                pairs.kappa()
            ),
        ));
    }
    let graph = setting.mixing.graph();
    if graph.edge_count() > 0 {
        all.push((
            "graph",
            format!("{} agents, {} pairs who hear each other", graph.nodes(), graph.edge_count()),
        ));
    }
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What else there is to know of agents with so many images who made so many draws, of those that they may.
pub(super) fn notes(
    experiment: &Deep,
    (rows, made): (&[usize], &[usize]),
    may: &Drawn<'_>,
) -> Result<Vec<String>> {
    let (plan, mut notes) = (experiment.plan()?, Vec::new());
    let most = rows.iter().copied().max().unwrap_or(0);
    if experiment.noise.noise_multiplier != Some(0.0) {
        let warning = LargeDelta::of(experiment.target.delta, most as u64);
        notes.extend(warning.map(|warning| warning.to_string()));
    }
    let all = plan.draws();
    let stopped = made.iter().zip(may.draws).filter(|(made, may)| *may < &all && made >= may).count();
    if stopped > 0 {
        notes.push(match may.secrets {
            Some(_) => "all agents stop drawing where the first reaches its budget: what one adds alone nobody takes away".to_owned(),
            None => format!("{stopped} agents reach their budget before the end, and go on without gradients"),
        });
    }
    if let Some(secrets) = may.secrets {
        match plan.method {
            Method::Dsgd { at: At::Own } => notes.push(
                "gradients at an agent's own model feel the noise of her pairs; at = mixed, or dsgt, does not"
                    .to_owned(),
            ),
            Method::Dinno { .. } => notes.push(
                "primal steps of dinno feel the noise of their agent's pairs; dsgt, or dsgd with at = mixed, does not"
                    .to_owned(),
            ),
            _ => {}
        }
        let (keys, colluders) = (secrets.pairs().keys(), secrets.colluders());
        let lost = (0..keys.nodes()).filter(|agent| keys.degree(*agent) <= colluders).count();
        if lost > 0 {
            notes.push(format!(
                "{lost} of {} agents may be cut off from all secrets but those of who may collude: their own noise hides them alone",
                secrets.losses().len()
            ));
        }
    }
    Ok(notes)
}

/// What there is to know of the weights by which agents mix.
pub(super) fn of_weights(setting: &Setting) -> Vec<String> {
    let mut notes = Vec::new();
    if !setting.mixing.is_symmetric() {
        notes
            .push("weights are not doubly stochastic: agents with more neighbours count for more".to_owned());
        if setting.secrets.is_some() {
            notes.push("so the noise of pairs does not cancel in their mean".to_owned());
        }
    }
    notes
}

/// How many were not listed.
pub(super) fn more(f: &mut fmt::Formatter<'_>, all: usize, listed: usize) -> fmt::Result {
    match all > listed {
        true => writeln!(f, "  ... and {} more (--verbose lists all)", all - listed),
        false => Ok(()),
    }
}

/// How it was set up, and what else there is to know.
pub(super) fn rest(f: &mut fmt::Formatter<'_>, setup: &[(String, String)], notes: &[String]) -> fmt::Result {
    writeln!(f)?;
    setup.iter().try_for_each(|(name, value)| writeln!(f, "  {name}: {value}"))?;
    notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))?;
    writeln!(f)
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        let shown = |epsilon: Option<f64>| epsilon.map_or_else(|| "-".to_owned(), short_up);
        writeln!(
            f,
            "  {:>7} {:>10} {:>9} {:>9} {:>9}",
            "round", "train loss", "accuracy", "distance", "epsilon"
        )?;
        let every = if f.alternate() { 1 } else { self.curve.len().div_ceil(6).max(1) }; // whole numbers
        let last = self.curve.len().saturating_sub(1);
        for (_, point) in
            self.curve.iter().enumerate().filter(|(place, _)| place % every == 0 || *place == last)
        {
            write!(f, "  {:>7} {:>10.4} {:>9.4}", point.round, point.train_loss, point.accuracy)?;
            writeln!(f, " {:>9.4} {:>9}", point.disagreement, shown(point.epsilon))?;
        }
        let heads = ["images", "draws", "noise", "epsilon", "by Renyi", "accuracy"];
        write!(f, "\n  {:<12}", "agent")?;
        heads.iter().try_for_each(|head| write!(f, " {head:>9}"))?;
        writeln!(f)?;
        let most = if f.alternate() { usize::MAX } else { LISTED };
        for Agent { lost, accuracy, .. } in self.agents.iter().take(most) {
            let Lost { rows, draws, noise_multiplier, .. } = lost;
            write!(f, "  {} {rows:>9} {draws:>9} {noise_multiplier:>9.3}", self.names.cell(lost.agent, 12))?;
            let (epsilon, renyi) = (shown(lost.epsilon), shown(lost.renyi_epsilon));
            writeln!(f, " {epsilon:>9} {renyi:>9} {accuracy:>9.4}")?;
        }
        more(f, self.agents.len(), most)?;
        rest(f, &self.setup, &self.notes)?;
        match self.guarantees.first() {
            Some(stated) => terms::promised(f, &self.statements, &stated.not_covered),
            None => {
                self.statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
                writeln!(f, "\n  {SIMULATED}")
            }
        }
    }
}

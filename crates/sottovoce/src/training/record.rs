//! Own training where one row is protected: consensus learning, with lots that are drawn by coins.

use std::path::Path;

use sottovoce_engine::deep::{Asking, Own, OwnRun};
use sottovoce_learning::outside::ROWS_APART;
use sottovoce_privacy::{Unit, limits};
use sottovoce_protocol::consensus::Hidden;

use super::{Hear, Moment, Outside, Trained, due, headline, stopped};
use crate::deep::called;
use crate::experiment::{Deep, DeepMethod, DeepTask};
use crate::names::Names;
use crate::personal::promised_of;
use crate::{Error, Result, require};

/// Bytes of a number on the wire.
const SINGLE: u64 = 4;

/// What the run is a function of, what agents are called, and what was noticed in the graph's file.
fn ready(asked: &Deep, folder: &Path, seed: u64, outside: &Outside) -> Result<(Own, Names, Vec<String>)> {
    let plan = asked.plan()?;
    let pairing = asked.pairing()?;
    let known = DeepTask { agents: asked.task.agents, ..DeepTask::default() };
    let remedy = "rows and gradients come from outside; leave it out";
    require(asked.task == known, "task", "given", remedy)?;
    require(asked.protocol.model.is_none(), "model", "given", remedy)?;
    let agents = outside.rows.len();
    require(agents > 0, "data", "empty", "give the rows of each peer")?;
    let remedy = format!("there are rows of {agents}; leave it out");
    let said = asked.task.agents.unwrap_or(agents);
    require(said == agents, "agents", said, remedy)?;
    let central = asked.protocol.method == DeepMethod::Central;
    require(!central || agents == 1, "method", "central", "a centre has all rows: give those of one peer")?;
    let start = start(&outside.start)?;
    let place = match asked.place(folder, seed)? {
        Some(place) => place,
        None => asked.drawn(agents, seed)?,
    };
    let nodes = place.graph.nodes();
    require(
        nodes == agents,
        "graph",
        format_args!("one of {nodes} peers"),
        format!("there are rows of {agents}"),
    )?;
    let secrets = pairing.secrets(folder, (Some(&place.graph), agents), seed)?;
    let hidden = asked.hidden(&outside.rows, secrets.as_ref())?;
    let draws = asked.draws(&hidden, secrets.as_ref())?;
    let (mixing, names) = (asked.mixing(&place.graph)?, Names::of_graph(&place.graph));
    let own = Own { start, mixing, plan, hidden, secrets, draws, delta: asked.target.delta, seed };
    Ok((own, names, place.notes))
}

/// The start in single precision, in which these methods compute.
fn start(wide: &[f64]) -> Result<Vec<f32>> {
    require(!wide.is_empty(), "start", "empty", "give a model of at least one number")?;
    let narrow: Vec<f32> = wide.iter().map(|x| *x as f32).collect();
    match narrow.iter().position(|x| !x.is_finite()) {
        Some(place) => {
            let remedy = "give finite numbers, of single precision";
            Err(Error::parameter("start", wide[place], remedy))
        }
        None => Ok(narrow),
    }
}

fn models(run: &OwnRun<'_>) -> Vec<Vec<f64>> {
    run.models().iter().map(|model| model.iter().map(|x| f64::from(*x)).collect()).collect()
}

pub(super) fn train(
    asked: &Deep,
    folder: &Path,
    seed: u64,
    outside: Outside,
    hear: &mut Hear<'_>,
) -> Result<Trained> {
    let (own, names, notes) = ready(asked, folder, seed, &outside)?;
    let (all, agents) = (own.plan.iterations, outside.rows.len());
    let asking = Asking::new(outside.oracle, agents);
    let mut run = OwnRun::new(&own, &asking)?;
    let now = |run: &OwnRun<'_>| -> Result<Moment> {
        Ok(Moment { step: run.round(), disagreement: run.disagreement(), epsilon: run.spent()? })
    };
    let mut history = vec![now(&run)?];
    loop {
        let more = run.advance()?;
        if due(run.round(), all) {
            let now = now(&run)?;
            history.push(now);
            if !hear(&now, &|| models(&run)) {
                return Err(stopped());
            }
        }
        if !more {
            break;
        }
    }
    // What is promised is the plan's.
    let planned = own.account(&own.draws)?;
    let worst = planned.leakage.largest(own.delta)?.1;
    let (guarantees, statements) =
        promised_of("any row of anyone, in the whole run", &planned, (worst, own.delta), |guarantee| {
            guarantee.standing = guarantee.standing.clone().given(&[ROWS_APART.to_owned()]);
            guarantee.not_covered.extend(limits::of_a_function());
        })?;
    let multiplier = |hidden: &Option<Hidden>| hidden.map_or(0.0, |hidden| hidden.multiplier);
    let receivers: usize = (0..agents).map(|agent| own.mixing.row(agent).count()).sum();
    let exchanges = run.sent() / (receivers.max(1) * own.plan.vectors() * own.start.len()) as u64;
    Ok(Trained {
        headline: headline(agents, run.round(), &guarantees),
        seed: Some(seed),
        method: called(asked.protocol.method),
        unit: Unit::Record,
        peers: agents,
        names,
        rows: outside.rows,
        parameters: own.start.len(),
        steps: (run.round(), all),
        releases: run.draws(),
        sensitivity: asked.noise.clip,
        noise_multipliers: own.hidden.iter().map(multiplier).collect(),
        messages: exchanges * receivers as u64,
        bytes: run.sent() * SINGLE,
        history,
        ended: None,
        guarantees,
        statements,
        notes,
        models: models(&run),
    })
}

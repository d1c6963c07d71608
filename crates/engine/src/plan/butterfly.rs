//! Butterfly averaging among any number of peers: exact consensus, accounted for by tracing the protocol's own code.
//!
//! Its partners are its own, so it ignores the graph: everyone must be able to reach whom the butterfly names. Distances are
//! those of the given graph, where one is given; else of the butterfly's own partners.

use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::Scheme;
use sottovoce_topology::Graph;
use sottovoce_views::exact::{Leakage, Results, traced};
use sottovoce_views::parallel;
use sottovoce_views::trace::{Trace, trace};

use super::point::Point;
use super::row::Kind;
use super::search::Observers;
use super::verify::losses;
use super::{Problem, Progress, Protocol, Row};
use crate::Result;
use crate::learning::method::messages;

/// Observers traced together: what they hear is kept in memory.
const TOGETHER: usize = 256;

/// The row of the butterfly.
pub(super) fn row(problem: &Problem, peers: usize, observers: &Observers, progress: Progress) -> Result<Row> {
    let scheme = Scheme::Butterfly { positions: (0..peers).collect() };
    let (views, share) = views(problem, &scheme, observers, progress)?;
    let losses = losses(problem, &graph(problem, &scheme)?, observers, &[views])?;
    let point = Point {
        steps: scheme.rounds(),
        ratio: 0.0,
        variance: problem.target.variance(&losses, problem.sensitivity),
        share,
        relay_share: 0.0,
        spread_left: 0.0,
        losses,
    };
    let kind = Kind {
        protocol: Protocol::Butterfly,
        graph: None,
        messages: messages(&scheme)? as f64 / peers as f64,
        standing: format!(
            "{}; ignores the graph: everyone must reach the butterfly's partners",
            observers.standing()
        ),
    };
    Ok(Row::new(problem, peers, kind, &point))
}

/// The graph that distances are of: the one that is given, or that of the butterfly's own partners.
pub(super) fn graph(problem: &Problem, scheme: &Scheme) -> Result<Graph> {
    let given = problem.sites.first().filter(|_| problem.graph_is_given);
    given.map_or_else(|| partners(scheme), |site| Ok(site.graph().clone()))
}

/// What each observer learns, and the share of one noise in everybody's result.
pub(super) fn views(
    problem: &Problem,
    scheme: &Scheme,
    observers: &Observers,
    progress: Progress,
) -> Result<(Vec<Leakage>, f64)> {
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
    let (mut seen, mut share) = (Vec::new(), 0.0);
    for group in observers.all.chunks(TOGETHER) {
        let run = trace(scheme, noising, group)?;
        share = squares(&run) / scheme.peers() as f64;
        let before = seen.len();
        let done = |done| progress("butterfly", before + done, observers.all.len());
        let one = |i: usize| of_observer(problem, &run, group[i]);
        for found in parallel::map(group.len(), one, done) {
            seen.push(found?);
        }
    }
    Ok((seen, share))
}

/// What an observer of a traced run without relay noise learns.
fn of_observer(problem: &Problem, run: &Trace, v: usize) -> Result<Leakage> {
    let own = run.heard.iter().filter(|message| message.to == v).map(|message| &message.coefficients.0[..]);
    let known = run.finals.iter().map(|last| &last.0[..]).filter(|_| problem.results == Results::Published);
    let messages: Vec<&[f64]> = own.chain(known).collect();
    Ok(traced(&messages, &[v], run.finals.len(), |variable| variable == v)?)
}

fn squares(run: &Trace) -> f64 {
    run.finals.iter().flat_map(|last| &last.0).map(|x| x * x).sum()
}

/// Who exchanges with whom, as a graph.
fn partners(scheme: &Scheme) -> Result<Graph> {
    let n = scheme.peers();
    let core: usize = 1 << n.ilog2();
    let bits = (0..core.ilog2()).flat_map(|bit| (0..core).map(move |i| (i, i ^ (1 << bit))));
    let guests = (core..n).map(|guest| (guest - core, guest));
    Ok(Graph::from_edges(n, bits.filter(|(i, j)| i < j).chain(guests))?)
}

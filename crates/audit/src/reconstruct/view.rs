//! What the observers hear, as a matrix: a row for each message, a column for each variable they did not draw themselves.
//!
//! Everything is in units of the local noise. Variable `v` of a peer is its value plus its first noise, so its column is also the
//! coefficient of the value. What observers say to each other adds nothing, since they know it, and a message that several of
//! them hear counts once.

use std::collections::BTreeMap;

use faer::Mat;
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::{Coefficients, Peer};
use sottovoce_simulator::averaging::Scheme;
use sottovoce_simulator::trace::trace;
use sottovoce_views::door::Setting;
use sottovoce_views::exact::Results;

use super::{Error, Result, require};

/// Most numbers in the matrix.
const MOST_NUMBERS: usize = 1 << 25;
/// Most multiplications of its decomposition, up to a factor.
const MOST_WORK: f64 = 5e10;

/// The observers' messages.
pub(super) struct View {
    /// Number of peers.
    pub(super) peers: usize,
    /// The peers under attack: everybody else, in increasing order. They are the first columns of `hidden`.
    pub(super) targets: Vec<Peer>,
    /// The variables the observers drew, the columns of `known`.
    pub(super) own: Vec<usize>,
    /// The row of each message, by round and sender.
    pub(super) rows: BTreeMap<(usize, Peer), usize>,
    /// Coefficients of what the observers do not know.
    pub(super) hidden: Mat<f64>,
    /// Coefficients of what they do.
    pub(super) known: Mat<f64>,
}

impl View {
    pub(super) fn new(setting: &Setting, observers: &[Peer]) -> Result<Self> {
        let Setting { scheme, relay_noise, results, cancelling: _ } = setting;
        let peers = scheme.peers();
        let trace = trace(scheme, Noising { sensitivity: 1.0, local: 1.0, relay: *relay_noise }, observers)?;
        let watching = |peer: Peer| observers.binary_search(&peer).is_ok();
        let mut messages: BTreeMap<(usize, Peer), Coefficients> = BTreeMap::new();
        for heard in trace.heard.into_iter().filter(|heard| !watching(heard.from)) {
            messages.insert((heard.round, heard.from), heard.coefficients);
        }
        // Results are known as if they were told in a round of their own.
        if *results == Results::Published {
            let hidden = trace.finals.into_iter().enumerate().filter(|(peer, _)| !watching(*peer));
            messages.extend(hidden.map(|(peer, last)| ((scheme.rounds(), peer), last)));
        }
        let used = |i: &usize| messages.values().any(|message| message.0.get(*i).is_some_and(|&x| x != 0.0));
        let targets: Vec<Peer> = (0..peers).filter(|&peer| !watching(peer)).collect();
        let relays = (peers..trace.variables).filter(|i| !watching(i % peers)).filter(used);
        let columns: Vec<usize> = targets.iter().copied().chain(relays).collect();
        let own: Vec<usize> = (0..trace.variables).filter(|i| watching(i % peers)).filter(used).collect();
        let rows = messages.keys().enumerate().map(|(row, &key)| (key, row)).collect();
        let matrix = |variables: &[usize]| {
            let all: Vec<&Coefficients> = messages.values().collect();
            Mat::from_fn(all.len(), variables.len(), |row, column| {
                all[row].0.get(variables[column]).copied().unwrap_or(0.0)
            })
        };
        let (hidden, known) = (matrix(&columns), matrix(&own));
        Ok(Self { peers, targets, own, rows, hidden, known })
    }
}

/// Refuses what would take hours or all memory, before the accountant tries. Rows are counted from above.
pub(super) fn check_size(setting: &Setting, observers: &[Peer]) -> Result<()> {
    let Setting { scheme, relay_noise, results, cancelling } = setting;
    let remedy = "the attack does not know noise that cancels; leave it out";
    require(cancelling.is_none(), "cancel", "given", remedy)?;
    let (peers, rounds) = (scheme.peers(), scheme.rounds());
    let senders = match scheme {
        Scheme::Gossip { mixing, .. } => {
            let known = observers.iter().filter(|&&v| v < peers);
            known.map(|&v| mixing.graph().degree(v)).sum::<usize>().min(peers)
        }
        Scheme::Scheduled { .. } | Scheme::Coupled { .. } => peers,
        Scheme::Butterfly { .. } => observers.len(),
    };
    let rows = senders.saturating_mul(rounds).saturating_add(results.of(peers).len());
    let columns = if *relay_noise > 0.0 { peers.saturating_mul(rounds + 1) } else { peers };
    let (small, large) = (rows.min(columns) as f64, rows.max(columns) as f64);
    if rows.saturating_mul(columns) <= MOST_NUMBERS && small * small * large <= MOST_WORK {
        return Ok(());
    }
    let value = format!("{rounds} (up to {rows} messages over {columns} variables)");
    Err(Error::parameter("steps", value, "too many to solve for; give fewer steps or observers"))
}

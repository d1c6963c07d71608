//! What the observers hear, as a matrix: a row for each message, a column for each variable they do not know.
//!
//! Everything is in units of the local noise. Variable `v` of a peer is its value plus its first noise, so its column is also the
//! coefficient of the value. What observers say to each other adds nothing, since they know it, and a message that several of
//! them hear counts once.

use std::collections::BTreeMap;

use sottovoce_dense::Mat;
use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_protocol::{Coefficients, Peer};
use sottovoce_views::door::Setting;
use sottovoce_views::exact::Results;
use sottovoce_views::trace::{Heard, trace};

use super::masked::Sight;
use super::{Error, Result};

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
    /// What the observers know, the columns of `known`.
    pub(super) own: Vec<Known>,
    /// Whether every message is heard, and not only what they are told.
    tapped: bool,
    /// The row of each message, by round and sender.
    pub(super) rows: BTreeMap<(usize, Peer), usize>,
    /// Coefficients of what the observers do not know.
    pub(super) hidden: Mat,
    /// Coefficients of what they do.
    pub(super) known: Mat,
}

/// A noise that the observers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// A peer's draw, with its value in the first.
    Draw(Peer, usize),
    /// What two peers share.
    Pair(Peer, Peer),
}

impl View {
    pub(super) fn new(setting: &Setting, observers: &[Peer], tapped: bool) -> Result<Self> {
        let Setting { scheme, relay_noise, results, cancelling, masks: _ } = setting;
        let peers = scheme.peers();
        let everyone: Vec<Peer> = (0..peers).collect();
        let listening = if tapped { &everyone } else { observers };
        let trace = trace(scheme, Noising { sensitivity: 1.0, local: 1.0, relay: *relay_noise }, listening)?;
        let watching = |peer: Peer| observers.binary_search(&peer).is_ok();
        let mut messages: BTreeMap<(usize, Peer), Coefficients> = BTreeMap::new();
        let rounds = if tapped { rounds_that_tell(setting) } else { scheme.rounds() };
        let new = |heard: &Heard| !watching(heard.from) && heard.round < rounds;
        for heard in trace.heard.into_iter().filter(new) {
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
        let all: Vec<&Coefficients> = messages.values().collect();
        let coefficient = |row: usize, variable: usize| all[row].0.get(variable).copied().unwrap_or(0.0);
        // A pair's noise goes where its ends' values go, with opposite signs.
        let kappa = cancelling.as_ref().map_or(0.0, Cancelling::kappa);
        let pairs: Vec<(Peer, Peer)> = cancelling.iter().flat_map(|pairs| pairs.keys().edges()).collect();
        let (shared, hidden_pairs): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|&(one, other)| watching(one) || watching(other));
        let matrix = |variables: &[usize], pairs: &[(Peer, Peer)]| {
            Mat::from_fn(all.len(), variables.len() + pairs.len(), |row, column| {
                match column.checked_sub(variables.len()) {
                    None => coefficient(row, variables[column]),
                    Some(pair) => {
                        let (one, other) = pairs[pair];
                        kappa * (coefficient(row, one) - coefficient(row, other))
                    }
                }
            })
        };
        let (hidden, known) = (matrix(&columns, &hidden_pairs), matrix(&own, &shared));
        let own = (own.into_iter().map(|i| Known::Draw(i % peers, i / peers)))
            .chain(shared.into_iter().map(|(one, other)| Known::Pair(one, other)))
            .collect();
        Ok(Self { peers, targets, own, tapped, rows, hidden, known })
    }

    /// Under masks: a row for the sum of each group, and nothing else.
    pub(super) fn under_masks(setting: &Setting, observers: &[Peer], sight: &Sight) -> Self {
        let peers = setting.scheme.peers();
        let targets: Vec<Peer> = (0..peers).filter(|peer| observers.binary_search(peer).is_err()).collect();
        let is_in = |group: usize, target: usize| sight.groups[group].binary_search(&targets[target]).is_ok();
        let groups = sight.groups.len();
        let hidden = Mat::from_fn(groups, targets.len(), |row, column| f64::from(is_in(row, column)));
        let rows = (0..groups).map(|group| ((0, group), group)).collect();
        Self { peers, hidden, targets, own: Vec::new(), tapped: true, rows, known: Mat::zeros(groups, 0) }
    }

    /// Whether what a peer is told is heard.
    pub(super) fn is_heard(&self, to: Peer) -> bool {
        self.tapped || self.targets.binary_search(&to).is_err()
    }
}

/// Rounds in which someone who sees every message hears anything new: gossip without noise on messages can be computed from its first round.
fn rounds_that_tell(setting: &Setting) -> usize {
    match &setting.scheme {
        Scheme::Gossip { .. } if setting.relay_noise == 0.0 => 1,
        other => other.rounds(),
    }
}

/// Refuses what would take hours or all memory, before the accountant tries. Rows are counted from above.
pub(super) fn check_size(setting: &Setting, observers: &[Peer], tapped: bool) -> Result<()> {
    let Setting { scheme, relay_noise, results, cancelling, masks: _ } = setting;
    let (peers, rounds) = (scheme.peers(), if tapped { rounds_that_tell(setting) } else { scheme.rounds() });
    let senders = match scheme {
        _ if tapped => peers,
        Scheme::Gossip { mixing, .. } => {
            let known = observers.iter().filter(|&&v| v < peers);
            known.map(|&v| mixing.graph().degree(v)).sum::<usize>().min(peers)
        }
        Scheme::Scheduled { .. } | Scheme::Coupled { .. } => peers,
        Scheme::Butterfly { .. } => observers.len(),
    };
    let rows = senders.saturating_mul(rounds).saturating_add(results.of(peers).len());
    let columns = if *relay_noise > 0.0 { peers.saturating_mul(rounds + 1) } else { peers };
    let pairs = cancelling.as_ref().map_or(0, |pairs| pairs.keys().edge_count());
    let columns = columns.saturating_add(pairs);
    let (small, large) = (rows.min(columns) as f64, rows.max(columns) as f64);
    if rows.saturating_mul(columns) <= MOST_NUMBERS && small * small * large <= MOST_WORK {
        return Ok(());
    }
    let value = format!("{rounds} (up to {rows} messages over {columns} variables)");
    Err(Error::parameter("steps", value, "too many to solve for; give fewer steps or observers"))
}

//! What a guarantee does not speak of, in words: each guarantee lists the ones that apply, in text, JSON and on pages.
//!
//! A reader of an epsilon takes it for a promise about everything. These sentences say where it ends.

/// Active attackers.
pub const DEVIATION: &str = "peers who deviate from the protocol";
/// Clocks and side channels.
pub const TIMING: &str = "when messages are sent, how long they are, and how long computations take";
/// What others see of a peer besides its messages.
pub const REFUSALS: &str = "whether a node takes part, refuses what its owner brought along, or stops";
/// Faults that change what is sent.
pub const LOST_MESSAGES: &str =
    "runs in which messages are lost or late: what then is sent is something else, and has to be traced";
/// Outputs that leave the peers who computed them.
pub const RESULTS: &str = "results that peers publish or hand on, beyond what the adversary is said to see";
/// Choices made by looking.
pub const TUNING: &str =
    "choices made by looking at private data: steps, clipping, noise, or which run to keep";
/// Public seeds.
pub const SIMULATION: &str = "this run's own output: the guarantee is the protocol's, and a simulation's noise follows from its public seed";
/// Noise of a simulation whose seed nobody knows.
pub const SECRET_SEED: &str = "a search through all seeds: the noise follows from 64 bits that the system drew, and that are kept nowhere";
/// The low bits of doubles.
pub const ROUNDING: &str =
    "the low bits of noise drawn in floating point (deployments draw exact noise on a grid)";
/// Sampling.
pub const SAMPLING: &str =
    "batches that are drawn in another way than stated, such as by passes over shuffled data";
/// Fixed batches, whose share of the data depends on its size.
pub const FEWER_ROWS: &str = "data sets of fewer rows than stated: of those a batch takes a larger share";
/// Lots of limited size, of which the number of rows says how often they are full.
pub const OTHER_ROWS: &str =
    "data sets of another number of rows than stated: their lots are full more often, or less";
/// Composition.
pub const REPETITION: &str = "further releases of the same data, before or after: their losses compose";
/// Correlations.
pub const CORRELATION: &str = "what other people's data say about a person";
/// Public numbers that are not.
pub const BOUNDS: &str =
    "ranges, norms, thresholds and classes that were read off the data: they are taken for public";
/// Distances by which bounds fall.
pub const DISTANCES: &str =
    "the distances by which bounds fall, and what they are computed from: they are taken for public";
/// What replacing somebody's data keeps.
pub const COUNTS: &str =
    "how many rows a user has and which peer holds them: replacing a user's data keeps both";
/// Numbers that no noise protects.
pub const MEASURED: &str =
    "losses, accuracies and curves measured on the data: they are computed without privacy";

/// Code of somebody's own.
pub const FUNCTION: &str = "whatever else the gradient function does: it has all rights of the program that calls it, to files, networks and screens";
/// The same of a real peer, who may have one.
pub const OWN_PROGRAM: &str = "whatever else a program or function does that computes gradients, where a peer has one of its own: it has all rights of whoever runs it";
/// Where training starts.
pub const START: &str = "the model that training starts from: it is taken for public";

/// Noise that cancels.
pub const SECRETS: &str = "secrets of pairs that leak or are used twice: what pairs hide is as secret as their stream cipher and its keys";

/// Several of these as a guarantee's list.
pub fn list(limits: &[&str]) -> Vec<String> {
    limits.iter().map(|limit| (*limit).to_owned()).collect()
}

/// What no averaging, walk or descent covers, in a deployment.
pub fn of_a_protocol() -> Vec<String> {
    list(&[DEVIATION, TIMING, LOST_MESSAGES, RESULTS, TUNING, ROUNDING, REPETITION, CORRELATION])
}

/// What guarantees about personalised models take for public.
pub const SIMILARITIES: &str =
    "who resembles whom, how many rows everybody has, and the features of items: they are taken for public";

/// What no run of personalised models covers. Peers who deviate are covered: gradients are clipped wherever their messages drive a model
/// (`docs/theorems/personalized.md`, section 1).
pub fn of_personal_models() -> Vec<String> {
    let mut all = of_a_protocol();
    all.retain(|limit| limit != DEVIATION);
    all.push(SIMILARITIES.to_owned());
    all
}

/// What lots take for public.
pub const ROWS: &str =
    "how many rows every agent has, from which the rates of lots follow: it is taken for public";

/// What no run of consensus learning covers.
pub fn of_consensus_learning() -> Vec<String> {
    let mut all = of_a_protocol();
    all.extend(list(&[SAMPLING, ROWS]));
    all
}

/// What no single release covers.
pub fn of_a_release() -> Vec<String> {
    list(&[TIMING, TUNING, ROUNDING, REPETITION, CORRELATION])
}

/// What is not covered besides where gradients are computed by a function of somebody's own.
pub fn of_a_function() -> Vec<String> {
    list(&[FUNCTION, START])
}

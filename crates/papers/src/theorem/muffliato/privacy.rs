//! Losses: Theorems 1, 6, 11 and 12, Corollaries 1 to 3. All are refuted: the truth stands beside them.

use sottovoce_privacy::Standing;
use sottovoce_topology::family::Family;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::schedule::{Schedule, fresh_mixings};
use sottovoce_views::descent::linear;
use sottovoce_views::exact;

use crate::Result;
use crate::printed::{descent, gossip};
use crate::theorem::{Answer, Inputs};

/// Variance of the noise and spread of the values, by which the paper's pictures stop.
const NOISE: f64 = 1.0;
const SPREAD: f64 = 0.25;
/// Differences that are rounding.
const ROUNDING: f64 = 1e-9;

/// Printed losses beside true ones, of everyone but the observers.
fn pairs(answer: Answer, observers: &[usize], printed: &[f64], truth: &[f64]) -> Answer {
    let others: Vec<usize> = (0..printed.len()).filter(|u| !observers.contains(u)).collect();
    let most = |losses: &[f64]| others.iter().map(|&u| losses[u]).fold(0.0, f64::max);
    let mean = |losses: &[f64]| others.iter().map(|&u| losses[u]).sum::<f64>() / losses.len() as f64;
    let above: Vec<usize> = others.iter().copied().filter(|&u| truth[u] > printed[u] + ROUNDING).collect();
    let worst =
        others.iter().copied().max_by(|&a, &b| (truth[a] - printed[a]).total_cmp(&(truth[b] - printed[b])));
    let answer = answer
        .printed("worst", most(printed), "loss of the peer that is printed to lose most")
        .printed("mean", mean(printed), "mean over all peers")
        .truth("worst", most(truth), "loss of the peer that loses most")
        .truth("mean", mean(truth), "mean over all peers")
        .truth("above", above.len() as f64, "peers who lose more than is printed");
    let answer = match worst {
        Some(u) if !above.is_empty() => answer
            .printed(
                "farthest off",
                printed[u],
                &format!("printed loss of peer {u}, who is understated most"),
            )
            .truth("farthest off", truth[u], &format!("what peer {u} really loses")),
        _ => answer,
    };
    answer.holds(above.is_empty())
}

fn case(says: &str, mixing: &Mixing, observers: &[usize], steps: usize) -> Answer {
    Answer::new(says, Standing::Refuted)
        .case("n", mixing.nodes() as f64, "peers")
        .case("observers", observers.len() as f64, "peers who put together what they hear")
        .case("T", steps as f64, "steps")
}

/// Theorem 1, and Theorem 12 for several observers.
pub(super) fn theorem_1(inputs: &Inputs) -> Result<Answer> {
    let says = "The losses of all messages that the observers hear add up: each is (W^t)_uw²/|(W^t)_w|².";
    let (_, mixing) = inputs.mixing()?;
    let (observers, steps) = (inputs.observers(mixing.graph())?, inputs.rounds(&mixing, NOISE, SPREAD)?);
    let printed = gossip::theorem1(&mixing, &observers, steps)?;
    let truth = exact::gossip(&mixing, &observers, steps)?.losses;
    Ok(pairs(case(says, &mixing, &observers, steps), &observers, &printed, &truth))
}

/// Corollary 1, and Corollary 3 for several observers.
pub(super) fn corollary_1(inputs: &Inputs) -> Result<Answer> {
    let says = "The loss of u is at most n max_w W_vw^-2 times the sum of P(X^t = v | X^0 = u)² over the walk with transitions W.";
    let (_, mixing) = inputs.mixing()?;
    let (observers, steps) = (inputs.observers(mixing.graph())?, inputs.rounds(&mixing, NOISE, SPREAD)?);
    let printed = gossip::random_walk(&mixing, &observers, steps)?;
    let truth = exact::gossip(&mixing, &observers, steps)?.losses;
    Ok(pairs(case(says, &mixing, &observers, steps), &observers, &printed, &truth))
}

/// Corollary 2: randomised gossip, whose edges are drawn with probabilities `2 W_vw/n`.
pub(super) fn corollary_2(inputs: &Inputs) -> Result<Answer> {
    let says = "Given the edges that were drawn, the losses of all messages that the observers hear add up, as in Theorem 1.";
    let (_, mixing) = inputs.mixing()?;
    let observers = inputs.observers(mixing.graph())?;
    let steps = inputs.exchanges(&mixing, NOISE, SPREAD)?;
    let schedule = Schedule::randomised(&mixing, steps, inputs.seed)?;
    let printed = gossip::scheduled(&schedule, &observers, steps)?;
    let truth = exact::scheduled(&schedule, &observers, steps)?.losses;
    Ok(pairs(case(says, &mixing, &observers, steps), &observers, &printed, &truth)
        .note("One draw of the edges, by the seed."))
}

/// Theorem 6: learning on one graph.
pub(super) fn theorem_6(inputs: &Inputs) -> Result<Answer> {
    let says = "Over T gradient steps with K rounds of gossip after each, the loss is T times that of one averaging of K rounds.";
    let (_, mixing) = inputs.mixing()?;
    let (observers, rounds) = (inputs.observers(mixing.graph())?, inputs.rounds(&mixing, NOISE, SPREAD)?);
    let iterations = inputs.iterations(200)?.unwrap_or(10);
    let printed = descent::theorem6(&mixing, &observers, rounds, iterations)?;
    let linear = linear::loss(&[&mixing], &observers, rounds, iterations)?;
    Ok(learned(case(says, &mixing, &observers, rounds), &observers, (&printed, &linear.losses), iterations))
}

/// Theorem 11: a fresh random graph for every gradient step.
pub(super) fn theorem_11(inputs: &Inputs) -> Result<Answer> {
    let says = "The same with the graph of each gradient step: the losses of all averagings add up.";
    let (n, q) = inputs.random_graph()?;
    let iterations = inputs.iterations(200)?.unwrap_or(3);
    let family = Family::ErdosRenyi { n, p: q };
    let fresh = fresh_mixings(&family, Weights::MetropolisPlusOne, inputs.seed);
    let mixings = fresh.filter(|mixing| mixing.as_ref().map_or(true, |mixing| mixing.graph().is_connected()));
    let mixings = mixings.take(iterations).collect::<std::result::Result<Vec<_>, _>>()?;
    let all: Vec<&Mixing> = mixings.iter().collect();
    let rounds = all.iter().map(|mixing| inputs.rounds(mixing, NOISE, SPREAD)).collect::<Result<Vec<_>>>()?;
    let rounds = rounds.into_iter().max().unwrap_or(1);
    let observers = inputs.observers(all[0].graph())?;
    let printed = descent::theorem11(&all, &observers, rounds, iterations)?;
    let linear = linear::loss(&all, &observers, rounds, iterations)?;
    Ok(learned(case(says, all[0], &observers, rounds), &observers, (&printed, &linear.losses), iterations))
}

fn learned(
    answer: Answer,
    observers: &[usize],
    (printed, linear): (&[f64], &[f64]),
    iterations: usize,
) -> Answer {
    let answer = answer.case(
        "iterations",
        iterations as f64,
        "gradient steps (T of the theorem; local DP loses as much)",
    );
    pairs(answer, observers, printed, linear).note(
        "The true losses are those of views that are linear: they hold if no gradient reacts to what is hidden from the observers. Without \
         that condition nothing below local DP is proven where gossip stops short of consensus.",
    )
}

//! Secret random graphs (Theorems 4 and 9, Corollary 5, Proposition 1), and randomised gossip's number of messages (Appendix D).

use sottovoce_privacy::Standing;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::exact;

use crate::printed::descent;
use crate::printed::gossip::{neighbour_probability, random_graph};
use crate::theorem::{Answer, Inputs};
use crate::{Result, require};

/// Theorems 4 and 9: one observer.
pub(super) fn theorem_4(inputs: &Inputs) -> Result<Answer> {
    let says = "With probability q, u is a neighbour of v and loses what local DP loses; otherwise at most 2 T d/(n - d) of it, if the graph is \
                secret and sigma² >= Delta² alpha (alpha - 1)/2.";
    secret(inputs, 1, says)
}

/// Corollary 5: the first so many peers.
pub(super) fn corollary_5(inputs: &Inputs) -> Result<Answer> {
    let says = "With probability 1 - (1 - q)^|V|, u is a neighbour of V and loses what local DP loses; otherwise at most 2 T d_V/(n - d_V) of it.";
    secret(inputs, inputs.coalition()?, says)
}

/// Those who are no neighbours are all alike to the observers: each loses what they lose on average.
fn secret(inputs: &Inputs, coalition: usize, says: &str) -> Result<Answer> {
    let (n, q) = inputs.random_graph()?;
    require(coalition < n, "coalition", coalition, format!("there are {n} peers; give fewer"))?;
    let graph = generate(&Family::ErdosRenyi { n, p: q }, inputs.seed, true)?;
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    let steps = inputs.rounds(&mixing, 1.0, 0.25)?;
    let observers: Vec<usize> = (0..coalition).collect();
    let near = |u: usize| observers.iter().any(|&v| graph.has_edge(u, v));
    let degree = (coalition..n).filter(|&u| near(u)).count();
    let (bound, standing) = random_graph(n, degree, steps)?;
    let losses = exact::gossip(&mixing, &observers, steps)?.losses;
    let far: Vec<f64> = (coalition..n).filter(|&u| !near(u)).map(|u| losses[u]).collect();
    let mean = far.iter().sum::<f64>() / far.len().max(1) as f64;
    let chance = neighbour_probability(q, coalition);
    Ok(Answer::new(says, standing)
        .case("n", n as f64, "peers")
        .case("q", q, "probability of an edge")
        .case("observers", coalition as f64, "peers who put together what they hear")
        .case("d", degree as f64, "their neighbours in the graph that was drawn")
        .case("T", steps as f64, "steps")
        .printed("chance", chance, "probability of being a neighbour, and losing 1")
        .printed("otherwise", bound, "loss of everyone else")
        .truth("otherwise", mean, "mean loss of those who are no neighbours, in the graph that was drawn")
        .holds(mean <= bound)
        .note(
            "Whoever knows the graph learns more about some: the bound is for observers to whom all who are no neighbours are alike. That is why the \
             mean over them is what it must be held against, and twice the mean is what the proof allows for not knowing the graph.",
        ))
}

/// Proposition 1: a fresh graph for each gradient step.
pub(super) fn proposition_1(inputs: &Inputs) -> Result<Answer> {
    let says = "Over T gradient steps, each on a fresh random graph, the loss is at most 2 Σ_t [β_t + (1 - β_t) K |N_t|/(n - |N_t|)]: β_t is 1 where \
                u is a neighbour of the coalition.";
    let (n, q) = inputs.random_graph()?;
    let (coalition, iterations) = (inputs.coalition()?, inputs.iterations(1000)?.unwrap_or(10));
    let rounds = inputs.steps_or(n, || Ok(10))?;
    let expected = descent::proposition1_expected(n, q, coalition, rounds, iterations)?;
    let family = Family::ErdosRenyi { n, p: q };
    let seed = inputs.seed;
    let graphs = (0..iterations as u64)
        .map(|t| generate(&family, seed.wrapping_add(t), true))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let observers: Vec<usize> = (0..coalition).collect();
    let drawn = descent::proposition1(&graphs.iter().collect::<Vec<_>>(), &observers, rounds)?;
    let worst = drawn.iter().copied().fold(0.0, f64::max);
    let near = neighbour_probability(q, coalition);
    Ok(Answer::new(says, Standing::Refuted)
        .case("n", n as f64, "peers")
        .case("q", q, "probability of an edge")
        .case("observers", coalition as f64, "peers who put together what they hear")
        .case("K", rounds as f64, "rounds of gossip after each gradient step")
        .case("T", iterations as f64, "gradient steps (local DP loses as much)")
        .printed("expected", expected, "loss, in expectation over the graphs")
        .printed("drawn, worst", worst, "loss of the peer that loses most, for the graphs that were drawn")
        .printed("drawn, mean", drawn.iter().sum::<f64>() / n as f64, "mean over all peers")
        .truth("local", iterations as f64, "what is proven without any condition")
        .truth("neighbours", near * iterations as f64, "expected number of iterations in which u is a neighbour, and loses 1 whatever is printed")
        .note("Refuted, as the theorems it rests on: hidden states feed back into later gradients. Where it is above local DP, local DP holds."))
}

/// Appendix D: a peer hears a binomial number of messages.
pub(super) fn messages(inputs: &Inputs) -> Result<Answer> {
    let says = "The number of messages that v hears is binomial with parameters T and pi_v; it exceeds its mean by C with probability at most \
                exp(-C²/T).";
    let (graph, mixing) = inputs.mixing()?;
    let n = graph.nodes() as f64;
    let observer = inputs.observer(&graph)?;
    let steps = inputs.exchanges(&mixing, 1.0, 0.25)?;
    let chance = 2.0 * (1.0 - mixing.diagonal()[observer]) / n;
    let mean = steps as f64 * chance;
    let excess = inputs.excess()?.unwrap_or((2.0 * (mean * (1.0 - chance)).sqrt()).ceil());
    let printed = (-excess * excess / steps as f64).exp();
    let hoeffding = (-2.0 * excess * excess / steps as f64).exp();
    let exact = upper_tail(steps, chance, (mean + excess).ceil() as usize);
    Ok(Answer::new(says, Standing::Proven)
        .case("n", n, "peers")
        .case("T", steps as f64, "steps")
        .case("pi_v", chance, "probability that v takes part in a step")
        .case("C", excess, "messages beyond the mean")
        .printed("mean", mean, "messages that v hears on average")
        .printed("tail", printed, "bound on the probability of C more")
        .truth("Hoeffding", hoeffding, "the inequality that is cited gives exp(-2 C²/T)")
        .truth("tail", exact, "the probability itself")
        .holds(exact <= printed)
        .note("With weights that keep something for oneself pi_v is 2 (1 - W_vv)/n; the paper has 2/n, for weights that keep nothing."))
}

/// `P[X >= least]` for `X` binomial, term by term, rounded up a little.
fn upper_tail(trials: usize, p: f64, least: usize) -> f64 {
    if least == 0 || p >= 1.0 {
        return 1.0;
    }
    let odds = p.ln() - (-p).ln_1p();
    let mut log = trials as f64 * (-p).ln_1p();
    let mut sum = 0.0;
    for count in 0..=trials {
        if count >= least {
            sum += log.exp();
        }
        log += odds + ((trials - count) as f64 / (count + 1) as f64).ln();
    }
    (sum * (1.0 + 1e-9)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_a_coin() {
        assert!(
            (upper_tail(3, 0.5, 2) - 0.5).abs() < 1e-8 && (upper_tail(4, 0.25, 4) - 1.0 / 256.0).abs() < 1e-8
        );
        assert_eq!((upper_tail(5, 0.3, 0), upper_tail(5, 1.0, 5)), (1.0, 1.0));
    }
}

//! How far from the best models: Proposition 1, Theorem 2, Proposition 2 and Appendix B.

use sottovoce_privacy::Standing;
use sottovoce_privacy::allotment::{Allocation, Law, Method, Request, suggested};

use super::super::{Answer, Inputs, inputs};
use super::exact::Ring;
use crate::Result;

/// Most ticks of the common clock.
const TICKS: usize = 100_000;

fn case(answer: Answer, ring: &Ring, ticks: usize) -> Answer {
    answer
        .case("n", ring.n(), "agents on a ring (two: one edge), losses |theta|²/2")
        .case("mu", ring.trade_off, "weight of their own losses")
        .case("C", ring.factor(), "1 - sigma/(n L_max), the factor of one tick of the common clock")
        .case("T", ticks as f64, "ticks")
}

pub(super) fn proposition_1(inputs: &Inputs) -> Result<Answer> {
    let says =
        "E[Q(T) - Q*] <= (1 - sigma/(n L_max))^T (Q(0) - Q*), where every L_i is sigma_loc-strongly convex.";
    let (ring, ticks) = (Ring::of(inputs)?, inputs.iterations(TICKS)?.unwrap_or(20));
    let printed = ring.factor().powf(ticks as f64);
    let exact = ring.expected(1.0, &vec![0.0; ticks]) / ring.start(1.0);
    let standing = Standing::Conditional(vec!["no agent has stopped yet: wake-ups are uniform".into()]);
    Ok(case(Answer::new(says, standing), &ring, ticks)
        .printed("left", printed, "share of the initial gap that is left, at most")
        .truth("left", exact, "the share itself, from equal models")
        .holds(exact <= printed * (1.0 + 1e-12))
        .note(
            "A regulariser lambda |theta|² makes sigma_loc = 2 lambda. After the first agent has stopped the others wake more often, and the rate is another.",
        ))
}

pub(super) fn theorem_2(inputs: &Inputs) -> Result<Answer> {
    let says = "E[Q(T) - Q*] <= C^T (Q(0) - Q*) + (1/(n L_min)) Σ_t Σ_i C^t (mu D_ii c_i s_i(t))², with Laplace noise of scale s_i(t).";
    let (ring, ticks) = (Ring::of(inputs)?, inputs.iterations(TICKS)?.unwrap_or(1));
    let (p, scale) = (inputs.dimension()? as f64, inputs.sigma()?);
    let distance = inputs::not_negative("distance", inputs.distance.unwrap_or(0.0))?;
    // A Laplace variable has the variance 2 s²; the printed bound counts one coordinate.
    let noises = |coordinates: f64| vec![2.0 * coordinates * scale * scale; ticks];
    let (printed, corrected) = (ring.bound(distance, &noises(1.0)), ring.bound(distance, &noises(p)));
    let exact = ring.expected(distance, &noises(p));
    Ok(case(Answer::new(says, Standing::Refuted), &ring, ticks)
        .case("p", p, "parameters of a model")
        .case("s", scale, "scale of the noise in each of them")
        .case("start", ring.start(distance), "Q(0) - Q*")
        .printed("at most", printed, "E[Q(T) - Q*]")
        .truth("exactly", exact, "E[Q(T) - Q*]")
        .truth(
            "at most",
            corrected,
            "the bound corrected: E|noise|² is 2 p s², and noise is damped by C^(T-1-t)",
        )
        .truth(
            "ratio",
            exact / printed,
            "truth over print; one step of two agents from the optimum: exactly p",
        )
        .holds(exact <= printed * (1.0 + 1e-9)))
}

/// What wake-ups get of a budget of 1 if tick `t` gets in proportion to `C^(rate t)`.
fn shares(factor: f64, rate: f64, ticks: usize) -> Vec<f64> {
    let last = (ticks - 1) as f64;
    // The largest is 1, so that nothing overflows.
    let power =
        |t: usize| (rate.abs() * factor.ln() * if rate < 0.0 { last - t as f64 } else { t as f64 }).exp();
    let all: Vec<f64> = (0..ticks).map(power).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|share| share / sum).collect()
}

pub(super) fn proposition_2(inputs: &Inputs) -> Result<Answer> {
    let says = "With epsilons that are added, shares eps(t) in proportion to C^(t/3) minimise the utility loss: the noise should grow with time.";
    let (ring, ticks) = (Ring::of(inputs)?, inputs.iterations(1000)?.unwrap_or(20));
    let (p, epsilon, sensitivity) = (inputs.dimension()? as f64, inputs.epsilon()?, inputs.sensitivity(1.0)?);
    let error = |rate: f64| {
        let shares = shares(ring.factor(), rate, ticks);
        let noise = |share: &f64| 2.0 * p * (sensitivity / (share * epsilon)).powi(2);
        ring.expected(0.0, &shares.iter().map(noise).collect::<Vec<f64>>())
    };
    let (first, last) = {
        let shares = shares(ring.factor(), 1.0 / 3.0, ticks);
        (epsilon * shares[0], epsilon * shares[ticks - 1])
    };
    let (published, uniform, optimal) = (error(1.0 / 3.0), error(0.0), error(-1.0 / 3.0));
    Ok(case(Answer::new(says, Standing::Refuted), &ring, ticks)
        .case("p", p, "parameters of a model")
        .case("epsilon", epsilon, "an agent's budget over all ticks")
        .printed("first", first, "epsilon of the first tick")
        .printed("last", last, "epsilon of the last tick")
        .truth("published", published, "E[Q(T) - Q*] with these shares, from the best models, exactly")
        .truth("uniform", uniform, "with equal shares")
        .truth("reversed", optimal, "with the same shares in the opposite order")
        .holds(published <= uniform && published <= optimal)
        .note(
            "Noise at tick t is damped by every later tick, C^(T-1-t): late noise counts most, and the best shares grow. Equation 12 has the exponent reversed.",
        ))
}

pub(super) fn appendix_b(inputs: &Inputs) -> Result<Answer> {
    let says = "With noise of one scale the bound is b (1 - rho)^T + (a/rho)(1 - (1 - rho)^T), which suggests that T can be used to minimise the overall error.";
    let (ring, ticks) = (Ring::of(inputs)?, inputs.iterations(TICKS)?.unwrap_or(20));
    let (p, scale, distance) = (inputs.dimension()? as f64, inputs.sigma()?, inputs.distance()?);
    let noises = vec![2.0 * scale * scale; ticks];
    let (start, limit) = (ring.start(distance), 2.0 * scale * scale * ring.unit() * ring.n() / ring.ratio());
    let request = Request {
        epsilon: inputs.epsilon()?,
        delta: inputs.delta()?,
        law: Law::Gaussian,
        method: Method::Gdp,
        allocation: Allocation::Uniform,
        updates: 1,
        factor: 1.0 - ring.ratio(),
        before: 0.0,
    };
    let unit = p * ring.n() * ring.unit() * inputs.sensitivity(1.0)?.powi(2);
    let best = suggested(&request, start, unit, 2000)?;
    let noise = best.allotment.noises().first().copied().unwrap_or_default();
    Ok(case(Answer::new(says, Standing::Refuted), &ring, ticks)
        .case("epsilon", request.epsilon, "an agent's budget")
        .case("delta", request.delta, "its delta")
        .printed("T = 0", start, "the bound without any update: b")
        .printed("T", ring.bound(distance, &noises), "the bound after as many ticks as asked about, at a fixed scale")
        .printed("limit", limit, "the bound of endlessly many: a/rho")
        .truth("updates", best.updates as f64, "of each agent that minimise the corrected bound for the budget")
        .truth("at most", best.bound(), "the corrected bound at that number, with Gaussian noise")
        .truth("noise", noise, "standard deviation at that number, in sensitivities")
        .holds(false)
        .note(
            "At a fixed scale the bound is monotone in T: the best number is 0 or endless. A budget that is spread over more updates makes each of them noisier: with \
             the scale as a function of T there is a best number. b is private; a public bound takes its place.",
        ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn value(numbers: &[crate::theorem::Number], name: &str) -> f64 {
        numbers.iter().find(|number| number.name == name).unwrap().value
    }

    /// Two agents, one step from the optimum: the truth is `p` times what is printed, exactly, and the corrected bound is attained.
    #[test]
    fn theorem_2_lacks_the_number_of_parameters() {
        for p in [1, 2, 10, 100] {
            let answer = theorem_2(&Inputs { dimension: Some(p), ..Inputs::default() }).unwrap();
            let (printed, exact) = (value(&answer.printed, "at most"), value(&answer.truth, "exactly"));
            assert!((exact / (p as f64 * printed) - 1.0).abs() < 1e-12, "{p}: {exact} {printed}");
            assert!((exact / value(&answer.truth, "at most") - 1.0).abs() < 1e-12);
            assert_eq!(answer.holds, Some(p == 1));
            // mu = 1, s = 1: mu² s²/(1 + mu) as printed.
            assert!((printed - 0.5).abs() < 1e-15);
        }
    }

    /// Over many ticks, too, and for many agents.
    #[test]
    fn theorem_2_is_exceeded_and_its_correction_is_not() {
        for (peers, ticks) in [(2, 30), (6, 5), (40, 200)] {
            let mut inputs = Inputs { dimension: Some(20), iterations: Some(ticks), ..Inputs::default() };
            inputs.graph.peers = Some(peers);
            let answer = theorem_2(&inputs).unwrap();
            let exact = value(&answer.truth, "exactly");
            assert!(
                exact > 2.0 * value(&answer.printed, "at most") && exact <= value(&answer.truth, "at most")
            );
        }
    }

    /// Proposition 2 with time the right way round beats equal shares, and these beat what is printed.
    #[test]
    fn proposition_2_has_time_reversed() {
        for (peers, ticks) in [(2, 5), (2, 20), (4, 60)] {
            let mut inputs = Inputs { iterations: Some(ticks), ..Inputs::default() };
            inputs.graph.peers = Some(peers);
            let truth = proposition_2(&inputs).unwrap().truth;
            let [published, uniform, reversed] =
                ["published", "uniform", "reversed"].map(|name| value(&truth, name));
            assert!(reversed < uniform && uniform < published, "{reversed} {uniform} {published}");
        }
    }

    /// Equation 12 as printed is exceeded by noise that comes last, whatever the number of parameters.
    #[test]
    fn equation_12_has_time_reversed() {
        let ring = Ring { peers: 2, trade_off: 1.0 };
        let ticks = 30;
        let mut noises = vec![0.0; ticks];
        noises[ticks - 1] = 1.0;
        let printed = ring.factor().powi(ticks as i32 - 1) * ring.unit();
        let exact = ring.expected(0.0, &noises);
        assert!(exact > 1000.0 * printed && exact <= ring.bound(0.0, &noises) * (1.0 + 1e-12));
    }

    /// At a fixed scale the bound of Appendix B only rises or only falls.
    #[test]
    fn appendix_b_has_no_interior_optimum() {
        let ring = Ring { peers: 3, trade_off: 0.5 };
        for distance in [0.0, 0.1, 1.0, 10.0] {
            let bounds: Vec<f64> = (0..200).map(|t| ring.bound(distance, &vec![0.4; t])).collect();
            let (rises, falls) = (bounds.is_sorted(), bounds.is_sorted_by(|a, b| a >= b));
            assert!(rises || falls, "{distance}");
        }
        // With the scale as a function of the number there is one, and it is no end.
        let rich = Inputs { epsilon: Some(2.0), distance: Some(10.0), ..Inputs::default() };
        let updates = value(&appendix_b(&rich).unwrap().truth, "updates");
        assert!((2.0..500.0).contains(&updates), "{updates}");
    }

    /// `lambda |theta|²` is `2 lambda`-strongly convex, and no more: Definition with equality.
    #[test]
    fn strong_convexity_of_the_regulariser_is_two_lambda() {
        let (lambda, a, b) = (0.3_f64, 1.7_f64, -0.4_f64);
        let value = |theta: f64| lambda * theta * theta;
        let lower = |sigma: f64| value(a) + 2.0 * lambda * a * (b - a) + 0.5 * sigma * (b - a) * (b - a);
        assert!((value(b) - lower(2.0 * lambda)).abs() < 1e-15 && value(b) < lower(2.0 * lambda + 1e-9));
        assert!(value(b) > lower(lambda) + 0.5, "half of it is left unused");
    }
}

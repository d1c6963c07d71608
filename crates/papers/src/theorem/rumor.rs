//! Who started this rumor? (Bellet, Guerraoui and Hendrikx, 2020.) The page `docs/theorems/rumor-source.md` proves and sharpens it.

use sottovoce_audit::source::Share;
use sottovoce_privacy::Standing;
use sottovoce_protocol::public::{Among, Rules};
use sottovoce_simulator::rumor::{Crowd, Dice};
use sottovoce_views::parallel;
use sottovoce_views::rumor::{Rumor, survival, survival_at_most};

use super::{Answer, Inputs, Statement};
use crate::rumor::messages::few_messages;
use crate::{Result, require};

const WHO: &[&str] = &["peers", "curious", "muting"];

pub(super) static STATEMENTS: &[Statement] = &[
    Statement::new("theorem-4", "Push hides nobody among many", &["peers", "curious"], theorem_4),
    Statement::new(
        "theorem-5",
        "The walk of a rumour, and that nothing is more private",
        &["peers", "curious", "epsilon"],
        theorem_5,
    ),
    Statement::new(
        "theorem-7",
        "Delta of a muted rumour",
        &["peers", "curious", "muting", "terms"],
        theorem_7,
    ),
    Statement::new("theorem-8", "Prediction uncertainty of a muted rumour", WHO, theorem_8),
    Statement::new(
        "theorem-9",
        "How soon many messages are sent",
        &["peers", "muting", "multiple", "runs", "probability"],
        theorem_9,
    ),
    Statement::new(
        "remark-losses",
        "A rumour survives losses that are smaller than its muting parameter",
        &["peers", "muting", "drop", "runs"],
        remark_losses,
    ),
];

/// The case of a rumour.
fn case(answer: Answer, rumor: &Rumor) -> Answer {
    answer.case("n", rumor.peers() as f64, "peers").case("f", rumor.curious() as f64, "of them curious").case(
        "s",
        rumor.muting(),
        "probability of staying active after a telling",
    )
}

/// The loss at `epsilon = 0` itself, where it can be computed.
fn exactly(answer: Answer, rumor: &Rumor) -> Answer {
    let Some(sharp) = rumor.heard() else { return answer };
    answer
        .truth("at least", sharp.at_zero.lower, "total variation of what the curious hear, from below")
        .truth("at most", sharp.at_zero.upper, "the same from above (asynchronous tellings)")
        .truth("in rounds", rumor.rounds_delta(), "a proven bound where all active peers tell at once")
}

fn theorem_4(inputs: &Inputs) -> Result<Answer> {
    let says = "Push (s = 1) is (0, delta)-private for no delta below 1, as the number of peers grows.";
    let rumor = inputs.rumor(1.0)?;
    let answer = case(Answer::new(says, Standing::Published), &rumor).printed(
        "delta",
        1.0,
        "in the limit of many peers",
    );
    Ok(exactly(answer, &rumor)
        .note("Among finitely many delta is below 1, and what it is is proven: see the bounds."))
}

fn theorem_5(inputs: &Inputs) -> Result<Answer> {
    let says = "The walk (s = 0) is (epsilon, (f/n)(1 - (e^epsilon - 1)/f))-private, with prediction uncertainty n/(f+1) - 1, and no gossip protocol \
                does better.";
    let (rumor, epsilon) = (inputs.rumor(0.0)?, inputs.epsilon()?);
    let answer = case(Answer::new(says, Standing::Proven), &rumor)
        .case("epsilon", epsilon, "loss at which delta is asked for")
        .printed("delta", rumor.delta(epsilon, 1)?, "at this epsilon")
        .printed("at 0", rumor.delta(0.0, 1)?, "delta at epsilon 0")
        .printed("pure", rumor.published_pure_epsilon(), "epsilon at which delta is 0, ln(f + 1)")
        .printed("odds", rumor.prediction_uncertainty(1), "prediction uncertainty");
    let exact = rumor.heard().map(|sharp| sharp.at_zero);
    let so = exact.is_none_or(|exact| exact.lower <= rumor.delta(0.0, 1).unwrap_or(1.0) * (1.0 + 1e-9));
    Ok(exactly(answer, &rumor)
        .holds(so)
        .note("The guarantee is proven. That no protocol does better holds for sources that act like everyone; without that it is refuted."))
}

fn theorem_7(inputs: &Inputs) -> Result<Answer> {
    let says = "For 0 < s < 1 a rumour is (0, delta)-private with delta = 1 - (1 - s) Σ_k s^k (1 - f/n)^(k+1), which is at most \
                1 - (1 - s^r)(1 - f/n)^r for every r >= 1.";
    let rumor = inputs.rumor(0.5)?;
    let (s, kept) = (rumor.muting(), 1.0 - rumor.curious() as f64 / rumor.peers() as f64);
    require(s > 0.0 && s < 1.0, "muting", s, "give a number between 0 and 1: Theorem 7 is about those")?;
    let bound = |r: i32| 1.0 - (1.0 - s.powi(r)) * kept.powi(r);
    let given = inputs.terms()?;
    // It falls, then rises: the smallest is where it first rises.
    let best = (1..10_000).find(|&r| bound(r + 1) >= bound(r)).unwrap_or(1);
    let delta = rumor.delta(0.0, 1)?;
    let answer = case(Answer::new(says, Standing::Proven), &rumor)
        .printed("delta", delta, "the sum")
        .printed("r = 1", bound(1), "s + (1 - s) f/n, as in Table 1")
        .printed(
            &format!("r = {given}"),
            bound(i32::from(given)),
            "with the number of terms that was asked for",
        )
        .printed("best r", f64::from(best), "at which the bound is smallest")
        .printed("smallest", bound(best), "what it is there");
    let so = rumor.heard().is_none_or(|sharp| sharp.at_zero.lower <= delta * (1.0 + 1e-9))
        && bound(best) >= delta * (1.0 - 1e-12);
    Ok(exactly(answer, &rumor)
        .holds(so)
        .note("Its proof forgets that a source may tell itself; ours repairs it, and is sharper."))
}

fn theorem_8(inputs: &Inputs) -> Result<Answer> {
    let says = "Whatever is observed, under a uniform prior the odds against any peer being the source are at least c = (1 - (f+1)/n)(1 - s).";
    let rumor = inputs.rumor(0.5)?;
    let (printed, ours) = (rumor.prediction_uncertainty(1), rumor.improved_uncertainty(1));
    Ok(case(Answer::new(says, Standing::Proven), &rumor)
        .printed("c", printed, "odds against any peer, at least")
        .printed("chance", 1.0 / (1.0 + printed), "probability of any peer, at most")
        .truth("c", ours, "ours, proven: larger is better")
        .truth("chance", 1.0 / (1.0 + ours), "probability of any peer, at most")
        .holds(ours >= printed * (1.0 - 1e-12)))
}

/// The number of messages sent in the theorem's rounds, in simulations.
fn theorem_9(inputs: &Inputs) -> Result<Answer> {
    let says = "For n large enough, at least C n ln(n) messages are sent in 6 C ln(n)/s rounds with probability at least 1 - delta. (How large n must be, and \
                what becomes of smaller ones, it does not say.)";
    let (n, s) = (inputs.graph.peers.unwrap_or(1024), inputs.muting(0.5)?);
    require((2..=65_536).contains(&n), "peers", n, "it is simulated: give a number from 2 to 65,536")?;
    require(s > 0.0, "muting", s, "give more than 0: the walk sends one message at a time")?;
    let (multiple, runs, failure) = (inputs.multiple()?, inputs.runs()?, inputs.probability()?);
    let log = (n as f64).ln();
    let rounds = (6.0 * multiple * log / s).ceil();
    let work = rounds * n as f64 * runs as f64;
    let remedy = format!("{rounds} rounds of {n} peers take long; give fewer runs or peers, or more muting");
    require(work <= 2e9, "runs", runs, remedy)?;
    let needed = multiple * n as f64 * log;
    let rules = Rules::new(s)?;
    let (mut reached, mut most) = (0usize, 0.0f64);
    let mut least_sent = f64::INFINITY;
    for run in 0..runs as u64 {
        let mut crowd = Crowd::new(Among::Everyone(n), rules, 0, Dice::new(inputs.seed, run, 0))?;
        let mut needs = f64::INFINITY;
        while (crowd.rounds() as f64) < rounds && crowd.active() > 0 {
            crowd.silent_round();
            if needs.is_infinite() && crowd.tellings() as f64 >= needed {
                needs = crowd.rounds() as f64;
            }
        }
        reached += usize::from(needs.is_finite());
        // Runs that never get there count as the theorem's rounds.
        most = if needs.is_finite() && needs > most { needs } else { most };
        let sent = crowd.tellings() as f64;
        least_sent = if sent < least_sent { sent } else { least_sent };
    }
    let share = reached as f64 / runs as f64;
    let fails = few_messages(n, s, rounds as usize, needed);
    let standing =
        if fails.is_some_and(|fails| fails <= failure) { Standing::Proven } else { Standing::Published };
    let answer = Answer::new(says, standing)
        .case("n", n as f64, "peers")
        .case("s", s, "probability of staying active after a telling")
        .case("C", multiple, "multiple of n ln n")
        .case("runs", runs as f64, "simulations")
        .printed("rounds", rounds, "6 C ln(n)/s")
        .printed("messages", needed, "C n ln n, to be sent by then")
        .printed("at least", 1.0 - failure, "probability of that")
        .truth("share", share, "of simulations in which so many were sent in time")
        .truth("least sent", least_sent, "messages in the slowest of them, in the theorem's rounds")
        .truth("needed", most, "rounds that the slowest of those that got there needed")
        .holds(share >= 1.0 - failure);
    Ok(match fails {
        Some(fails) => answer
            .truth("proven", 1.0 - fails, "probability that so many are sent in time, at least, for this n")
            .note("Proven for this number of peers by the chain of how many are active, from its exponential moments."),
        None => answer.note("For 512 peers or fewer the probability is also proven."),
    })
}

/// Section 6.1: a branching process, and simulations of a whole crowd.
fn remark_losses(inputs: &Inputs) -> Result<Answer> {
    let says = "With s = 0 a single lost message ends a rumour; with s > 0 it is unlikely that it stops because of lost messages as long as s is larger than the \
                probability of losing one. It remains somewhat sensitive to messages lost in the first few steps.";
    let (n, s, drop) = (inputs.graph.peers.unwrap_or(1000), inputs.muting(0.5)?, inputs.drop()?);
    require((2..=100_000).contains(&n), "peers", n, "it is simulated: give a number from 2 to 100,000")?;
    require(s > 0.0 || n <= 10_000, "peers", n, "a walk takes long: give 10,000 at most")?;
    let (runs, rules) = (inputs.runs()?, Rules { drop, ..Rules::new(s)? });
    let reached = |run: usize| -> Result<bool> {
        let mut crowd = Crowd::new(Among::Everyone(n), rules, 0, Dice::new(0, run as u64, 0))?;
        while crowd.active() > 0 && crowd.informed() < n {
            crowd.silent_round();
        }
        Ok(crowd.informed() == n)
    };
    let reached = parallel::map(runs, reached, |_| ()).into_iter().collect::<Result<Vec<bool>>>()?;
    let share = Share::of(&reached);
    let ((low, high), expected) = (share.interval(0.999), survival(s, drop));
    Ok(Answer::new(says, Standing::Published)
        .case("n", n as f64, "peers")
        .case("s", s, "probability of staying active after a telling")
        .case("loss", drop, "probability that a message is lost")
        .case("runs", runs as f64, "simulations")
        .printed("s - loss", s - drop, "survival is likely where this is positive")
        .truth("survival", expected, "probability among endlessly many peers (a branching process)")
        .truth("at most", survival_at_most(n, s, drop), "probability that all n learn, proven")
        .truth("share", share.estimate(), "of simulations in which everyone learned")
        .truth("low", low, "Clopper and Pearson's limit from below, with 99.9 % confidence")
        .truth("high", high, "and from above")
        .holds(s <= drop || drop == 0.0 || low > 0.5)
        .note(
            "Where s > loss > 0 it dies with probability (1 - s) loss/(s (1 - loss)), almost always at its beginning; where s <= loss > 0 it dies for certain \
             in an endless crowd.",
        ))
}

//! What became of Figure 1c's claims.

use sottovoce_report::text;

use super::trial::Trial;
use super::{Size, mean_of_others, shown};
use crate::learners::{Data, Spread};
use crate::{Item, Verdict};

/// How far accuracy may be from the aggregator's after the last iteration.
const CLOSE: f64 = 0.02;
/// What the mean printed loss must be below: clear gains over local DP.
const CLEAR: f64 = 0.5;
/// How far Theorem 4's mean may be from what the paper shows, as a share of it.
const ALIKE: f64 = 0.15;

pub(super) fn judge(mut item: Item, found: &[Size], data: &Data) -> Item {
    item.table(
        &[
            "peers",
            "rounds",
            "gossip, accuracy",
            "server averages",
            "trusted server",
            "mean loss, paper",
            "Theorem 4 (drawn)",
            "Theorem 11",
            "clipped to 1",
            "exact mean",
            "all iterations together",
            "peers above printed",
        ],
        found.iter().map(row).collect(),
    );
    for size in found {
        let mut number = |name: &str, value: f64| item.number(format!("{}: {name}", size.peers), value);
        number("accuracy, gossip", size.last(gossip).mean);
        number("accuracy, server averages", size.last(averaged).mean);
        number("accuracy, trusted server", size.last(server).mean);
        number("largest difference along the way", apart(size));
        number("mean loss, printed", size.printed_means().mean);
        number("mean loss, Theorem 4", random_graph(size).mean);
        number("mean loss, exact", mean_of_others(&size.exact));
        if let Some(losses) = &size.together {
            number("mean loss, all iterations together", mean_of_others(losses));
        }
        number("share above printed", above(size));
        number("rounds", rounds(size).mean);
    }
    by_code(&mut item, found);
    let verdict = verdict(found, data);
    item.judge(verdict)
}

fn gossip(trial: &Trial) -> &[f64] {
    &trial.gossip
}

fn averaged(trial: &Trial) -> &[f64] {
    &trial.averaged
}

fn server(trial: &Trial) -> &[f64] {
    &trial.server
}

fn rounds(size: &Size) -> Spread {
    Spread::of(&size.trials.iter().map(|trial| trial.rounds as f64).collect::<Vec<_>>())
}

/// The mean loss as the authors' code has it, by trial.
fn random_graph(size: &Size) -> Spread {
    Spread::of(&size.trials.iter().map(|trial| trial.random_graph).collect::<Vec<_>>())
}

/// What the authors' code draws is another theorem's bound, which does not speak of messages.
fn by_code(item: &mut Item, found: &[Size]) {
    let alike =
        |size: &Size| size.paper.is_none_or(|paper| (random_graph(size).mean / paper - 1.0).abs() <= ALIKE);
    let means: Vec<f64> = found.iter().map(|size| random_graph(size).mean).collect();
    let falls = means.windows(2).all(|pair| pair[1] < pair[0]);
    let each = |size: &Size| {
        let paper = size.paper.map_or(String::new(), |paper| format!(" (the paper: {paper})"));
        format!("{} among {}{paper}", shown(random_graph(size).mean), size.peers)
    };
    item.by_code(
        "the mean loss is Theorem 4's bound, 2 T d/(n - d) + d/n, for a graph that is secret; not Theorem 11, which the text's steps lead to",
        found.iter().all(alike) && falls,
        format!(
            "mean loss {} of local DP (the test, chosen when these numbers were known: within {} of what the paper shows, and falling)",
            found.iter().map(each).collect::<Vec<_>>().join(", "),
            crate::muffliato::words::percent(ALIKE)
        ),
    );
}

/// The largest difference between gossip and a trusted server after any iteration, of means over trials.
fn apart(size: &Size) -> f64 {
    let mean = |curve: fn(&Trial) -> &[f64], t: usize| {
        size.trials.iter().map(|trial| curve(trial)[t]).sum::<f64>() / size.trials.len() as f64
    };
    let steps = size.trials[0].gossip.len();
    (0..steps).map(|t| (mean(gossip, t) - mean(server, t)).abs()).fold(0.0, f64::max)
}

/// The share of peers who lose more than printed.
fn above(size: &Size) -> f64 {
    let pairs = size.exact.iter().zip(size.printed()).skip(1);
    pairs.filter(|(exact, printed)| **exact > **printed + 1e-9).count() as f64 / (size.peers - 1) as f64
}

/// Losses of no more than local DP, as the authors draw them.
fn clipped(size: &Size) -> f64 {
    mean_of_others(&size.printed().iter().map(|loss| loss.min(1.0)).collect::<Vec<_>>())
}

fn row(size: &Size) -> Vec<String> {
    vec![
        size.peers.to_string(),
        format!("{:.1}", rounds(size).mean),
        size.last(gossip).to_string(),
        size.last(averaged).to_string(),
        size.last(server).to_string(),
        size.paper.map_or("–".into(), |loss| loss.to_string()),
        random_graph(size).to_string(),
        size.printed_means().to_string(),
        shown(clipped(size)),
        shown(mean_of_others(&size.exact)),
        size.together.as_ref().map_or("–".into(), |losses| shown(mean_of_others(losses))),
        format!("{:.1} %", 100.0 * above(size)),
    ]
}

fn verdict(found: &[Size], data: &Data) -> Verdict {
    let each = |words: &dyn Fn(&Size) -> String| found.iter().map(words).collect::<Vec<_>>().join(", ");
    let close = |size: &Size| (size.last(gossip).mean - size.last(averaged).mean).abs() <= CLOSE;
    let means: Vec<f64> = found.iter().map(|size| size.printed_means().mean).collect();
    let falls = means.windows(2).all(|pair| pair[1] < pair[0]);
    let clear = found.iter().all(|size| size.paper.is_none() || size.printed_means().mean < CLEAR);
    let papers: Vec<String> = found
        .iter()
        .filter_map(|size| {
            Some(format!(
                "{} of the paper's among {}",
                text::digits(size.printed_means().mean / size.paper?, 2),
                size.peers
            ))
        })
        .collect();
    let together: Vec<String> = found
        .iter()
        .filter_map(|size| {
            let losses = size.together.as_ref()?;
            Some(format!("{} among {}", shown(mean_of_others(losses)), size.peers))
        })
        .collect();
    Verdict {
        reproduced: found.iter().all(close) && falls && clear,
        holds: found.iter().all(|size| above(size) == 0.0),
        claim: "learning by gossip behaves as with a trusted aggregator, and peers lose to the first one clearly less than \
                with local DP, the less the more peers there are (a mean of about 0.278 of local DP among 2000, 0.176 among 4000)"
            .into(),
        criterion: format!(
            "reproduced if accuracy after the last iteration is within {CLOSE} of that of a server that averages the same noisy gradients, and the \
             mean printed loss is below {CLEAR} of local DP and falls with the number of peers (adjusted: the server was first one that adds its \
             noise once, which is another noise and not the same parameters, and the mean losses were to be within a factor of 1.5 of those \
             of the paper's figure, which turned out to be another theorem's: see the authors' code); holds if nobody loses more in the averagings \
             than printed"
        ),
        ours: format!(
            "{}: accuracy by gossip, by a server that averages, and by a trusted server is {}; the mean printed loss is {} of local DP{}",
            data.source(),
            each(&|size| format!(
                "{:.3}, {:.3} and {:.3} among {}",
                size.last(gossip).mean,
                size.last(averaged).mean,
                size.last(server).mean,
                size.peers
            )),
            each(&|size| format!("{} among {}", shown(size.printed_means().mean), size.peers)),
            if papers.is_empty() { String::new() } else { format!(" ({})", papers.join(", ")) }
        ),
        exact: format!(
            "averaging by averaging, the mean in the first trial is {}; peers who lose more than printed: {}; over all iterations together, if \
             gradients do not react to what is hidden, the mean is {} (where gossip stops short of consensus, nothing below local DP is proven \
             without that condition)",
            each(&|size| format!("{} among {}", shown(mean_of_others(&size.exact)), size.peers)),
            each(&|size| format!("{:.1} % among {}", 100.0 * above(size), size.peers)),
            together.join(", ")
        ),
    }
}

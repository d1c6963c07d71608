//! What came of a rumour, in sentences. Losses are rounded up, shares to the nearest.

use sottovoce_privacy::{Risk, limits};
use sottovoce_report::rumor::Suspicion;
use sottovoce_report::{GuaranteeLine, text};
use sottovoce_views::rumor::{Account, Rumor};

use super::course::Course;
use super::{ATTACKS, CONFIDENCE, Found, posterior};

pub(super) fn summary(found: &Found) -> Vec<(String, String)> {
    let account = &found.account;
    let share = account.curious as f64 / account.nodes as f64;
    let chosen = match found.target {
        Some(target) => format!(", the largest with delta at most {}", text::short(target, 4)),
        None => String::new(),
    };
    let predicted = account.spreading.map_or("unknown".into(), |spreading| text::digits(spreading.rounds, 3));
    let (mean, runs) = found.mean_rounds;
    [
        ("peers", format!("{}, who can all reach each other", account.nodes)),
        ("curious peers", format!("{} ({})", account.curious, percent(share))),
        ("muting parameter s", format!("{}{chosen}", text::short(account.muting, 4))),
        ("delta, at epsilon = 0", format!("{} (at best {})", text::up(found.delta, 3), text::up(share, 3))),
        (
            "rounds until everyone knows",
            format!("{predicted} predicted, {mean:.1} on average over {runs} runs, {} here", found.rounds),
        ),
        (
            "tellings",
            format!("{}, {:.1} for each peer", found.tellings, found.tellings as f64 / account.nodes as f64),
        ),
        ("seed", found.seed.to_string()),
    ]
    .map(|(label, value)| (label.to_owned(), value))
    .to_vec()
}

/// What is promised: as lines for the report, and as sentences.
pub(super) fn guarantees(account: &Account, rumor: &Rumor) -> (Vec<GuaranteeLine>, Vec<String>) {
    let (delta, posterior) = (rumor.rounds_delta(), posterior(rumor));
    let lines = vec![
        line(
            account,
            "Whoever began, the curious peers' view is almost the same: it differs by at most delta between any two sources, and this \
             holds whatever they know beforehand",
            format!("epsilon = 0, delta <= {}", text::up(delta, 3)),
            Some(delta),
        ),
        line(
            account,
            "Whatever was heard, nobody becomes the source with a larger probability than this, if every honest peer was equally likely \
             before",
            format!("probability <= {}", text::up(posterior, 3)),
            None,
        ),
        line(
            account,
            "As the paper has them, for one telling at a time: Theorem 7, and Theorem 8 (5 of a walk)",
            format!(
                "epsilon = 0, delta <= {}; probability <= {}",
                text::up(account.delta, 3),
                text::up(1.0 / (1.0 + rumor.prediction_uncertainty(1)), 3)
            ),
            Some(account.delta),
        ),
    ];
    let sentence = |line: &GuaranteeLine| format!("{}: {}; {}", line.statement, line.loss, line.standing);
    let statements = lines.iter().map(sentence).collect();
    (lines, statements)
}

fn line(account: &Account, statement: &str, loss: String, delta: Option<f64>) -> GuaranteeLine {
    GuaranteeLine {
        statement: statement.into(),
        adversary: account.adversary.clone(),
        unit: account.unit.to_string(),
        adjacency: "any two honest peers as the source".into(),
        loss,
        risk: delta.map_or_else(String::new, |delta| Risk::of_pair(0.0, delta).to_string()),
        standing: account.standing.to_string(),
        not_covered: not_covered(account),
    }
}

/// What is not promised: of rumours, and of a simulated one.
pub(super) fn not_covered(account: &Account) -> Vec<String> {
    let of_rumors = account.not_covered.iter().map(|what| what.to_string());
    of_rumors.chain([limits::SIMULATION.to_owned()]).collect()
}

/// What the attack achieved, in this run and in many. `numbers` are left out where a table has them.
pub(super) fn attack(
    suspicions: &[Suspicion],
    within_bounds: bool,
    course: &Course,
    numbers: bool,
) -> String {
    let found: Vec<String> = suspicions.iter().map(finding).collect();
    let found = if numbers { format!(" They found the source {}.", found.join(", ")) } else { String::new() };
    let outcome = if within_bounds {
        "Every attack stays within what is proven"
    } else {
        "AN ATTACK FOUND THE SOURCE MORE OFTEN THAN IS PROVEN POSSIBLE: please report the seed"
    };
    format!(
        "The curious name the first of their suspects who tells one of them, in {ATTACKS} runs for each number of suspects.{found} \
         {outcome} (all intervals hold together with {} % confidence). {}",
        text::short(100.0 * CONFIDENCE, 4),
        here(course)
    )
}

fn here(course: &Course) -> String {
    match course.heard {
        None => "In the run shown no curious peer was told.".into(),
        Some(peer) if peer == course.source => {
            format!("In the run shown the first heard was peer {peer}, and that is the source.")
        }
        Some(peer) => {
            format!("In the run shown the first heard was peer {peer}; the source is peer {}.", course.source)
        }
    }
}

pub(super) fn finding(suspicion: &Suspicion) -> String {
    let Suspicion { suspects, found, low, high, .. } = *suspicion;
    format!(
        "among {suspects} suspects in {} ({} to {}; no attack exceeds {})",
        percent(found),
        text::digits(100.0 * low, 3),
        text::digits(100.0 * high, 3),
        percent_up(limit(suspicion))
    )
}

fn limit(suspicion: &Suspicion) -> f64 {
    suspicion.bound.min(suspicion.uncertainty.unwrap_or(1.0))
}

pub(super) fn notes() -> Vec<String> {
    vec![
        "Everyone can tell everyone. Peers, the curious among them, follow the protocol; the curious write down who tells them and whom they tell, in \
         order, and pool what they know."
            .into(),
        crate::SIMULATED.into(),
        "With m suspects, all equally likely, no attack exceeds 1/m + (1 - 1/m) delta: guessing, and delta of the rest.".into(),
        "Predictions are mean dynamics and no guarantee. The proofs are in docs/theorems/rumor-source.md.".into(),
    ]
}

fn percent(share: f64) -> String {
    format!("{} %", text::digits(100.0 * share, 3))
}

fn percent_up(share: f64) -> String {
    format!("{} %", text::up(100.0 * share, 3))
}

impl super::Found {
    /// What came of it, in a sentence.
    pub fn headline(&self) -> String {
        let Account { nodes, curious, .. } = self.account;
        let tested = if self.within_bounds { "no attack did better" } else { "AN ATTACK DID BETTER" };
        format!(
            "All {nodes} peers knew after {} rounds; {curious} curious peers tell two sources apart with delta {} at most, and \
             {tested}",
            self.rounds,
            text::up(self.delta, 3)
        )
    }
}

impl std::fmt::Display for super::Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        writeln!(f, "{} whose source is hidden\n", self.report.title)?;
        for (label, value) in &self.report.summary {
            writeln!(f, "  {label:<28} {value}")?;
        }
        if f.alternate() {
            writeln!(f, "\n  {:<10} {:>16}", "peer", "knew after round")?;
            for (peer, (round, curious)) in self.everybody.iter().enumerate() {
                let round = round.map_or_else(|| "never".to_owned(), |round| round.to_string());
                let role = match (peer == self.source, curious) {
                    (true, _) => "   the source",
                    (false, true) => "   curious",
                    (false, false) => "",
                };
                writeln!(f, "  {peer:<10} {round:>16}{role}")?;
            }
        }
        writeln!(f, "\nWhat is promised")?;
        crate::terms::promised(f, &self.statements, &self.not_covered)?;
        writeln!(f, "\nThe attack\n  {}", self.attack)?;
        Ok(())
    }
}

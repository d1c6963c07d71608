//! What `audit source` prints: each attacker's success beside what theorems allow, and the verdict.

use std::fmt;

use serde::Serialize;
use sottovoce_audit::source::{Distinguished, Share};
use sottovoce_privacy::round_up;
use sottovoce_views::rumor::{Proven, attack_success};

use sottovoce::terms::Stated;

/// How often an attacker was right.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Guess {
    right: u64,
    runs: u64,
    estimate: Option<f64>,
    lower: f64,
    upper: f64,
}

impl Guess {
    pub(super) fn new(share: Share, confidence: f64) -> Self {
        let (lower, upper) = share.interval(confidence);
        let estimate = Some(share.estimate()).filter(|estimate| estimate.is_finite());
        Self { right: share.hits, runs: share.runs, estimate, lower, upper }
    }
}

impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.estimate {
            Some(estimate) => write!(f, "{estimate:.4} [{:.4}, {:.4}]", self.lower, self.upper),
            None => f.write_str("no run of this kind"),
        }
    }
}

/// What is proven.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Bounds {
    #[serde(flatten)]
    proven: Proven,
    /// Success of any attack on a source that is uniform among the suspects.
    success: f64,
}

impl Bounds {
    pub(super) fn new(proven: Proven, suspects: usize) -> Self {
        Self { success: attack_success(suspects, proven.at_zero), proven }
    }

    /// As a guarantee with its numbers.
    pub(super) fn stated(&self, epsilon: f64) -> Stated {
        Stated::of_source(
            format!("the rumour as it was run ({})", self.proven.by),
            epsilon,
            self.proven.delta,
        )
    }
}

/// Everything found.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Finding {
    /// One of whom is the source.
    pub(super) suspects: usize,
    /// On which a vote rests.
    pub(super) rumors: usize,
    /// Of every bound.
    pub(super) confidence: f64,
    /// How often the first suspect heard is the source.
    pub(super) first: Guess,
    /// How often a vote is right.
    pub(super) vote: Guess,
    /// How often who is heard first and never again is the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) silence: Option<Guess>,
    /// Two sources told apart: delta at least.
    pub(super) distinguished: Distinguished,
    /// What those two are called, where peers have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pair_names: Vec<String>,
    /// Who they are that are suspected, and who listen; a list for people.
    #[serde(skip)]
    pub(super) lists: [String; 2],
    /// Nothing is proven on graphs that are not complete, or of a source that behaves specially.
    pub(super) bounds: Option<Bounds>,
    /// The same as a guarantee.
    pub(super) guarantees: Vec<Stated>,
    /// Whether a lost telling ends the rumour.
    pub(super) dies: bool,
}

impl Finding {
    /// Why a claim does not stand, if one does not.
    pub(super) fn failure(&self) -> Option<String> {
        if let Some(silence) = self.silence.as_ref().filter(|silence| silence.lower > 0.5) {
            let least = silence.lower;
            return Some(format!(
                "who was heard first and never again is the source with probability {least:.3} at least; let the source do what \
                 everyone does (leave out --delayed-start)"
            ));
        }
        let bounds = self.bounds.as_ref()?;
        let found = &self.distinguished;
        if found.delta_lower > bounds.proven.delta {
            return Some(format!(
                "delta is at least {:.6}, above the proven {:.6}",
                found.delta_lower, bounds.proven.delta
            ));
        }
        (self.first.lower > bounds.success).then(|| {
            format!(
                "the first suspect heard is the source in {:.4} of all runs at least, above {:.4}",
                self.first.lower, bounds.success
            )
        })
    }
}

impl Finding {
    fn headline(&self) -> String {
        let found = &self.distinguished;
        let verdict = match (self.failure().is_none(), &self.bounds) {
            (false, _) => "a claim FELL".to_owned(),
            (true, Some(bounds)) => format!("within the proven {}", round_up(bounds.proven.delta)),
            (true, None) => "and no theorem bounds it here".to_owned(),
        };
        format!(
            "Attacks show delta {} at least at epsilon {}, {verdict}; the source is named in {} of all runs",
            least(found.delta_lower),
            found.epsilon,
            self.first.estimate.map_or_else(|| "none".to_owned(), |share| format!("{:.1} %", 100.0 * share))
        )
    }
}

/// A lower bound for people: never rounded up.
fn least(value: f64) -> String {
    if value > 0.0 { format!("{:.6}", (value * 1e6).floor() / 1e6) } else { "0".to_owned() }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        let percent = 100.0 * self.confidence;
        writeln!(f, "How often attackers named the source (limits at {percent} % confidence)\n")?;
        writeln!(f, "  {:<34} {}", format!("first of {} suspects heard:", self.suspects), self.first)?;
        match &self.bounds {
            Some(bounds) => writeln!(
                f,
                "  {:<34} {} ({})",
                "  no attack can exceed:",
                round_up(bounds.success),
                bounds.proven.by
            )?,
            None => writeln!(f, "  {:<34} {:.4}", "  by chance:", 1.0 / self.suspects as f64)?,
        }
        writeln!(f, "  {:<34} {}", format!("vote over {} rumours:", self.rumors), self.vote)?;
        if let Some(silence) = &self.silence {
            writeln!(f, "  {:<34} {silence} of {} such runs", "heard first and never again:", silence.runs)?;
        }
        let found = &self.distinguished;
        let [one, other] = match &self.pair_names[..] {
            [one, other] => [one.clone(), other.clone()],
            _ => [found.pair.0, found.pair.1].map(|peer| peer.to_string()),
        };
        writeln!(f, "\nTelling sources {one} and {other} apart, by {}", found.by)?;
        writeln!(
            f,
            "  {:<34} {} (the counts suggest {:.4})",
            format!("delta at epsilon = {} is at least:", found.epsilon),
            least(found.delta_lower),
            found.delta_estimate
        )?;
        match &self.bounds {
            Some(bounds) => {
                writeln!(
                    f,
                    "  {:<34} {} ({})",
                    "proven to be at most:",
                    round_up(bounds.proven.delta),
                    bounds.proven.by
                )?;
                if let Some(posterior) = bounds.proven.posterior {
                    let posterior = round_up(posterior);
                    writeln!(
                        f,
                        "  whatever is heard, nobody is the source with probability above {posterior} (uniform prior)"
                    )?;
                }
            }
            None => writeln!(f, "  no theorem bounds it here: the attack's bound is all there is to know")?,
        }
        if f.alternate() {
            let [suspects, curious] = &self.lists;
            writeln!(f, "\n  suspects  {suspects}\n  curious   {curious}")?;
        }
        if self.dies {
            writeln!(
                f,
                "\nWith --muting 0 a single lost telling ends the rumour before everyone knows: add --repeated (tellers who notice a \
                 loss try again; the guarantee stays), or a muting parameter well above the loss."
            )?;
        }
        writeln!(f, "\nVerdict: {}", if self.failure().is_none() { "no claim was broken" } else { "BROKEN" })
    }
}

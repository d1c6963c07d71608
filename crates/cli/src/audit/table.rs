//! What `audit reconstruct` prints: a line for each distance, who is exposed, what would help, and the verdict.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use sottovoce::names::Names;
use sottovoce::terms::Stated;
use sottovoce_audit::reconstruct::remedy::{EdgeSearch, RelayNoise};
use sottovoce_audit::reconstruct::{Findings, Judgement, Target};
use sottovoce_privacy::round_up;

use sottovoce::terms::short_up;

/// Everything found.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Reconstruction {
    #[serde(flatten)]
    pub(super) findings: Findings,
    /// What would help; nothing against someone who sees every message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remedies: Option<Remedies>,
    /// What the accountant promises the peer that loses most: what was put to the test, if that is the exact loss.
    pub(super) guarantees: Vec<Stated>,
    /// Names of the peers.
    #[serde(rename = "labels", skip_serializing_if = "Names::are_numbers")]
    pub(super) names: Names,
}

/// What would help.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Remedies {
    /// One edge less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edge: Option<EdgeSearch>,
    /// More relay noise.
    pub(super) relay_noise: RelayNoise,
}

impl Reconstruction {
    fn headline(&self) -> String {
        let found = &self.findings;
        let (peers, open) = (found.targets.len(), found.not_tested().len());
        let verdict = match (found.passed(), open) {
            (true, 0) => format!("stands for all {peers} peers"),
            (true, _) => format!("stands for {} of {peers} peers, the others were NOT TESTED", peers - open),
            (false, _) => format!("does NOT stand for {}", self.names.list(&found.failed())),
        };
        let most = found.targets.iter().rev().max_by(|a, b| a.loss.total_cmp(&b.loss));
        let most = most.map_or_else(String::new, |target| {
            format!(
                "; {} loses most, {} of local DP's",
                self.names.peers(&[target.peer]),
                short_up(target.loss)
            )
        });
        let exposed = found.exposed().len();
        let exposed = if exposed > 0 { format!("; {exposed} fully exposed") } else { String::new() };
        format!("The {} loss {verdict}{most}{exposed}", found.claim)
    }

    /// Everybody's loss and errors.
    fn everybody(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  {:<24} {:>4} {:>9} {:>10} {:>10}", "peer", "hops", "loss", "predicted", "measured")?;
        for target in &self.findings.targets {
            let hops = target.distance.map_or_else(|| "-".to_owned(), |hops| hops.to_string());
            let (predicted, measured) = target.informed.map_or_else(
                || ("infinite".to_owned(), "-".to_owned()),
                |errors| (number(errors.predicted), number(errors.measured)),
            );
            let (name, loss) = (self.names.cell(target.peer, 24), number(target.loss));
            writeln!(f, "  {name} {hops:>4} {loss:>9} {predicted:>10} {measured:>10}")?;
        }
        Ok(())
    }

    fn heading(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.findings;
        writeln!(f, "{}\n", self.headline())?;
        writeln!(
            f,
            "{} peers, {} rounds; observed by {}; {} runs",
            found.peers,
            found.rounds,
            match (found.wire_tapper, &found.observers[..]) {
                (true, []) => "someone who sees every message".to_owned(),
                (true, _) => format!(
                    "someone who sees every message and knows what {} know",
                    self.names.peers(&found.observers)
                ),
                (false, _) => self.names.peers(&found.observers),
            },
            found.runs
        )?;
        writeln!(
            f,
            "values {} ± {}, noise sigma = {}, relay noise {} sigma; losses in units of local DP\n",
            found.prior.mean, found.prior.deviation, found.sigma, found.relay_noise
        )
    }

    /// One line for each distance: how many, how many exposed, and the worst-off peer's errors.
    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: BTreeMap<u32, Vec<&Target>> = BTreeMap::new();
        for target in &self.findings.targets {
            rows.entry(target.distance.unwrap_or(u32::MAX)).or_default().push(target);
        }
        let heading = "mean squared error of the best estimate of the worst-off peer's value";
        writeln!(f, "{:30}{heading}", "")?;
        writeln!(
            f,
            "  hops  peers exposed     loss  doubles  predicted  measured  99.9 %             uninformed measured"
        )?;
        rows.into_iter().try_for_each(|(hops, targets)| row(f, hops, &targets))
    }

    fn exposure(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.findings;
        let exposed = found.exposed();
        writeln!(f, "\n  fully exposed (value plus noise is known exactly): {}", self.names.list(&exposed))?;
        let solved = |target: &&Target| target.solved;
        let solved: Vec<usize> = found.targets.iter().filter(solved).map(|target| target.peer).collect();
        if solved != exposed {
            writeln!(f, "  solved for in these runs, in double precision: {}", self.names.list(&solved))?;
        }
        let beyond = found.beyond_doubles();
        if !beyond.is_empty() {
            writeln!(
                f,
                "  the exact loss of {} counts directions that double precision cannot tell from rounding \
                 (singular values below {:e} of the largest): an adversary with more digits sees them, and they count",
                self.names.list(&beyond),
                found.tolerance
            )?;
        }
        Ok(())
    }

    fn remedies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(remedies) = &self.remedies else { return Ok(()) };
        writeln!(f, "\nRemedies")?;
        match &remedies.edge {
            None => writeln!(f, "  edges: there is no fixed graph to take one from")?,
            Some(search) => self.edge(f, search)?,
        }
        self.relay_noise(f, &remedies.relay_noise)
    }

    fn edge(&self, f: &mut fmt::Formatter<'_>, search: &EdgeSearch) -> fmt::Result {
        let scope = format!(
            "{} of {} edges at observers tried, {} can go",
            search.examined, search.edges, search.droppable
        );
        let Some(best) = &search.best else {
            return writeln!(f, "  edges: dropping a single one does not help ({scope})");
        };
        write!(f, "  edge: drop {} - {}: ", self.names.of(best.observer), self.names.of(best.neighbour))?;
        if !best.protected.is_empty() {
            write!(f, "{} no longer exposed, {} still; ", self.names.list(&best.protected), best.exposed)?;
        }
        writeln!(
            f,
            "mean loss {} instead of {}; noise error {} instead of {}\n    ({scope})",
            round_up(best.mean_loss.1),
            round_up(best.mean_loss.0),
            number(best.error.1),
            number(best.error.0)
        )
    }

    fn relay_noise(&self, f: &mut fmt::Formatter<'_>, found: &RelayNoise) -> fmt::Result {
        let far = format!("{} peers two hops away or more", found.peers);
        match found.share {
            _ if found.peers == 0 => writeln!(f, "  relay noise: nobody is two hops away or more"),
            None => writeln!(f, "  relay noise: none brings the {far} below {}", found.target),
            Some(_) if found.met => {
                writeln!(
                    f,
                    "  relay noise: the {far} lose {} at most, within {}",
                    round_up(found.loss),
                    found.target
                )
            }
            Some(share) => writeln!(
                f,
                "  relay noise: --relay-noise {share} brings the {far} from {} to {}; noise error {} instead of {}",
                round_up(found.loss),
                round_up(found.loss_after),
                number(found.error.1),
                number(found.error.0)
            ),
        }
    }

    fn verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.findings;
        let confidence = 100.0 * found.confidence;
        if found.passed() {
            let (claim, peers, open) = (found.claim, found.targets.len(), found.not_tested());
            if open.is_empty() {
                let all = format!("The {claim} loss stands for all {peers} peers");
                return write!(f, "\nverdict: PASSED. {all} at {confidence} % confidence.");
            }
            let some = format!("The {claim} loss stands for {} of {peers} peers", peers - open.len());
            return write!(
                f,
                "\nverdict: PASSED as far as it was tested. {some} at {confidence} % confidence.\n  NOT TESTED for {}: \
                 their loss only shows beyond double precision, and runs in doubles say nothing about it.",
                self.names.list(&open)
            );
        }
        let failed = self.names.list(&found.failed());
        let why = match found.verdict {
            Judgement::Understated => "the attack proves more than claimed",
            Judgement::Inconsistent => "the messages' own algebra has more than claimed",
            Judgement::Disagrees | Judgement::NotTested | Judgement::Agrees => {
                "the measured error is not the predicted one"
            }
        };
        write!(f, "\nverdict: FAILED at {confidence} % confidence: {why}, for {failed}.")?;
        if let Some(worst) = found.worst().filter(|_| found.verdict == Judgement::Understated) {
            let (proven, claimed) = (number(worst.proven_loss), round_up(worst.claimed));
            write!(
                f,
                "\n  peer {}: claimed {claimed}, at least {proven} at 95 %",
                self.names.of(worst.peer)
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Reconstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.heading(f)?;
        self.table(f)?;
        if f.alternate() {
            self.everybody(f)?;
        }
        self.exposure(f)?;
        self.remedies(f)?;
        self.verdict(f)
    }
}

/// The line of a distance.
fn row(f: &mut fmt::Formatter<'_>, hops: u32, targets: &[&Target]) -> fmt::Result {
    // Among equals the first.
    let Some(worst) = targets.iter().rev().max_by(|a, b| a.loss.total_cmp(&b.loss)) else { return Ok(()) };
    let hops = if hops == u32::MAX { "-".to_owned() } else { hops.to_string() };
    let exposed = targets.iter().filter(|target| target.exposed).count();
    let (predicted, measured, interval) = match (worst.informed, worst.interval) {
        (Some(errors), Some(interval)) => (
            number(errors.predicted),
            number(errors.measured),
            format!("[{}, {}]", number(interval.lower), number(interval.upper)),
        ),
        _ => ("infinite".to_owned(), "-".to_owned(), String::new()),
    };
    let (loss, visible) = (number(worst.loss), number(worst.visible));
    let (guess, guessed) = (number(worst.uninformed.predicted), number(worst.uninformed.measured));
    writeln!(
        f,
        "  {hops:>4} {:>6} {exposed:>7} {loss:>8} {visible:>8}  {predicted:>9} {measured:>9}  {interval:<18} {guess:>10} {guessed:>8}",
        targets.len()
    )
}

/// Four digits, whatever the size.
fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        size if (1e-2..1e5).contains(&size) => {
            let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
            format!("{x:.decimals$}")
        }
        // Two in brackets fit their column.
        size if (1e-9..1e9).contains(&size) => format!("{x:.2e}"),
        _ => format!("{x:.1e}"),
    }
}

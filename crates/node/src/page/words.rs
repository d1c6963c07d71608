//! How a peer stands, in the words and numbers that people read. The page is written with them, and its script puts the same ones in place a second later: numbers are formatted
//! here and nowhere else, and a loss is rounded up.

use std::collections::BTreeMap;

use serde::Serialize;
use sottovoce_protocol::Peer;
use sottovoce_report::{scale, text};

use crate::status::{Phase, Spent, Status};

/// Digits of a loss.
const DIGITS: usize = 4;
/// From here on a bar warns.
const HIGH: f64 = 0.8;

/// What changes on the page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Words {
    /// What the page is made of: if this changes, the page is asked for again.
    pub(super) shape: String,
    /// Texts, by the places where they stand.
    pub(super) texts: BTreeMap<String, String>,
    /// Bars, by their places: how full, from 0 to 1.
    pub(super) bars: BTreeMap<String, f64>,
    /// What is well and what is not, by places: names of styles.
    pub(super) moods: BTreeMap<String, &'static str>,
    /// The colour of each peer.
    pub(super) colours: Vec<String>,
    /// What is said of each peer.
    pub(super) told: Vec<String>,
    /// Neighbours who are connected.
    pub(super) connected: Vec<Peer>,
}

/// A phase as a word.
pub(super) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Meeting => "meeting",
        Phase::Running => "running",
        Phase::Done => "done",
        Phase::Halted => "halted",
    }
}

/// The share of a budget that is used up. What is no number counts as all of it.
pub(super) fn share(one: &Spent) -> f64 {
    if (0.0..=1.0).contains(&one.used) { one.used } else { 1.0 }
}

/// Whether there is a budget of chances, or something was spent of one.
pub(super) fn has_chances(one: &Spent) -> bool {
    one.chances != 0.0 || one.most != 0.0
}

/// Chances that were spent, and how many there are.
fn chances(one: &Spent) -> String {
    match has_chances(one) {
        true => format!("{} of {}", loss(one.chances), text::short(one.most, 6)),
        false => "none".into(),
    }
}

/// A loss for people, rounded up.
fn loss(epsilon: f64) -> String {
    text::up(epsilon, DIGITS)
}

/// The budget towards a peer of which the greatest part was spent.
pub(super) fn towards(status: &Status, peer: Peer) -> Option<&Spent> {
    let of = status.budgets.iter().filter(|one| one.peer == Some(peer));
    of.max_by(|a, b| share(a).total_cmp(&share(b)))
}

impl Words {
    pub(super) fn of(status: &Status) -> Self {
        let mut words = Self {
            shape: shape(status),
            texts: BTreeMap::new(),
            bars: BTreeMap::new(),
            moods: BTreeMap::new(),
            colours: Vec::new(),
            told: Vec::new(),
            connected: status.neighbours.iter().filter(|one| one.connected).map(|one| one.peer).collect(),
        };
        words.run(status);
        words.neighbours(status);
        words.budgets(status);
        for peer in 0..status.names.len() {
            let share = towards(status, peer).map_or(0.0, share);
            words.colours.push(scale(share).hex());
            words.told.push(told(status, peer));
        }
        words
    }

    fn text(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.texts.insert(place.into(), text.into());
    }

    /// The style of a place.
    pub(super) fn mood(&self, place: &str) -> &'static str {
        self.moods.get(place).copied().unwrap_or("")
    }

    fn run(&mut self, status: &Status) {
        self.text("headline", headline(status));
        self.text("phase", phase(status.phase));
        self.moods.insert("phase".into(), mood(status.phase));
        self.text("round", format!("{} of {}", status.round, status.rounds));
        let rounds = if status.rounds == 0 { 1.0 } else { status.round as f64 / status.rounds as f64 };
        self.bars.insert("rounds".into(), rounds);
        let sum = |count: fn(&crate::Neighbour) -> u64| status.neighbours.iter().map(count).sum::<u64>();
        self.text("messages", sum(|one| one.sent).to_string());
        self.text("bytes-sent", bytes(status.bytes_sent));
        self.text("bytes-received", bytes(status.bytes_received));
        self.text("refused", sum(|one| one.refused).to_string());
        self.text("written", clock(status.written));
    }

    fn neighbours(&mut self, status: &Status) {
        for one in &status.neighbours {
            let peer = one.peer;
            self.text(format!("state-{peer}"), if one.connected { "connected" } else { "not connected" });
            self.moods
                .insert(format!("state-{peer}"), if one.connected { "badge good" } else { "badge bad" });
            self.text(format!("sent-{peer}"), one.sent.to_string());
            self.text(format!("refused-{peer}"), one.refused.to_string());
            self.text(format!("reason-{peer}"), one.refusal.clone().unwrap_or_else(|| "–".into()));
        }
    }

    fn budgets(&mut self, status: &Status) {
        for (row, one) in status.budgets.iter().enumerate() {
            let percent = (share(one) * 100.0).ceil();
            self.text(format!("spent-{row}"), loss(one.epsilon));
            self.text(format!("chances-{row}"), chances(one));
            self.text(format!("part-{row}"), format!("{percent:.0} %"));
            self.bars.insert(format!("bar-{row}"), share(one));
            self.moods.insert(format!("bar-{row}"), if share(one) < HIGH { "part" } else { "part high" });
        }
    }
}

/// What a page shows that does not change while it is looked at: another run, another program, another budget.
fn shape(status: &Status) -> String {
    let budgets: Vec<String> = status
        .budgets
        .iter()
        .map(|one| format!("{} {} {} {}", one.label, one.observer, one.allowed, one.most))
        .collect();
    let text = format!("{} {} {}", status.agreement, status.process, budgets.join(", "));
    crate::Hash::of(text.as_bytes()).to_string()[..16].to_owned()
}

fn headline(status: &Status) -> String {
    let Status { run, round, rounds, .. } = status;
    let absent: Vec<&str> =
        status.neighbours.iter().filter(|one| !one.connected).map(|one| one.name.as_str()).collect();
    match status.phase {
        Phase::Meeting if absent.is_empty() => {
            format!("{run} waits until everybody is there; nothing was released.")
        }
        Phase::Meeting => format!("{run} waits for {}; nothing was released.", list(&absent)),
        Phase::Running if absent.is_empty() => format!("{run} goes on: round {round} of {rounds}."),
        Phase::Running => {
            format!("{run} goes on: round {round} of {rounds}, at the moment without {}.", list(&absent))
        }
        Phase::Done => format!("{run} is over; what came of it was printed."),
        Phase::Halted => {
            let cause =
                status.cause.as_ref().map_or_else(|| format!("it halted in round {round}"), String::clone);
            format!("{run} is over without a result: {cause}.")
        }
    }
}

/// The first few of them.
fn list(names: &[&str]) -> String {
    const FEW: usize = 4;
    let shown = names.iter().take(FEW).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(FEW) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn mood(phase: Phase) -> &'static str {
    match phase {
        Phase::Meeting => "badge plain",
        Phase::Running | Phase::Done => "badge good",
        Phase::Halted => "badge bad",
    }
}

/// What is said of a peer when it is pointed at.
fn told(status: &Status, peer: Peer) -> String {
    let name = &status.names[peer];
    if peer == status.peer {
        return format!("{name}: this peer");
    }
    let linked = status.neighbours.iter().find(|one| one.peer == peer);
    let linked = match linked.map(|one| one.connected) {
        Some(true) => "connected",
        Some(false) => "not connected",
        None => "no neighbour",
    };
    match towards(status, peer) {
        Some(one) => {
            let (spent, allowed) = (loss(one.epsilon), text::short(one.allowed, 6));
            let more =
                if has_chances(one) { format!(", and chances {}", chances(one)) } else { String::new() };
            format!("{name}: epsilon {spent} of {allowed}{more} was spent towards it; {linked}")
        }
        None => format!("{name}: nothing was spent towards it; {linked}"),
    }
}

fn bytes(count: u64) -> String {
    match count {
        0..1000 => format!("{count} B"),
        1000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.2} GB", count as f64 / 1e9),
    }
}

/// The time of day.
fn clock(seconds: u64) -> String {
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02} UTC", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(epsilon: f64, allowed: f64) -> Spent {
        Spent {
            label: "values".into(),
            observer: "ben".into(),
            peer: Some(1),
            epsilon,
            used: 0.0,
            allowed,
            delta: 1e-6,
            chances: 0.0,
            most: 0.0,
            of_a_row: false,
        }
    }

    #[test]
    fn what_is_no_number_counts_as_all() {
        for (used, shown) in [(0.25, 0.25), (1.0, 1.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (-0.5, 1.0)] {
            assert_eq!(share(&Spent { used, ..spent(1.0, 4.0) }), shown, "{used}");
        }
    }

    #[test]
    fn chances_are_said() {
        let rumour = Spent { chances: 0.15, most: 0.2, ..spent(1.0, 4.0) };
        assert_eq!(chances(&rumour), "0.1500 of 0.2");
        assert_eq!(chances(&spent(1.0, 4.0)), "none");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0, 999, 1234, 5_600_000, 7_890_000_000].map(bytes),
            ["0 B", "999 B", "1.2 kB", "5.6 MB", "7.89 GB"]
        );
        assert_eq!(clock(86_399), "23:59:59 UTC");
        assert_eq!(loss(1.000_01), "1.001", "a loss is rounded up");
        assert_eq!(list(&["a"; 6]), "a, a, a, a and 2 more");
    }
}

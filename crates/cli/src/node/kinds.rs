//! What an agreement can be about: a commented agreement for each kind, to fill in.

use clap::ValueEnum;

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// The mean of everybody's numbers, by sums under masks.
    Averaging,
    /// Mean and variance, by sums under masks.
    Statistics,
    /// The mean of everybody's numbers, by a token that walks.
    Walk,
    /// One model of everybody's rows, by sums under masks.
    Learning,
    /// A model for each peer, like those of its neighbours.
    Personalized,
    /// One net of everybody's images.
    Deep,
    /// A text whose source is hidden.
    Rumor,
}

/// What an agreement of a kind begins with.
struct Terms {
    /// The exponent of the grid.
    grid: i32,
    width: usize,
    /// What the width counts.
    holds: &'static str,
    answer: f64,
    round: f64,
    /// Further fields, with comments.
    more: &'static str,
    /// How many rows everybody learns from, where prices are those of a row.
    rows: Option<usize>,
    experiment: &'static str,
}

const TIME: &str = "# Seconds after which the run is over everywhere.\ntime = 600.0";
/// Numbers of a layer of 64 on 32x32 pixels, and of ten classes.
const MLP: usize = 1024 * 64 + 64 + 64 * 10 + 10;

impl Kind {
    fn terms(self) -> Terms {
        let plain = Terms {
            grid: -12,
            width: 1,
            holds: "everybody holds",
            answer: 10.0,
            round: 60.0,
            more: "",
            rows: None,
            experiment: include_str!("kinds/averaging.toml"),
        };
        let model = Terms { grid: -30, width: 2, holds: "a model has: features, and an intercept", ..plain };
        match self {
            Self::Averaging => plain,
            Self::Statistics => {
                Terms { width: 2, experiment: include_str!("kinds/statistics.toml"), ..plain }
            }
            Self::Walk => {
                Terms { grid: -24, more: TIME, experiment: include_str!("kinds/walk.toml"), ..plain }
            }
            Self::Learning => Terms {
                grid: -18,
                more: "# Whether sums are under masks that cancel.\nmasks = true",
                experiment: include_str!("kinds/learning.toml"),
                ..model
            },
            Self::Personalized => Terms {
                more: "# Seconds after which the run is over everywhere; a round is the mean time between two updates of a peer.\ntime = 3600.0",
                rows: Some(32),
                experiment: include_str!("kinds/personalized.toml"),
                ..model
            },
            Self::Deep => Terms {
                grid: -26,
                width: MLP,
                holds: "the net has",
                rows: Some(12),
                experiment: include_str!("kinds/deep.toml"),
                ..plain
            },
            Self::Rumor => Terms {
                grid: 1,
                answer: 0.5,
                round: 60.0,
                more: TIME,
                experiment: include_str!("kinds/rumor.toml"),
                ..plain
            },
        }
    }

    /// How many numbers everybody holds.
    pub(super) fn width(self) -> usize {
        self.terms().width
    }

    /// A commented agreement of these peers, each with its key and its address.
    pub(super) fn agreement(self, name: &str, peers: &[[String; 3]]) -> anyhow::Result<String> {
        let terms = self.terms();
        let member = |[name, key, address]: &[String; 3]| {
            let rows = terms.rows.map_or_else(String::new, |rows| {
                format!("# How many rows it learns from: of a table all but every fifth.\nrows = {rows}\n")
            });
            format!("[[peers]]\nname = {name:?}\nkey = \"{key}\"\naddress = {address:?}\n{rows}\n")
        };
        let nonce = sottovoce_node::Key::draw()?.name().to_string();
        let more = if terms.more.is_empty() { String::new() } else { format!("{}\n", terms.more) };
        let head = include_str!("agreement.toml")
            .replace("NAME", &format!("{name:?}"))
            .replace("NONCE", &nonce[..16])
            .replace("GRID", &format!("{:?}", 2f64.powi(terms.grid)))
            .replace("WIDTH", &terms.width.to_string())
            .replace("HOLDS", terms.holds)
            .replace("ANSWER", &format!("{:?}", terms.answer))
            .replace("ROUND", &format!("{:?}", terms.round))
            .replace("# MORE\n", &more);
        let steps = (8 * peers.len()).to_string();
        let (before, after) = head.split_once("# PEERS\n\n").unwrap_or((&head, ""));
        let members: String = peers.iter().map(member).collect();
        let terms = terms.experiment.replace("STEPS", &steps);
        // Of two peers one cannot hide from the other: only somebody who is neither is kept out.
        let terms = if peers.len() == 2 { terms.replace("colluders = 1", "colluders = 0") } else { terms };
        Ok(format!("{before}{members}{after}{terms}"))
    }
}

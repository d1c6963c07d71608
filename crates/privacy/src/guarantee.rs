//! A privacy guarantee is a typed value: who attacks, what is protected, under which adjacency, how much is lost, and by
//! what right we say so. An epsilon without these is not a statement.

use std::fmt;

use serde::{Deserialize, Serialize};
use sottovoce_fault::decimal;

use crate::{Adjacency, Interval, Loss, Result};

/// Who attacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Adversary {
    /// Sees every message on the network.
    WireTapper,
    /// Sees every message on the network, and knows all that these peers know: what they drew, and the secrets they share.
    WireTapperWith(Vec<usize>),
    /// Sees every message on the network, and knows all that any so many peers know, whoever they are.
    WireTapperWithAny(usize),
    /// One peer, with all it receives and all it drew itself.
    Peer(usize),
    /// Several peers who pool what they know.
    Coalition(Vec<usize>),
    /// Whoever holds the final result, and nothing else.
    ResultHolder,
}

/// What is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// One record.
    Record,
    /// Any so many records together.
    Records(u64),
    /// All data of one user (one peer).
    User,
    /// The identity of a rumour's source.
    Source,
}

/// By what right a guarantee is stated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// A proof is written in `docs/theorems` and its assumptions hold here.
    Proven,
    /// Proven if the listed assumptions hold.
    Conditional(Vec<String>),
    /// As a paper prints it: for reproduction and comparison.
    Published,
    /// Published, and exceeded by a counterexample in our own tests.
    Refuted,
}

impl Standing {
    /// Whether a user may rely on it (given its assumptions).
    pub fn is_reliable(&self) -> bool {
        matches!(self, Self::Proven | Self::Conditional(_))
    }

    /// The same under further assumptions: what was proven is conditional on them. Nothing is added to what nobody may rely on.
    pub fn given(self, assumptions: &[String]) -> Self {
        let mut all = match self {
            Self::Proven => Vec::new(),
            Self::Conditional(known) => known,
            other => return other,
        };
        all.extend_from_slice(assumptions);
        if all.is_empty() { Self::Proven } else { Self::Conditional(all) }
    }
}

/// A complete statement of privacy.
///
/// ```
/// use sottovoce_privacy::{Adjacency, Adversary, Gdp, Guarantee, Loss, Standing, Unit, limits};
/// let guarantee = Guarantee {
///     adversary: Adversary::WireTapper,
///     unit: Unit::User,
///     adjacency: Adjacency::Replace,
///     loss: Loss::Gdp(Gdp::of_noise(4.0)?),
///     standing: Standing::Proven,
///     not_covered: limits::of_a_protocol(),
/// };
/// let text = guarantee.state(1e-5)?;
/// assert!(text.starts_with("epsilon <= 0.926342 at delta = 1e-5"), "{text}");
/// assert!(text.contains("a wire-tapper") && text.contains("one user's data (replace)") && text.contains("proven"));
/// # Ok::<(), sottovoce_privacy::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// Who attacks.
    pub adversary: Adversary,
    /// What is protected.
    pub unit: Unit,
    /// Under which adjacency.
    pub adjacency: Adjacency,
    /// How much is lost.
    pub loss: Loss,
    /// By what right.
    pub standing: Standing,
    /// What it does not speak of (see [`limits`](crate::limits)).
    pub not_covered: Vec<String>,
}

impl Guarantee {
    /// The loss as an epsilon at `delta`.
    pub fn epsilon(&self, delta: f64) -> Result<Interval> {
        self.loss.epsilon(delta)
    }

    /// The statement in words.
    pub fn state(&self, delta: f64) -> Result<String> {
        Ok(self.state_at(delta, self.epsilon(delta)?))
    }

    /// The statement in words, of an epsilon at `delta` that is known already.
    pub fn state_at(&self, delta: f64, epsilon: Interval) -> String {
        self.state_against(&self.adversary.to_string(), delta, epsilon)
    }

    /// The same with the adversary in other words, such as by the names of its peers.
    pub fn state_against(&self, adversary: &str, delta: f64, epsilon: Interval) -> String {
        let delta = if delta == 0.0 { "0".to_owned() } else { format!("{delta:e}") };
        format!(
            "epsilon <= {} at delta = {delta} against {adversary}, for {} ({}); {}",
            round_up(epsilon.upper),
            self.unit,
            self.adjacency,
            self.standing
        )
    }

    /// The same adversary, who hears no more than whoever `all` is about: the smaller of both losses at `delta` holds, and its standing is that of the one
    /// taken. Only where both speak of the same thing, and `all` may be relied on; what either leaves out, this leaves out.
    ///
    /// The larger view determines the smaller one, but for what its owner drew itself, which is independent of the protected data: losses do not grow by
    /// post-processing.
    pub fn within(mut self, all: &Self, delta: f64) -> Result<Self> {
        let alike = (self.unit, self.adjacency) == (all.unit, all.adjacency);
        // A loss that compares with nothing is not the smaller one.
        if !alike || !all.standing.is_reliable() || self.epsilon(delta)?.upper < all.epsilon(delta)?.upper {
            return Ok(self);
        }
        (self.loss, self.standing) = (all.loss.clone(), all.standing.clone());
        let more: Vec<String> =
            all.not_covered.iter().filter(|limit| !self.not_covered.contains(limit)).cloned().collect();
        self.not_covered.extend(more);
        Ok(self)
    }

    /// The best guarantee one may rely on, by epsilon at `delta`; published figures are never chosen.
    pub fn best(guarantees: &[Self], delta: f64) -> Result<Option<&Self>> {
        let mut best: Option<(&Self, f64)> = None;
        for guarantee in guarantees.iter().filter(|guarantee| guarantee.standing.is_reliable()) {
            let epsilon = guarantee.epsilon(delta)?.upper;
            if best.is_none_or(|(_, known)| epsilon < known) {
                best = Some((guarantee, epsilon));
            }
        }
        Ok(best.map(|(guarantee, _)| guarantee))
    }
}

/// An upper bound for people: six significant digits, never rounded down.
pub fn round_up(value: f64) -> String {
    decimal::up(value, 6)
}

/// Both ends of an interval for people: twelve significant digits, rounded outwards.
pub fn outward(interval: Interval) -> (String, String) {
    (decimal::down(interval.lower, 12), decimal::up(interval.upper, 12))
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WireTapper => f.write_str("a wire-tapper who sees every message"),
            Self::WireTapperWith(peers) => write!(
                f,
                "a wire-tapper who sees every message and holds the secrets of peers {}",
                listed(peers)
            ),
            Self::WireTapperWithAny(1) => {
                f.write_str("a wire-tapper who sees every message and holds the secrets of any one peer")
            }
            Self::WireTapperWithAny(several) => {
                write!(f, "a wire-tapper who sees every message and holds the secrets of any {several} peers")
            }
            Self::Peer(peer) => write!(f, "peer {peer}"),
            Self::Coalition(peers) => write!(f, "the coalition of peers {}", listed(peers)),
            Self::ResultHolder => f.write_str("the holder of the final result"),
        }
    }
}

fn listed(peers: &[usize]) -> String {
    peers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record => f.write_str("one record"),
            Self::Records(count) => write!(f, "any {count} records together"),
            Self::User => f.write_str("one user's data"),
            Self::Source => f.write_str("the identity of the source"),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proven => f.write_str("proven"),
            Self::Conditional(assumptions) => write!(f, "proven if {}", assumptions.join(" and ")),
            Self::Published => f.write_str("published, not verified"),
            Self::Refuted => f.write_str("published and refuted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gdp;
    use proptest::prelude::*;

    fn guarantee(sigma: f64, standing: Standing) -> Guarantee {
        Guarantee {
            adversary: Adversary::Peer(3),
            unit: Unit::Record,
            adjacency: Adjacency::AddRemove,
            loss: Loss::Gdp(Gdp::of_noise(sigma).unwrap()),
            standing,
            not_covered: Vec::new(),
        }
    }

    #[test]
    fn the_best_guarantee_is_one_that_can_be_relied_on() {
        let all = [
            guarantee(100.0, Standing::Published),
            guarantee(50.0, Standing::Refuted),
            guarantee(2.0, Standing::Proven),
            guarantee(3.0, Standing::Conditional(vec!["peers are honest".into()])),
        ];
        assert_eq!(Guarantee::best(&all, 1e-5).unwrap(), Some(&all[3]));
        assert_eq!(Guarantee::best(&all[..2], 1e-5).unwrap(), None);
        assert!(all[3].state(1e-5).unwrap().ends_with("proven if peers are honest"));
    }

    #[test]
    fn whoever_hears_less_learns_no_more() {
        let all = Guarantee { adversary: Adversary::WireTapper, ..guarantee(2.0, Standing::Proven) };
        let given = || Standing::Conditional(vec!["losses are convex".into()]);
        // Larger than it need be: the smaller one holds, by its own right.
        let peer = guarantee(1.0, given()).within(&all, 1e-5).unwrap();
        assert_eq!(
            (&peer.loss, &peer.standing, &peer.adversary),
            (&all.loss, &Standing::Proven, &Adversary::Peer(3))
        );
        let less = guarantee(3.0, given());
        assert_eq!(less.clone().within(&all, 1e-5).unwrap(), less);
        // Of another unit, or of a number that nobody may rely on, nothing is taken.
        for other in [Guarantee { unit: Unit::User, ..all.clone() }, guarantee(9.0, Standing::Refuted)] {
            let own = guarantee(1.0, given());
            assert_eq!(own.clone().within(&other, 1e-5).unwrap(), own);
        }
    }

    #[test]
    fn what_is_stored_is_read_again_and_what_is_no_loss_is_not() {
        let mut accountant = crate::Accountant::new(Adjacency::Replace);
        let step = crate::Mechanism::gaussian(1.1).unwrap();
        accountant.compose(step.poisson(0.01).unwrap(), 1000).unwrap();
        accountant.compose(crate::Mechanism::discrete_laplace(2.0, 3).unwrap(), 2).unwrap();
        accountant.compose(step.fixed_batch(10, 1000).unwrap(), 7).unwrap();
        let losses = [
            Loss::Pld(accountant),
            Loss::Gdp(Gdp::of_noise(0.7).unwrap().times(3)),
            Loss::pure(0.1).unwrap(),
            Loss::rdp(vec![(2.0, 0.3)]).unwrap(),
            Loss::approximate(1.0, 1e-6).unwrap(),
            Loss::zcdp(0.25).unwrap(),
        ];
        for loss in losses {
            let stated = Guarantee { loss, ..guarantee(1.0, Standing::Conditional(vec!["so".into()])) };
            let text = serde_json::to_string(&stated).unwrap();
            assert_eq!(serde_json::from_str::<Guarantee>(&text).unwrap(), stated, "{text}");
        }
        for bad in [
            r#"{"gdp":{"mu_squared":-1.0,"roundings":2.0}}"#,
            r#"{"gdp":{"mu_squared":1.0,"roundings":0.0}}"#,
            r#"{"pld":{"adjacency":"replace","events":[[{"noise":"gaussian","noise_multiplier":0.0,"sampling":"everyone"},1]]}}"#,
            r#"{"pld":{"adjacency":"replace","events":[[{"noise":"gaussian","noise_multiplier":1.0,"sampling":"poisson","rate":0.0},1]]}}"#,
        ] {
            assert!(serde_json::from_str::<Loss>(bad).is_err(), "{bad}");
        }
        // Open variants are checked at every use.
        assert!(serde_json::from_str::<Loss>(r#"{"pure":-1.0}"#).unwrap().epsilon(1e-5).is_err());
    }

    #[test]
    fn assumptions_add_up() {
        let (one, two) = (vec!["a".to_owned()], vec!["b".to_owned()]);
        assert_eq!(Standing::Proven.given(&[]), Standing::Proven);
        assert_eq!(
            Standing::Proven.given(&one).given(&two),
            Standing::Conditional(vec!["a".into(), "b".into()])
        );
        assert_eq!(Standing::Refuted.given(&one), Standing::Refuted);
    }

    proptest! {
        #[test]
        fn people_never_see_less_than_the_bound(ln in -740.0f64..14.0) {
            let value = ln.exp();
            let shown: f64 = round_up(value).parse().unwrap();
            prop_assert!(shown >= value && shown <= value * (1.0 + 1.1e-5));
            let (low, high) = outward(Interval::exactly(value).unwrap());
            let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
            prop_assert!(low <= value && value <= high && high - low <= 1e-10 * value);
        }
    }
}

//! The noise of each agent: given, or the least that is certified to keep a target, from her own number of rows.

use sottovoce_privacy::{Lots, calibrate};
use sottovoce_protocol::Shared;
use sottovoce_protocol::consensus::{Band, Hidden, Plan};
use sottovoce_simulator::consensus::ConsensusSetup;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::cancelling::Secrets;
use sottovoce_views::door::hidden_by_pairs;
use sottovoce_views::parallel;

use crate::{Result, require};

/// How much noise there is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// So many times what one row's gradient may be.
    Multiplier(f64),
    /// As little as is certified to keep every row within `(epsilon, delta)` over all draws.
    Target {
        /// What a row may lose, ...
        epsilon: f64,
        /// ... up to this probability.
        delta: f64,
    },
}

/// How the gradients of agents with so many rows are hidden, in lots of this expected size, clipped to this length, each in `draws` draws; none without rows. Where secrets
/// are shared a target takes less noise, and the same for everybody.
///
/// ```
/// use sottovoce_engine::deep::{Amount, hidden};
/// use sottovoce_protocol::consensus::Band;
/// let target = Amount::Target { epsilon: 2.0, delta: 1e-5 };
/// let all = hidden(&[500, 1000, 0], (50.0, 1.0), Band::NONE, (target, 100), None)?;
/// let noise = |agent: usize| all[agent].map(|hidden| hidden.multiplier);
/// assert!(noise(0) > noise(1) && noise(2).is_none()); // of more rows each is drawn less often
/// # Ok::<(), sottovoce_engine::Error>(())
/// ```
pub fn hidden(
    rows: &[usize],
    (lot, clip): (f64, f64),
    band: Band,
    (amount, draws): (Amount, usize),
    secrets: Option<&Secrets>,
) -> Result<Vec<Option<Hidden>>> {
    let mut sizes: Vec<usize> = rows.iter().copied().filter(|rows| *rows > 0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let one = |place: usize| -> Result<Hidden> {
        let lots = Lots::of_size(sizes[place], lot)?;
        let with = |multiplier| Hidden { band, ..Hidden::new(lots, clip, multiplier) };
        with(0.0).check()?;
        Ok(match amount {
            Amount::Multiplier(multiplier) => with(multiplier),
            Amount::Target { .. } if draws == 0 => with(1.0),
            Amount::Target { epsilon, delta } => {
                with(0.0).calibrated(draws, (epsilon, delta), calibrate::Method::Pld)?
            }
        })
    };
    let known = parallel::map(sizes.len(), one, |_| ()).into_iter().collect::<Result<Vec<_>>>()?;
    let of = |rows: &usize| sizes.binary_search(rows).ok().map(|place| known[place]);
    let mut all: Vec<Option<Hidden>> = rows.iter().map(of).collect();
    if let Some(secrets) = secrets {
        if let Amount::Target { .. } = amount {
            shared(&mut all, secrets)?;
        }
        secrets.pairs().check_gradients(&all)?;
    }
    Ok(all)
}

/// The least noise, the same for all, that hides everybody behind the noise of pairs as well as these do without.
fn shared(all: &mut [Option<Hidden>], secrets: &Secrets) -> Result<()> {
    let agents = secrets.losses().len();
    require(
        agents == all.len(),
        "keys",
        agents,
        format!("there are {} agents; name each of them", all.len()),
    )?;
    let needed = all
        .iter()
        .zip(secrets.losses())
        .filter_map(|(hidden, loss)| Some(hidden.as_ref()?.multiplier * loss.sqrt()));
    // (A hair more, since sizes of lots round.)
    let most = needed.fold(0.0, |most, one| if one > most { one } else { most }) * (1.0 + 1e-11);
    all.iter_mut().flatten().for_each(|hidden| hidden.multiplier = most);
    Ok(())
}

/// Refuses a plan that nobody can follow.
pub fn check(plan: &Plan) -> Result<()> {
    let alone = Mixing::new(&Graph::from_edges(1, [])?, Weights::Metropolis);
    ConsensusSetup::new(&alone, Shared::zeros(1), *plan, &[None], 0)?;
    Ok(())
}

/// How many draws everybody may make: all of the plan, or as many as are certified to stay within `(epsilon, delta)`. Where secrets are shared all stop together: what one
/// adds alone nobody takes away.
pub fn draws(
    hidden: &[Option<Hidden>],
    plan: &Plan,
    within: Option<(f64, f64)>,
    secrets: Option<&Secrets>,
) -> Result<Vec<usize>> {
    let all = |hidden: &Option<Hidden>| if hidden.is_some() { plan.draws() } else { 0 };
    let Some((epsilon, delta)) = within else { return Ok(hidden.iter().map(all).collect()) };
    if let Some(secrets) = secrets {
        let each = draws(&hidden_by_pairs(hidden, secrets.losses()), plan, within, None)?;
        return Ok(vec![each.iter().copied().min().unwrap_or(0); each.len()]); // whole numbers
    }
    let alone = Mixing::new(&Graph::from_edges(hidden.len(), [])?, Weights::Metropolis);
    let setup = ConsensusSetup::new(&alone, Shared::zeros(1), *plan, hidden, 0)?.within(epsilon, delta)?;
    let count = |(hidden, mut allowance): (&Option<Hidden>, sottovoce_simulator::Allowance)| {
        let Some(hidden) = hidden else { return 0 };
        // A cycle that was begun is paid for as a whole.
        let cycles = allowance.times(&hidden.release(), hidden.releases(plan.draws()));
        (cycles * hidden.band.cycle()).min(plan.draws()) // whole numbers
    };
    Ok(hidden.iter().zip(setup.allowances).map(count).collect())
}

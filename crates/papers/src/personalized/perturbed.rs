//! Local privacy: everybody releases her rows themselves, under noise, once. Whatever is learned from them afterwards costs nothing more.
//! Proven, against whoever sees all of it, for one row replaced: Theorem F of `docs/theorems/personalized.md`.

use rand::RngExt;
use sottovoce_learning::{Loss, Shards, Table};
use sottovoce_privacy::noise::simulation::{ContinuousLaw, Seed, SimulatedNoise, Stream};

use crate::{Error, Result, require};

/// What a row may cost: both together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Perturbation {
    /// The epsilon of its features.
    pub(super) features: f64,
    /// The epsilon of its label.
    pub(super) label: f64,
    /// Between which numbers every label lies, where labels are numbers: public.
    pub(super) label_bounds: Option<(f64, f64)>,
}

impl Perturbation {
    /// Half of an epsilon for the features and half for the label, of two classes.
    pub(super) fn halves(epsilon: f64) -> Self {
        Self { features: 0.5 * epsilon, label: 0.5 * epsilon, label_bounds: None }
    }
}

/// The rows as everybody may see them. A simulation: the noise follows from the seed.
pub(super) fn perturbed(
    train: &Shards,
    loss: Loss,
    radius: f64,
    by: Perturbation,
    seed: u64,
) -> Result<Shards> {
    for (field, epsilon) in [("features", by.features), ("label", by.label)] {
        require(epsilon.is_finite() && epsilon > 0.0, field, epsilon, "give a positive epsilon")?;
    }
    sottovoce_learning::Model::require_radius(train.table(), radius)?;
    let width = train.table().width();
    let law = ContinuousLaw::laplace((2.0 * radius * (width as f64).sqrt() / by.features).next_up())?;
    let (mut features, mut labels, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    for agent in 0..train.peers() {
        let rows = train.shard(agent);
        let from = labels.len();
        for (row, (point, label)) in rows.features.chunks_exact(width).zip(rows.labels).enumerate() {
            let mut point = point.to_vec();
            SimulatedNoise::new(Seed(seed).part(1).0, agent as u64, row as u64).add(law, &mut point);
            features.extend(point);
            labels.push(told(*label, loss, by, Seed(seed).part(2), (agent as u64, row as u64))?);
        }
        lists.push((from..labels.len()).collect());
    }
    Ok(Shards::some_without(&Table::new(features, width, labels)?, &lists)?)
}

/// A label as it is told.
fn told(label: f64, loss: Loss, by: Perturbation, seed: Seed, (agent, row): (u64, u64)) -> Result<f64> {
    match (loss, by.label_bounds) {
        (Loss::Logistic, None) => {
            let wrong = 1.0 / (1.0 + by.label.exp());
            let coin: f64 = seed.stream(Stream::Noise, agent, row).random();
            Ok(if coin < wrong { -label } else { label })
        }
        (Loss::Squared, Some((low, high))) => {
            require(
                low < high,
                "label_bounds",
                format!("{low}:{high}"),
                "give two numbers, the lower one first",
            )?;
            require(
                (low..=high).contains(&label),
                "label",
                label,
                format!("labels lie between {low} and {high}"),
            )?;
            let law = ContinuousLaw::laplace(((high - low) / by.label).next_up())?;
            let mut told = [label];
            SimulatedNoise::new(seed.0, agent, row).add(law, &mut told);
            Ok(told[0])
        }
        (Loss::Squared, None) => {
            Err(Error::missing("label_bounds", "labels are numbers; say between which they lie"))
        }
        (_, Some((low, high))) => {
            let remedy = "bounds are for labels that are numbers; leave them out";
            Err(Error::parameter("label_bounds", format!("{low}:{high}"), remedy))
        }
        (Loss::Softmax { .. }, None) => Err(Error::parameter("loss", "softmax", "give logistic or squared")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_learning::personal::{Plane, Tastes};

    #[test]
    fn noise_is_as_large_as_said() {
        let drawn = Plane { agents: 40, width: 4, fewest: 50, ..Plane::default() }.draw(2).unwrap();
        let by = Perturbation { features: 2.0, label: 1.0, label_bounds: None };
        let told = perturbed(&drawn.train, drawn.loss, drawn.radius, by, 6).unwrap();
        let (true_table, table) = (drawn.train.table(), told.table());
        let rows = table.rows() as f64;
        let flipped =
            (0..table.rows()).filter(|&row| table.labels()[row] != true_table.labels()[row]).count();
        let share = 1.0 / (1.0 + 1f64.exp());
        assert!((flipped as f64 / rows - share).abs() < 4.0 * (share / rows).sqrt());
        // The mean size of Laplace noise is its scale: 2·1·2/2.
        let sizes: f64 =
            table.view().features.iter().zip(true_table.view().features).map(|(x, y)| (x - y).abs()).sum();
        assert!((sizes / (4.0 * rows) - 2.0).abs() < 0.08, "{}", sizes / (4.0 * rows));
    }

    #[test]
    fn labels_that_are_numbers_need_bounds() {
        let drawn = Tastes::default().draw(1).unwrap();
        let tell =
            |by| perturbed(&drawn.train, drawn.loss, drawn.radius, by, 1).map(|told| told.table().rows());
        let by = Perturbation::halves(1.0);
        assert!(tell(by).unwrap_err().to_string().starts_with("`label_bounds` is missing"));
        assert!(
            tell(Perturbation { label_bounds: Some((-1.0, 1.0)), ..by })
                .unwrap_err()
                .to_string()
                .contains("`label`")
        );
        assert!(tell(Perturbation { features: 0.0, ..by }).is_err());
        let wide = Perturbation { label_bounds: Some((-2.0, 2.0)), ..by };
        assert_eq!(tell(wide).unwrap(), drawn.train.table().rows());
    }
}

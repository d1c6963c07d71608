//! Rows by class: the distinct labels in increasing order.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::{Result, require};

/// Beyond this, labels are taken for measurements and not for classes.
const MOST_CLASSES: usize = 1000;

/// The rows of each class, shuffled.
pub(super) fn shuffled(labels: &[f64], rng: &mut ChaCha8Rng) -> Result<Vec<Vec<usize>>> {
    let mut distinct = labels.to_vec();
    distinct.sort_by(f64::total_cmp);
    // Equal as numbers, so that -0 and 0 are one class.
    distinct.dedup();
    let remedy = format!("splits by class need at most {MOST_CLASSES}; round the labels or split evenly");
    let value = format_args!("one of {} different numbers", distinct.len());
    require(distinct.len() <= MOST_CLASSES, "label", value, remedy)?;
    let mut classes = vec![Vec::new(); distinct.len()];
    for (row, label) in labels.iter().enumerate() {
        classes[distinct.partition_point(|other| other < label)].push(row);
    }
    classes.iter_mut().for_each(|rows| rows.shuffle(rng));
    Ok(classes)
}

//! Splits: everybody gets rows, no row twice, in the proportions that are promised.

use std::collections::BTreeSet;

use sottovoce_learning::split::{Key, by_position, dirichlet, similarity};
use sottovoce_learning::{Shards, Table};

/// Rows numbered by their only feature, whose classes alternate.
fn table(rows: usize, classes: usize) -> Table {
    let labels = (0..rows).map(|row| (row % classes) as f64).collect();
    Table::new((0..rows).map(|row| row as f64).collect(), 1, labels).unwrap()
}

fn counts(shards: &Shards, peer: usize, classes: usize) -> Vec<usize> {
    let labels = shards.shard(peer).labels;
    (0..classes).map(|class| labels.iter().filter(|&&label| label == class as f64).count()).collect()
}

fn distinct(shards: &Shards) -> usize {
    shards.table().view().features.iter().map(|row| *row as usize).collect::<BTreeSet<_>>().len()
}

/// The mean over peers of the largest share of a class.
fn concentration_of(shards: &Shards, classes: usize) -> f64 {
    let share = |peer| {
        let counts = counts(shards, peer, classes);
        *counts.iter().max().unwrap() as f64 / counts.iter().sum::<usize>() as f64
    };
    (0..shards.peers()).map(share).sum::<f64>() / shards.peers() as f64
}

#[test]
fn dirichlet_goes_from_one_class_to_the_mixture() {
    let table = table(4003, 4);
    let split = |concentration| dirichlet(&table, 40, concentration, 7).unwrap();
    for concentration in [1e-300, 1e-3, 0.3, 1.0, 1e6, 1e300] {
        let shards = split(concentration);
        assert!((0..40).all(|peer| shards.shard(peer).labels.len() == 100));
        assert_eq!(distinct(&shards), 4000);
    }
    // A quarter each, but for draws of 100 rows; and nearly a single class, until classes run out.
    assert!(concentration_of(&split(1e6), 4) < 0.35);
    assert!(concentration_of(&split(1e-3), 4) > 0.8);
    assert!(concentration_of(&split(1.0), 4) > 0.4);
    assert_eq!(split(0.3), split(0.3));
    assert_ne!(split(0.3), dirichlet(&table, 40, 0.3, 8).unwrap());
}

#[test]
fn dirichlet_gives_everybody_a_row() {
    let shards = dirichlet(&table(5, 2), 5, 0.1, 1).unwrap();
    assert!((0..5).all(|peer| shards.shard(peer).labels.len() == 1));
    for concentration in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = dirichlet(&table(5, 2), 5, concentration, 1).unwrap_err().to_string();
        assert!(refused.starts_with("`concentration` is "), "{refused}");
    }
    assert!(dirichlet(&table(5, 2), 6, 1.0, 1).is_err());
    let measured = Table::new(vec![0.0; 2000], 1, (0..2000).map(f64::from).collect()).unwrap();
    let refused = dirichlet(&measured, 5, 1.0, 1).unwrap_err().to_string();
    assert!(refused.starts_with("`label` is one of 2000 different numbers: "), "{refused}");
}

/// Shares by equation 8: with N = 4, agent `i` has `1 - 3(1-t)/4` of class `i` and `(1-t)/4` of the others.
#[test]
fn similarity_follows_the_matrix() {
    let table = table(4000, 4);
    for (t, own, other) in [(0.0, 250, 250), (0.5, 625, 125), (1.0, 1000, 0), (0.2, 400, 200)] {
        let shards = similarity(&table, 4, t, 3).unwrap();
        assert_eq!(distinct(&shards), 4000);
        for peer in 0..4 {
            for (class, count) in counts(&shards, peer, 4).into_iter().enumerate() {
                assert_eq!(
                    count,
                    if class == peer { own } else { other },
                    "t {t}, peer {peer}, class {class}"
                );
            }
        }
    }
}

#[test]
fn similarity_wraps_classes_around_and_rounds() {
    let shards = similarity(&table(1000, 10), 4, 1.0, 3).unwrap();
    assert_eq!(counts(&shards, 1, 10), [0, 100, 0, 0, 0, 100, 0, 0, 0, 100]);
    assert_eq!(counts(&shards, 3, 10), [0, 0, 0, 100, 0, 0, 0, 100, 0, 0]);
    let shards = similarity(&table(1003, 3), 7, 0.37, 3).unwrap();
    assert_eq!(distinct(&shards), 1003);
    let refused = similarity(&table(100, 3), 4, 1.0, 3).unwrap_err().to_string();
    assert_eq!(refused, "`t` is 1: peer 3 of 4 would hold no row; take fewer peers or a smaller t");
    for t in [-0.1, 1.1, f64::NAN] {
        assert!(similarity(&table(100, 3), 4, t, 3).unwrap_err().to_string().starts_with("`t` is "));
    }
    assert!(similarity(&table(100, 3), 0, 0.0, 3).is_err());
    assert!(similarity(&table(100, 3), 101, 0.0, 3).is_err());
}

#[test]
fn near_peers_hold_alike_rows() {
    let table = Table::new(vec![5.0, 1.0, 4.0, 0.0, 3.0, 2.0, 6.0], 1, vec![1.0; 7]).unwrap();
    let positions = [(1.0, 1.0), (0.0, 0.1), (0.5, 0.5)];
    let shards = by_position(&table, &positions, Key::Column(0)).unwrap();
    // Blocks start at ranks 0, 2 and 4: the row left out is the last here.
    let features: Vec<_> = (0..3).map(|peer| shards.shard(peer).features).collect();
    assert_eq!(features, [[4.0, 5.0], [0.0, 1.0], [2.0, 3.0]]);
    assert!(by_position(&table, &positions, Key::Column(1)).is_err());
    assert!(by_position(&table, &[], Key::Label).is_err());
    let refused = by_position(&table, &[(0.0, f64::NAN)], Key::Label).unwrap_err().to_string();
    assert!(refused.starts_with("`positions` is (0.0, NaN) for peer 0: "), "{refused}");
}

#[test]
fn positions_can_order_labels() {
    let table = Table::new(vec![0.0; 4], 1, vec![1.0, -1.0, 1.0, -1.0]).unwrap();
    let shards = by_position(&table, &[(3.0, 0.0), (0.0, 1.0)], Key::Label).unwrap();
    assert_eq!((shards.shard(0).labels, shards.shard(1).labels), (&[1.0, 1.0][..], &[-1.0, -1.0][..]));
}

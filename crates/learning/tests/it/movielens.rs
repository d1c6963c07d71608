//! MovieLens-100K, where there is a copy: set `SOTTOVOCE_DATA` to a folder whose subfolder `movielens-100k` holds `u.data`.

use sottovoce_learning::Model;
use sottovoce_learning::personal::{Recommendation, movielens};

#[test]
fn the_set_is_as_published() {
    let Some(folder) = sottovoce_testing::data("movielens-100k") else { return };
    let ratings = movielens::read(&folder).unwrap();
    assert_eq!((ratings.users(), ratings.items(), ratings.count()), (943, 1682, 100_000));
    let counts: Vec<usize> = (0..943).map(|user| ratings.of(user).len()).collect();
    assert_eq!((counts.iter().min(), counts.iter().max()), (Some(&20), Some(&737)));
    // The first line of the file.
    assert!(ratings.of(195).contains(&(241, 3.0)));
    let agents = Recommendation { turns: 2, ..Recommendation::default() }.agents(&ratings, 1).unwrap();
    assert_eq!(agents.train.table().rows() + agents.test.table().rows(), 100_000);
    Model::require_radius(agents.test.table(), agents.radius).unwrap();
    // Nobody predicts with features of 0 but her own mean: about 1.017.
    let own_mean = agents.mean_worth(&vec![0.0; 943 * 20]);
    assert!((1.005..1.03).contains(&own_mean), "{own_mean}");
}

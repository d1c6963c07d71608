//! Clipping: the norms it promises, the steps it keeps from expanding distances, and where it does not.

use proptest::prelude::*;
use sottovoce_learning::{Clip, Loss, Model, Table};

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn one_norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x.abs()).sum()
}

/// Of the norm that a clip bounds.
fn length(clip: Clip, vector: &[f64]) -> f64 {
    if matches!(clip, Clip::ExampleL1(_)) { one_norm(vector) } else { norm(vector) }
}

fn gradient(model: &Model, theta: &[f64], table: &Table, clip: Clip) -> Vec<f64> {
    let mut out = vec![f64::NAN; theta.len()];
    model.gradient(theta, table.view(), clip, &mut out);
    out
}

/// How much farther apart two points are after a step than before.
fn expansion(model: &Model, table: &Table, clip: Clip, step: f64, x: &[f64], y: &[f64]) -> f64 {
    let (at_x, at_y) = (gradient(model, x, table, clip), gradient(model, y, table, clip));
    let after: Vec<f64> = (0..x.len()).map(|k| x[k] - y[k] - step * (at_x[k] - at_y[k])).collect();
    let before: Vec<f64> = (0..x.len()).map(|k| x[k] - y[k]).collect();
    norm(&after) / norm(&before)
}

fn table(rows: &[([f64; 3], bool)]) -> Table {
    let labels = rows.iter().map(|(_, positive)| if *positive { 1.0 } else { -1.0 }).collect();
    Table::new(rows.iter().flat_map(|(row, _)| *row).collect(), 3, labels).unwrap()
}

fn rows(most: usize) -> impl Strategy<Value = Table> {
    let row = (prop::array::uniform3(-2.0..2.0), any::<bool>());
    prop::collection::vec(row, 1..=most).prop_map(|rows| table(&rows))
}

fn any_loss() -> impl Strategy<Value = Loss> {
    prop_oneof![Just(Loss::Logistic), Just(Loss::Squared), Just(Loss::Softmax { classes: 3 })]
}

/// Classes 0 and 1 of the labels -1 and 1, where a loss wants classes.
fn labelled(loss: Loss, table: Table) -> Table {
    match loss {
        Loss::Softmax { .. } => {
            let labels = table.labels().iter().map(|label| f64::midpoint(*label, 1.0)).collect();
            Table::new(table.view().features.to_vec(), table.width(), labels).unwrap()
        }
        _ => table,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn clipped_gradients_are_no_longer_than_asked(
        loss in any_loss(), table in rows(5), theta in prop::collection::vec(-9.0..9.0, 9), bound in 1e-3..3.0f64
    ) {
        let model = Model { loss, width: 3, ridge: 0.0 };
        let (table, theta) = (labelled(loss, table), &theta[..model.parameters()]);
        for clip in [Clip::Example(bound), Clip::ExampleL1(bound), Clip::User(bound)] {
            prop_assert!(length(clip, &gradient(&model, theta, &table, clip)) <= bound * (1.0 + 1e-14));
        }
    }

    /// The mean of rows clipped one by one, by definition.
    #[test]
    fn rows_are_clipped_one_by_one(
        loss in any_loss(), table in rows(5), theta in prop::collection::vec(-3.0..3.0, 9), bound in 1e-2..3.0f64
    ) {
        let model = Model { loss, width: 3, ridge: 0.0 };
        let (table, theta) = (labelled(loss, table), &theta[..model.parameters()]);
        for clip in [Clip::Example(bound), Clip::ExampleL1(bound)] {
            let mut mean = vec![0.0; theta.len()];
            for row in 0..table.rows() {
                let own = gradient(&model, theta, &table.select(&[row]).unwrap(), Clip::None);
                let factor = (bound / length(clip, &own)).min(1.0) / table.rows() as f64;
                mean.iter_mut().zip(&own).for_each(|(mean, own)| *mean += factor * own);
            }
            let clipped = gradient(&model, theta, &table, clip);
            prop_assert!(clipped.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-13 * (1.0 + bound)));
        }
    }

    /// The mean shrunk as a whole; the ridge is not clipped.
    #[test]
    fn users_are_clipped_as_a_whole(
        loss in any_loss(), table in rows(5), theta in prop::collection::vec(-3.0..3.0, 9), bound in 1e-2..3.0f64
    ) {
        let model = Model { loss, width: 3, ridge: 0.25 };
        let (table, theta) = (labelled(loss, table), &theta[..model.parameters()]);
        let plain = gradient(&Model { ridge: 0.0, ..model }, theta, &table, Clip::None);
        let factor = (bound / norm(&plain)).min(1.0);
        let clipped = gradient(&model, theta, &table, Clip::User(bound));
        for k in 0..theta.len() {
            prop_assert!((clipped[k] - factor * plain[k] - 0.25 * theta[k]).abs() < 1e-13 * (1.0 + bound));
        }
    }

    /// The proof is in the documentation of the bounds.
    #[test]
    fn steps_on_clipped_rows_do_not_expand(
        logistic in any::<bool>(), table in rows(5), ridge in 0.0..0.5, bound in 1e-2..2.0f64, share in 0.0..=1.0f64,
        x in prop::array::uniform3(-5.0..5.0), y in prop::array::uniform3(-5.0..5.0),
    ) {
        let model = Model { loss: if logistic { Loss::Logistic } else { Loss::Squared }, width: 3, ridge };
        for (clip, share) in [(Clip::None, 1.0), (Clip::Example(bound), 1.0), (Clip::Example(bound), share), (Clip::ExampleL1(bound), 1.0)] {
            assert!(model.clipping_keeps_convex(clip));
            let step = share * 2.0 / model.smoothness(table.radius());
            prop_assert!(expansion(&model, &table, clip, step, &x, &y) <= 1.0 + 1e-12);
        }
    }

    #[test]
    fn softmax_steps_do_not_expand_without_clipping(
        table in rows(5), x in prop::collection::vec(-5.0..5.0, 9), y in prop::collection::vec(-5.0..5.0, 9),
    ) {
        let loss = Loss::Softmax { classes: 3 };
        let (model, table) = (Model { loss, width: 3, ridge: 0.1 }, labelled(loss, table));
        let step = 2.0 / model.smoothness(table.radius());
        prop_assert!(expansion(&model, &table, Clip::None, step, &x, &y) <= 1.0 + 1e-12);
    }

    #[test]
    fn replacing_rows_moves_no_more_than_promised(
        loss in any_loss(), before in rows(4), after in rows(1), all in rows(4),
        theta in prop::collection::vec(-3.0..3.0, 9), bound in 1e-2..3.0f64
    ) {
        let model = Model { loss, width: 3, ridge: 0.1 };
        let [before, after, all] = [before, after, all].map(|table| labelled(loss, table));
        let theta = &theta[..model.parameters()];
        let radius = before.radius().max(after.radius()).max(all.radius());
        // One row: the first is another.
        let features: Vec<f64> = [after.view().features, &before.view().features[3..]].concat();
        let one = Table::new(features, 3, [after.labels(), &before.labels()[1..]].concat()).unwrap();
        for clip in [Clip::None, Clip::Example(bound), Clip::ExampleL1(bound), Clip::User(bound)] {
            let moved = |other: &Table| {
                let (a, b) = (gradient(&model, theta, &before, clip), gradient(&model, theta, other, clip));
                length(clip, &a.iter().zip(&b).map(|(a, b)| a - b).collect::<Vec<_>>())
            };
            match model.sensitivity(clip, radius) {
                Ok(most) => {
                    prop_assert!(moved(&all) <= most * (1.0 + 1e-12));
                    let most = model.record_sensitivity(clip, radius, before.rows()).unwrap();
                    prop_assert!(moved(&one) <= most * (1.0 + 1e-12));
                }
                Err(_) => prop_assert_eq!((loss, clip), (Loss::Squared, Clip::None)),
            }
        }
    }
}

/// All rows of a small grid, with both labels: the farthest that one replaced row moves the mean is the promise itself, and no farther. In the 1-norm,
/// rows clipped in the 2-norm move up to `sqrt(p)` times as far: Laplace noise made for `2C/m` would be too small.
#[test]
fn neighbours_by_brute_force() {
    let grid: Vec<([f64; 3], bool)> = (0..54)
        .map(|code| ([code % 3, code / 3 % 3, code / 9 % 3].map(|digit| f64::from(digit) - 1.0), code < 27))
        .collect();
    let (theta, rows, bound) = ([0.3, -0.7, 0.2], 4, 0.1);
    for loss in [Loss::Logistic, Loss::Squared, Loss::Softmax { classes: 2 }] {
        let model = Model { loss, width: 3, ridge: 0.3 };
        let theta = &theta.repeat(2)[..model.parameters()];
        let farthest = |clip: Clip, length: &dyn Fn(&[f64]) -> f64| {
            let with = |row: &([f64; 3], bool)| {
                let kept = [([1.0, 0.0, -1.0], true), ([0.0, 1.0, 1.0], false), ([1.0, 1.0, 1.0], true)];
                let all: Vec<_> = [*row].into_iter().chain(kept).collect();
                gradient(&model, theta, &labelled(loss, table(&all)), clip)
            };
            let all: Vec<Vec<f64>> = grid.iter().map(with).collect();
            let apart =
                |a: &[f64], b: &[f64]| length(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>());
            all.iter().flat_map(|a| all.iter().map(|b| apart(a, b))).fold(0.0, f64::max)
        };
        for (clip, length) in
            [(Clip::ExampleL1(bound), one_norm as fn(&[f64]) -> f64), (Clip::Example(bound), norm)]
        {
            let promised = model.record_sensitivity(clip, 1.0, rows).unwrap();
            assert!((farthest(clip, &length) / promised - 1.0).abs() < 1e-12, "{loss:?} {clip:?}");
        }
        let promised = model.record_sensitivity(Clip::Example(bound), 1.0, rows).unwrap();
        assert!(farthest(Clip::Example(bound), &one_norm) > 1.7 * promised, "{loss:?}");
    }
}

/// Counterexamples found by a random search, worst at the largest step of `2/smoothness`; distances grow at a hundredth of it too, so
/// no smaller step helps: what is clipped is no gradient of a convex function. Labels are all positive.
#[test]
fn steps_on_clipped_users_can_expand() {
    let cases = [
        (Loss::Logistic, [[1.0, 0.0], [0.0, 1.0]], 0.5, [-7.6, -0.8], [-7.3, -0.7]),
        (Loss::Squared, [[1.0, 0.0], [0.0, 0.1]], 0.1, [1.2, -1.5], [1.3, -1.6]),
    ];
    for (loss, rows, bound, x, y) in cases {
        let (model, clip) = (Model { loss, width: 2, ridge: 0.0 }, Clip::User(bound));
        let table = Table::new(rows.concat(), 2, vec![1.0, 1.0]).unwrap();
        let largest = 2.0 / model.smoothness(table.radius());
        assert!(expansion(&model, &table, clip, largest, &x, &y) > 1.03, "{loss:?}");
        assert!(expansion(&model, &table, clip, 0.01 * largest, &x, &y) > 1.0002, "{loss:?}");
        assert!(!model.clipping_keeps_convex(clip));
    }
}

/// With three classes, one row is enough.
#[test]
fn steps_on_clipped_softmax_rows_can_expand() {
    let model = Model { loss: Loss::Softmax { classes: 3 }, width: 1, ridge: 0.0 };
    let table = Table::new(vec![1.0], 1, vec![0.0]).unwrap();
    let (largest, clip) = (2.0 / model.smoothness(1.0), Clip::Example(1.0));
    let (x, y) = ([-0.8, 1.3, 2.4], [-0.4, 1.2, 2.1]);
    assert!(expansion(&model, &table, clip, largest, &x, &y) > 1.04);
    let (x, y) = ([-4.2, 3.3, 2.0], [-4.9, 3.7, 2.2]);
    assert!(expansion(&model, &table, clip, 0.01 * largest, &x, &y) > 1.0002);
    assert!(!model.clipping_keeps_convex(clip));
}

#[test]
fn clips_that_are_none_let_nothing_through() {
    let (one, theta) = (table(&[([1.0, 2.0, 3.0], true)]), [5.0, 5.0, 5.0]);
    for loss in [Loss::Logistic, Loss::Squared, Loss::Softmax { classes: 2 }] {
        let model = Model { loss, width: 3, ridge: 0.0 };
        let theta = &theta.repeat(2)[..model.parameters()];
        for bound in [0.0, -1.0, f64::NAN] {
            for clip in [Clip::Example(bound), Clip::ExampleL1(bound), Clip::User(bound)] {
                assert_eq!(norm(&gradient(&model, theta, &one, clip)), 0.0, "{loss:?} {clip:?}");
                assert!(model.sensitivity(clip, 1.0).unwrap_err().to_string().starts_with("`clip` is "));
            }
        }
    }
}

#[test]
fn tiny_and_huge_rows_are_clipped() {
    let squared = Model { loss: Loss::Squared, width: 3, ridge: 0.0 };
    for size in [1e-200, 1e200] {
        let row = Table::new(vec![size; 3], 3, vec![1e250]).unwrap();
        for clip in [Clip::Example(1.0), Clip::ExampleL1(1.0), Clip::User(1.0)] {
            let length = length(clip, &gradient(&squared, &[1.0; 3], &row, clip));
            assert!(length <= 1.0 + 1e-14, "{size} {clip:?} {length}");
        }
    }
}

#[test]
fn bounds_are_those_of_the_documentation() {
    let model = |loss| Model { loss, width: 3, ridge: 0.5 };
    let softmax = model(Loss::Softmax { classes: 3 });
    let (logistic, squared) = (model(Loss::Logistic), model(Loss::Squared));
    assert_eq!([logistic, squared, softmax].map(|model| model.smoothness(2.0)), [1.5, 4.5, 2.5]);
    let longest = [logistic, squared, softmax].map(|model| model.lipschitz(2.0));
    assert_eq!(longest, [Some(2.0), None, Some(2.0 * std::f64::consts::SQRT_2)]);
    assert_eq!(logistic.sensitivity(Clip::None, 2.0), Ok(4.0));
    assert_eq!(logistic.sensitivity(Clip::Example(0.5), 2.0), Ok(1.0));
    assert_eq!(logistic.record_sensitivity(Clip::None, 2.0, 8), Ok(0.5));
    assert_eq!(logistic.record_sensitivity(Clip::Example(0.5), 2.0, 8), Ok(0.125));
    assert_eq!(logistic.record_sensitivity(Clip::User(0.5), 2.0, 8), Ok(1.0));
    assert_eq!(logistic.record_sensitivity(Clip::ExampleL1(0.5), 2.0, 8), Ok(0.125));
    assert!(
        !softmax.clipping_keeps_convex(Clip::Example(1.0))
            && !softmax.clipping_keeps_convex(Clip::ExampleL1(1.0))
    );
}

#[test]
fn unbounded_sensitivities_are_refused() {
    let squared = Model { loss: Loss::Squared, width: 3, ridge: 0.0 };
    let refused = squared.sensitivity(Clip::None, 1.0).unwrap_err().to_string();
    assert!(refused.starts_with("`clipped` is nothing: ") && refused.contains("each row's"), "{refused}");
    let logistic = Model { loss: Loss::Logistic, ..squared };
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(logistic.sensitivity(Clip::None, radius).is_err());
    }
    assert!(logistic.record_sensitivity(Clip::None, 1.0, 0).is_err());
    let table = Table::new(vec![0.6, 0.8, 3.0, 4.0], 2, vec![1.0, 1.0]).unwrap();
    assert_eq!(
        Model::require_radius(&table, 1.0).unwrap_err().to_string(),
        "`norm` is 5 in row 1: rows must not be longer than 1; normalise the rows, or clip"
    );
    assert_eq!(Model::require_radius(&table, 5.0), Ok(()));
}

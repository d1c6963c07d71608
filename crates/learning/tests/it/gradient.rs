//! Gradients against differences of the objective, and what the model refuses.

use proptest::prelude::*;
use sottovoce_learning::{Clip, Loss, Model, Shard, Table};

const WIDTH: usize = 3;

/// Rows, labels for each loss, and parameters.
fn table(loss: Loss) -> impl Strategy<Value = Table> {
    let label = match loss {
        Loss::Logistic => prop_oneof![Just(-1.0), Just(1.0)].boxed(),
        Loss::Squared => (-2.0..2.0).boxed(),
        Loss::Softmax { classes } => (0..classes).prop_map(|class| class as f64).boxed(),
    };
    prop::collection::vec((prop::array::uniform3(-2.0..2.0), label), 1..6).prop_map(|rows| {
        let features = rows.iter().flat_map(|(row, _)| *row).collect();
        Table::new(features, WIDTH, rows.iter().map(|(_, label)| *label).collect()).unwrap()
    })
}

fn case() -> impl Strategy<Value = (Model, Table, Vec<f64>)> {
    let losses = prop_oneof![Just(Loss::Logistic), Just(Loss::Squared), Just(Loss::Softmax { classes: 4 })];
    (losses, 0.0..1.0).prop_flat_map(|(loss, ridge)| {
        let model = Model { loss, width: WIDTH, ridge };
        (Just(model), table(loss), prop::collection::vec(-2.0..2.0, model.parameters()))
    })
}

fn gradient(model: &Model, theta: &[f64], data: Shard<'_>) -> Vec<f64> {
    let mut out = vec![f64::NAN; theta.len()];
    model.gradient(theta, data, Clip::None, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The third derivatives of all losses are below 8 here, so the difference of width 1e-4 is right to 1.4e-8, and rounding
    /// adds less than 1e-10.
    #[test]
    fn is_the_slope_of_the_objective((model, table, theta) in case()) {
        model.check(&table).unwrap();
        let out = gradient(&model, &theta, table.view());
        for (k, slope) in out.iter().enumerate() {
            let at = |step: f64| {
                let mut theta = theta.clone();
                theta[k] += step;
                model.objective(&theta, table.view())
            };
            let difference = (at(1e-4) - at(-1e-4)) / 2e-4;
            prop_assert!((slope - difference).abs() < 3e-8, "{k}: {slope} {difference}");
        }
    }

    #[test]
    fn softmax_of_two_classes_is_logistic(
        table in table(Loss::Logistic), theta in prop::array::uniform3(-3.0..3.0f64)
    ) {
        let classes: Vec<f64> = table.labels().iter().map(|label| (label + 1.0) / 2.0).collect();
        let pair = Table::new(table.view().features.to_vec(), WIDTH, classes).unwrap();
        let logistic = Model { loss: Loss::Logistic, width: WIDTH, ridge: 0.0 };
        let softmax = Model { loss: Loss::Softmax { classes: 2 }, ..logistic };
        // Scores of the classes -1 and 1 that differ by theta.
        let both: Vec<f64> = theta.iter().map(|t| -t / 2.0).chain(theta.iter().map(|t| t / 2.0)).collect();
        let (a, b) = (logistic.objective(&theta, table.view()), softmax.objective(&both, pair.view()));
        prop_assert!((a - b).abs() < 1e-14 * (1.0 + a.abs()));
        let (a, b) = (gradient(&logistic, &theta, table.view()), gradient(&softmax, &both, pair.view()));
        prop_assert!((0..WIDTH).all(|k| (a[k] - b[WIDTH + k]).abs() < 1e-14 && (a[k] + b[k]).abs() < 1e-14));
    }
}

#[test]
fn many_classes_are_learned_too() {
    // More than fit on the stack.
    let model = Model { loss: Loss::Softmax { classes: 300 }, width: 1, ridge: 0.0 };
    let table = Table::new(vec![1.0], 1, vec![299.0]).unwrap();
    model.check(&table).unwrap();
    let out = gradient(&model, &[0.0; 300], table.view());
    assert!(out[..299].iter().all(|g| (g - 1.0 / 300.0).abs() < 1e-17));
    assert!((out[299] + 299.0 / 300.0).abs() < 1e-15);
}

#[test]
fn extreme_scores_do_not_overflow() {
    let table = Table::new(vec![1e3, -1e3], 1, vec![1.0, 1.0]).unwrap();
    let logistic = Model { loss: Loss::Logistic, width: 1, ridge: 0.0 };
    assert_eq!(logistic.objective(&[10.0], table.view()), 5e3);
    assert_eq!(gradient(&logistic, &[10.0], table.view()), [500.0]);
    let softmax = Model { loss: Loss::Softmax { classes: 2 }, ..logistic };
    assert_eq!(softmax.objective(&[0.0, 10.0], table.view()), 5e3);
    assert_eq!(gradient(&softmax, &[0.0, 10.0], table.view()), [-500.0, 500.0]);
}

#[test]
fn accuracy_counts_ties_as_positive() {
    let table = Table::new(vec![1.0, -1.0, 0.0, 0.0], 1, vec![1.0, 1.0, 1.0, -1.0]).unwrap();
    for loss in [Loss::Logistic, Loss::Squared] {
        assert_eq!(Model { loss, width: 1, ridge: 0.0 }.accuracy(&[2.0], table.view()), 0.5);
    }
    let classes = Table::new(vec![1.0, -1.0, 0.0], 1, vec![2.0, 0.0, 0.0]).unwrap();
    let softmax = Model { loss: Loss::Softmax { classes: 3 }, width: 1, ridge: 0.0 };
    assert_eq!(softmax.accuracy(&[-1.0, 0.0, 1.0], classes.view()), 1.0);
}

#[test]
fn without_rows_only_the_ridge_pulls() {
    let model = Model { loss: Loss::Logistic, width: 2, ridge: 0.5 };
    let none = Shard { features: &[], labels: &[], width: 2 };
    for clip in [Clip::None, Clip::Example(1.0), Clip::User(1.0)] {
        let mut out = [f64::NAN; 2];
        model.gradient(&[2.0, -4.0], none, clip, &mut out);
        assert_eq!(out, [1.0, -2.0]);
    }
    assert_eq!(model.objective(&[2.0, -4.0], none), 5.0);
    assert!(model.accuracy(&[0.0; 2], none).is_nan());
}

#[test]
fn unsuitable_tables_are_refused() {
    let table = Table::new(vec![0.0; 4], 1, vec![1.0, -1.0, 1.0, 7.0]).unwrap();
    let model = Model { loss: Loss::Logistic, width: 1, ridge: 0.0 };
    let refused = |model: Model, table: &Table| model.check(table).unwrap_err().to_string();
    assert_eq!(
        refused(model, &table),
        "`label` is 7 in row 3: logistic regression takes -1 or 1; `Table::binary` makes them of classes"
    );
    let softmax = |classes| Model { loss: Loss::Softmax { classes }, ..model };
    assert!(refused(softmax(8), &table).starts_with("`label` is -1 in row 1: softmax with 8 classes takes"));
    assert!(refused(softmax(1), &table).starts_with("`classes` is 1: "));
    assert!(refused(softmax(0), &table).starts_with("`classes` is 0: "));
    let halves = Table::new(vec![0.0; 2], 1, vec![0.0, 0.5]).unwrap();
    assert!(refused(softmax(2), &halves).starts_with("`label` is 0.5 in row 1: "));
    assert!(refused(Model { width: 2, ..model }, &table).starts_with("`width` is 2: the table has 1 "));
    for ridge in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Model { ridge, ..model }, &table).starts_with("`ridge` is "));
    }
    assert!(refused(model, &Table::new(vec![], 1, vec![]).unwrap()).starts_with("`rows` is 0: "));
    assert!(Model { loss: Loss::Squared, ..model }.check(&table).is_ok());
}

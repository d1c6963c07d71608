//! Tables: what they refuse and how they are prepared.

use sottovoce_learning::{Shards, Table};

fn refused(result: sottovoce_learning::Result<impl std::fmt::Debug>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn wrong_shapes_and_numbers_are_refused() {
    assert_eq!(refused(Table::new(vec![], 0, vec![])), "`width` is 0: give rows at least one feature");
    assert_eq!(
        refused(Table::new(vec![1.0; 5], 2, vec![1.0; 2])),
        "`features` is 5 numbers: 2 labels and a width of 2 take 2 times 2 numbers"
    );
    assert!(refused(Table::new(vec![], usize::MAX, vec![1.0; 2])).starts_with("`features` is 0 numbers: "));
    assert_eq!(
        refused(Table::new(vec![0.0, 1.0, 2.0, f64::NAN], 2, vec![1.0; 2])),
        "`feature` is NaN in row 1: column 1 needs a finite number; remove or fill in the row"
    );
    assert!(refused(Table::new(vec![0.0], 1, vec![f64::INFINITY])).starts_with("`label` is inf in row 0: "));
}

#[test]
fn rows_are_found_and_selected() {
    let table = Table::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, vec![7.0, 8.0, 9.0]).unwrap();
    assert_eq!((table.rows(), table.width(), table.row(1)), (3, 2, &[3.0, 4.0][..]));
    let some = table.select(&[2, 0, 2]).unwrap();
    assert_eq!(some.view().features, [5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
    assert_eq!(some.labels(), [9.0, 7.0, 9.0]);
    assert_eq!(refused(table.select(&[0, 3])), "`rows` is 3: there are 3 rows, counted from 0");
    assert_eq!(table.select(&[]).unwrap().rows(), 0);
}

#[test]
fn public_ranges_and_norms_scale_each_row_by_itself() {
    let features = vec![0.0, 5.0, 10.0, -1e308, 30.0, 1e300, 5.0, 10.0];
    let mut table = Table::new(features, 2, vec![0.0; 4]).unwrap();
    let mut other = table.clone();
    table.scale_to_ranges(&[(0.0, 10.0), (-1e308, 1e308)]).unwrap();
    // In the middle, at the ends, and outside.
    assert_eq!((table.row(0), table.row(1)), (&[-1.0, 5e-308][..], &[1.0, -1.0][..]));
    assert_eq!((table.row(2)[0], table.row(3)[0]), (1.0, 0.0));
    let refuse = |ranges: &[(f64, f64)]| refused(other.clone().scale_to_ranges(ranges));
    assert!(refuse(&[(0.0, 1.0)]).starts_with("`ranges` is 1: there are 2 columns"));
    for bad in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::INFINITY), (f64::NAN, 1.0)] {
        assert!(refuse(&[(0.0, 1.0), bad]).contains("`range` is 1="), "{bad:?}");
    }
    other.shorten_rows(50.0).unwrap();
    assert_eq!(other.row(0), [0.0, 0.1]);
    assert!((0..4).all(|row| other.row(row).iter().map(|x| x * x).sum::<f64>() <= 1.0 + 1e-15));
    assert_eq!(other.row(1), [1e-307, -1.0]);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(other.clone().shorten_rows(bad)).starts_with("`norm` is "), "{bad}");
    }
}

#[test]
fn rows_are_normalised_and_get_an_intercept() {
    let features = vec![3.0, 4.0, 0.0, 0.0, 3e200, -4e200, 3e-200, 4e-200];
    let mut table = Table::new(features, 2, vec![1.0; 4]).unwrap();
    assert!((table.radius() / 5e200 - 1.0).abs() < 1e-15);
    table.normalise_rows();
    for (row, expected) in [(0, [0.6, 0.8]), (1, [0.0, 0.0]), (2, [0.6, -0.8]), (3, [0.6, 0.8])] {
        assert!(table.row(row).iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{row}");
    }
    let table = table.with_intercept();
    assert_eq!((table.width(), table.row(1)), (3, &[0.0, 0.0, 1.0][..]));
    assert!((table.radius() - 2.0f64.sqrt()).abs() < 1e-15);
}

#[test]
fn classes_become_binary() {
    let table = Table::new(vec![0.0; 3], 1, vec![2.0, 5.0, 2.0]).unwrap();
    assert_eq!(table.clone().binary("5").unwrap().labels(), [-1.0, 1.0, -1.0]);
    // That nobody has this class is nobody's business.
    assert_eq!(table.clone().binary("3").unwrap().labels(), [-1.0; 3]);
    assert_eq!(refused(table.clone().binary("x")), "`positive` is `x`: labels are numbers; give one");
    assert_eq!(table.clone().above(5.0).unwrap().labels(), [-1.0, 1.0, -1.0]);
    assert!(refused(table.above(f64::NAN)).starts_with("`label-threshold` is NaN: "));
}

#[test]
fn classes_follow_a_public_list() {
    let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let table = Table::new(vec![0.0; 3], 1, vec![2.0, 5.0, 2.0]).unwrap();
    let found = table.clone().classified(&list(&["5", "7", "2"])).unwrap();
    assert_eq!((found.labels(), found.declared_classes().unwrap().len()), (&[2.0, 0.0, 2.0][..], 3));
    let error = refused(table.classified(&list(&["2", "3"])));
    assert!(error.starts_with("`label` is 5 in row 1: the classes are 2, 3; "), "{error}");
}

#[test]
fn shards_are_even_blocks() {
    let table = Table::new((0..7).map(f64::from).collect(), 1, vec![0.0; 7]).unwrap();
    let shards = Shards::even(&table, 3).unwrap();
    assert_eq!((shards.peers(), shards.table().rows()), (3, 6));
    assert_eq!(shards.shard(2).features, [4.0, 5.0]);
    assert_eq!(refused(Shards::even(&table, 0)), "`peers` is 0: give at least one peer");
    assert!(refused(Shards::even(&table, 8)).starts_with("`peers` is 8: there are 7 rows"));
}

#[test]
fn shards_follow_lists() {
    let table = Table::new((0..4).map(f64::from).collect(), 1, vec![5.0, 6.0, 7.0, 8.0]).unwrap();
    let shards = Shards::by_lists(&table, &[vec![3], vec![0, 2]]).unwrap();
    assert_eq!((shards.shard(0).labels, shards.shard(1).features), (&[8.0][..], &[0.0, 2.0][..]));
    let by_lists = |lists: &[Vec<usize>]| refused(Shards::by_lists(&table, lists));
    assert!(by_lists(&[vec![0], vec![]]).starts_with("`lists` is empty for peer 1: "));
    assert!(by_lists(&[vec![0], vec![4]]).starts_with("`lists` is row 4 for peer 1: there are 4 rows"));
    assert!(by_lists(&[vec![0], vec![1, 0]]).starts_with("`lists` is row 0 for peer 1: peer 0 holds it"));
    assert!(by_lists(&[]).starts_with("`peers` is 0: "));
    let some = Shards::some_without(&table, &[vec![], vec![2, 1], vec![]]).unwrap();
    assert_eq!([0, 1, 2].map(|peer| some.rows_of(peer)), [0, 2, 0]);
    assert!(
        some.shard(2).labels.is_empty() && refused(Shards::some_without(&table, &[])).starts_with("`peers`")
    );
    let names = |names: [&str; 3]| names.map(String::from).to_vec();
    let turned = some.named(names(["a", "b", "c"])).unwrap().in_order_of(&names(["b", "a", "c"])).unwrap();
    assert_eq!([0, 1, 2].map(|peer| turned.rows_of(peer)), [2, 0, 0]);
}

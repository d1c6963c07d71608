//! The Houses task, from files where there are some, and its synthetic look-alike.
//!
//! Set `SOTTOVOCE_DATA` to a folder whose subfolder `houses` holds `cal_housing.data` to test the real set.

use sottovoce_learning::houses::{Houses, Split, look_alike, read};
use sottovoce_learning::{Clip, Loss, Model, Table};

fn positive(table: &Table) -> usize {
    table.labels().iter().filter(|&&label| label == 1.0).count()
}

/// Every row is a unit vector and an intercept.
fn check_shape(houses: &Houses, train: usize, test: usize) {
    assert_eq!((houses.train.rows(), houses.test.rows()), (train, test));
    for table in [&houses.train, &houses.test] {
        assert_eq!(table.width(), 9);
        for row in 0..table.rows() {
            let square: f64 = table.row(row).iter().map(|x| x * x).sum();
            assert!((square - 2.0).abs() < 1e-14 && table.row(row)[8] == 1.0, "{row}: {square}");
        }
    }
}

/// Test accuracy of a model learned by gradient descent, without any noise.
fn learned(houses: &Houses, steps: usize) -> f64 {
    let model = Model { loss: Loss::Logistic, width: 9, ridge: 0.0 };
    model.check(&houses.train).unwrap();
    // The largest step that does not expand distances would be 2/smoothness.
    let step = 1.9 / model.smoothness(houses.train.radius());
    let (mut theta, mut gradient) = (vec![0.0; 9], vec![0.0; 9]);
    for _ in 0..steps {
        model.gradient(&theta, houses.train.view(), Clip::None, &mut gradient);
        theta.iter_mut().zip(&gradient).for_each(|(theta, slope)| *theta -= step * slope);
    }
    model.accuracy(&theta, houses.test.view())
}

#[test]
fn real_houses_are_those_of_the_papers() {
    let Some(folder) = sottovoce_testing::data("houses") else { return };
    for (split, train, test) in [(Split::Eighty, 16512, 4128), (Split::Authors, 16006, 4634)] {
        let houses = read(&folder.join("houses"), split).unwrap();
        check_shape(&houses, train, test);
        assert_eq!(positive(&houses.train) + positive(&houses.test), 8914);
        assert_eq!(read(&folder, split).unwrap(), houses);
        let accuracy = learned(&houses, 2000);
        assert!((accuracy - 0.962).abs() < 0.005, "{split:?}: {accuracy}");
    }
}

#[test]
fn real_houses_are_split_without_index_files() {
    let Some(folder) = sottovoce_testing::data("houses") else { return };
    let copy = tempfile::tempdir().unwrap();
    let data = copy.path().join("cal_housing.data");
    std::fs::copy(folder.join("houses/cal_housing.data"), &data).unwrap();
    let houses = read(copy.path(), Split::Authors).unwrap();
    check_shape(&houses, 16006, 4634);
    assert_eq!(positive(&houses.train) + positive(&houses.test), 8914);
    assert_eq!(read(copy.path(), Split::Authors).unwrap(), houses);

    let refused = || read(copy.path(), Split::Eighty).unwrap_err().to_string();
    std::fs::write(copy.path().join("train_idx_0.8.txt"), "3\n3\n").unwrap();
    assert!(refused().contains("train_idx_0.8.txt`: line 2: row 3 is named twice"), "{}", refused());
    std::fs::write(copy.path().join("train_idx_0.8.txt"), "3\n20640\n").unwrap();
    assert!(refused().contains("line 2: `20640` is not a row; "), "{}", refused());
    std::fs::write(copy.path().join("train_idx_0.8.txt"), "3\n").unwrap();
    assert!(refused().contains("1 rows, where the split has 16512; "), "{}", refused());
}

#[test]
fn the_look_alike_resembles_them() {
    for seed in [1, 2, 3] {
        let houses = look_alike(seed);
        check_shape(&houses, 16512, 4128);
        let share = (positive(&houses.train) + positive(&houses.test)) as f64 / 20640.0;
        let accuracy = learned(&houses, 500);
        println!("seed {seed}: {share} positive, accuracy {accuracy}");
        assert!((share - 0.432).abs() < 0.012, "seed {seed}: {share} positive");
        assert!((accuracy - 0.96).abs() < 0.008, "seed {seed}: accuracy {accuracy}");
    }
    assert_eq!(look_alike(1), look_alike(1));
    assert_ne!(look_alike(1), look_alike(2));
}

/// Labels and scaling are made from constants: a row replaced by something wild moves no other. (Means over all rows would.)
#[test]
fn a_row_moves_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: u64| -> String {
        let numbers = (1..=9u64).map(|k| (((i + 7) * (2 * k + 1) * 7919) % 9973).to_string());
        numbers.collect::<Vec<_>>().join(",") + "\n"
    };
    let read_with = |wild: Option<&str>| {
        let rows =
            (0..20_640).map(|i| if i == 5 { wild.map_or_else(|| row(i), String::from) } else { row(i) });
        std::fs::write(folder.path().join("cal_housing.data"), rows.collect::<String>()).unwrap();
        read(folder.path(), Split::Eighty).unwrap()
    };
    let before = read_with(None);
    let after = read_with(Some("-1e12,1e12,1e9,1e9,1e9,1e9,1e9,1e9,1e15\n"));
    let rows = |houses: &Houses| -> Vec<(Vec<u64>, f64)> {
        let of = |table: &Table| -> Vec<(Vec<u64>, f64)> {
            let bits = |i| table.row(i).iter().map(|x| x.to_bits()).collect();
            (0..table.rows()).map(|i| (bits(i), table.labels()[i])).collect()
        };
        [of(&houses.train), of(&houses.test)].concat()
    };
    let changed = rows(&before).iter().zip(&rows(&after)).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 1);
    assert!(before.assumes.unwrap().contains("public") && look_alike(1).assumes.is_none());
}

#[test]
fn missing_and_malformed_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || read(folder.path(), Split::Eighty).unwrap_err().to_string();
    assert!(refused().starts_with("`folder` is ") && refused().contains("cal_housing.data"), "{}", refused());
    let row = "-122.23,37.88,41,880,129,322,126,8.3252,452600\n";
    std::fs::write(folder.path().join("cal_housing.data"), row.repeat(2)).unwrap();
    assert!(refused().ends_with("2 rows, where the set has 20640; take the original file"), "{}", refused());
    for bad in ["1,2,3\n", "-122.23,37.88,41,880,129,322,126,8.3252,nan\n", "\n"] {
        std::fs::write(folder.path().join("cal_housing.data"), format!("{row}{bad}")).unwrap();
        assert!(refused().contains("cal_housing.data`: line 2: a row has nine numbers"), "{}", refused());
    }
}

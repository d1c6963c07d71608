//! Naive loops, closed forms, and the identities that define each result.

use proptest::prelude::*;

use super::*;

const EPS: f64 = f64::EPSILON;

/// Numbers between -1 and 1 that look drawn.
fn drawn(rows: usize, columns: usize, seed: u64) -> Mat {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1;
    Mat::from_fn(rows, columns, |_, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}

fn symmetric(n: usize, seed: u64) -> Mat {
    let half = drawn(n, n, seed);
    Mat::from_fn(n, n, |i, j| half[(i.max(j), i.min(j))])
}

/// Well conditioned, and positive definite.
fn definite(n: usize, seed: u64) -> Mat {
    let mut matrix = symmetric(n, seed);
    (0..n).for_each(|i| matrix[(i, i)] += n as f64);
    matrix
}

/// Degrees on the diagonal, -1 for each edge.
fn laplacian(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Mat {
    let mut matrix = Mat::zeros(n, n);
    for (u, v) in edges {
        (matrix[(u, v)], matrix[(v, u)]) = (-1.0, -1.0);
        matrix[(u, u)] += 1.0;
        matrix[(v, v)] += 1.0;
    }
    matrix
}

fn hypercube(dimension: usize) -> Mat {
    let n = 1 << dimension;
    laplacian(n, (0..n).flat_map(|u| (0..dimension).map(move |k| (u, u ^ 1 << k)).filter(|(u, v)| u < v)))
}

fn ring(n: usize) -> Mat {
    laplacian(n, (0..n).map(|u| (u, (u + 1) % n)))
}

fn path(n: usize) -> Mat {
    laplacian(n, (1..n).map(|u| (u - 1, u)))
}

fn complete(n: usize) -> Mat {
    Mat::from_fn(n, n, |i, j| if i == j { n as f64 - 1.0 } else { -1.0 })
}

fn star(n: usize) -> Mat {
    laplacian(n, (1..n).map(|u| (0, u)))
}

fn naive(a: MatRef<'_>, b: MatRef<'_>) -> Mat {
    Mat::from_fn(a.nrows(), b.ncols(), |i, j| (0..a.ncols()).map(|k| a[(i, k)] * b[(k, j)]).sum())
}

#[track_caller]
fn close(found: &Mat, wanted: &Mat, tolerance: f64) {
    assert_eq!((found.nrows(), found.ncols()), (wanted.nrows(), wanted.ncols()));
    let off = (found.clone() - wanted).norm_l2();
    assert!(off <= tolerance, "{off:e} > {tolerance:e}");
}

/// Residuals, orthogonality and order; returns the values.
#[track_caller]
fn checked(matrix: &Mat) -> Vec<f64> {
    let n = matrix.nrows();
    let Eigen { values, vectors } = eigen(matrix).expect("finite numbers");
    let norm = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    assert!(values.is_sorted() && values.len() == n);
    let scaled = Mat::from_fn(n, n, |i, k| vectors[(i, k)] * values[k]);
    let residual = (&(matrix * &vectors) - &scaled).norm_l2();
    assert!(residual <= 4.0 * EPS * n as f64 * norm, "residual {residual:e} of {norm:e}, order {n}");
    close(&(vectors.transpose() * &vectors), &Mat::identity(n), 4.0 * EPS * n as f64);
    let alone = eigenvalues(matrix).expect("finite numbers");
    for (value, alone) in values.iter().zip(&alone) {
        assert!((value - alone).abs() <= 4.0 * EPS * (n as f64).sqrt().max(4.0) * norm, "{value} {alone}");
    }
    values
}

impl std::ops::Sub<&Mat> for &Mat {
    type Output = Mat;

    fn sub(self, other: &Mat) -> Mat {
        self.clone() - other
    }
}

#[track_caller]
fn spectrum(matrix: &Mat, mut wanted: Vec<f64>) {
    wanted.sort_by(f64::total_cmp);
    let values = checked(matrix);
    let norm = wanted.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for (value, wanted) in values.iter().zip(&wanted) {
        assert!(
            (value - wanted).abs() <= 16.0 * EPS * norm * (values.len() as f64).sqrt(),
            "{value} is not {wanted}"
        );
    }
}

#[test]
fn products_are_what_naive_loops_give() {
    for m in 0..41 {
        for (n, depth) in [(m, m), (1, m), (m, 1), (7, 40 - m), (40 - m, 3), (29, m), (m, 33)] {
            let (a, b) = (drawn(m, depth, 1), drawn(depth, n, 2));
            let wanted = naive(a.as_ref(), b.as_ref());
            let (at, bt) = (a.transpose().to_owned(), b.transpose().to_owned());
            let tolerance = 4.0 * EPS * (1 + m * n * depth) as f64;
            close(&(&a * &b), &wanted, tolerance);
            close(&(at.transpose() * &b), &wanted, tolerance);
            close(&(&a * bt.transpose()), &wanted, tolerance);
            close(&(at.transpose() * bt.transpose()), &wanted, tolerance);
            let mut sum = drawn(m, n, 3);
            let mut expected = sum.clone();
            expected.add_scaled(-0.5, &wanted);
            sum.as_mut().add_product(-0.5, &a, &b);
            close(&sum, &expected, tolerance);
        }
    }
}

#[test]
fn large_products_are_right_in_every_block() {
    for (m, n, depth) in
        [(200, 300, 520), (401, 13, 700), (5, 1700, 260), (17, 3, 9000), (50_000, 4, 40), (50_000, 11, 60)]
    {
        let (a, b) = (drawn(m, depth, 1), drawn(depth, n, 2));
        let (at, wanted) = (a.transpose().to_owned(), naive(a.as_ref(), b.as_ref()));
        let tolerance = EPS * ((m * n) as f64).sqrt() * depth as f64;
        close(&(&a * &b), &wanted, tolerance);
        close(&(at.transpose() * &b), &wanted, tolerance);
    }
}

#[test]
fn parts_and_transposes_multiply_too() {
    let (a, b) = (drawn(90, 70, 1), drawn(80, 90, 2));
    let (a, b) =
        (a.submatrix(3, 5, 60, 50).transpose(), b.as_ref().subrows(7, 40).subcols(11, 60).transpose());
    close(&(a * b), &naive(a, b), 1e-12);
    assert_eq!(a.to_owned()[(2, 3)], a[(2, 3)]);
}

#[test]
fn factors_multiply_to_the_matrix() {
    for n in (0..70).chain([127, 128, 129, 300]) {
        let matrix = definite(n, n as u64);
        let lower = cholesky(&matrix).unwrap();
        let tolerance = 4.0 * EPS * (n * n) as f64;
        close(&(&lower * lower.transpose()), &matrix, tolerance);
        assert!((0..n).all(|j| lower.col(j)[..j].iter().all(|x| *x == 0.0)));
        for columns in [1, 2, 5, 17, 64, 90] {
            let right = drawn(n, columns, 7);
            let (mut half, mut whole) = (right.clone(), right.clone());
            solve_lower(&lower, &mut half);
            close(&(&lower * &half), &right, tolerance + 1e-15);
            solve_cholesky(&lower, &mut whole);
            close(&(&matrix * &whole), &right, tolerance + 1e-15);
            let general = drawn(n, n, 90 + n as u64);
            let mut solved = right.clone();
            Lu::new(&general).solve(&mut solved);
            let size = solved.norm_l2() * general.norm_l2();
            close(&(&general * &solved), &right, 4.0 * EPS * n as f64 * size + 1e-300);
        }
    }
}

#[test]
fn what_is_above_the_diagonal_does_not_matter() {
    let matrix = definite(100, 3);
    let half = Mat::from_fn(100, 100, |i, j| if i < j { f64::NAN } else { matrix[(i, j)] });
    assert_eq!(cholesky(&half), cholesky(&matrix));
    assert_eq!(eigenvalues(&half), eigenvalues(&matrix));
    assert_eq!(eigen(&half).unwrap().vectors, eigen(&matrix).unwrap().vectors);
    let lower = cholesky(&matrix).unwrap();
    let noisy = Mat::from_fn(100, 100, |i, j| if i < j { f64::NAN } else { lower[(i, j)] });
    let (mut one, mut other) = (drawn(100, 30, 1), drawn(100, 30, 1));
    solve_lower(&lower, &mut one);
    solve_lower(&noisy, &mut other);
    assert_eq!(one, other);
}

/// Entries of the Hilbert matrix and its inverse are rational.
#[test]
fn small_rationals_are_solved_exactly_enough() {
    let n = 6;
    let choose = |n: usize, k: usize| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
    let hilbert = Mat::from_fn(n, n, |i, j| 1.0 / (i + j + 1) as f64);
    let inverse = Mat::from_fn(n, n, |i, j| {
        let sign = if (i + j) % 2 == 0 { 1.0 } else { -1.0 };
        sign * (i + j + 1) as f64
            * choose(n + i, n - j - 1)
            * choose(n + j, n - i - 1)
            * choose(i + j, i).powi(2)
    });
    let (mut by_lu, mut by_cholesky) = (Mat::identity(n), Mat::identity(n));
    Lu::new(&hilbert).solve(&mut by_lu);
    solve_cholesky(&cholesky(&hilbert).unwrap(), &mut by_cholesky);
    // Its condition is 1.5e7.
    close(&by_lu, &inverse, 1e-9 * inverse.norm_l2());
    close(&by_cholesky, &inverse, 1e-9 * inverse.norm_l2());
    // Rows must be exchanged.
    let mut x = Mat::from_fn(3, 1, |i, _| [4.0, 10.0, 3.0][i]);
    Lu::new(&Mat::from_fn(3, 3, |i, j| [[0.0, 2.0, 0.0], [0.0, 0.0, 5.0], [3.0, 0.0, 0.0]][i][j]))
        .solve(&mut x);
    assert_eq!(x.col(0), [1.0, 2.0, 2.0]);
}

#[test]
fn indefinite_matrices_have_no_factor() {
    for n in [1, 2, 9, 40, 200] {
        let mut matrix = definite(n, 5);
        matrix[(n - 1, n - 1)] = -1.0;
        assert!(cholesky(&matrix).is_none());
        matrix[(n - 1, n - 1)] = f64::NAN;
        assert!(cholesky(&matrix).is_none());
        matrix[(n - 1, n - 1)] = f64::INFINITY;
        assert!(cholesky(&matrix).is_none());
        assert!(cholesky(&Mat::zeros(n, n)).is_none());
    }
}

#[test]
fn singular_matrices_have_no_finite_solution() {
    let mut x = Mat::from_fn(40, 1, |_, _| 1.0);
    Lu::new(&Mat::zeros(40, 40)).solve(&mut x);
    assert!(x.col(0).iter().all(|x| !x.is_finite()));
    let mut x = Mat::identity(40);
    Lu::new(&Mat::from_fn(40, 40, |_, _| f64::NAN)).solve(&mut x);
    assert!(x.as_slice().iter().all(|x| x.is_nan()));
}

#[test]
fn small_and_drawn_matrices_are_decomposed() {
    for n in (0..70).chain([96, 129, 200, 257, 400]) {
        checked(&symmetric(n, n as u64));
    }
    assert_eq!(checked(&Mat::from_fn(1, 1, |_, _| -3.5)), [-3.5]);
    assert_eq!(checked(&Mat::zeros(0, 0)), [0.0; 0]);
}

#[test]
fn graphs_have_the_spectra_of_closed_forms() {
    let turn = std::f64::consts::PI;
    for dimension in 0..9 {
        let levels = (0..1_usize << dimension).map(|u| 2.0 * f64::from(u.count_ones()));
        spectrum(&hypercube(dimension), levels.collect());
    }
    for n in [3, 4, 20, 33, 64, 65, 100, 301] {
        let m = n as f64;
        spectrum(&ring(n), (0..n).map(|k| 2.0 - 2.0 * (2.0 * turn * k as f64 / m).cos()).collect());
        spectrum(&path(n), (0..n).map(|k| 2.0 - 2.0 * (turn * k as f64 / m).cos()).collect());
        spectrum(&complete(n), (0..n).map(|k| if k == 0 { 0.0 } else { m }).collect());
        let of_star = |k| {
            if k == 0 {
                0.0
            } else if k == 1 {
                m
            } else {
                1.0
            }
        };
        spectrum(&star(n), (0..n).map(of_star).collect());
        spectrum(&Mat::identity(n), vec![1.0; n]);
        spectrum(&Mat::zeros(n, n), vec![0.0; n]);
        let pieces = laplacian(2 * n, (0..n).map(|u| (2 * u, 2 * u + 1)));
        spectrum(&pieces, (0..2 * n).map(|k| if k < n { 0.0 } else { 2.0 }).collect());
        // Two rings that are not connected.
        let rings = (0..n).map(|u| (u, (u + 1) % n)).chain((0..n).map(|u| (n + u, n + (u + 1) % n)));
        let twice = (0..2 * n).map(|k| 2.0 - 2.0 * (2.0 * turn * (k % n) as f64 / m).cos());
        spectrum(&laplacian(2 * n, rings), twice.collect());
    }
}

#[test]
fn tiny_huge_clustered_and_graded_matrices_are_decomposed() {
    for scale in [1e-300, 1e-150, 1e150, 1e300] {
        for n in [2, 33, 100] {
            let mut matrix = symmetric(n, 4);
            matrix *= scale;
            let values = checked(&{
                let mut back = matrix.clone();
                back *= 1.0 / scale;
                back
            });
            let scaled = eigen(&matrix).unwrap();
            for (value, scaled) in values.iter().zip(&scaled.values) {
                assert!((value - scaled / scale).abs() <= 1e-12, "{value} {scaled}");
            }
            close(&(scaled.vectors.transpose() * &scaled.vectors), &Mat::identity(n), 4.0 * EPS * n as f64);
        }
    }
    for n in [40, 150, 260] {
        // Wilkinson's, whose eigenvalues come in pairs that are next to equal.
        let middle = (n / 2) as f64;
        checked(&Mat::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => (i as f64 - middle).abs(),
            1 => 1.0,
            _ => 0.0,
        }));
        // Graded, in both directions, down to what is not normal.
        let power = |i: usize, step: f64| (-step * i as f64).exp2();
        for step in [0.5, 3.0, 9.0] {
            let drawn = symmetric(n, 8);
            checked(&Mat::from_fn(n, n, |i, j| drawn[(i, j)] * power(i, step) * power(j, step)));
            checked(&Mat::from_fn(n, n, |i, j| {
                drawn[(i, j)] * power(n - 1 - i, step) * power(n - 1 - j, step)
            }));
        }
        // Clusters: an orthogonal matrix around few different values, some of them apart by roundings.
        let basis = eigen(&symmetric(n, 9)).unwrap().vectors;
        for apart in [0.0, 1e-16, 1e-15, 1e-12, 1e-8] {
            let values = |k: usize| (k % 3) as f64 + apart * k as f64;
            let scaled = Mat::from_fn(n, n, |i, k| basis[(i, k)] * values(k));
            let cluster = &scaled * basis.transpose();
            checked(&Mat::from_fn(n, n, |i, j| 0.5 * (cluster[(i, j)] + cluster[(j, i)])));
        }
    }
}

/// `D C D` with a well-conditioned `C`: however small, eigenvalues have their digits, whose product is the determinant.
#[test]
fn small_matrices_keep_the_digits_of_small_eigenvalues() {
    for (seed, n) in [(1, 2), (2, 3), (3, 8), (4, 20), (5, 32)] {
        let inner = definite(n, seed);
        let weight = |i: usize| (-20.0 * ((i * 7) % n) as f64 / n as f64).exp2();
        let graded = Mat::from_fn(n, n, |i, j| inner[(i, j)] * weight(i) * weight(j));
        let lower = cholesky(&inner).unwrap();
        let logarithm: f64 = (0..n).map(|i| 2.0 * (lower[(i, i)] * weight(i)).ln()).sum();
        for values in [eigen(&graded).unwrap().values, eigenvalues(&graded).unwrap()] {
            let found: f64 = values.iter().map(|value| value.ln()).sum();
            assert!((found - logarithm).abs() < 1e-7, "{n}: {found} is not {logarithm}, {values:?}");
        }
    }
}

#[test]
fn what_is_not_finite_is_refused() {
    for n in [1, 3, 40, 300] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (i, j) in [(0, 0), (n - 1, 0), (n - 1, n - 1)] {
                let mut matrix = symmetric(n, 1);
                matrix[(i, j)] = bad;
                assert!(eigen(&matrix).is_none() && eigenvalues(&matrix).is_none());
                assert!(n > 100 || thin_svd(&matrix).is_none());
            }
        }
    }
}

#[test]
fn largest_numbers_do_not_overflow() {
    let matrix = Mat::from_fn(50, 50, |_, _| f64::MAX / 100.0);
    let found = eigen(&matrix).unwrap();
    assert!((found.values[49] / (f64::MAX / 2.0) - 1.0).abs() < 1e-13);
    let least = eigen(&Mat::from_fn(3, 3, |_, _| f64::from_bits(4))).unwrap();
    assert_eq!(least.values[2], f64::from_bits(12));
}

#[track_caller]
fn singular(matrix: &Mat) -> Vec<f64> {
    let Svd { u, values, v } = thin_svd(matrix).unwrap();
    let count = matrix.nrows().min(matrix.ncols());
    assert!(values.len() == count && u.ncols() == count && v.ncols() == count);
    assert!(values.iter().rev().is_sorted());
    let largest = values.first().copied().unwrap_or(0.0);
    let size = matrix.nrows().max(matrix.ncols()) as f64;
    let scaled = Mat::from_fn(u.nrows(), count, |i, k| u[(i, k)] * values[k]);
    close(&(&scaled * v.transpose()), matrix, 8.0 * EPS * size * largest);
    let rank = values.iter().take_while(|value| **value > 0.0).count();
    for side in [u, v] {
        let part = side.as_ref().subcols(0, rank);
        close(&(part.transpose() * part), &Mat::identity(rank), 16.0 * EPS * size);
    }
    values
}

#[test]
fn singular_values_are_found() {
    for (m, n) in [(0, 0), (0, 3), (1, 1), (3, 2), (2, 3), (17, 17), (60, 20), (20, 60), (120, 100)] {
        singular(&drawn(m, n, 3));
    }
    // Nearly parallel rows: values over many orders of magnitude, which a Gram matrix cannot tell from rounding.
    for step in [1.0, 3.0, 6.0] {
        let (left, right) =
            (eigen(&symmetric(40, 1)).unwrap().vectors, eigen(&symmetric(30, 2)).unwrap().vectors);
        let value = |k: usize| (-step * k as f64).exp2();
        let scaled = Mat::from_fn(40, 30, |i, k| left[(i, k)] * value(k));
        let found = singular(&(&scaled * right.transpose()));
        for (k, found) in found.iter().enumerate() {
            assert!((found - value(k)).abs() < 1e-14, "{found} is not {}", value(k));
        }
    }
    assert_eq!(singular(&Mat::zeros(5, 3)), [0.0; 3]);
    let one = singular(&Mat::from_fn(9, 7, |_, _| 1.0));
    assert!((one[0] - 63_f64.sqrt()).abs() < 1e-14 && one[1] < 1e-14);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let results = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (a, b, matrix) = (drawn(300, 170, 1), drawn(170, 260, 2), definite(300, 3));
            let lower = cholesky(&matrix).unwrap();
            let (mut half, mut solved, general) =
                (drawn(300, 280, 4), drawn(300, 280, 4), drawn(300, 300, 5));
            solve_lower(&lower, &mut half);
            Lu::new(&general).solve(&mut solved);
            let found = eigen(&symmetric(420, 6)).unwrap();
            let cube = eigen(&hypercube(9)).unwrap();
            let long = drawn(40_000, 7, 1).transpose() * &drawn(40_000, 11, 2);
            let tall = &drawn(40_000, 7, 1) * &drawn(7, 3, 2);
            let all = [&a * &b, lower, half, solved, found.vectors, cube.vectors, long, tall];
            let bits = |mat: Mat| mat.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            (all.map(bits), found.values, cube.values, eigenvalues(&symmetric(420, 6)))
        })
    };
    let alone = results(1);
    assert!(results(2) == alone && results(3) == alone);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn eigenvalues_move_with_the_diagonal(n in 1_usize..60, seed: u64, shift in -10.0..10.0_f64) {
        let matrix = symmetric(n, seed);
        let mut moved = matrix.clone();
        (0..n).for_each(|i| moved[(i, i)] += shift);
        let (values, others) = (checked(&matrix), checked(&moved));
        let trace: f64 = (0..n).map(|i| matrix[(i, i)]).sum();
        prop_assert!((trace - values.iter().sum::<f64>()).abs() < 1e-12 * n as f64);
        for (value, other) in values.iter().zip(others) {
            prop_assert!((value + shift - other).abs() < 1e-13 * n as f64);
        }
    }

    #[test]
    fn products_associate(m in 1_usize..50, n in 1_usize..50, k in 1_usize..50, l in 1_usize..50, seed: u64) {
        let (a, b, c) = (drawn(m, n, seed), drawn(n, k, seed ^ 1), drawn(k, l, seed ^ 2));
        close(&(&(&a * &b) * &c), &(&a * &(&b * &c)), 1e-11);
        let transposed = (b.transpose() * a.transpose()).transpose().to_owned();
        close(&transposed, &(&a * &b), 1e-12);
    }

    #[test]
    fn solutions_solve(n in 1_usize..90, columns in 1_usize..40, seed: u64) {
        let (matrix, right) = (drawn(n, n, seed), drawn(n, columns, seed ^ 1));
        let mut solved = right.clone();
        Lu::new(&matrix).solve(&mut solved);
        let size = solved.norm_l2() * matrix.norm_l2();
        close(&(&matrix * &solved), &right, 8.0 * EPS * n as f64 * size);
    }

    #[test]
    fn sparse_integers_are_decomposed(n in 1_usize..80, edges in proptest::collection::vec((0_usize..80, 0_usize..80), 0..120)) {
        let mut matrix = Mat::zeros(n, n);
        for (u, v) in edges {
            let (u, v) = (u % n, v % n);
            matrix[(u, v)] += 1.0;
            if u != v {
                matrix[(v, u)] += 1.0;
            }
        }
        checked(&matrix);
    }

    #[test]
    fn singular_values_are_those_of_the_transpose(m in 1_usize..30, n in 1_usize..30, seed: u64) {
        let matrix = drawn(m, n, seed);
        let (values, others) = (singular(&matrix), singular(&matrix.transpose().to_owned()));
        for (value, other) in values.iter().zip(others) {
            prop_assert!((value - other).abs() < 1e-13 * values[0]);
        }
    }
}

//! An orthonormal basis in doubled doubles: each number is the sum of two, some 31 digits.
//!
//! Rows go through Gram and Schmidt's procedure twice. What it gives is a pair: `U + F = T Q`, with `|F|` below [`ROUNDING`] times
//! the number of entries, so that the spaces of `U` and `Q` are apart by at most `|F| |T^-1|`.

use rayon::prelude::*;
use sottovoce_fault::stop;

use super::wide::Wide;

/// Of every entry, for each product it takes part in; the arithmetic is good for `2^-102` a step.
pub(crate) const ROUNDING: f64 = 1.0 / (1u128 << 98) as f64;

/// Rows that are freed of the earlier ones side by side.
const TOGETHER: usize = 32;

/// Independent partial sums.
const LANES: usize = 8;

/// A vector, in two parts.
pub(crate) type Row = (Vec<f64>, Vec<f64>);

/// A number, in two parts.
type Number = (f64, f64);

/// The directions `Q`, and `T`, row by row; none if a row has nothing of its own.
pub(crate) fn orthonormal(mut rows: Vec<Row>) -> Option<(Vec<Row>, Vec<Vec<Wide>>)> {
    let mut done: Vec<Row> = Vec::with_capacity(rows.len());
    let mut triangle = Vec::with_capacity(rows.len());
    for block in rows.chunks_mut(TOGETHER) {
        let known = done.len();
        let here = stop::here();
        let free = |row: &mut Row| here.go_on(|| twice(&done, row));
        let along: Vec<Vec<f64>> = block.par_iter_mut().map(free).collect();
        for (row, mut along) in block.iter_mut().zip(along) {
            along.extend(twice(&done[known..], row));
            let length = root(dot(row, row));
            // What is not a number is no length either.
            Some(length.0).filter(|length| *length > f64::MIN_POSITIVE.sqrt())?;
            let mut wide: Vec<Wide> = along.into_iter().map(|x| Wide::new(x, 0)).collect();
            wide.push(Wide::new(length.0, 0));
            triangle.push(wide);
            done.push(divided(std::mem::take(row), length));
        }
    }
    Some((done, triangle))
}

/// Takes the components along the directions out, again from what is left, and says what they were.
fn twice(directions: &[Row], row: &mut Row) -> Vec<f64> {
    let once = remove(directions, row);
    let again = remove(directions, row);
    once.into_iter().zip(again).map(|(a, b)| a + b).collect()
}

/// All are measured before any is taken out: a direction has no component along another.
fn remove(directions: &[Row], row: &mut Row) -> Vec<f64> {
    let along: Vec<Number> = directions.iter().map(|direction| dot(direction, row)).collect();
    for (along, direction) in along.iter().zip(directions) {
        stop::look();
        pulp::Arch::new().dispatch(Take { along: *along, direction, row });
    }
    along.into_iter().map(|along| along.0).collect()
}

/// The sum and what rounding left of it.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> Number {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The product of two numbers of two parts.
#[inline(always)]
fn product(a: Number, b: Number) -> Number {
    let high = a.0 * b.0;
    (high, a.0.mul_add(b.0, -high) + (a.0 * b.1 + a.1 * b.0))
}

/// The sum, its parts apart again.
#[inline(always)]
fn sum(a: Number, b: Number) -> Number {
    let (high, low) = two_sum(a.0, b.0);
    let low = low + (a.1 + b.1);
    let total = high + low;
    (total, low - (total - high))
}

fn dot(a: &Row, b: &Row) -> Number {
    pulp::Arch::new().dispatch(Dot { a, b })
}

struct Dot<'a> {
    a: &'a Row,
    b: &'a Row,
}

impl pulp::WithSimd for Dot<'_> {
    type Output = Number;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Number {
        let (a, a_rest) = self.a.0.as_chunks::<LANES>();
        let (c, c_rest) = self.a.1.as_chunks::<LANES>();
        let (b, b_rest) = self.b.0.as_chunks::<LANES>();
        let (d, d_rest) = self.b.1.as_chunks::<LANES>();
        let (mut high, mut low) = ([0.0; LANES], [0.0; LANES]);
        for (((a, c), b), d) in a.iter().zip(c).zip(b).zip(d) {
            for i in 0..LANES {
                let more = product((a[i], c[i]), (b[i], d[i]));
                let (total, rest) = two_sum(high[i], more.0);
                (high[i], low[i]) = (total, low[i] + (rest + more.1));
            }
        }
        let rest = (a_rest.iter().zip(c_rest)).zip(b_rest.iter().zip(d_rest));
        let rest = rest.map(|((a, c), (b, d))| product((*a, *c), (*b, *d)));
        high.into_iter().zip(low).chain(rest).fold((0.0, 0.0), sum)
    }
}

/// `row -= along * direction`.
struct Take<'a> {
    along: Number,
    direction: &'a Row,
    row: &'a mut Row,
}

impl pulp::WithSimd for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let minus = (-self.along.0, -self.along.1);
        let direction = self.direction.0.iter().zip(&self.direction.1);
        let row = self.row.0.iter_mut().zip(&mut self.row.1);
        for ((x, y), (a, b)) in row.zip(direction) {
            (*x, *y) = sum((*x, *y), product(minus, (*a, *b)));
        }
    }
}

/// The root of a number from doubles, one step of Newton's further.
fn root(x: Number) -> Number {
    let first = x.0.sqrt();
    let square = product((first, 0.0), (first, 0.0));
    let rest = sum(x, (-square.0, -square.1));
    sum((first, 0.0), (rest.0 / (2.0 * first), 0.0))
}

/// A row over a number.
fn divided((mut high, mut low): Row, by: Number) -> Row {
    let first = 1.0 / by.0;
    let off = sum((1.0, 0.0), product((-first, 0.0), by));
    let inverse = sum((first, 0.0), product((first, 0.0), off));
    high.iter_mut().zip(&mut low).for_each(|(x, y)| (*x, *y) = sum(product((*x, *y), inverse), (0.0, 0.0)));
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::super::field::Residues;
    use super::*;

    fn drawn(rows: usize, width: usize) -> Vec<Row> {
        let mut draws = Residues::new(3);
        let mut number = || draws.bits() as f64 / (1_u64 << 60) as f64 - 1.0;
        (0..rows).map(|_| ((0..width).map(|_| number()).collect(), vec![0.0; width])).collect()
    }

    #[test]
    fn directions_are_orthonormal_to_thirty_digits_and_make_up_the_rows_again() {
        let rows = drawn(70, 75);
        let (directions, triangle) = orthonormal(rows.clone()).unwrap();
        for (i, one) in directions.iter().enumerate() {
            for (j, other) in directions[..=i].iter().enumerate() {
                let product = sum(dot(one, other), (if i == j { -1.0 } else { 0.0 }, 0.0));
                assert!(product.0.abs() < 1e-29, "{i} {j}: {product:?}");
            }
        }
        for (row, along) in rows.iter().zip(&triangle) {
            for k in 0..75 {
                let parts = along.iter().zip(&directions);
                let again = parts.fold(Wide::ZERO, |sum, (t, q)| sum.plus(t.times(Wide::new(q.0[k], 0))));
                let off = again.plus(Wide::new(-row.0[k], 0));
                assert!(off.log2() < -46.0, "{k}: 2^{}", off.log2());
            }
        }
    }

    #[test]
    fn a_row_that_is_nothing_new_is_refused() {
        let mut rows = drawn(1, 5);
        rows.push((vec![0.0; 5], vec![0.0; 5]));
        assert!(orthonormal(rows).is_none());
    }

    #[test]
    fn roots_have_thirty_digits() {
        let two = root((2.0, 0.0));
        let off = sum(product(two, two), (-2.0, 0.0));
        assert!(off.0.abs() < 1e-30, "{off:?}");
    }
}

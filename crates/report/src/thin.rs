//! Lines with fewer points that look the same.
//!
//! Ramer and Douglas and Peucker's method, on several lines at once (a curve and the ends of its band share their points): a point is
//! left out where every line without it stays within a twentieth of a screen pixel. Some points of straight lines are kept all the
//! same, so that there is something to point at.

type Point = (f64, f64);

/// How far a line may move, in units of about one screen pixel.
const TOLERANCE: f64 = 0.05;
/// How far apart kept points are at most, where there are points between them.
const APART: f64 = 16.0;

/// The places of the points to keep, in their order. Lines that are shorter than the first count as far as they go.
pub(crate) fn kept(lines: &[Vec<Point>]) -> Vec<usize> {
    let length = lines.first().map_or(0, Vec::len);
    let mut keep = vec![false; length];
    let mut open = vec![(0, length.saturating_sub(1))];
    while let Some((from, to)) = open.pop() {
        if length == 0 {
            break;
        }
        (keep[from], keep[to]) = (true, true);
        if let Some(between) = worst(lines, from, to) {
            open.extend([(from, between), (between, to)]);
        }
    }
    (0..length).filter(|i| keep[*i]).collect()
}

/// The point between two others that must be kept, if there is one.
fn worst(lines: &[Vec<Point>], from: usize, to: usize) -> Option<usize> {
    let mut worst = (TOLERANCE, None);
    for i in from + 1..to {
        for line in lines.iter().filter(|line| line.len() > to) {
            let off = distance(line[i], line[from], line[to]);
            if off > worst.0 {
                worst = (off, Some(i));
            }
        }
    }
    let first = &lines[0];
    let far = to > from + 1 && (first[to].0 - first[from].0).hypot(first[to].1 - first[from].1) > APART;
    worst.1.or_else(|| far.then_some((from + to) / 2))
}

/// From a point to a piece of a line.
fn distance(p: Point, a: Point, b: Point) -> f64 {
    let (across, up) = (b.0 - a.0, b.1 - a.1);
    let length = across * across + up * up;
    let along = ((p.0 - a.0) * across + (p.1 - a.1) * up) / length;
    // Ends that coincide leave no direction: then the distance to one of them counts.
    let along = if length == 0.0 || along < 0.0 {
        0.0
    } else if along > 1.0 {
        1.0
    } else {
        along
    };
    (p.0 - a.0 - along * across).hypot(p.1 - a.1 - along * up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn straight_lines_keep_few_points_and_corners_stay() {
        let straight: Vec<Point> = (0..=1000).map(|i| (f64::from(i) * 0.4, 7.0)).collect();
        let some = kept(&[straight]);
        assert!(some.len() >= 25 && some.len() < 80, "{}", some.len());
        let corner = vec![(0.0, 0.0), (1.0, 0.0), (2.0, 5.0), (3.0, 0.0)];
        assert_eq!(kept(&[corner]), [0, 1, 2, 3]);
        assert_eq!((kept(&[]), kept(&[vec![(1.0, 1.0)]])), (vec![], vec![0]));
        let circle = vec![(0.0, 0.0), (3.0, 3.0), (0.0, 0.0)];
        assert_eq!(kept(&[circle]).len(), 3);
    }

    proptest! {
        #[test]
        fn no_point_is_farther_from_what_is_drawn(heights in prop::collection::vec(0.0f64..30.0, 2..200)) {
            let line: Vec<Point> = heights.iter().enumerate().map(|(i, h)| (i as f64 * 0.2, *h)).collect();
            let flat: Vec<Point> = line.iter().map(|p| (p.0, 0.01 * p.1)).collect();
            let some = kept(&[flat.clone(), line.clone()]);
            for pair in some.windows(2) {
                for i in pair[0]..=pair[1] {
                    for line in [&line, &flat] {
                        prop_assert!(distance(line[i], line[pair[0]], line[pair[1]]) <= TOLERANCE);
                    }
                }
            }
        }
    }
}

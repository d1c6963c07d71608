//! The curves as a picture: delta against epsilon, and the trade-off of the two errors of a test beside it.

use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use sottovoce_privacy::Group;
use sottovoce_report::{Axis, Chart, Curve, Picture, Series, store};

use super::table::{curve, guarantees};

/// Pixels for each unit of a picture.
const ZOOM: f64 = 2.0;
/// Points of the trade-off curve.
const POINTS: u32 = 400;

/// Refuses a name that cannot be written, before any work is done.
pub(super) fn check(path: &Path, overwrite: bool) -> anyhow::Result<()> {
    kind(path)?;
    Ok(store::check_file("plot", path, overwrite)?)
}

/// Draws the curves into a file, whole or not at all.
pub(super) fn write(group: &Group, path: &Path) -> anyhow::Result<()> {
    let picture = picture(group)?;
    let bytes = match kind(path)? {
        Kind::Svg => picture.svg().into_bytes(),
        Kind::Png => picture.png(ZOOM)?,
    };
    store::write_file("plot", path, true, |file| Ok(file.write_all(&bytes)?))
}

enum Kind {
    Svg,
    Png,
}

fn kind(path: &Path) -> anyhow::Result<Kind> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(Kind::Svg),
        Some("png") => Ok(Kind::Png),
        _ => bail!("`plot` is {}: give a file name that ends in .svg or .png", path.display()),
    }
}

fn picture(group: &Group) -> anyhow::Result<Picture> {
    let pairs: Vec<(f64, f64)> = guarantees(group)?.into_iter().filter(|(_, delta)| *delta > 0.0).collect();
    let loss = Chart::new(
        "Delta by epsilon",
        Axis::linear("epsilon"),
        Axis::log10("delta at most"),
        vec![Curve::marked(Series { name: "certified at the points".into(), points: pairs, band: None })],
    );
    let curve = curve(group)?;
    // Dense at both ends, where the curve is steep or flat.
    let at = |i: u32| {
        let (left, right) = (f64::from(i).powi(3), f64::from(POINTS - i).powi(3));
        left / (left + right)
    };
    let points = (0..=POINTS).map(|i| (at(i), curve.type_two(at(i)))).collect();
    let guessing = Series { name: "guessing".into(), points: vec![(0.0, 1.0), (1.0, 0.0)], band: None };
    let errors = Chart::new(
        "Errors of any test for a record",
        Axis::linear("type I error").range(0.0, 1.0),
        Axis::linear("type II error at least").range(0.0, 1.0),
        vec![Curve::line(Series { name: "any test".into(), points, band: None }), Curve::line(guessing)],
    );
    Ok(loss.picture().beside(errors.picture()))
}

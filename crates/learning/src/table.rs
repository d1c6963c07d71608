//! Rows of numbers with a label each, and preparations of them.
//!
//! Every number is finite: a table that exists can be learned from without checking again. Every preparation changes a row by itself,
//! from public numbers: none looks at the other rows, which belong to other people (`docs/theorems/preparing-data.md`).

use std::ops::Range;

use crate::linear::norm;
use crate::{Error, Result, Shard, require};

/// Dense rows and their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    features: Vec<f64>,
    width: usize,
    labels: Vec<f64>,
    /// What the labels 0, 1, ... were called where they came from; empty if they were numbers there.
    classes: Vec<String>,
    /// Whether the classes were declared beforehand, and not collected from the rows.
    declared: bool,
    /// What the columns are called; empty where they have no names.
    columns: Vec<String>,
    /// Which columns are 0 or 1 by themselves; empty where none is.
    indicators: Vec<bool>,
}

impl Table {
    /// A table of `labels.len()` rows, whose features follow each other row by row.
    pub fn new(features: Vec<f64>, width: usize, labels: Vec<f64>) -> Result<Self> {
        require(width != 0, "width", 0, "give rows at least one feature")?;
        if labels.len().checked_mul(width) != Some(features.len()) {
            let (rows, count) = (labels.len(), features.len());
            let remedy = format!("{rows} labels and a width of {width} take {rows} times {width} numbers");
            return Err(Error::parameter("features", format!("{count} numbers"), remedy));
        }
        if let Some(at) = features.iter().position(|x| !x.is_finite()) {
            let remedy = format!("column {} needs a finite number; remove or fill in the row", at % width);
            return Err(Error::row("feature", features[at], at / width, remedy));
        }
        if let Some(row) = labels.iter().position(|y| !y.is_finite()) {
            return Err(Error::row("label", labels[row], row, "give a finite number or remove the row"));
        }
        Ok(Self::of_finite(features, width, labels))
    }

    /// [`Table::new`] for what is known to fit.
    pub(crate) fn of_finite(features: Vec<f64>, width: usize, labels: Vec<f64>) -> Self {
        let (classes, columns, indicators) = (Vec::new(), Vec::new(), Vec::new());
        Self { features, width, labels, classes, declared: false, columns, indicators }
    }

    /// Names for the classes 0, 1, ..., collected from the rows.
    pub(crate) fn with_classes(self, classes: Vec<String>) -> Self {
        Self { classes, ..self }
    }

    /// Names for the columns.
    pub(crate) fn with_columns(self, columns: Vec<String>) -> Self {
        Self { columns, ..self }
    }

    /// Which columns are 0 or 1 by themselves.
    pub(crate) fn with_indicators(self, indicators: Vec<bool>) -> Self {
        Self { indicators, ..self }
    }

    /// Whether a column is 0 or 1 by itself, whoever's row it is: then it needs no bounds.
    pub fn is_indicator(&self, column: usize) -> bool {
        self.indicators.get(column).is_some_and(|indicator| *indicator)
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The number of features of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The features of row `i`, counted from 0.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.width..(i + 1) * self.width]
    }

    /// All labels.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// What the labels 0, 1, ... were called in the file; empty where the labels were numbers.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The classes that a file declares in its header. Those that were merely collected from its rows are not public: nobody may be
    /// told that somebody has a rare one.
    pub fn declared_classes(&self) -> Option<&[String]> {
        (self.declared && !self.classes.is_empty()).then_some(&self.classes)
    }

    /// What a column is called in the file; its number from 0, where it has no name.
    pub fn column(&self, column: usize) -> String {
        self.columns.get(column).cloned().unwrap_or_else(|| column.to_string())
    }

    /// All of it.
    #[inline]
    pub fn view(&self) -> Shard<'_> {
        self.range(0..self.rows())
    }

    /// Some rows that follow each other.
    #[inline]
    pub(crate) fn range(&self, rows: Range<usize>) -> Shard<'_> {
        let features = &self.features[rows.start * self.width..rows.end * self.width];
        Shard { features, labels: &self.labels[rows], width: self.width }
    }

    /// Makes rows `from..to` alike.
    pub(crate) fn fill(&mut self, from: usize, to: usize, row: &[f64], label: f64) {
        let rows = self.features[from * self.width..to * self.width].chunks_exact_mut(self.width);
        rows.for_each(|place| place.copy_from_slice(row));
        self.labels[from..to].fill(label);
    }

    /// The named rows, in the order in which they are named.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        if let Some(&row) = rows.iter().find(|&&row| row >= self.rows()) {
            let remedy = format!("there are {} rows, counted from 0", self.rows());
            return Err(Error::parameter("rows", row, remedy));
        }
        Ok(self.gather(rows))
    }

    /// [`Table::select`] for rows that are known to exist.
    pub(crate) fn gather(&self, rows: &[usize]) -> Self {
        let mut features = Vec::with_capacity(rows.len() * self.width);
        rows.iter().for_each(|&row| features.extend_from_slice(self.row(row)));
        let labels = rows.iter().map(|&row| self.labels[row]).collect();
        let (classes, columns, indicators) =
            (self.classes.clone(), self.columns.clone(), self.indicators.clone());
        Self { features, width: self.width, labels, classes, declared: self.declared, columns, indicators }
    }

    /// Labels +1 for one class and -1 for all others. The class is given by its name, or by its number where classes have no names.
    ///
    /// Whether some row has that class is not asked: the answer would be about somebody's data.
    pub fn binary(self, positive: &str) -> Result<Self> {
        let refuse = |remedy: String| Error::parameter("positive", format!("`{positive}`"), remedy);
        if let Some(known) = self.declared_classes().filter(|known| !known.iter().any(|c| c == positive)) {
            return Err(refuse(format!("give one of: {}", known.join(", "))));
        }
        let class = match self.classes.is_empty() {
            true => positive.trim().parse().map_err(|_| refuse("labels are numbers; give one".into()))?,
            // No row has a class that has no place among the names.
            false => self.classes.iter().position(|name| name == positive).map_or(-1.0, |class| class as f64),
        };
        Ok(self.relabel(|label| if label == class { 1.0 } else { -1.0 }))
    }

    /// Labels +1 from a public number on, and -1 below it.
    pub fn above(self, threshold: f64) -> Result<Self> {
        require(threshold.is_finite(), "label-threshold", threshold, "give a finite number")?;
        let remedy = "labels are names, which have no order; give the positive one instead";
        require(self.classes.is_empty(), "label-threshold", threshold, remedy)?;
        Ok(self.relabel(|label| if label >= threshold { 1.0 } else { -1.0 }))
    }

    /// Labels scaled from public bounds to -1..1; what lies outside is moved to the nearer end.
    pub fn between(self, low: f64, high: f64) -> Result<Self> {
        let refuse = |remedy| Err(Error::parameter("label-bounds", format!("{low}:{high}"), remedy));
        if !(low < high && (high - low).is_finite()) {
            return refuse("give two finite numbers, the lower one first");
        }
        if !self.classes.is_empty() {
            return refuse("labels are names, which have no bounds; leave them out");
        }
        Ok(self.relabel(|label| match label {
            below if below <= low => -1.0,
            above if above >= high => 1.0,
            inside => 2.0 * ((inside - low) / (high - low)) - 1.0,
        }))
    }

    /// Labels 0, 1, ... by their place in a public list of names, or of numbers where labels have no names.
    pub fn classified(self, list: &[String]) -> Result<Self> {
        let place = |label: f64| match self.classes.get(label as usize) {
            Some(name) => list.iter().position(|class| class == name),
            None => list.iter().position(|class| class.trim().parse() == Ok(label)),
        };
        let places: Vec<Option<usize>> = self.labels.iter().map(|&label| place(label)).collect();
        if let Some(row) = places.iter().position(Option::is_none) {
            let label = self.labels[row];
            let name = self.classes.get(label as usize).cloned().unwrap_or_else(|| label.to_string());
            let remedy =
                format!("the classes are {}; name all there can be, or correct the row", list.join(", "));
            return Err(Error::row("label", name, row, remedy));
        }
        let labels = places.into_iter().flatten().map(|place| place as f64).collect();
        Ok(Self { labels, classes: list.to_vec(), declared: true, ..self })
    }

    fn relabel(mut self, label: impl Fn(f64) -> f64) -> Self {
        self.labels.iter_mut().for_each(|value| *value = label(*value));
        Self { classes: Vec::new(), declared: false, ..self }
    }

    /// Subtracts each column's centre and divides by its unit, both of them public.
    ///
    /// # Panics
    ///
    /// If there are not as many pairs as columns.
    pub(crate) fn rescale(&mut self, columns: &[(f64, f64)]) {
        assert_eq!(columns.len(), self.width, "each column has a centre and a unit");
        for row in self.features.chunks_exact_mut(self.width) {
            row.iter_mut().zip(columns).for_each(|(x, (centre, unit))| *x = (*x - centre) / unit);
        }
    }

    /// Maps each column's public range to -1 to 1. What lies outside is moved to the nearer end; how many values that were.
    pub fn scale_to_ranges(&mut self, ranges: &[(f64, f64)]) -> Result<usize> {
        let remedy = format!("there are {} columns; give each a range", self.width);
        require(ranges.len() == self.width, "ranges", ranges.len(), remedy)?;
        // Halves first, so that no difference overflows.
        let scale = |&(low, high): &(f64, f64)| (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low);
        if let Some(column) = ranges.iter().position(|range| {
            let (centre, unit) = scale(range);
            !(centre.is_finite() && unit.is_finite() && unit > 0.0)
        }) {
            let (low, high) = ranges[column];
            let value = format!("{}={low}:{high}", self.column(column));
            return Err(Error::parameter("range", value, "give two finite numbers, the lower one first"));
        }
        let mut clipped = 0;
        for row in self.features.chunks_exact_mut(self.width) {
            for (x, &(low, high)) in row.iter_mut().zip(ranges) {
                let within = x.max(low).min(high);
                clipped += usize::from(within != *x);
                *x = within;
            }
        }
        self.rescale(&ranges.iter().map(scale).collect::<Vec<_>>());
        self.features.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0));
        Ok(clipped)
    }

    /// Divides every row by a public length; rows that were longer are shortened to norm 1, each by itself.
    pub fn shorten_rows(&mut self, radius: f64) -> Result<()> {
        let remedy = "give a positive number that rows should not exceed";
        require(radius.is_finite() && radius > 0.0, "norm", radius, remedy)?;
        for row in self.features.chunks_exact_mut(self.width) {
            let (largest, unit) = direction(row);
            let length = largest * norm(&unit);
            match length <= radius {
                true => row.iter_mut().for_each(|x| *x /= radius),
                false => {
                    let length = norm(&unit);
                    row.iter_mut().zip(unit).for_each(|(x, u)| *x = u / length);
                }
            }
        }
        Ok(())
    }

    /// Divides every row by its 2-norm. Rows of zeros stay.
    pub fn normalise_rows(&mut self) {
        for row in self.features.chunks_exact_mut(self.width) {
            let (largest, unit) = direction(row);
            if largest > 0.0 {
                let length = norm(&unit);
                row.iter_mut().zip(unit).for_each(|(x, u)| *x = u / length);
            }
        }
    }

    /// Appends a column of ones.
    pub fn with_intercept(self) -> Self {
        let rows = self.features.chunks_exact(self.width);
        let features = rows.flat_map(|row| row.iter().copied().chain([1.0])).collect();
        let mut columns = self.columns;
        if !columns.is_empty() {
            columns.push("intercept".into());
        }
        Self { features, width: self.width + 1, columns, ..self }
    }

    /// The largest 2-norm of a row; 0 if there is none. It is a fact about somebody's row: no noise, step size or clipping that a guarantee
    /// rests on may be made from it.
    pub fn radius(&self) -> f64 {
        self.features.chunks_exact(self.width).map(norm).fold(0.0, f64::max)
    }
}

/// The largest size of a row's numbers, and the row divided by it, so that no square overflows. Zeros stay.
fn direction(row: &[f64]) -> (f64, Vec<f64>) {
    let largest = row.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    (largest, row.iter().map(|x| x / scale).collect())
}

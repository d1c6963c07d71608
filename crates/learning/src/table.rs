//! Rows of numbers with a label each, and the usual preparations of them.
//!
//! Every number is finite: a table that exists can be learned from without checking again.

use crate::linear::norm;
use crate::{Error, Result, Shard};

/// Dense rows and their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    features: Vec<f64>,
    width: usize,
    labels: Vec<f64>,
    /// What the labels 0, 1, ... were called where they came from; empty if they were numbers there.
    classes: Vec<String>,
}

impl Table {
    /// A table of `labels.len()` rows, whose features follow each other row by row.
    pub fn new(features: Vec<f64>, width: usize, labels: Vec<f64>) -> Result<Self> {
        if width == 0 {
            return Err(Error::parameter("width", 0, "give rows at least one feature"));
        }
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
        Self { features, width, labels, classes: Vec::new() }
    }

    /// Names for the classes 0, 1, ...
    pub(crate) fn with_classes(mut self, classes: Vec<String>) -> Self {
        self.classes = classes;
        self
    }

    /// The number of rows.
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

    /// All of it.
    pub fn view(&self) -> Shard<'_> {
        self.range(0, self.rows())
    }

    /// Rows `from..to`.
    pub(crate) fn range(&self, from: usize, to: usize) -> Shard<'_> {
        let features = &self.features[from * self.width..to * self.width];
        Shard { features, labels: &self.labels[from..to], width: self.width }
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
        Self { features, width: self.width, labels, classes: self.classes.clone() }
    }

    /// Labels +1 for one class and -1 for all others. The class is given by its name, or by its number where classes have no names.
    pub fn binary(mut self, positive: &str) -> Result<Self> {
        let named = self.classes.iter().position(|name| name == positive).map(|class| class as f64);
        let number = positive.trim().parse().ok().filter(|_| self.classes.is_empty());
        let class: Option<f64> = named.or(number);
        let Some(class) = class.filter(|class| self.labels.contains(class)) else {
            let known =
                if self.classes.is_empty() { "a label in use".into() } else { self.classes.join(", ") };
            return Err(Error::parameter(
                "positive",
                format!("`{positive}`"),
                format!("give one of: {known}"),
            ));
        };
        self.labels.iter_mut().for_each(|label| *label = if *label == class { 1.0 } else { -1.0 });
        self.classes.clear();
        Ok(self)
    }

    /// Gives every column mean 0 and standard deviation 1 (of the population). Constant columns become 0.
    pub fn standardise(&mut self) {
        (0..self.width).for_each(|column| self.standardise_column(column));
    }

    fn standardise_column(&mut self, column: usize) {
        let values = || self.features.iter().skip(column).step_by(self.width).copied();
        let (least, largest) =
            values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        // Relative to the largest, so that no square overflows.
        let (scale, rows) = (least.abs().max(largest.abs()), self.rows() as f64);
        let mean = values().map(|x| x / scale).sum::<f64>() / rows;
        let variance = values().map(|x| (x / scale - mean) * (x / scale - mean)).sum::<f64>() / rows;
        let deviation = variance.sqrt();
        for x in self.features.iter_mut().skip(column).step_by(self.width) {
            *x = if least == largest || deviation == 0.0 { 0.0 } else { (*x / scale - mean) / deviation };
        }
    }

    /// Divides every row by its 2-norm. Rows of zeros stay.
    pub fn normalise_rows(&mut self) {
        for row in self.features.chunks_exact_mut(self.width) {
            // By the largest first, so that no square overflows.
            let largest = row.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            if largest > 0.0 {
                row.iter_mut().for_each(|x| *x /= largest);
                let length = norm(row);
                row.iter_mut().for_each(|x| *x /= length);
            }
        }
    }

    /// Appends a column of ones.
    pub fn with_intercept(self) -> Self {
        let rows = self.features.chunks_exact(self.width);
        let features = rows.flat_map(|row| row.iter().copied().chain([1.0])).collect();
        Self { features, width: self.width + 1, ..self }
    }

    /// The largest 2-norm of a row; 0 if there is none.
    pub fn radius(&self) -> f64 {
        self.features.chunks_exact(self.width).map(norm).fold(0.0, f64::max)
    }
}

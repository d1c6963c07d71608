//! The Houses task from a user's own copy of the files.

use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Block, Houses, PUBLIC, REAL, ROWS, Split, prepare};
use crate::{Error, Result, read};

const DATA: &str = "cal_housing.data";
/// Shuffles the rows where no index files say how.
const SHUFFLE_SEED: u64 = 823;

/// Reads `cal_housing.data` in `folder`, or in its subfolder `houses`.
///
/// The split is read from its index files (one row number from 0 a line), where there are any. Otherwise rows are shuffled, always
/// in the same way, and split in the same sizes.
pub fn read(folder: &Path, split: Split) -> Result<Houses> {
    let folder = find(folder)?;
    let table = prepare(&blocks(&folder.join(DATA))?, &REAL);
    let (train, test) = match index_files(&folder, split)? {
        Some(lists) => lists,
        None => shuffled(split),
    };
    Ok(Houses { train: table.select(&train)?, test: table.select(&test)?, assumes: Some(PUBLIC) })
}

fn find(folder: &Path) -> Result<PathBuf> {
    let folders = [folder.to_path_buf(), folder.join("houses")];
    folders.into_iter().find(|folder| folder.join(DATA).is_file()).ok_or_else(|| {
        let remedy =
            format!("there is no `{DATA}` in it or in its subfolder `houses`; give the folder that has it");
        Error::parameter("folder", format!("`{}`", folder.display()), remedy)
    })
}

fn blocks(path: &Path) -> Result<Vec<Block>> {
    let lines = read::text(path)?;
    let blocks: Result<Vec<Block>> =
        lines.lines().enumerate().map(|(index, line)| block(index + 1, line)).collect();
    let blocks = blocks.map_err(|error| error.in_file(path))?;
    if blocks.len() != ROWS {
        let problem = format!("{} rows, where the set has {ROWS}; take the original file", blocks.len());
        return Err(Error::Format(problem).in_file(path));
    }
    Ok(blocks)
}

fn block(line: usize, text: &str) -> Result<Block> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|field| field.trim().parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()));
    let [longitude, latitude, age, rooms, bedrooms, population, households, income, value] =
        *numbers.unwrap_or_default()
    else {
        let columns = "longitude, latitude, age, rooms, bedrooms, population, households, income, value";
        return Err(Error::line(line, format!("a row has nine numbers between commas: {columns}")));
    };
    Ok(Block { longitude, latitude, age, rooms, bedrooms, population, households, income, value })
}

/// The rows of both parts; none if there are no index files.
fn index_files(folder: &Path, split: Split) -> Result<Option<(Vec<usize>, Vec<usize>)>> {
    let paths = ["train", "test"].map(|part| folder.join(format!("{part}_idx_{}.txt", split.name())));
    if paths.iter().all(|path| !path.exists()) {
        return Ok(None);
    }
    let mut used = vec![false; ROWS];
    let [train, test] = &paths;
    let train = indices(train, split.train_rows(), &mut used)?;
    let test = indices(test, ROWS - split.train_rows(), &mut used)?;
    Ok(Some((train, test)))
}

fn indices(path: &Path, count: usize, used: &mut [bool]) -> Result<Vec<usize>> {
    let text = read::text(path)?;
    let rows: Result<Vec<usize>> =
        text.lines().enumerate().map(|(index, line)| row(index + 1, line, used)).collect();
    let rows = rows.map_err(|error| error.in_file(path))?;
    if rows.len() != count {
        let remedy = "take the original file, or remove both index files";
        let problem = format!("{} rows, where the split has {count}; {remedy}", rows.len());
        return Err(Error::Format(problem).in_file(path));
    }
    Ok(rows)
}

/// Marks a row as used; refuses it if it was.
fn row(line: usize, text: &str, used: &mut [bool]) -> Result<usize> {
    let row = text.trim().parse::<usize>().ok().filter(|&row| row < used.len());
    let row = row.ok_or_else(|| {
        Error::line(
            line,
            format!("`{}` is not a row; give whole numbers from 0 to {}", text.trim(), ROWS - 1),
        )
    })?;
    if std::mem::replace(&mut used[row], true) {
        return Err(Error::line(
            line,
            format!("row {row} is named twice; training and test rows are different"),
        ));
    }
    Ok(row)
}

fn shuffled(split: Split) -> (Vec<usize>, Vec<usize>) {
    let mut rows: Vec<usize> = (0..ROWS).collect();
    rows.shuffle(&mut ChaCha8Rng::seed_from_u64(SHUFFLE_SEED));
    let test = rows.split_off(split.train_rows());
    (rows, test)
}

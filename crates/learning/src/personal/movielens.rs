//! MovieLens-100K from a user's own copy of its files: 943 users, 1682 films, 100,000 ratings.
//!
//! `u.data` has a rating a line: user, item, stars and a time stamp, between tabs. GroupLens does not allow its redistribution, so nothing of it is
//! part of this project.

use std::path::{Path, PathBuf};

use super::ratings::{LEAST, MOST};
use super::{Rating, Ratings};
use crate::{Error, Result, read};

const DATA: &str = "u.data";
const USERS: usize = 943;
const ITEMS: usize = 1682;
const RATINGS: usize = 100_000;

/// Reads `u.data` in `folder`, or in its subfolder `movielens-100k` or `ml-100k`. A file that is not whole is refused.
pub fn read(folder: &Path) -> Result<Ratings> {
    let path = find(folder)?;
    let of_file = |error: Error| error.in_file(&path);
    let ratings = parse(&read::text(&path)?, USERS, ITEMS).map_err(of_file)?;
    if ratings.count() != RATINGS {
        let remedy = "take the original file";
        let problem = format!("{} ratings, where the set has {RATINGS}; {remedy}", ratings.count());
        return Err(of_file(Error::Format(problem)));
    }
    Ok(ratings)
}

/// The ratings of a text like `u.data`, whose users and items are numbered from 1.
pub fn parse(text: &str, users: usize, items: usize) -> Result<Ratings> {
    let lines = text.lines().enumerate();
    let list =
        lines.map(|(index, line)| rating(index + 1, line, users, items)).collect::<Result<Vec<_>>>()?;
    let mut pairs: Vec<_> = list.iter().enumerate().map(|(index, one)| (one.user, one.item, index)).collect();
    pairs.sort_unstable();
    if let Some(twice) = pairs.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        let (user, item, index) = twice[1];
        let first = twice[0].2 + 1;
        let remedy = format!("user {} rated it in line {first}, too; keep one of the ratings", user + 1);
        return Err(Error::parameter("item", format!("{} in line {}", item + 1, index + 1), remedy));
    }
    Ratings::new(users, items, &list)
}

/// Whether [`read()`] would find the file.
pub fn is_in(folder: &Path) -> bool {
    places(folder).any(|path| path.is_file())
}

fn places(folder: &Path) -> impl Iterator<Item = PathBuf> {
    ["", "movielens-100k", "ml-100k"].map(|inside| folder.join(inside).join(DATA)).into_iter()
}

fn find(folder: &Path) -> Result<PathBuf> {
    places(folder).find(|path| path.is_file()).ok_or_else(|| {
        let remedy = format!(
            "there is no `{DATA}` in it or in its subfolder `movielens-100k`; give the folder that has MovieLens-100K"
        );
        Error::parameter("folder", format!("`{}`", folder.display()), remedy)
    })
}

fn rating(line: usize, text: &str, users: usize, items: usize) -> Result<Rating> {
    let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
    let [user, item, stars, time] = *fields else {
        let count = fields.len();
        let problem = format!(
            "`fields` is {count}: a rating has four between tabs, user, item, stars and time; take the original file"
        );
        return Err(Error::line(line, problem));
    };
    let bad = |field: &str, value: &str, remedy: String| {
        Error::line(line, format!("`{field}` is `{}`: {remedy}", read::show(value)))
    };
    let place = |field: &str, value: &str, count: usize| {
        let number = value.parse().ok().filter(|number| (1..=count).contains(number));
        number
            .map(|number: usize| number - 1)
            .ok_or_else(|| bad(field, value, format!("give a whole number from 1 to {count}")))
    };
    let on_scale = stars.parse().ok().filter(|stars: &f64| (LEAST..=MOST).contains(stars));
    let stars = on_scale
        .ok_or_else(|| bad("rating", stars, format!("give {LEAST} to {MOST} stars, or remove the line")))?;
    if time.parse::<u64>().is_err() {
        return Err(bad("time", time, "give seconds, a whole number; take the original file".into()));
    }
    Ok(Rating { user: place("user", user, users)?, item: place("item", item, items)?, stars })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_ratings() {
        let ratings = parse("2\t3\t4\t881250949\n1\t1\t5\t0\r\n", 2, 3).unwrap();
        assert_eq!((ratings.of(0), ratings.of(1)), ([(0, 5.0)].as_slice(), [(2, 4.0)].as_slice()));
    }

    #[test]
    fn bad_lines_are_named() {
        for (line, words) in [
            ("1\t1\t5", "`fields` is 3"),
            ("", "`fields` is 1"),
            ("1\t1\t6\t0", "`rating` is `6`: give 1 to 5 stars"),
            ("1\t1\t0\t0", "`rating` is `0`"),
            ("1\t1\tNaN\t0", "`rating` is `NaN`"),
            ("0\t1\t3\t0", "`user` is `0`: give a whole number from 1 to 2"),
            ("3\t1\t3\t0", "`user` is `3`"),
            ("1\t4\t3\t0", "`item` is `4`"),
            ("1\t1\t3\t", "`time` is ``"),
        ] {
            let said = parse(&format!("2\t2\t3\t9\n{line}\n"), 2, 3).unwrap_err().to_string();
            assert!(said.starts_with("line 2: ") && said.contains(words), "{said}");
        }
        let twice = parse("1\t1\t3\t0\n1\t1\t4\t0\n", 2, 3).unwrap_err().to_string();
        assert!(twice.contains("`item` is 1 in line 2: user 1 rated it in line 1, too"), "{twice}");
    }

    #[test]
    fn files_that_are_missing_or_cut_off_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let said = read(folder.path()).unwrap_err().to_string();
        assert!(said.contains("there is no `u.data`") && !is_in(folder.path()), "{said}");
        std::fs::create_dir(folder.path().join("ml-100k")).unwrap();
        std::fs::write(folder.path().join("ml-100k").join(DATA), "1\t1\t3\t0\n1\t2\t4\t8812").unwrap();
        let said = read(folder.path()).unwrap_err().to_string();
        assert!(said.contains("2 ratings, where the set has 100000"), "{said}");
    }
}

//! Who gave which item how many stars.

use super::holdout::parts;
use crate::{Error, Result, require};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The least stars an item can get: public.
pub(super) const LEAST: f64 = 1.0;
/// The most stars an item can get: public.
pub(super) const MOST: f64 = 5.0;

/// What somebody thinks of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Who, from 0.
    pub user: usize,
    /// Of what, from 0.
    pub item: usize,
    /// From 1 to 5.
    pub stars: f64,
}

/// Everybody's ratings. How many users and items there are is public, and so is how many ratings each user gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    items: usize,
    /// The item and the stars, by increasing item, for each user.
    by_user: Vec<Vec<(usize, f64)>>,
}

impl Ratings {
    /// Refuses users and items beyond those there are, stars outside the scale, and two ratings of one item by one user.
    pub fn new(users: usize, items: usize, list: &[Rating]) -> Result<Self> {
        let mut by_user = vec![Vec::new(); users];
        for &Rating { user, item, stars } in list {
            let remedy =
                format_args!("user {user} gave it to item {item}; ratings are from {LEAST} to {MOST}");
            require((LEAST..=MOST).contains(&stars), "rating", stars, remedy)?;
            require(item < items, "item", item, format_args!("there are {items} items, from 0"))?;
            let Some(own) = by_user.get_mut(user) else {
                return Err(Error::parameter("user", user, format!("there are {users} users, from 0")));
            };
            own.push((item, stars));
        }
        for (user, own) in by_user.iter_mut().enumerate() {
            own.sort_by_key(|(item, _)| *item);
            if let Some(twice) = own.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let remedy = format!("user {user} rates it twice; keep one of the ratings");
                return Err(Error::parameter("item", twice[0].0, remedy));
            }
        }
        Ok(Self { items, by_user })
    }

    /// How many users there are.
    pub fn users(&self) -> usize {
        self.by_user.len()
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.items
    }

    /// How many ratings there are.
    pub fn count(&self) -> usize {
        self.by_user.iter().map(Vec::len).sum()
    }

    /// The items that a user rated, by increasing number, with the stars.
    ///
    /// # Panics
    ///
    /// If there is no such user.
    pub fn of(&self, user: usize) -> &[(usize, f64)] {
        &self.by_user[user]
    }

    /// Everybody's ratings in two: four fifths to train on and a fifth to test on, drawn for each user.
    pub fn split(&self, seed: u64) -> (Self, Self) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for own in &self.by_user {
            let (kept, held) = parts(own.len(), &mut rng);
            let pick = |places: &[usize]| places.iter().map(|&place| own[place]).collect();
            train.push(pick(&kept));
            test.push(pick(&held));
        }
        (Self { items: self.items, by_user: train }, Self { items: self.items, by_user: test })
    }

    /// A user's mean; the middle of the scale where she rated nothing.
    pub fn mean(&self, user: usize) -> f64 {
        let own = &self.by_user[user];
        if own.is_empty() {
            return f64::midpoint(LEAST, MOST);
        }
        own.iter().map(|(_, stars)| stars).sum::<f64>() / own.len() as f64
    }

    /// The ratings less a number for each user.
    pub(super) fn less(&self, centres: &[f64]) -> Vec<Vec<(usize, f64)>> {
        let shift = |(own, centre): (&Vec<(usize, f64)>, &f64)| {
            own.iter().map(|&(item, stars)| (item, stars - centre)).collect()
        };
        self.by_user.iter().zip(centres).map(shift).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_on_the_scale_and_once() {
        let one = |user, item, stars| Rating { user, item, stars };
        let good = Ratings::new(3, 4, &[one(0, 3, 5.0), one(0, 1, 1.0), one(2, 0, 3.5)]).unwrap();
        assert_eq!((good.users(), good.items(), good.count()), (3, 4, 3));
        assert_eq!(good.of(0), [(1, 1.0), (3, 5.0)]);
        assert_eq!([good.mean(0), good.mean(1), good.mean(2)], [3.0, 3.0, 3.5]);
        for (bad, field) in [
            (one(0, 2, 0.5), "rating"),
            (one(0, 2, f64::NAN), "rating"),
            (one(0, 4, 3.0), "item"),
            (one(3, 0, 3.0), "user"),
            (one(0, 1, 3.0), "item"),
        ] {
            let refused = Ratings::new(3, 4, &[one(0, 1, 1.0), bad]).unwrap_err();
            assert_eq!(refused.at_fault().map(|fault| fault.field), Some(field), "{bad:?}");
        }
    }
}

//! The one list of what can be reproduced: papers, and the figures and tables of each.
//!
//! A figure is one line in its paper's table: number, title, and the function that makes it. What several figures share lies on the [`Desk`], and is
//! computed once, when it is first asked for.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use sottovoce_engine::deep::SideBySide;
use sottovoce_fault::stop;
use sottovoce_report::Page;

use crate::item::Kind;
use crate::{
    Error, Item, Options, Reproduction, Result, Watch, consensus, muffliato, personalized, random_walk,
    require, rumor,
};

/// Figures that are made at the same time: parts of many cannot be divided.
const AT_ONCE: usize = 2;

/// All papers.
pub static PAPERS: [&Paper; 5] =
    [&consensus::PAPER, &muffliato::PAPER, &personalized::PAPER, &random_walk::PAPER, &rumor::PAPER];

/// A paper.
#[derive(Debug)]
pub struct Paper {
    /// Its short name.
    pub name: &'static str,
    /// Its figures and tables, in its order.
    pub figures: &'static [Figure],
    /// The page around them.
    pub(crate) page: fn(&[Item], &Options) -> Page,
    /// Parts of the work that the wanted figures share, for a progress bar.
    pub(crate) shared_parts: fn(&[&str], &Options) -> usize,
    /// Whether a number of trials can be asked for.
    pub(crate) trials: bool,
    /// Whether nets are learned for it, which a graphics card can do.
    pub nets: bool,
}

/// A figure or table.
#[derive(Debug)]
pub struct Figure {
    /// Its number in the paper.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    kind: Kind,
    make: fn(Item, &Desk) -> Result<Item>,
}

impl Figure {
    /// One that shows values of a formula.
    pub(crate) const fn formula(
        id: &'static str,
        title: &'static str,
        make: fn(Item, &Desk) -> Result<Item>,
    ) -> Self {
        Self { id, title, kind: Kind::Formula, make }
    }

    /// One that shows simulations.
    pub(crate) const fn experiment(
        id: &'static str,
        title: &'static str,
        make: fn(Item, &Desk) -> Result<Item>,
    ) -> Self {
        Self { id, title, kind: Kind::Experiment, make }
    }
}

/// What figures are made from.
pub(crate) struct Desk<'a> {
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a Watch<'a>,
    /// A graphics card, if there is one.
    pub(crate) card: Option<&'a dyn SideBySide>,
    /// Numbers of the figures that are wanted.
    pub(crate) wanted: Vec<&'static str>,
    pub(crate) consensus: consensus::Shared,
    pub(crate) muffliato: muffliato::Shared,
    pub(crate) random_walk: random_walk::Shared,
    pub(crate) personalized: personalized::Shared,
    pub(crate) rumor: rumor::Shared,
}

/// Something that several figures need: who asks first makes it, and the others wait.
#[derive(Debug)]
pub(crate) struct Once<T> {
    made: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { made: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Once<T> {
    /// What is there, or else what is made now.
    pub(crate) fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        match self.made.get() {
            Some(there) => Ok(there),
            None => {
                let made = make()?;
                Ok(self.made.get_or_init(|| made))
            }
        }
    }
}

/// Figures of one paper that are to be made.
#[derive(Debug)]
pub struct Job {
    /// The paper.
    pub paper: &'static Paper,
    /// The figures, in its order.
    pub figures: Vec<&'static Figure>,
}

impl Job {
    /// What `PAPER` or `PAPER/FIGURE` stands for.
    ///
    /// ```
    /// use sottovoce_papers::Job;
    /// assert_eq!(Job::find("rumor/Table1")?.figures[0].id, "table1");
    /// assert!(Job::find("rumor/9").unwrap_err().to_string().contains("2a, 2b, 3a"));
    /// # Ok::<(), sottovoce_papers::Error>(())
    /// ```
    pub fn find(what: &str) -> Result<Self> {
        let (name, figure) = what.split_once('/').map_or((what, None), |(name, one)| (name, Some(one)));
        let Some(paper) = PAPERS.into_iter().find(|paper| paper.name == name) else {
            let [all @ .., last] = PAPERS.map(|paper| paper.name);
            let remedy = format!(
                "give {} or {last}, or one figure such as {last}/{}",
                all.join(", "),
                rumor::PAPER.figures[0].id
            );
            return Err(Error::parameter("paper", what, remedy));
        };
        let Some(figure) = figure else { return Ok(Self { paper, figures: paper.figures.iter().collect() }) };
        let wanted = figure.to_ascii_lowercase();
        let found = paper.figures.iter().find(|one| one.id == wanted);
        let known = || paper.figures.iter().map(|one| one.id).collect::<Vec<_>>().join(", ");
        let unknown = || Error::parameter("figure", figure, format!("{name} has {}", known()));
        Ok(Self { paper, figures: vec![found.ok_or_else(unknown)?] })
    }

    fn wanted(&self) -> Vec<&'static str> {
        self.figures.iter().map(|figure| figure.id).collect()
    }

    /// How often [`Job::run`] will say that something is finished.
    pub fn parts(&self, options: &Options) -> usize {
        self.figures.len() + (self.paper.shared_parts)(&self.wanted(), options)
    }

    /// Makes them; a card, if one is given, learns what it can.
    pub fn run(
        &self,
        options: &Options,
        watch: &Watch,
        card: Option<&dyn SideBySide>,
    ) -> Result<Reproduction> {
        if let Some(data) = &options.data {
            let remedy = "there is no such folder; give one that holds the data sets";
            require(data.is_dir(), "data", data.display(), remedy)?;
        }
        if let Some(trials) = options.trials {
            let remedy = format!("{} has a number of runs of its own; leave it out", self.paper.name);
            require(self.paper.trials, "trials", trials, remedy)?;
            require((1..=1000).contains(&trials), "trials", trials, "give from 1 to 1000")?;
        }
        let desk = Desk {
            options,
            watch,
            card,
            wanted: self.wanted(),
            consensus: Default::default(),
            muffliato: Default::default(),
            random_walk: Default::default(),
            personalized: Default::default(),
            rumor: Default::default(),
        };
        let items = self.items(&desk)?;
        let page = (self.paper.page)(&items, options);
        Ok(Reproduction { paper: self.paper.name, seed: options.seed, quick: options.quick, items, page })
    }
}

impl Job {
    /// The figures, several at a time, in their order. Each has a thread of its own beside the pool that its parts are computed in, so that one may wait
    /// for what another makes.
    fn items(&self, desk: &Desk) -> Result<Vec<Item>> {
        let (next, made) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || loop {
            // From the last: experiments and tables, which take longest, stand at the end of papers.
            let begun = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = self.figures.len().checked_sub(begun + 1) else { break };
            let figure = self.figures[place];
            (desk.watch.doing)(figure.id);
            let item = (figure.make)(Item::new(figure.id, figure.title, figure.kind), desk);
            if item.is_err() {
                // What has not begun need not begin.
                next.store(self.figures.len(), Ordering::Relaxed);
            }
            made.lock().unwrap_or_else(PoisonError::into_inner).insert(place, item);
            (desk.watch.finished)();
        };
        let here = stop::here();
        thread::scope(|scope| (0..AT_ONCE).for_each(|_| _ = scope.spawn(|| here.caught(work))));
        stop::look();
        made.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }
}

/// Everything there is, as `PAPER/FIGURE`, with what it shows.
pub fn listing() -> Vec<(String, &'static str)> {
    let of = |paper: &'static Paper| {
        paper.figures.iter().map(|one| (format!("{}/{}", paper.name, one.id), one.title))
    };
    PAPERS.into_iter().flat_map(of).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_listed_is_found_by_its_number() {
        let all = listing();
        assert_eq!(all.len(), 11 + 8 + 8 + 10 + 5);
        for (name, title) in all {
            let job = Job::find(&name).unwrap();
            assert_eq!((job.figures.len(), job.figures[0].title), (1, title));
            assert!(job.parts(&Options::default()) >= 1);
        }
        assert_eq!(Job::find("rumor").unwrap().figures.len(), 5);
        assert_eq!(Job::find("random-walk/3A").unwrap().figures[0].id, "3a");
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        let said = |what: &str| Job::find(what).unwrap_err().to_string();
        assert!(said("muffliato/9").contains("`figure` is 9: muffliato has 1a, 1b, 1c, 2"));
        let paper = said("gossip/1");
        assert_eq!(
            paper,
            "`paper` is gossip/1: give consensus-deep-learning, muffliato, personalized, random-walk or rumor, or one figure such as rumor/2a"
        );
    }

    #[test]
    fn what_is_shared_is_made_once() {
        let once: Once<u32> = Once::default();
        assert!(once.get(|| Err(Error::missing("data", "give some"))).is_err());
        assert_eq!((*once.get(|| Ok(1)).unwrap(), *once.get(|| Ok(2)).unwrap()), (1, 1));
    }
}

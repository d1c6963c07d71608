//! All cells: each is made once, kept as a file as soon as it is finished, and taken from there by whoever asks again. An interrupted command so goes on.
//! Where there is a graphics card, all that are wanted and missing are learned there side by side when the first is asked for.
//!
//! A file says of what it is: images by their hashes, seed, sizes, plan, and the program by its version and by what it makes of a small task. One that is not of just this is not taken.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sottovoce::deep::MembershipFound;
use sottovoce_learning::Spread;
use sottovoce_learning::net::Net;
use sottovoce_protocol::consensus::Plan;
use sottovoce_report::{hash, store};
use sottovoce_simulator::consensus::Course;

use super::cell::{Cell, Choice, Told, Way, learned};
use super::noise::{Noise, Noises};
use super::task::{Pictures, Sizes, Task};
use crate::registry::{Desk, Once};
use crate::{Error, Options, Result};

/// What figures share.
#[derive(Default)]
pub(crate) struct Shared {
    program: Once<String>,
    pictures: [Once<Pictures>; 4],
    noises: Noises,
    /// Whether a card has learned what is wanted.
    ahead: Once<()>,
    /// What it learned.
    made: Mutex<BTreeMap<String, Told>>,
    pub(super) members: Once<Vec<MembershipFound>>,
    /// One at a time is made: each uses all cores.
    told: Mutex<BTreeMap<String, Told>>,
}

/// What a cell is a function of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Origin {
    program: String,
    images: Vec<String>,
    seed: u64,
    sizes: Sizes,
    plan: Plan,
    cell: Cell,
}

/// A file.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    of: Origin,
    told: Told,
}

impl Origin {
    fn name(&self) -> Result<String> {
        let unwritten = |source| Error::Json { problem: "a cell cannot be written as JSON".into(), source };
        let text = serde_json::to_vec(self).map_err(unwritten)?;
        Ok(format!("{}.json", hash([text])))
    }

    /// What came of it, if that is known there. What is no such file is as good as none.
    fn found(&self, folder: &Path) -> Result<Option<Told>> {
        let Ok(text) = std::fs::read(folder.join(self.name()?)) else { return Ok(None) };
        let kept = serde_json::from_slice::<Kept>(&text).ok().filter(|kept| kept.of == *self);
        Ok(kept.map(|kept| kept.told))
    }

    fn keep(&self, folder: &Path, told: &Told) -> Result<()> {
        let unwritten = |source| Error::Json { problem: "a cell cannot be written as JSON".into(), source };
        let kept = Kept { of: self.clone(), told: told.clone() };
        let text = serde_json::to_vec_pretty(&kept).map_err(unwritten)?;
        store::write(folder, &[(self.name()?, text)], true)?;
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Images of a task.
fn pictures<'a>(desk: &'a Desk, task: Task) -> Result<&'a Pictures> {
    desk.consensus.pictures[task as usize].get(|| task.pictures(desk.options))
}

/// What a cell is a function of.
fn origin(desk: &Desk, cell: &Cell) -> Result<Origin> {
    let program = desk.consensus.program.get(program)?.clone();
    let (sizes, images) = (cell.task.sizes(desk.options), pictures(desk, cell.task)?.origin.clone());
    Ok(Origin { program, images, seed: desk.options.seed, sizes, plan: cell.plan(&sizes), cell: *cell })
}

/// What came of a cell.
pub(super) fn told(desk: &Desk, cell: &Cell) -> Result<Told> {
    let shared = &desk.consensus;
    shared.ahead.get(|| ahead(desk, super::cells(&desk.wanted, desk.options)))?;
    let pictures = pictures(desk, cell.task)?;
    let (name, origin) = (cell.name(), origin(desk, cell)?);
    let mut known = locked(&shared.told);
    if let Some(told) = known.get(&name) {
        return Ok(told.clone());
    }
    (desk.watch.doing)(&name);
    let folder = desk.options.cells.as_deref();
    let kept = folder.map(|folder| origin.found(folder)).transpose()?.flatten();
    let told = match kept.or_else(|| locked(&shared.made).remove(&name)) {
        Some(told) => told,
        None => {
            let told = cell.run(pictures, &origin.sizes, origin.seed, &shared.noises)?;
            folder.map(|folder| origin.keep(folder, &told)).transpose()?;
            told
        }
    };
    known.insert(name, told.clone());
    (desk.watch.finished)();
    Ok(told)
}

/// Lets a card learn those of these cells that are not kept, if there is one; all of a task side by side.
pub(super) fn ahead(desk: &Desk, cells: impl IntoIterator<Item = Cell>) -> Result<()> {
    let (Some(card), shared, folder) = (desk.card, &desk.consensus, desk.options.cells.as_deref()) else {
        return Ok(());
    };
    let mut missing: BTreeMap<usize, BTreeMap<String, (Cell, Origin)>> = BTreeMap::new();
    for cell in cells {
        let origin = origin(desk, &cell)?;
        let kept = folder.map(|folder| origin.found(folder)).transpose()?.flatten();
        let net = cell.task.net(&pictures(desk, cell.task)?.test, &origin.sizes)?;
        if kept.is_none() && card.takes(&net) {
            missing.entry(cell.task as usize).or_default().insert(cell.name(), (cell, origin));
        }
    }
    for all in missing.into_values().map(BTreeMap::into_values) {
        let all: Vec<(Cell, Origin)> = all.collect();
        let pictures = pictures(desk, all[0].0.task)?;
        (desk.watch.doing)(&format!("noise of {} trials", all.len()));
        let asked = all.iter().map(|(cell, of)| cell.asked(pictures, &of.sizes, of.seed));
        shared.noises.find(asked.collect::<Result<Vec<_>>>()?.concat())?;
        let ready = all.iter().map(|(cell, of)| cell.ready(pictures, &of.sizes, of.seed, &shared.noises));
        let ready = ready.collect::<Result<Vec<_>>>()?;
        let courses: Vec<Course> = ready.iter().map(|ready| ready.course.clone()).collect();
        let (began, name) = (Instant::now(), card.name());
        let round = |made: usize, rounds: usize| {
            (desk.watch.doing)(&format!("{} trials on {name}, round {made} of {rounds}", all.len()));
        };
        let found = card.learn(&pictures.train, &pictures.test, &courses, &round)?;
        let seconds = began.elapsed().as_secs_f64();
        for (((cell, origin), ready), found) in all.iter().zip(&ready).zip(found) {
            let told = ready.told(found, seconds, Some(name.clone()));
            folder.map(|folder| origin.keep(folder, &told)).transpose()?;
            locked(&shared.made).insert(cell.name(), told);
        }
    }
    Ok(())
}

/// All trials of a cell, in percent.
pub(super) fn trials(desk: &Desk, cell: Cell) -> Result<Vec<Told>> {
    (0..desk.options.trials.unwrap_or(1)).map(|trial| told(desk, &Cell { trial, ..cell })).collect()
}

/// Every trial of these.
pub(super) fn all(options: &Options, cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    let trials = options.trials.unwrap_or(1);
    let each = |cell: Cell| (0..trials).map(move |trial| Cell { trial, ..cell });
    cells.into_iter().flat_map(each).collect()
}

/// Mean and deviation of accuracies, in percent.
pub(super) fn spread(told: &[Told]) -> Spread {
    Spread::of(&told.iter().map(Told::accuracy).collect::<Vec<_>>())
}

/// A mean with its deviation where there were several trials, and what is printed.
pub(super) fn beside(told: &[Told], printed: Option<(f64, f64)>) -> String {
    let ours = match spread(told) {
        Spread { mean, .. } if mean.is_nan() => "diverged".into(),
        Spread { mean, runs: 1, .. } => format!("{mean:.2}"),
        Spread { mean, deviation, .. } => format!("{mean:.2} ± {deviation:.2}"),
    };
    match printed {
        Some((mean, deviation)) => format!("{ours} ({mean} ± {deviation})"),
        None => ours,
    }
}

/// Where trials were learned, for whoever asks how they were made.
pub(super) fn learned_on(told: &[Told]) -> String {
    let cards: BTreeSet<&String> = told.iter().filter_map(|one| one.card.as_ref()).collect();
    let there = told.iter().filter(|one| one.card.is_some()).count();
    let cards = cards.into_iter().cloned().collect::<Vec<_>>().join(" and ");
    match told.len() - there {
        0 => format!("All {there} trials were learned on {cards}, side by side."),
        here if there == 0 => format!("All {here} trials were learned on the processor."),
        here => format!("{there} trials were learned on {cards}, side by side, and {here} on the processor."),
    }
}

/// The program, by its version and by what it makes of a small task: other bits are another program.
fn program() -> Result<String> {
    let small = Sizes::small();
    let pictures = Task::Digits.pictures(&Options { quick: true, ..Options::default() })?;
    let (noises, mut seen) = (Noises::default(), Vec::<Vec<u8>>::new());
    for way in Way::ALL {
        for (noise, choice) in
            [(Noise::Published(2.0), Choice::Usual), (Noise::Certified(2.0), Choice::Metropolis)]
        {
            let cell = Cell { choice, ..Cell::new(way, noise, 0.25, 0) };
            let mut setting = cell.ready(&pictures, &small, 1, &noises)?.setting(&cell, &pictures, &small)?;
            for net in [None, Some(Net::residual_net(pictures.test.shape(), 10, [4, 4, 4, 8], 4)?)] {
                if let Some(net) = net {
                    setting.net = net;
                }
                let models = learned(&setting)?.map_or(Vec::new(), |outcome| outcome.models);
                let numbers = models.iter().flat_map(|model| model.iter().copied().collect::<Vec<f32>>());
                seen.push(numbers.flat_map(f32::to_le_bytes).collect());
            }
        }
    }
    Ok(format!("{} {}", env!("CARGO_PKG_VERSION"), hash(seen)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn origin(cell: Cell) -> Origin {
        let sizes = Sizes::small();
        let plan = cell.plan(&sizes);
        Origin { program: "1".into(), images: vec!["drawn".into()], seed: 0, sizes, plan, cell }
    }

    /// Only the very same is taken; half a file is none.
    #[test]
    fn what_is_kept_is_taken_by_what_it_is_of() {
        let folder = tempfile::tempdir().unwrap();
        let of = origin(Cell::new(Way::Dsgt, Noise::Certified(10.0), 0.06, 0));
        let told = Told {
            accuracies: vec![0.5, 0.25],
            spent: Some(9.99),
            multiplier: 1.3,
            fiedler: 0.08,
            seconds: 1.0,
            card: None,
        };
        assert_eq!(of.found(folder.path()).unwrap(), None);
        of.keep(folder.path(), &told).unwrap();
        assert_eq!(of.found(folder.path()).unwrap(), Some(told.clone()));
        let plan = Plan { iterations: 7, ..of.plan };
        for other in [
            Origin { program: "2".into(), ..of.clone() },
            Origin { images: vec!["others".into()], ..of.clone() },
            Origin { seed: 1, ..of.clone() },
            Origin { plan, ..of.clone() },
            origin(Cell { trial: 1, ..of.cell }),
            origin(Cell { noise: Noise::Published(10.0), ..of.cell }),
        ] {
            assert_eq!(other.found(folder.path()).unwrap(), None);
            // Not even under the right name.
            std::fs::copy(folder.path().join(of.name().unwrap()), folder.path().join(other.name().unwrap()))
                .unwrap();
            assert_eq!(other.found(folder.path()).unwrap(), None);
        }
        let file = folder.path().join(of.name().unwrap());
        let text = std::fs::read(&file).unwrap();
        std::fs::write(&file, &text[..text.len() / 2]).unwrap();
        assert_eq!(of.found(folder.path()).unwrap(), None);
    }

    #[test]
    fn names_are_all_different() {
        let mut names = Vec::new();
        for way in Way::TALKING {
            for noise in [Noise::Silent, Noise::Published(1.0), Noise::Certified(1.0)] {
                for choice in [Choice::Usual, Choice::Mixed, Choice::Kept, Choice::Metropolis] {
                    for (split, trial) in [(0.0, 0), (1.0, 0), (1.0, 1)] {
                        let cell = Cell { choice, split, ..Cell::new(way, noise, 0.7, trial) };
                        names.push(cell.name());
                    }
                }
            }
        }
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

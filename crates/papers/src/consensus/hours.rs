//! Table 3: how long a trial takes.

use sottovoce_report::text;

use super::cell::{Cell, Way};
use super::cells::told;
use super::noise::Noise;
use super::printed::hours;
use super::task::Task;
use crate::registry::Desk;
use crate::{Item, Options, Result, Verdict};

/// The budget of private trials.
const EPSILON: f64 = 10.0;

fn one(way: Way, private: bool) -> Cell {
    Cell::new(way, Noise::of(private.then_some(EPSILON), false), 1.0, 0)
}

pub(super) fn cells(_: &Options) -> Vec<Cell> {
    Way::ALL.into_iter().flat_map(|way| [false, true].map(|private| one(way, private))).collect()
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    for cell in cells(desk.options) {
        if let Some(card) = told(desk, &cell)?.card {
            return Ok(item.skip(&format!(
                "its trials were learned on {card}, side by side with others, and none has a time of its own; without --device gpu, in a folder of its own, each is timed"
            )));
        }
    }
    item.say(format!(
        "Hours of one trial {}, without noise and under certified noise for epsilon {EPSILON}, on the complete graph and on the processor's cores; in brackets what is printed, on a graphics card (it \
         prints nothing of its load, and ours are those of a machine that may have other work). A trial that was kept has the time that it took when it was made.",
        Task::Digits.source(desk.options)
    ));
    let (mut shown, mut slower, mut most) = (Vec::new(), true, 0.0);
    let (mut lines, mut ratios) = (Vec::new(), Vec::new());
    for way in Way::ALL {
        let [plain, private] = [false, true].map(|private| told(desk, &one(way, private)));
        let times = [plain?.seconds, private?.seconds];
        slower &= times[1] > times[0];
        ratios.push(format!("{} {}", way.name(), text::digits(times[1] / times[0], 3)));
        let cells = times
            .iter()
            .zip(hours(way))
            .map(|(seconds, printed)| format!("{} ({printed})", text::digits(seconds / 3600.0, 2)));
        shown.push([way.name().to_owned()].into_iter().chain(cells).collect::<Vec<String>>());
        for (name, seconds) in ["without noise", "private"].into_iter().zip(times) {
            item.number(format!("{}, {name}: seconds", way.name()), seconds);
            lines.push(format!("{},{name},{seconds}", way.name()));
            most = if seconds > most { seconds } else { most };
        }
    }
    item.table(&["method", "without noise", "private"], shown);
    item.csv("method,noise,seconds", lines.into_iter());
    Ok(item.judge(Verdict {
        reproduced: slower,
        holds: most < 3600.0 * hours(Way::Dsgd)[1],
        claim: "gradients of single images make private training slower, 1.25 hours a trial instead of 1.1".into(),
        criterion: "reproduced if every method takes longer with privacy than without; holds if no trial here takes longer than the paper's longest".into(),
        ours: format!("private trials take so many times as long: {}", ratios.join(", ")),
        exact: format!("the longest trial takes {} s here", text::digits(most, 3)),
    }))
}

//! What became of figure 8's claims.

use sottovoce_report::text;

use super::distances::{Found, LEFT, TIMES};
use crate::reproduce::{Item, Verdict};

impl Found {
    pub(super) fn tabulate(&self, item: &mut Item, peers: usize) {
        let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
        let row = |t: usize| {
            let [place, shuffled] = &self.estimates;
            let (place, shuffled) = (mean(&place[t]), mean(&shuffled[t]));
            vec![
                (TIMES[t] * peers).to_string(),
                text::up(mean(&self.printed[t]), 3),
                text::up(mean(&self.truly[0][t]), 3),
                text::digits(place, 3),
                text::digits(shuffled, 3),
                text::digits(place - shuffled, 2),
                text::digits(place / shuffled, 3),
            ]
        };
        item.table(
            &[
                "steps",
                "mean loss, printed",
                "true",
                "distance of estimates, by place",
                "shuffled",
                "difference",
                "ratio",
            ],
            (0..TIMES.len()).map(row).collect(),
        );
        for (t, difference) in self.differences().into_iter().enumerate() {
            item.number(format!("{} steps per peer: difference of estimates", TIMES[t]), difference);
            item.number(format!("{} steps per peer: mean loss, printed", TIMES[t]), mean(&self.printed[t]));
            item.number(format!("{} steps per peer: mean loss, true", TIMES[t]), mean(&self.truly[0][t]));
        }
    }

    /// Quantiles in which the true mean is above the printed one in the end.
    fn above(&self) -> usize {
        let end = TIMES.len() - 1;
        self.truly[0][end].iter().zip(&self.printed[end]).filter(|(truly, printed)| truly > printed).count()
    }

    pub(super) fn verdict(&self) -> Verdict {
        let differences = self.differences();
        let (first, last) = (differences[0], differences[TIMES.len() - 1]);
        let same = self.truly[0] == self.truly[1];
        let shown: Vec<String> = TIMES
            .iter()
            .zip(&differences)
            .map(|(time, difference)| format!("{} after {time}", text::digits(*difference, 2)))
            .collect();
        let end = TIMES.len() - 1;
        let ratio = |q: usize| text::up(self.truly[0][end][q] / self.printed[end][q], 2);
        Verdict {
            reproduced: same && first > 0.0 && last <= LEFT * first,
            holds: same && self.above() == 0,
            claim: "the loss is the same for data by place and for shuffled data; at the beginning estimates are closer to each other for \
                    shuffled data, and the difference shrinks with learning"
                .into(),
            criterion: format!(
                "reproduced if paths reveal exactly the same in both cases, estimates are closer for shuffled data at the first time, and at \
                 most {LEFT} of that difference is left at the last; holds if, at every distance, the mean of what paths truly reveal is at \
                 most the printed one"
            ),
            ours: format!(
                "losses are {}; distances between estimates are larger by place than shuffled by {} steps per peer",
                if same { "the same, number by number" } else { "not the same" },
                shown.join(", ")
            ),
            exact: format!(
                "what paths truly reveal in the end is {} of the printed mean for the nearest tenth of pairs, and {} for the farthest; it is \
                 above it in {} of {} tenths",
                ratio(0),
                ratio(self.apart.len() - 1),
                self.above(),
                self.apart.len()
            ),
        }
    }
}

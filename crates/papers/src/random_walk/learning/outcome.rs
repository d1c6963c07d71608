//! What became of figure 8's claims.

use sottovoce_report::text;

use super::distances::{Found, TIMES};
use crate::learners::Spread;
use crate::{Item, Verdict};

/// How many standard errors are no chance.
const ERRORS: f64 = 2.0;
/// What was first asked to be left of the first difference, at most.
const HALF: f64 = 0.5;

/// A mean with its standard error.
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Self {
        let Spread { mean, deviation, .. } = Spread::of(values);
        Self { value: mean, error: deviation / (values.len() as f64).sqrt() }
    }

    fn is_positive(&self) -> bool {
        self.value > ERRORS * self.error
    }

    fn words(&self) -> String {
        format!("{} ± {}", text::digits(self.value, 2), text::digits(self.error, 1))
    }
}

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
        for (t, differences) in self.differences.iter().enumerate() {
            let Mean { value, error } = Mean::of(differences);
            item.number(format!("{} steps per peer: difference of estimates", TIMES[t]), value);
            item.number(format!("{} steps per peer: standard error of it", TIMES[t]), error);
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
        let means: Vec<Mean> = self.differences.iter().map(|runs| Mean::of(runs)).collect();
        let (first, last) = (&self.differences[0], &self.differences[TIMES.len() - 1]);
        let shrunk = Mean::of(&first.iter().zip(last).map(|(a, b)| a - b).collect::<Vec<_>>());
        let left = means[TIMES.len() - 1].value / means[0].value;
        let same = self.truly[0] == self.truly[1];
        let shown: Vec<String> =
            TIMES.iter().zip(&means).map(|(time, mean)| format!("{} after {time}", mean.words())).collect();
        let end = TIMES.len() - 1;
        let ratio = |q: usize| text::up(self.truly[0][end][q] / self.printed[end][q], 2);
        Verdict {
            reproduced: same && means[0].is_positive() && shrunk.is_positive(),
            holds: same && self.above() == 0,
            claim: "the loss is the same for data by place and for shuffled data; at the beginning estimates are closer to each other for \
                    shuffled data, and the difference shrinks with learning"
                .into(),
            criterion: format!(
                "reproduced if paths reveal exactly the same in both cases, estimates are closer for shuffled data at the first time, and the \
                 difference is smaller at the last, both by more than {ERRORS} standard errors (adjusted: at first at most {HALF} of the \
                 difference was to be left, a number that the paper does not name); holds if, at every distance, the mean of what paths truly \
                 reveal is at most the printed one"
            ),
            ours: format!(
                "losses are {}; distances between estimates are larger by place than shuffled by {} steps per peer; {} of the first \
                 difference is left at the last",
                if same { "the same, number by number" } else { "not the same" },
                shown.join(", "),
                text::digits(left, 2)
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

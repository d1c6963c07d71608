//! Seeds: a number, or one that the system draws.

use clap::ArgMatches;
use clap::parser::ValueSource;
use rand::TryRng;
use rand::rngs::SysRng;
use sottovoce::experiment::Experiment;

use crate::Global;

/// The word for a seed that is drawn.
const RANDOM: &str = "random";
/// Bits of a drawn seed: as many as numbers of JSON are sure to keep.
const BITS: u32 = 53;

/// A number, or `random`.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    if text == RANDOM {
        let entropy = SysRng.try_next_u64();
        return entropy
            .map(|bits| bits >> (u64::BITS - BITS))
            .map_err(|error| format!("the system has no entropy to give ({error}); give a number"));
    }
    let given = text.parse().ok().filter(|&seed| i64::try_from(seed).is_ok());
    given.ok_or_else(|| "give a whole number from 0 to 2^63 - 1, or random".to_owned())
}

/// Whether the seed of these arguments was drawn.
pub(super) fn was_drawn(matches: &ArgMatches) -> bool {
    matches.get_raw("seed").is_some_and(|mut values| values.any(|value| value == RANDOM))
}

/// Whether a seed was given.
pub(super) fn was_given(matches: &ArgMatches) -> bool {
    matches.value_source("seed") == Some(ValueSource::CommandLine)
}

impl Global {
    /// The same with another seed.
    pub(crate) fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// The seed of an experiment: as given, or else as it says.
    pub(crate) fn seed_of(&self, experiment: &Experiment) -> u64 {
        experiment.seed().filter(|_| !self.seed_given).unwrap_or(self.seed)
    }
}

/// What to say of a drawn seed.
pub(super) fn drawn(seed: u64) -> String {
    format!(
        "the seed is {seed}, from the system's entropy; --seed {seed} repeats this. Printed, it is public again: whoever has it can take away all \
         simulated noise."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_numbers_or_drawn() {
        assert_eq!(seed("7"), Ok(7));
        assert!(seed("-1").is_err() && seed("Random").is_err() && seed("").is_err());
        assert_ne!(seed(RANDOM), seed(RANDOM));
        assert!(seed(RANDOM).is_ok_and(|drawn| drawn < 1 << BITS));
    }
}

//! A rumour spreads, and nobody can tell who began.

use serde::{Deserialize, Serialize};
use sottovoce_views::rumor as views;

#[cfg(feature = "flags")]
use super::flags::{count, real};
use crate::rumor::{Privacy, Settings};
use crate::{Error, Result};

/// How many peers, how many of them curious, and how private or fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct Rumor {
    /// Seed of everything random, where the command line gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub seed: Option<u64>,
    /// Number of peers; everyone can reach everyone.
    #[cfg_attr(feature = "flags", arg(long, short = 'n', alias = "nodes", default_value = "1024", value_name = "N", value_parser = count, allow_negative_numbers = true))]
    pub peers: usize,
    /// How many of them are curious and pool what they hear (default: one in sixteen).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "F", value_parser = count, allow_negative_numbers = true))]
    pub curious: Option<usize>,
    /// Privacy to aim at: views of two sources differ by at most this (default: twice the best there is, F/N).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "DELTA", value_parser = real, conflicts_with = "muting", allow_negative_numbers = true))]
    pub delta: Option<f64>,
    /// Probability of staying active after a telling, instead: 0 is the most private and slow, 1 is push, fast and hardly private.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "S", value_parser = real, allow_negative_numbers = true))]
    pub muting: Option<f64>,
}

impl Default for Rumor {
    fn default() -> Self {
        Self { seed: None, peers: 1024, curious: None, delta: None, muting: None }
    }
}

impl Rumor {
    /// What is run, with this seed.
    pub fn settings(&self, seed: u64) -> Result<Settings> {
        let privacy = match (self.muting, self.delta) {
            (Some(muting), Some(delta)) => {
                let remedy = format!("muting is given too ({muting}); give one of them");
                return Err(Error::parameter("delta", delta, remedy));
            }
            (Some(muting), None) => Privacy::Muting(muting),
            (None, Some(delta)) => Privacy::Delta(delta),
            (None, None) => Privacy::TwiceTheBest,
        };
        Ok(Settings { nodes: self.peers, curious: Some(self.curious()), privacy, seed })
    }

    /// How many are curious.
    pub fn curious(&self) -> usize {
        self.curious.unwrap_or((self.peers / 16).max(1)) // whole numbers
    }

    /// The rumour to account for. Where its muting is given it may be smaller than one that is run.
    pub fn rumor(&self) -> Result<views::Rumor> {
        let settings = self.settings(0)?;
        match settings.privacy {
            Privacy::Muting(muting) => Ok(views::Rumor::new(self.peers, self.curious(), muting)?),
            _ => settings.rumor(),
        }
    }
}

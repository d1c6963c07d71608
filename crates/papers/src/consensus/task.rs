//! Images: the paper's from the data folder, or drawn figures in small sizes, so that everybody can try.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sottovoce_learning::Images;
use sottovoce_learning::images::{self, Found};
use sottovoce_learning::net::Net;

use crate::{Options, Result};

/// Seed of drawn figures: the same whatever the run's.
const DRAWN: u64 = 823;

/// What is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Task {
    /// MNIST, or figures that are drawn.
    Digits,
    /// Fashion-MNIST.
    Fashion,
    /// CIFAR-100.
    Cifar,
    /// What digits are learned from, every eleventh held out to judge by: nobody sees those that digits are judged by.
    Held,
}

/// Of so many images one is held out. (Coprime to the number of classes: drawn figures come one after the other.)
const HELD: usize = 11;

/// How much of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Sizes {
    pub(super) agents: usize,
    /// Images to learn from and to judge by, where not all are taken.
    images: Option<(usize, usize)>,
    pub(super) rounds: usize,
    pub(super) lot: f64,
}

/// Images, and where they came from.
pub(super) struct Pictures {
    pub(super) train: Images,
    pub(super) test: Images,
    /// Names and hashes of files.
    pub(super) origin: Vec<String>,
}

impl Sizes {
    /// So small that it takes no time.
    pub(super) const fn small() -> Self {
        Self { agents: 4, images: None, rounds: 2, lot: 4.0 }
    }
}

impl Task {
    /// Names of the folder that its files lie in, and of one that a data folder has if it is that folder itself.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Digits => ("mnist", "t10k-labels-idx1-ubyte.gz"),
            Self::Fashion => ("fashion-mnist", ""),
            Self::Cifar => ("cifar-100-binary", ""),
            Self::Held => Self::Digits.place(),
        }
    }

    /// Where its files are, if they are there.
    pub(super) fn folder(self, options: &Options) -> Option<PathBuf> {
        let (name, file) = self.place();
        let data = options.data.as_ref()?;
        let inside = data.join(name);
        let own = || (!file.is_empty() && data.join(file).is_file()).then(|| data.clone());
        if inside.is_dir() { Some(inside) } else { own() }
    }

    /// How much is learned from what is there.
    pub(super) fn sizes(self, options: &Options) -> Sizes {
        let real = self.folder(options).is_some();
        match (self, options.quick, real) {
            (Self::Cifar, true, _) => Sizes { agents: 4, images: Some((60, 20)), rounds: 2, lot: 4.0 },
            (Self::Cifar, false, _) => Sizes { agents: 10, images: None, rounds: 20_000, lot: 250.0 },
            (_, true, _) => Sizes { agents: 5, images: Some((600, 200)), rounds: 20, lot: 32.0 },
            (_, false, true) => Sizes { agents: 10, images: None, rounds: 2000, lot: 256.0 },
            (_, false, false) => Sizes { agents: 10, images: Some((6000, 1000)), rounds: 300, lot: 128.0 },
        }
    }

    /// Reads or draws them.
    pub(super) fn pictures(self, options: &Options) -> Result<Pictures> {
        if self == Self::Held {
            let Pictures { train, origin, .. } = Self::Digits.pictures(options)?;
            let part = |held: bool| {
                let rows = (0..train.len()).filter(|row| row.is_multiple_of(HELD) == held);
                train.gather(&rows.collect::<Vec<_>>())
            };
            return Ok(Pictures { train: part(false)?, test: part(true)?, origin });
        }
        let Sizes { images, .. } = self.sizes(options);
        let (learn, judge) = images.unwrap_or((usize::MAX, usize::MAX));
        let Some(folder) = self.folder(options) else {
            let all = images::drawn(learn + judge, DRAWN)?;
            let part = |from: usize, to: usize| all.gather(&(from..to).collect::<Vec<_>>());
            let origin = vec![format!("drawn by {DRAWN}")];
            return Ok(Pictures { train: part(0, learn)?, test: part(learn, learn + judge)?, origin });
        };
        let Found { train, test, sources } = images::open(&folder)?;
        let first = |images: Images, most: usize| -> Result<Images> {
            if most >= images.len() {
                return Ok(images);
            }
            Ok(images.gather(&(0..most).collect::<Vec<_>>())?)
        };
        let origin = sources.iter().map(|source| format!("{} {}", source.file, source.sha256)).collect();
        Ok(Pictures { train: first(train, learn)?, test: first(test, judge)?, origin })
    }

    /// The paper's net for them; in small sizes a narrow one of the same layers.
    pub(super) fn net(self, images: &Images, sizes: &Sizes) -> Result<Net> {
        let (shape, classes) = (images.shape(), images.classes());
        Ok(match self {
            Self::Digits | Self::Fashion | Self::Held => Net::consensus_cnn(),
            Self::Cifar if sizes.images.is_some() => Net::residual_net(shape, classes, [8, 8, 16, 16], 4)?,
            Self::Cifar => Net::resnet9(shape, classes)?,
        })
    }

    /// What verdicts are about.
    pub(super) fn source(self, options: &Options) -> String {
        let Sizes { rounds, lot, .. } = self.sizes(options);
        let sizes = format!("{rounds} iterations, lots of {lot}");
        match (self, self.folder(options)) {
            (Self::Digits, None) => {
                format!(
                    "on drawn figures ({sizes}; MNIST is read from mnist/ in the folder given with --data)"
                )
            }
            (Self::Digits, Some(_)) => format!("on MNIST ({sizes})"),
            (Self::Fashion, _) => format!("on Fashion-MNIST ({sizes})"),
            (Self::Cifar, _) => format!("on CIFAR-100 ({sizes})"),
            (Self::Held, _) => format!("on images held out of those that are learned from ({sizes})"),
        }
    }
}

//! Where the gradients of a net are computed: on the processor, or on a graphics card where there is one.

use clap::ValueEnum;
use sottovoce::deep::{Ready, Trainer};

use crate::output::note;

/// Where gradients are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// A graphics card (NVIDIA), if there is one; else the processor, with a note.
    Gpu,
}

impl Device {
    /// Who computes them, if not the processor. A card that is not there is noted; a net that no card computes is refused.
    pub(super) fn trainer(self, ready: &Ready) -> anyhow::Result<Option<Box<dyn Trainer>>> {
        match self {
            Self::Cpu => Ok(None),
            Self::Gpu => on_card(ready),
        }
    }
}

#[cfg(feature = "gpu")]
fn on_card(ready: &Ready) -> anyhow::Result<Option<Box<dyn Trainer>>> {
    use sottovoce_gpu::{Card, Gradients};
    Card::check(&ready.setting.net)?;
    match Card::open() {
        Ok(card) => {
            note(&format!("gradients are computed on {}", card.name()));
            Ok(Some(Box::new(Gradients::new(&card, &ready.setting.net, &ready.setting.holdings.rows)?)))
        }
        Err(error) => {
            note(&format!("{error}. Gradients are computed on the processor"));
            Ok(None)
        }
    }
}

#[cfg(not(feature = "gpu"))]
#[expect(clippy::unnecessary_wraps, reason = "with cards it can be refused")]
fn on_card(_: &Ready) -> anyhow::Result<Option<Box<dyn Trainer>>> {
    note(
        "`device` is gpu: this program was built without (feature `gpu`); gradients are computed on the processor",
    );
    Ok(None)
}

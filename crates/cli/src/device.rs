//! Where nets are learned: on the processor, or on a graphics card where there is one.

use clap::ValueEnum;
use sottovoce::Result;
use sottovoce::deep::{Ready, SideBySide, Trainer};

use crate::output::note;

/// Where gradients are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// A graphics card (NVIDIA), if there is one; else the processor, with a note.
    Gpu,
}

impl Device {
    /// Who computes them, if not the processor. A card that is not there is noted; a net that no card computes is refused.
    pub(crate) fn trainer(self, ready: &Ready) -> Result<Option<Box<dyn Trainer>>> {
        match self {
            Self::Cpu => Ok(None),
            Self::Gpu => on_card(ready),
        }
    }

    /// Who learns many nets at once, if somebody does. A card that is not there is noted.
    #[must_use]
    pub fn side_by_side(self) -> Option<Box<dyn SideBySide>> {
        match self {
            Self::Cpu => None,
            Self::Gpu => card(),
        }
    }
}

#[cfg(feature = "gpu")]
fn on_card(ready: &Ready) -> Result<Option<Box<dyn Trainer>>> {
    use sottovoce_gpu::{Card, Gradients, Layers};
    let refused = |error: sottovoce_gpu::Error| sottovoce::Error::refused(error.to_string());
    match Card::open() {
        Ok(card) => {
            note(&format!("gradients are computed on {}", card.name()));
            let (net, rows) = (&ready.setting.net, &ready.setting.holdings.rows);
            Ok(Some(match Card::check(net) {
                Ok(()) => Box::new(Gradients::new(&card, net, rows).map_err(refused)?),
                Err(_) => Box::new(Layers::new(&card, net, rows).map_err(refused)?),
            }))
        }
        Err(error) => {
            note(&format!("{error}. Gradients are computed on the processor"));
            Ok(None)
        }
    }
}

#[cfg(feature = "gpu")]
fn card() -> Option<Box<dyn SideBySide>> {
    match sottovoce_gpu::Card::open() {
        Ok(card) => Some(Box::new(card)),
        Err(error) => {
            note(&format!("{error}. Nets are learned on the processor"));
            None
        }
    }
}

#[cfg(not(feature = "gpu"))]
fn card() -> Option<Box<dyn SideBySide>> {
    note(
        "`device` is gpu: this program was built without (feature `gpu`); nets are learned on the processor",
    );
    None
}

#[cfg(not(feature = "gpu"))]
#[expect(clippy::unnecessary_wraps, reason = "with cards it can be refused")]
fn on_card(_: &Ready) -> Result<Option<Box<dyn Trainer>>> {
    note(
        "`device` is gpu: this program was built without (feature `gpu`); gradients are computed on the processor",
    );
    Ok(None)
}

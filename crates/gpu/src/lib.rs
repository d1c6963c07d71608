//! The consensus paper's net on a graphics card: clipped gradients of many agents' lots at once, and whole runs side by side.
//!
//! ```text
//! Card ──► Gradients: a Trainer, for the drivers of the simulator; lots and noise stay theirs
//!   └────► Together: R runs of DSGD, DSGT and DiNNO; lots from the host, mixing, noise and steps on the card
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `card.rs` | the card: found at run time, kernels compiled for it |
//! | `kernels/forward.cu` | the net, from images to losses and the differences of its first layer's outputs |
//! | `kernels/back.cu` | the rest of the way back: norms over all parameters, clipping, sums over lots |
//! | `kernels/learn.cu` | mixing, noise and steps |
//! | `pool.rs` | images in the card's memory, as bytes |
//! | `room.rs` | from lots to sums of clipped gradients |
//! | `gradients.rs` | the same as a [`Trainer`](sottovoce_simulator::consensus::Trainer) |
//! | `layers/`, `kernels/layers.cu` | residual nets: a `Trainer` of its own |
//! | `together.rs`, `turn.rs` | many runs at once |
//! | `side.rs` | the same for the engine, as many at a time as there is memory for |
//!
//! **What differs from the processor.** Gradients agree to about 1e-6 of their length, not in their last bits. Lots are the same rows: they are drawn on the
//! host, from the value that is accounted for. With [`Gradients`] noise is the simulator's. With [`Together`] it is drawn on the card, under the same law and
//! scale: ChaCha8 under the simulator's keys, in a stream of its own, made Gaussian by Box and Muller in single precision. Like all noise of simulations it
//! protects nobody.
//! On the same card the same runs give the same bits: sums have one order.

mod card;
mod error;
mod gradients;
mod layers;
mod pool;
mod room;
mod side;
#[cfg(test)]
mod tests;
mod together;
mod turn;

pub use card::Card;
pub use error::{Error, Result};
pub use gradients::Gradients;
pub use layers::Layers;
pub use together::Together;

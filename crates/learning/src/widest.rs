//! The widest instructions that the processor has (`fearless_simd` picks them, without unsafe code of ours). They change no bit: sums have the order in
//! which they are written, and nothing is rounded once that is written to be rounded twice.

use fearless_simd::{Level, dispatch, prelude::*};

/// Work that is worth it.
pub(crate) trait Kernel {
    /// Does it. Must be inlined, for the instructions are chosen outside.
    fn run<S: Simd>(self, simd: S);
}

/// Runs a kernel.
#[inline]
pub(crate) fn go(kernel: impl Kernel) {
    dispatch!(Level::new(), simd => kernel.run(simd));
}

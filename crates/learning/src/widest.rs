//! The widest instructions that the processor has (`fearless_simd` picks them, without unsafe code of ours). They change no bit: sums have the order in
//! which they are written, and nothing is rounded once that is written to be rounded twice.

use fearless_simd::{Level, prelude::*};

/// Work that is worth it.
pub(crate) trait Kernel {
    /// Does it. Must be inlined, for the instructions are chosen outside.
    fn run<S: Simd>(self, simd: S);
}

/// Runs a kernel.
#[inline]
#[cfg(target_arch = "x86_64")]
pub(crate) fn go(kernel: impl Kernel) {
    let level = Level::new();
    // Three of the crate's four levels: processors between the first two are old, and each level compiles every kernel once more.
    if let Some(simd) = level.as_avx512() {
        simd.vectorize(
            #[inline(always)]
            || kernel.run(simd),
        );
    } else if let Some(simd) = level.as_avx2() {
        simd.vectorize(
            #[inline(always)]
            || kernel.run(simd),
        );
    } else {
        let simd = level.as_sse2().expect("every x86-64 has SSE2");
        simd.vectorize(
            #[inline(always)]
            || kernel.run(simd),
        );
    }
}

/// Runs a kernel.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn go(kernel: impl Kernel) {
    fearless_simd::dispatch!(Level::new(), simd => kernel.run(simd));
}

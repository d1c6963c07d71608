//! What a machine is lent on a node.

use super::*;

/// What a machine is lent on a node.
pub(super) struct Lent<'a, N, T, V> {
    pub(super) noise: &'a mut N,
    pub(super) book: &'a mut Book<T, V>,
    /// Whether what noise is put on is written down as well.
    pub(super) recorded: bool,
    /// Bytes that a value takes, more or less.
    pub(super) about: usize,
    pub(super) covered: Vec<Covered>,
    pub(super) failed: Option<Error>,
}

impl<N, T, V: serde::Serialize> Lent<'_, N, T, V> {
    fn note(&mut self, draw: u64, before: Option<Vec<u8>>, value: &V) {
        match encode_onto(Vec::new(), self.about, value) {
            Ok(after) => self.covered.push(Covered { draw, before, after }),
            Err(error) => self.failed = Some(error),
        }
    }
}

impl<N: Hiding<V>, T, V> Chance for Lent<'_, N, T, V> {
    fn bits(&mut self) -> u64 {
        self.noise.bits()
    }
}

impl<N: Hiding<V>, T: PartialEq, V: serde::Serialize> Means<V> for Lent<'_, N, T, V> {
    fn admit(&mut self, release: &Release) -> std::result::Result<(), Overspent> {
        self.book.admit(release)
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut V) -> std::result::Result<(), Uncovered> {
        self.cover_by(Law::Gaussian, draw, scale, value)
    }

    fn cover_by(
        &mut self,
        law: Law,
        draw: u64,
        scale: f64,
        value: &mut V,
    ) -> std::result::Result<(), Uncovered> {
        let before = self.recorded.then(|| encode(value).ok()).flatten();
        self.noise.cover(law, draw, scale, value)?;
        self.note(draw, before, value);
        Ok(())
    }

    // A private value: what it was is never written down.
    fn hide(&mut self, law: Law, draw: u64, scale: f64, value: &mut V) -> std::result::Result<(), Uncovered> {
        self.noise.hide(law, draw, scale, value)?;
        self.note(draw, None, value);
        Ok(())
    }
}

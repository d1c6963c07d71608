//! Images side by side, as a net computes them.

use super::Images;

impl Images {
    /// Writes up to `N` images beside each other; where there are fewer, the first one again.
    pub(crate) fn fill<const N: usize>(&self, picked: &[u32], rows: &mut [[f32; N]]) {
        let images: [&[u8]; N] = std::array::from_fn(|lane| {
            let image = picked.get(lane).or(picked.first());
            image.map_or(&[][..], |&image| self.pixels(image as usize))
        });
        let plane = self.shape.height * self.shape.width;
        for ((channel, rows), table) in rows.chunks_exact_mut(plane).enumerate().zip(&self.tables) {
            let images = images.map(|image| &image[channel * plane..][..plane]);
            // Of one length, so that no place needs to be checked.
            for at in 0..plane {
                let row = &mut rows[at];
                for lane in 0..N {
                    row[lane] = table[usize::from(images[lane][at])];
                }
            }
        }
    }
}

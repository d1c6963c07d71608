//! Images in another size, as Pillow (and so torchvision) makes them.
//!
//! Bilinear, with pixel centres at halves; where an image shrinks, the triangle grows with it, so that every pixel counts. Columns first, then rows,
//! with weights of 22 bits and rounding to bytes after each: where images grow, the same bytes as theirs. (Where they become lower, newer versions take rows
//! first, and a byte may differ by 1.)

use super::Images;
use crate::Result;
use crate::net::Shape;

/// Bits behind the point of a weight.
const BITS: u32 = 22;

/// The pixels that a new one is made of: from where, and their weights.
struct Taps {
    first: usize,
    weights: Vec<i64>,
}

fn taps(from: usize, to: usize) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let reach = if scale > 1.0 { scale } else { 1.0 };
    let near = |x: f64| (x.max(0.0) as usize).min(from);
    (0..to)
        .map(|at| {
            let centre = (at as f64 + 0.5) * scale;
            let (first, end) = (near(centre - reach + 0.5), near(centre + reach + 0.5));
            let triangle = |pixel: usize| (1.0 - ((pixel as f64 + 0.5 - centre) / reach).abs()).max(0.0);
            let sum: f64 = (first..end).map(triangle).sum();
            let whole = |weight: f64| (weight / sum * f64::from(1 << BITS) + 0.5) as i64;
            Taps { first, weights: (first..end).map(|pixel| whole(triangle(pixel))).collect() }
        })
        .collect()
}

/// One new pixel from pixels that lie `step` apart.
fn mixed(pixels: &[u8], step: usize, taps: &Taps) -> u8 {
    let pixels = pixels.iter().skip(taps.first * step).step_by(step);
    let sum: i64 = pixels.zip(&taps.weights).map(|(&pixel, weight)| i64::from(pixel) * weight).sum();
    ((sum + (1 << (BITS - 1))) >> BITS).clamp(0, 255) as u8
}

impl Images {
    /// The same images, of this height and width.
    pub fn resized(&self, height: usize, width: usize) -> Result<Self> {
        let shape = Shape { height, width, ..self.shape };
        shape.check()?;
        let (across, down) = (taps(self.shape.width, width), taps(self.shape.height, height));
        let mut pixels = Vec::with_capacity(self.len() * shape.size());
        let mut narrow = Vec::new();
        for plane in self.pixels.chunks_exact(self.shape.height * self.shape.width) {
            narrow.clear();
            for row in plane.chunks_exact(self.shape.width) {
                narrow.extend(across.iter().map(|taps| mixed(row, 1, taps)));
            }
            for taps in &down {
                pixels.extend((0..width).map(|x| mixed(&narrow[x..], width, taps)));
            }
        }
        Ok(Self { shape, pixels, labels: self.labels.clone(), tables: self.tables.clone(), ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(height: usize, width: usize, pixels: &[u8]) -> Images {
        Images::new(Shape { channels: 1, height, width }, pixels.to_vec(), vec![0], 1).unwrap()
    }

    /// Bytes that Pillow 13 gives (`Image.resize(size, Image.BILINEAR)`).
    #[test]
    fn the_bytes_are_pillows() {
        let image = image(2, 3, &[0, 100, 255, 7, 31, 200]);
        assert_eq!(image.resized(2, 3).unwrap(), image);
        let bytes = |height, width| image.resized(height, width).unwrap().pixels(0).to_vec();
        assert_eq!(bytes(3, 5), [0, 40, 100, 193, 255, 4, 29, 66, 163, 228, 7, 17, 31, 132, 200]);
        assert_eq!(bytes(2, 2), [38, 197, 16, 137]);
        assert_eq!(bytes(1, 1), [94]);
    }

    #[test]
    fn sizes_are_checked() {
        let error = image(1, 1, &[9]).resized(0, 4).unwrap_err().to_string();
        assert!(error.starts_with("`height` is 0: "), "{error}");
    }
}

//! Ten figures drawn with a shaky hand: a task that needs no files.
//!
//! Each picture is a figure from 0 to 9 made of strokes whose corners move, larger or smaller, slanted, of some thickness and brightness, with a stray stroke in
//! half of them and noise in every pixel. Only sums, products and square roots are used: the bytes are the same on every machine.

use rand::RngExt;
use sottovoce_privacy::noise::simulation::{Seed, SimulationRng, Stream};

use super::{Images, MNIST};
use crate::net::Shape;
use crate::{Error, Result};

/// Height and width of a picture.
const SIZE: usize = 32;

/// More are refused: a gigabyte.
const MOST: usize = 1 << 20;

/// The corners of each figure's stroke, in a square of 1.
const FIGURES: [&[(f32, f32)]; 10] = [
    &[(0.2, 0.1), (0.8, 0.1), (0.8, 0.9), (0.2, 0.9), (0.2, 0.1)],
    &[(0.3, 0.3), (0.5, 0.1), (0.5, 0.9)],
    &[(0.2, 0.25), (0.5, 0.1), (0.8, 0.3), (0.2, 0.9), (0.8, 0.9)],
    &[(0.2, 0.1), (0.8, 0.1), (0.45, 0.45), (0.8, 0.7), (0.5, 0.9), (0.2, 0.85)],
    &[(0.7, 0.9), (0.7, 0.1), (0.2, 0.6), (0.85, 0.6)],
    &[(0.8, 0.1), (0.25, 0.1), (0.25, 0.45), (0.7, 0.45), (0.8, 0.7), (0.6, 0.9), (0.2, 0.9)],
    &[(0.7, 0.1), (0.3, 0.4), (0.2, 0.7), (0.4, 0.9), (0.75, 0.8), (0.7, 0.55), (0.25, 0.6)],
    &[(0.2, 0.1), (0.8, 0.1), (0.4, 0.9)],
    &[
        (0.5, 0.5),
        (0.25, 0.3),
        (0.5, 0.1),
        (0.75, 0.3),
        (0.5, 0.5),
        (0.2, 0.75),
        (0.5, 0.9),
        (0.8, 0.75),
        (0.5, 0.5),
    ],
    &[(0.75, 0.4), (0.4, 0.5), (0.25, 0.3), (0.5, 0.1), (0.75, 0.25), (0.7, 0.9)],
];

/// Pictures of 32x32 bytes, figure after figure, normalised by MNIST's constants. Picture `k` is a function of the seed and `k` alone.
pub fn drawn(count: usize, seed: u64) -> Result<Images> {
    if count > MOST {
        return Err(Error::parameter("count", count, format!("draw at most {MOST} pictures")));
    }
    let mut pixels = Vec::with_capacity(count * SIZE * SIZE);
    for number in 0..count {
        let mut rng = Seed(seed).stream(Stream::Pictures, number as u64, 0);
        draw(FIGURES[number % FIGURES.len()], &mut rng, &mut pixels);
    }
    let labels = (0..count).map(|number| (number % FIGURES.len()) as u8).collect();
    let shape = Shape { channels: 1, height: SIZE, width: SIZE };
    Images::new(shape, pixels, labels, FIGURES.len())?.normalised(&MNIST)
}

/// Adds a picture.
fn draw(figure: &[(f32, f32)], rng: &mut SimulationRng, pixels: &mut Vec<u8>) {
    let size = SIZE as f32;
    let scale = size * rng.random_range(0.65..0.9);
    let (left, top) = (rng.random_range(0.0..size - scale), rng.random_range(0.0..size - scale));
    let slant = rng.random_range(-0.15..0.15);
    let mut place = |&(x, y): &(f32, f32)| {
        let (x, y) = (x + rng.random_range(-0.06..0.06), y + rng.random_range(-0.06..0.06));
        (left + scale * (x + slant * (0.5 - y)), top + scale * y)
    };
    let corners: Vec<(f32, f32)> = figure.iter().map(&mut place).collect();
    let mut strokes: Vec<_> = corners.windows(2).map(|ends| (ends[0], ends[1])).collect();
    if rng.random_bool(0.5) {
        let mut spot = || (rng.random_range(0.0..size), rng.random_range(0.0..size));
        let (x, y) = spot();
        let (to_x, to_y) = spot();
        strokes.push(((x, y), (x + 0.3 * (to_x - x), y + 0.3 * (to_y - y))));
    }
    let (thick, ink) = (rng.random_range(0.6..1.5), rng.random_range(110.0..255.0));
    for at in 0..SIZE * SIZE {
        let pixel = ((at % SIZE) as f32 + 0.5, (at / SIZE) as f32 + 0.5);
        let mut light = 0.0;
        for &stroke in &strokes {
            let shade = thick + 0.5 - distance(pixel, stroke);
            let shade = if shade > 1.0 { 1.0 } else { shade };
            light = if shade > light { shade } else { light };
        }
        let noise: f32 = rng.random_range(-40.0..40.0);
        // Casts of what is outside give the nearest byte.
        pixels.push((ink * light + noise) as u8);
    }
}

/// How far a point is from a stroke.
fn distance(point: (f32, f32), (a, b): ((f32, f32), (f32, f32))) -> f32 {
    let (along, to) = ((b.0 - a.0, b.1 - a.1), (point.0 - a.0, point.1 - a.1));
    let square = along.0 * along.0 + along.1 * along.1;
    let part = (to.0 * along.0 + to.1 * along.1) / (square + 1e-6);
    let part = if part < 0.0 { 0.0 } else { part };
    let part = if part > 1.0 { 1.0 } else { part };
    let (x, y) = (to.0 - part * along.0, to.1 - part * along.1);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_function_of_the_seed_and_its_number() {
        let (few, more) = (drawn(10, 4).unwrap(), drawn(25, 4).unwrap());
        assert_eq!((few.len(), more.len(), few.classes()), (10, 25, 10));
        assert!((0..10).all(|at| few.pixels(at) == more.pixels(at) && few.label(at) == at as u8));
        assert_ne!(few.pixels(0), drawn(1, 5).unwrap().pixels(0));
        assert_ne!(more.pixels(0), more.pixels(10));
        // Ink and paper: figures can be told from noise, whose mean is 10.
        for at in 0..25 {
            let bright = more.pixels(at).iter().filter(|&&byte| byte > 90).count();
            assert!((20..400).contains(&bright), "{bright} bright pixels in picture {at}");
        }
        assert!(drawn(0, 1).unwrap().is_empty());
        assert!(drawn(MOST + 1, 1).unwrap_err().to_string().starts_with("`count` is 1048577: "));
    }
}

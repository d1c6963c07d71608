//! Pictures as bitmaps.
//!
//! A picture is made of few kinds of shape, so it is drawn directly: a general SVG renderer would take five times as
//! long to build and would need a font from somewhere all the same.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

use crate::colour::Ink;
use crate::error::{Error, Result};
use crate::font::Font;
use crate::scene::{Anchor, Form, Item, Picture, Shape, Text};

/// Pixels for each unit of a picture: sharp on dense screens and in print.
const ZOOM: f64 = 2.0;

impl Picture {
    /// The picture as a vector file and as a bitmap, named `stem.svg` and `stem.png`.
    ///
    /// # Errors
    ///
    /// Where the bitmap would be empty or too large.
    pub fn files(&self, stem: &str) -> Result<[(String, Vec<u8>); 2]> {
        Ok([(format!("{stem}.svg"), self.svg().into_bytes()), (format!("{stem}.png"), self.png(ZOOM)?)])
    }

    /// The picture as a PNG file on a light background, `zoom` pixels for each of its units.
    ///
    /// # Errors
    ///
    /// Where the bitmap would be empty or too large.
    pub fn png(&self, zoom: f64) -> Result<Vec<u8>> {
        let (width, height) = ((self.width * zoom).round(), (self.height * zoom).round());
        let fail = |problem: &str| Error::Bitmap { width, height, problem: problem.into() };
        if !(1.0..=16_384.0).contains(&width) || !(1.0..=16_384.0).contains(&height) {
            return Err(fail("each side must have 1 to 16384"));
        }
        let pixmap =
            Pixmap::new(width as u32, height as u32).ok_or_else(|| fail("there is no memory for it"))?;
        let font = Font::load().ok_or_else(|| fail("the font cannot be read"))?;
        let mut canvas = Canvas { pixmap, base: Transform::from_scale(zoom as f32, zoom as f32), font };
        canvas.pixmap.fill(colour(Ink::Paper, 1.0));
        for item in &self.items {
            if let Item::Shape(shape) = item {
                canvas.draw(shape);
            }
        }
        canvas.pixmap.encode_png().map_err(|e| fail(&e.to_string()))
    }
}

struct Canvas {
    pixmap: Pixmap,
    base: Transform,
    font: Font,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        let Some((path, transform)) = self.path(&shape.form) else {
            return;
        };
        if let Some(ink) = shape.fill {
            let paint = paint(ink, shape.opacity);
            self.pixmap.fill_path(&path, &paint, FillRule::Winding, transform, None);
        }
        if let Some(ink) = shape.stroke {
            let dash = shape.dash.iter().map(|d| *d as f32).collect::<Vec<_>>();
            let stroke = Stroke {
                width: shape.stroke_width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                // An odd dash is repeated to an even one by SVG; ours are even already.
                dash: StrokeDash::new(dash, 0.0),
                ..Stroke::default()
            };
            self.pixmap.stroke_path(&path, &paint(ink, shape.opacity), &stroke, transform, None);
        }
    }

    fn path(&self, form: &Form) -> Option<(Path, Transform)> {
        let path = match form {
            Form::Lines { pieces, closed } => lines(pieces, *closed)?,
            Form::Circle { centre, radius } => {
                PathBuilder::from_circle(centre.0 as f32, centre.1 as f32, *radius as f32)?
            }
            Form::Rectangle { corner: (x, y), size: (w, h) } => {
                PathBuilder::from_rect(Rect::from_xywh(*x as f32, *y as f32, *w as f32, *h as f32)?)
            }
            Form::Text(text) => return self.text(text),
        };
        Some((path, self.base))
    }

    fn text(&self, text: &Text) -> Option<(Path, Transform)> {
        let width = self.font.width(&text.text, text.size);
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let path = self.font.outline(&text.text, text.size)?;
        let turn = if text.upwards { -90.0 } else { 0.0 };
        let place = self.base.pre_translate(text.at.0 as f32, text.at.1 as f32);
        Some((path, place.pre_rotate(turn).pre_translate(-back as f32, 0.0)))
    }
}

fn lines(pieces: &[Vec<(f64, f64)>], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for piece in pieces {
        for (i, (x, y)) in piece.iter().enumerate() {
            if i == 0 { path.move_to(*x as f32, *y as f32) } else { path.line_to(*x as f32, *y as f32) }
        }
        if closed {
            path.close();
        }
    }
    path.finish()
}

fn paint(ink: Ink, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour(ink, opacity));
    paint
}

fn colour(ink: Ink, opacity: f64) -> Color {
    let rgb = ink.light();
    Color::from_rgba8(rgb.0, rgb.1, rgb.2, (255.0 * opacity.clamp(0.0, 1.0)).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_pixels(shape: Shape) -> usize {
        let mut picture = Picture::new((120.0, 40.0), "t", "d");
        picture.add(shape);
        let png = picture.png(2.0).unwrap();
        let image = Pixmap::decode_png(&png).unwrap();
        assert_eq!((image.width(), image.height()), (240, 80));
        image.pixels().iter().filter(|p| p.red() < 128).count()
    }

    #[test]
    fn text_and_lines_leave_ink() {
        let text = |s: &str| Shape::text((10.0, 30.0), s, Anchor::Start);
        assert_eq!(dark_pixels(text("  ")), 0);
        assert!(dark_pixels(text("loss 0.01")) > 300);
        assert!(dark_pixels(text("loss").upwards()) > 100);
        assert!(dark_pixels(Shape::line(vec![(0.0, 20.0), (120.0, 20.0)]).stroke(Ink::Text, 2.0)) > 900);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        let picture = Picture::new((120.0, 40.0), "t", "d");
        for zoom in [0.0, -1.0, 1e9, f64::NAN] {
            assert!(picture.png(zoom).is_err());
        }
    }
}

//! Glyph outlines for bitmaps.
//!
//! The typeface comes from a crate that carries it, so that a bitmap looks the same on every machine and nothing is
//! looked up on the reader's system.

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// A typeface ready to be outlined.
pub(crate) struct Font {
    face: Face<'static>,
}

impl Font {
    /// Nothing if the font file cannot be read.
    pub(crate) fn load() -> Option<Self> {
        Face::parse(dejavu::sans_condensed::regular(), 0).ok().map(|face| Self { face })
    }

    fn glyph(&self, c: char) -> GlyphId {
        // The first glyph of a font is the box that stands for what it does not have.
        self.face.glyph_index(c).unwrap_or(GlyphId(0))
    }

    fn unit(&self, size: f64) -> f64 {
        size / f64::from(self.face.units_per_em())
    }

    fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.face.glyph_hor_advance(glyph).unwrap_or(0))
    }

    /// How wide a line of text is at this size.
    pub(crate) fn width(&self, text: &str, size: f64) -> f64 {
        text.chars().map(|c| self.advance(self.glyph(c))).sum::<f64>() * self.unit(size)
    }

    /// The outline of a line of text that starts at the origin; nothing if there is nothing to see.
    pub(crate) fn outline(&self, text: &str, size: f64) -> Option<Path> {
        let mut outline = Outline { path: PathBuilder::new(), x: 0.0 };
        let mut pen = 0.0;
        for glyph in text.chars().map(|c| self.glyph(c)) {
            outline.x = pen as f32;
            self.face.outline_glyph(glyph, &mut outline);
            pen += self.advance(glyph);
        }
        let unit = self.unit(size) as f32;
        // Fonts count upwards, pictures downwards.
        outline.path.finish()?.transform(Transform::from_scale(unit, -unit))
    }
}

/// Collects a glyph's curves, moved to where the pen stands.
struct Outline {
    path: PathBuilder,
    x: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + x1, y1, self.x + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.x + x1, y1, self.x + x2, y2, self.x + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_a_chart_uses_has_a_glyph() {
        let font = Font::load().unwrap();
        let used = "0123456789.−·∞⁰¹²³⁴⁵⁶⁷⁸⁹⁻≥ABCxyzäé()";
        assert!(used.chars().all(|c| font.face.glyph_index(c).is_some()));
        assert!(font.width("mmm", 12.0) > font.width("iii", 12.0));
        assert!(font.outline("  ", 12.0).is_none());
    }
}

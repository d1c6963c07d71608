//! Pictures as SVG: as a file of its own, or inside a page whose stylesheet decides the colours.
//!
//! Inside a page, colours are presentation attributes that name CSS variables; nothing is styled inline, so that the
//! page's security policy can forbid inline styles.

use std::fmt::Write as _;

use crate::colour::Ink;
use crate::scene::{Anchor, Attribute, Form, Item, Picture, Shape, Text};
use crate::text::{coordinate as n, escape};

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/// Where a picture's colours come from.
#[derive(Clone, Copy)]
enum Colours {
    Light,
    Page,
}

impl Picture {
    /// A complete SVG file on a light background.
    pub fn svg(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.write(&mut out, "picture", Colours::Light);
        out.push('\n');
        out
    }

    /// An `<svg>` element for a page of this crate; `id` must be unique on the page and is used as given, escaped.
    pub fn embedded(&self, id: &str) -> String {
        let mut out = String::new();
        self.write(&mut out, id, Colours::Page);
        out
    }

    fn write(&self, out: &mut String, id: &str, colours: Colours) {
        self.open(out, &escape(id), colours);
        if matches!(colours, Colours::Light) {
            let paper = Shape::rectangle((0.0, 0.0), (self.width, self.height)).fill(Ink::Paper);
            write_shape(out, &paper, colours);
        }
        for item in &self.items {
            match item {
                Item::Shape(shape) => write_shape(out, shape, colours),
                Item::Open(attributes) => {
                    out.push_str("<g");
                    write_attributes(out, attributes, colours);
                    out.push_str(">\n");
                }
                Item::Close => out.push_str("</g>\n"),
            }
        }
        out.push_str("</svg>");
    }

    fn open(&self, out: &mut String, id: &str, colours: Colours) {
        let (w, h) = (n(self.width), n(self.height));
        let role = if self.interactive && matches!(colours, Colours::Page) { "group" } else { "img" };
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"{id}\" viewBox=\"0 0 {w} {h}\" role=\"{role}\" \
             aria-labelledby=\"{id}-title {id}-desc\" font-family=\"{FONT}\""
        );
        match colours {
            Colours::Light => {
                let _ = write!(out, " width=\"{w}\" height=\"{h}\"");
            }
            Colours::Page => write_attributes(out, &self.attributes, colours),
        }
        let (title, description) = (escape(&self.title), escape(&self.description));
        let _ = write!(
            out,
            ">\n<title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>\n"
        );
    }
}

fn write_shape(out: &mut String, shape: &Shape, colours: Colours) {
    match &shape.form {
        Form::Lines { pieces, closed } => {
            out.push_str("<path d=\"");
            pieces.iter().for_each(|piece| write_piece(out, piece, *closed));
            out.push('"');
        }
        Form::Circle { centre: (x, y), radius } => {
            let _ = write!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", n(*x), n(*y), n(*radius));
        }
        Form::Rectangle { corner: (x, y), size: (w, h) } => {
            let (x, y, w, h) = (n(*x), n(*y), n(*w), n(*h));
            let _ = write!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
        }
        Form::Text(text) => open_text(out, text),
    }
    write_paint(out, shape, colours);
    write_attributes(out, &shape.attributes, colours);
    match &shape.form {
        Form::Text(text) => {
            let _ = writeln!(out, ">{}</text>", escape(&text.text));
        }
        _ => out.push_str("/>\n"),
    }
}

fn write_piece(out: &mut String, piece: &[(f64, f64)], closed: bool) {
    let mut before = None;
    for (x, y) in piece.iter().map(|(x, y)| (n(*x), n(*y))) {
        // Level and upright pieces need one number only.
        let _ = match &before {
            None => write!(out, "M{x} {y}"),
            Some((_, level)) if *level == y => write!(out, "H{x}"),
            Some((upright, _)) if *upright == x => write!(out, "V{y}"),
            Some(_) => write!(out, "L{x} {y}"),
        };
        before = Some((x, y));
    }
    if closed && !piece.is_empty() {
        out.push('Z');
    }
}

fn open_text(out: &mut String, text: &Text) {
    let (x, y) = (n(text.at.0), n(text.at.1));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", n(text.size));
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if text.upwards {
        let _ = write!(out, " transform=\"rotate(-90 {x} {y})\"");
    }
}

fn write_paint(out: &mut String, shape: &Shape, colours: Colours) {
    let colour = |ink: Ink| match colours {
        Colours::Light => ink.light().hex(),
        Colours::Page => ink.variable(),
    };
    let _ = write!(out, " fill=\"{}\"", shape.fill.map_or("none".into(), colour));
    if let Some(ink) = shape.stroke {
        let _ = write!(out, " stroke=\"{}\" stroke-width=\"{}\"", colour(ink), n(shape.stroke_width));
        if matches!(shape.form, Form::Lines { .. }) {
            out.push_str(" stroke-linejoin=\"round\"");
        }
    }
    if !shape.dash.is_empty() {
        let dash: Vec<String> = shape.dash.iter().map(|d| n(*d)).collect();
        let _ = write!(out, " stroke-dasharray=\"{}\"", dash.join(" "));
    }
    if shape.opacity < 1.0 {
        let _ = write!(out, " opacity=\"{}\"", n(shape.opacity));
    }
}

/// What is for the page's script stays out of files.
fn write_attributes(out: &mut String, attributes: &[Attribute], colours: Colours) {
    let wanted = |name: &str| matches!(colours, Colours::Page) || !name.starts_with("data-");
    for (name, value) in attributes.iter().filter(|(name, _)| wanted(name)) {
        let _ = write!(out, " {name}=\"{}\"", escape(value));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Reads a whole document, so that any markup error fails; returns how many elements it has.
    pub(crate) fn elements(xml: &str) -> usize {
        use quick_xml::events::Event;
        let mut reader = quick_xml::Reader::from_str(xml);
        let mut count = 0;
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Eof => return count,
                Event::Start(tag) | Event::Empty(tag) => {
                    count += 1;
                    for attribute in tag.attributes() {
                        attribute.expect("well-formed attribute");
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        let mut picture = Picture::new((10.0, 10.0), "<script>", "a & b");
        picture.add(Shape::text((1.0, 2.0), "</text><script>alert(1)</script>\u{1}", Anchor::Start));
        picture.add(Shape::circle((1.0, 1.0), 2.0).with("aria-label", "\" onload=\"x"));
        for text in [picture.svg(), picture.embedded("a\"b")] {
            assert!(elements(&text) >= 5);
            assert!(!text.contains("<script") && !text.contains("\" onload"));
        }
    }

    #[test]
    fn a_file_has_light_colours_and_a_page_has_variables() {
        let mut picture = Picture::new((10.0, 10.0), "t", "d");
        picture.add(Shape::line(vec![(0.0, 0.0), (1.0, 1.0)]).stroke(Ink::Text, 1.0));
        assert!(!picture.svg().contains("var(") && picture.svg().contains("#ffffff"));
        assert!(picture.embedded("x").contains("stroke=\"var(--text)\""));
    }
}

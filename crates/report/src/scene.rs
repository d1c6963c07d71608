//! A picture: shapes in a frame, independent of how it is written.
//!
//! Charts are drawn once, here, and written three ways: as a file ([`Picture::svg`]), inside a page
//! ([`Picture::embedded`]) and as a bitmap ([`Picture::png`]). The attributes on shapes are for the page's script and
//! for screen readers; bitmaps ignore them.

use crate::colour::Ink;

/// Shapes in a frame, with a title and a description for those who cannot see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) title: String,
    pub(crate) description: String,
    /// Whether the picture holds things to point at; otherwise it is one image to assistive software.
    pub(crate) interactive: bool,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) items: Vec<Item>,
}

pub(crate) type Attribute = (&'static str, String);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Shape(Shape),
    /// Starts a group that [`Item::Close`] ends.
    Open(Vec<Attribute>),
    Close,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) fill: Option<Ink>,
    pub(crate) stroke: Option<Ink>,
    pub(crate) stroke_width: f64,
    pub(crate) dash: &'static [f64],
    pub(crate) opacity: f64,
    pub(crate) attributes: Vec<Attribute>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// Lines through these points, each a piece of its own.
    Lines {
        pieces: Vec<Vec<(f64, f64)>>,
        closed: bool,
    },
    Circle {
        centre: (f64, f64),
        radius: f64,
    },
    Rectangle {
        corner: (f64, f64),
        size: (f64, f64),
    },
    Text(Text),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: (f64, f64),
    pub(crate) text: String,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    /// Written upwards, as beside a vertical axis.
    pub(crate) upwards: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Shape {
    fn of(form: Form) -> Self {
        Self {
            form,
            fill: None,
            stroke: None,
            stroke_width: 1.0,
            dash: &[],
            opacity: 1.0,
            attributes: Vec::new(),
        }
    }

    pub(crate) fn line(points: Vec<(f64, f64)>) -> Self {
        Self::of(Form::Lines { pieces: vec![points], closed: false })
    }

    pub(crate) fn lines(pieces: Vec<Vec<(f64, f64)>>) -> Self {
        Self::of(Form::Lines { pieces, closed: false })
    }

    pub(crate) fn area(points: Vec<(f64, f64)>) -> Self {
        Self::of(Form::Lines { pieces: vec![points], closed: true })
    }

    /// Several areas of one colour.
    pub(crate) fn areas(pieces: Vec<Vec<(f64, f64)>>) -> Self {
        Self::of(Form::Lines { pieces, closed: true })
    }

    pub(crate) fn circle(centre: (f64, f64), radius: f64) -> Self {
        Self::of(Form::Circle { centre, radius })
    }

    pub(crate) fn rectangle(corner: (f64, f64), size: (f64, f64)) -> Self {
        Self::of(Form::Rectangle { corner, size })
    }

    pub(crate) fn text(at: (f64, f64), text: impl Into<String>, anchor: Anchor) -> Self {
        let text = Text { at, text: text.into(), size: 13.0, anchor, upwards: false };
        Self::of(Form::Text(text)).fill(Ink::Text)
    }

    /// Text written upwards; other shapes stay as they are.
    pub(crate) fn upwards(mut self) -> Self {
        if let Form::Text(text) = &mut self.form {
            text.upwards = true;
        }
        self
    }

    /// Moved to the right.
    fn moved(mut self, right: f64) -> Self {
        match &mut self.form {
            Form::Lines { pieces, .. } => pieces.iter_mut().flatten().for_each(|point| point.0 += right),
            Form::Circle { centre, .. } => centre.0 += right,
            Form::Rectangle { corner, .. } => corner.0 += right,
            Form::Text(text) => text.at.0 += right,
        }
        self
    }

    pub(crate) fn fill(mut self, ink: Ink) -> Self {
        self.fill = Some(ink);
        self
    }

    pub(crate) fn stroke(mut self, ink: Ink, width: f64) -> Self {
        self.stroke = Some(ink);
        self.stroke_width = width;
        self
    }

    pub(crate) fn dash(mut self, dash: &'static [f64]) -> Self {
        self.dash = dash;
        self
    }

    pub(crate) fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }
}

impl Picture {
    pub(crate) fn new(size: (f64, f64), title: &str, description: &str) -> Self {
        Self {
            width: size.0,
            height: size.1,
            title: title.into(),
            description: description.into(),
            interactive: false,
            attributes: Vec::new(),
            items: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, shape: Shape) {
        self.items.push(Item::Shape(shape));
    }

    /// Adds what `draw` draws, as one group with these attributes.
    pub(crate) fn group(&mut self, attributes: Vec<Attribute>, draw: impl FnOnce(&mut Self)) {
        self.items.push(Item::Open(attributes));
        draw(self);
        self.items.push(Item::Close);
    }

    /// This picture with another to its right.
    #[must_use]
    pub fn beside(mut self, other: Self) -> Self {
        let right = self.width;
        self.items.extend(other.items.into_iter().map(|item| match item {
            Item::Shape(shape) => Item::Shape(shape.moved(right)),
            item => item,
        }));
        // The map from data to picture belongs to one chart only.
        self.attributes.clear();
        self.width += other.width;
        self.height = if other.height > self.height { other.height } else { self.height };
        self.title = format!("{}; {}", self.title, other.title);
        self.description = format!("{} {}", self.description, other.description);
        self
    }

    /// Width and height in units of about one screen pixel.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }
}

/// How wide a text will be about: the reader's font is not known, so this leans to the wide side.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

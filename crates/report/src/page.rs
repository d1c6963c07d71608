//! A page of figures and tables, such as the reproduction of a published result: no data of its own, no controls.

use serde::Serialize;

use crate::shell;
use crate::text::escape;

/// A self-contained page.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Page {
    /// The title.
    pub title: String,
    /// Paragraphs below it.
    pub intro: Vec<String>,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// A section of a page. Everything but its title may be empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Section {
    /// The title.
    pub title: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// A list below them.
    pub list: Vec<String>,
    /// Figures, side by side where there is room.
    pub figures: Vec<Figure>,
    /// A table below the figures.
    pub table: Option<Table>,
    /// Whether what the section set out to show is so, and in what words.
    pub verdict: Option<(bool, String)>,
}

/// A picture with its caption.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Figure {
    /// Markup from [`Picture::embedded`](crate::Picture::embedded), with an identifier of its own. It is not escaped:
    /// nothing else belongs here.
    pub svg: String,
    /// What there is to see.
    pub caption: String,
}

/// A table of text.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows; each as long as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// The page as one HTML file that needs no other and loads nothing.
    pub fn html(&self) -> String {
        let head = format!(
            "<header><h1>{}</h1>\n{}</header>\n",
            escape(&self.title),
            shell::paragraphs(&self.intro)
        );
        let sections: String = self.sections.iter().map(Section::html).collect();
        shell::document(&self.title, &(head + &self.verdicts() + &sections), "")
    }

    /// How many of the verdicts hold, for a page that has several.
    fn verdicts(&self) -> String {
        let all: Vec<bool> = self.sections.iter().filter_map(|s| s.verdict.as_ref()).map(|v| v.0).collect();
        if all.len() < 2 {
            return String::new();
        }
        let held = all.iter().filter(|v| **v).count();
        format!("<p class=\"verdict {}\">{held} of {} hold.</p>\n", mood(held == all.len()), all.len())
    }
}

impl Section {
    fn html(&self) -> String {
        let figures: String = self.figures.iter().map(|f| shell::figure(&f.svg, &f.caption)).collect();
        let figures = match self.figures.len() {
            0 => figures,
            1 => format!("<div class=\"single\">{figures}</div>\n"),
            _ => format!("<div class=\"pair\">{figures}</div>\n"),
        };
        let table = self.table.as_ref().map_or(String::new(), |t| {
            let columns: Vec<&str> = t.columns.iter().map(String::as_str).collect();
            shell::table("", &columns, &t.rows)
        });
        let verdict = self.verdict.as_ref().map_or(String::new(), |(held, text)| {
            let mark = if *held { "✓ holds" } else { "✗ does not hold" };
            format!("<p class=\"verdict {}\"><strong>{mark}</strong> {}</p>\n", mood(*held), escape(text))
        });
        let (title, text) = (escape(&self.title), shell::paragraphs(&self.text));
        let list = shell::list(&self.list);
        format!("<section>\n<h2>{title}</h2>\n{text}{list}{verdict}{figures}{table}</section>\n")
    }
}

fn mood(held: bool) -> &'static str {
    if held { "good" } else { "bad" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart};

    #[test]
    fn a_page_escapes_its_text_and_shows_its_verdicts() {
        let chart = Chart::new("c", Axis::linear("x"), Axis::linear("y"), Vec::new());
        let section = Section {
            title: "One <i>".into(),
            text: vec!["a & b".into()],
            list: vec!["<item>".into()],
            figures: vec![Figure { svg: chart.picture().embedded("f1"), caption: "<caption>".into() }],
            table: Some(Table { columns: vec!["<c>".into()], rows: vec![vec!["<v>".into()]] }),
            verdict: Some((true, "<held>".into())),
        };
        let other = Section { verdict: Some((false, String::new())), ..Section::default() };
        let page =
            Page { title: "T".into(), intro: vec!["<intro>".into()], sections: vec![section, other] }.html();
        for escaped in [
            "One &lt;i&gt;",
            "a &amp; b",
            "&lt;caption&gt;",
            "&lt;v&gt;",
            "&lt;held&gt;",
            "&lt;intro&gt;",
            "<li>&lt;item&gt;",
        ] {
            assert!(page.contains(escaped), "{escaped}");
        }
        assert!(
            page.contains("1 of 2 hold.") && page.contains("✓ holds") && page.contains("✗ does not hold")
        );
        assert!(!page.contains("src=") && !page.contains("url("));
    }
}

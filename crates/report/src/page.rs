//! A page of figures and tables, such as the reproduction of a published result: no data of its own, no controls.

use serde::Serialize;

use crate::blocks::{self, GuaranteeLine};
use crate::provenance::Provenance;
use crate::shell;
use crate::text::escape;

/// A self-contained page.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Page {
    /// The title.
    pub title: String,
    /// A warning that goes before everything else, such as that this was a quick run.
    pub label: Option<Label>,
    /// What came of it, in a sentence.
    pub headline: String,
    /// Paragraphs below it.
    pub intro: Vec<String>,
    /// What is promised.
    pub guarantees: Vec<GuaranteeLine>,
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// Files beside the page, and what they hold.
    pub files: Vec<(String, String)>,
    /// Remarks below the page.
    pub notes: Vec<String>,
    /// Where the page comes from.
    pub provenance: Provenance,
}

/// A word that nobody overlooks, and what it means.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Label {
    /// The word.
    pub word: String,
    /// What it means.
    pub meaning: String,
}

/// A section of a page. Everything but its title may be empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Section {
    /// The title.
    pub title: String,
    /// The name by which the contents link to it: letters, digits and hyphens.
    pub anchor: String,
    /// What came of it, in a few words, for the contents.
    pub outcome: String,
    /// What it is about, in a line, for the contents.
    pub line: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// A list below them.
    pub list: Vec<String>,
    /// Figures, side by side where there is room.
    pub figures: Vec<Figure>,
    /// Tables below the figures.
    pub tables: Vec<Table>,
    /// Whether what the section set out to show is so, and in what words.
    pub verdict: Option<(bool, String)>,
    /// Files that lie beside the page.
    pub files: Vec<String>,
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
    /// Where it is not empty, the table is folded below this line if it is long.
    pub folded: String,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows, ..Self::default() }
    }

    /// Labels and values.
    pub fn of_facts(facts: &[(String, String)]) -> Self {
        let row = |(label, value): &(String, String)| vec![label.clone(), value.clone()];
        Self::new(&["", "Value"], facts.iter().map(row).collect())
    }

    fn html(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let table = shell::table("", &columns, &self.rows);
        if self.folded.is_empty() {
            return table;
        }
        let open = if self.rows.len() <= FEW { " open" } else { "" };
        format!("<details{open}><summary>{}</summary>\n{table}</details>\n", escape(&self.folded))
    }
}

/// Rows of a folded table that is open at first.
const FEW: usize = 12;

impl Page {
    /// The page as one HTML file that needs no other and loads nothing.
    pub fn html(&self) -> String {
        let label = self.label.as_ref().map_or(String::new(), |Label { word, meaning }| {
            format!("<p class=\"label\"><strong>{}</strong> {}</p>\n", escape(word), escape(meaning))
        });
        let head = format!(
            "<header><h1>{}</h1>\n{}{label}{}</header>\n",
            escape(&self.title),
            blocks::headline(&self.headline),
            shell::paragraphs(&self.intro)
        );
        let sections: String = self.sections.iter().map(Section::html).collect();
        let parts = [
            head,
            self.verdicts(),
            self.contents(),
            blocks::guarantees(&self.guarantees),
            sections,
            blocks::beside(&self.files),
            blocks::notes(&self.notes),
        ];
        let body = parts.concat();
        shell::document(&self.title, &body, "", &self.provenance)
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

    /// A row for every section that has a name to link to.
    fn contents(&self) -> String {
        let row = |section: &Section| {
            let mood = section.verdict.as_ref().map_or("plain", |(held, _)| mood(*held));
            let link = format!("<a href=\"#{}\">{}</a>", escape(&section.anchor), escape(&section.title));
            let outcome = format!("<span class=\"badge {mood}\">{}</span>", escape(&section.outcome));
            vec![link, outcome, escape(&section.line)]
        };
        let rows: Vec<Vec<String>> = self.sections.iter().filter(|s| !s.anchor.is_empty()).map(row).collect();
        if rows.is_empty() {
            return String::new();
        }
        let table =
            shell::markup_table("contents", &["Figure or table", "Verdict", "What was claimed"], &rows);
        format!(
            "<nav aria-labelledby=\"contents-title\">\n<h2 id=\"contents-title\">Contents</h2>\n{table}</nav>\n"
        )
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
        let tables: String = self.tables.iter().map(Table::html).collect();
        let verdict = self.verdict.as_ref().map_or(String::new(), |(held, text)| {
            let mark = if *held { "✓ holds" } else { "✗ does not hold" };
            format!("<p class=\"verdict {}\"><strong>{mark}</strong> {}</p>\n", mood(*held), escape(text))
        });
        let (title, text) = (escape(&self.title), shell::paragraphs(&self.text));
        let (list, files) = (shell::list(&self.list), self.links());
        let id =
            if self.anchor.is_empty() { String::new() } else { format!(" id=\"{}\"", escape(&self.anchor)) };
        format!("<section{id}>\n<h2>{title}</h2>\n{verdict}{text}{list}{figures}{tables}{files}</section>\n")
    }

    /// Links to its files.
    fn links(&self) -> String {
        let links: Vec<String> = self.files.iter().map(|name| shell::link(name)).collect();
        match links.is_empty() {
            true => String::new(),
            false => format!("<p class=\"files\">Files: {}</p>\n", links.join(", ")),
        }
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
            tables: vec![Table::new(&["<c>"], vec![vec!["<v>".into()]])],
            verdict: Some((true, "<held>".into())),
            anchor: "one".into(),
            outcome: "<outcome>".into(),
            line: "<line>".into(),
            files: vec!["one.csv".into()],
        };
        let other = Section { verdict: Some((false, String::new())), ..Section::default() };
        let label = Label { word: "QUICK".into(), meaning: "<small>".into() };
        let page = Page {
            title: "T".into(),
            label: Some(label),
            intro: vec!["<intro>".into()],
            sections: vec![section, other],
            ..Page::default()
        };
        let page = page.html();
        for escaped in [
            "One &lt;i&gt;",
            "a &amp; b",
            "&lt;caption&gt;",
            "&lt;v&gt;",
            "&lt;held&gt;",
            "&lt;intro&gt;",
            "<li>&lt;item&gt;",
            "&lt;outcome&gt;",
            "&lt;line&gt;",
            "<strong>QUICK</strong> &lt;small&gt;",
            "<a href=\"one.csv\">one.csv</a>",
            "<a href=\"#one\">One &lt;i&gt;</a>",
            "<section id=\"one\">",
        ] {
            assert!(page.contains(escaped), "{escaped}");
        }
        assert!(
            page.contains("1 of 2 hold.") && page.contains("✓ holds") && page.contains("✗ does not hold")
        );
        assert!(!page.contains("src=") && !page.contains("url("));
        crate::structure::sound(&page);
    }
}

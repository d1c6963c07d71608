//! The page of a run: what is promised, what came of it in figures and tables, and how it was set up.

use sottovoce_report::{Figure, Page, Picture, Section, Table};

use super::outcome::{Beside, Files};
use crate::terms::Stated;
use crate::{Result, SIMULATED};

/// A picture with the name of its files, and what there is to see.
pub(crate) type Drawn = (&'static str, Picture, String);

/// What the page of a run shows.
#[derive(Default)]
pub(crate) struct RunPage {
    pub(crate) title: String,
    pub(crate) headline: String,
    pub(crate) guarantees: Vec<Stated>,
    /// What is promised, where there is no number.
    pub(crate) nothing: &'static str,
    /// Below the guarantees, above the set-up.
    pub(crate) sections: Vec<Section>,
    /// Shown with the section of this title; their files lie beside the page.
    pub(crate) pictures: (&'static str, Vec<Drawn>),
    pub(crate) setup: Vec<(String, String)>,
    pub(crate) notes: Vec<String>,
    /// Files with what they hold.
    pub(crate) data: Vec<(&'static str, &'static str, Vec<u8>)>,
    pub(crate) graph_hash: Option<String>,
}

impl RunPage {
    /// All files, the page first.
    pub(crate) fn files(self, beside: Beside) -> Result<Files> {
        let (title, pictures) = self.pictures;
        let mut sections = self.sections;
        let figures = pictures
            .iter()
            .map(|(name, picture, caption)| Figure { svg: picture.embedded(name), caption: caption.clone() });
        if let Some(section) = sections.iter_mut().find(|section| section.title == title) {
            section.figures.extend(figures);
        }
        if self.guarantees.is_empty() {
            let text = vec![self.nothing.to_owned()];
            sections.insert(0, Section { title: "What is guaranteed".into(), text, ..Section::default() });
        }
        sections.push(Section {
            title: "How it was set up".into(),
            tables: vec![Table::of_facts(&self.setup)],
            ..Section::default()
        });
        let mut listed: Vec<(String, String)> =
            self.data.iter().map(|(name, what, _)| ((*name).to_owned(), (*what).to_owned())).collect();
        for (name, _, caption) in &pictures {
            listed.push((format!("{name}.svg"), caption.clone()));
            listed.push((format!("{name}.png"), "the same as a bitmap".to_owned()));
        }
        let mut provenance = beside.provenance;
        provenance.graph_hash = provenance.graph_hash.or(self.graph_hash);
        listed.extend(beside.files);
        let page = Page {
            title: self.title,
            headline: self.headline,
            guarantees: self.guarantees.iter().map(Stated::line).collect(),
            sections,
            files: listed,
            notes: std::iter::once(SIMULATED.to_owned()).chain(self.notes).collect(),
            provenance,
            ..Page::default()
        };
        let mut files = vec![("report.html".to_owned(), page.html().into_bytes())];
        files.extend(self.data.into_iter().map(|(name, _, content)| (name.to_owned(), content)));
        for (name, picture, _) in &pictures {
            files.extend(picture.files(name)?);
        }
        Ok(files)
    }
}

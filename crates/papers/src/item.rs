//! One figure or table: what the page says of it, the files that go with it, and the verdict.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use sottovoce_report::{Figure, Picture, Section, Table};

use crate::Result;

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Verdict {
    /// Whether the paper's formula, or its experiment, gives here what the paper says it gives.
    pub reproduced: bool,
    /// Whether the claim survives exact accounting, or what was measured stays within what is proven.
    pub holds: bool,
    /// What the paper says.
    pub claim: String,
    /// What has to be so for it to count as reproduced, and as holding.
    pub criterion: String,
    /// What its formula, or its experiment, gives here.
    pub ours: String,
    /// What the exact accountant, or theory, says.
    pub exact: String,
}

/// The same claim in the setting of the authors' code, where that is another one than the text's.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ByCode {
    /// What is different there.
    pub setting: String,
    /// Whether it gives there what the paper says it gives.
    pub reproduced: bool,
    /// What it gives.
    pub ours: String,
}

/// What a paper shows, for the words around a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Values of a formula, held against exact accounting.
    Formula,
    /// Simulations, held against theory.
    Experiment,
}

impl Kind {
    /// What comes before our numbers, and before those of theory.
    fn labels(self) -> [&'static str; 2] {
        match self {
            Self::Formula => ["Its formula here", "Exactly"],
            Self::Experiment => ["Measured here", "Theory"],
        }
    }

    fn sentence(self, reproduced: bool) -> &'static str {
        match (self, reproduced) {
            (Self::Formula, true) => "The printed formula gives here what the paper says it gives.",
            (Self::Formula, false) => "The printed formula does not give here what the paper says it gives.",
            (Self::Experiment, true) => "The simulations here show what the paper says they show.",
            (Self::Experiment, false) => "The simulations here do not show what the paper says they show.",
        }
    }

    /// The short name of theory.
    fn theory(self) -> &'static str {
        match self {
            Self::Formula => "exact",
            Self::Experiment => "theory",
        }
    }
}

impl Verdict {
    /// Both halves in words.
    pub fn outcome(&self) -> &'static str {
        match (self.reproduced, self.holds) {
            (true, true) => "reproduced, and holds",
            (true, false) => "reproduced, but does not hold",
            (false, true) => "not reproduced, but holds",
            (false, false) => "not reproduced, and does not hold",
        }
    }
}

impl ByCode {
    fn sentence(&self) -> &'static str {
        match self.reproduced {
            true => " In the setting of the authors' code: reproduced.",
            false => " In the setting of the authors' code: not reproduced.",
        }
    }
}

/// A figure or table of a paper.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Item {
    /// Its number in the paper.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What became of its claim; none where it was skipped.
    pub verdict: Option<Verdict>,
    /// What became of it in the setting of the authors' code; none where text and code agree.
    pub by_code: Option<ByCode>,
    /// Why it was skipped.
    pub skipped: Option<String>,
    /// The numbers behind the verdict.
    pub numbers: BTreeMap<String, f64>,
    /// Names of its files.
    pub files: Vec<String>,
    #[serde(skip)]
    pub(super) attachments: Vec<(String, Vec<u8>)>,
    #[serde(skip)]
    section: Section,
    #[serde(skip)]
    kind: Kind,
}

impl Item {
    pub(super) fn new(id: &'static str, title: &'static str, kind: Kind) -> Self {
        let heading = if id.starts_with("table") { "Table" } else { "Figure" };
        let number = id.trim_start_matches("table");
        Self {
            id,
            title,
            verdict: None,
            by_code: None,
            skipped: None,
            numbers: BTreeMap::new(),
            files: Vec::new(),
            attachments: Vec::new(),
            section: Section { title: format!("{heading} {number}: {title}"), ..Section::default() },
            kind,
        }
    }

    pub(super) fn skip(mut self, why: &str) -> Self {
        self.section.text.push(format!("Skipped: {why}."));
        self.skipped = Some(why.into());
        self
    }

    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.section.text.push(text.into());
    }

    pub(super) fn number(&mut self, name: impl Into<String>, value: f64) {
        self.numbers.insert(name.into(), value);
    }

    pub(super) fn table(&mut self, columns: &[&str], rows: Vec<Vec<String>>) {
        let columns = columns.iter().map(|&name| name.into()).collect();
        self.section.tables.push(Table { columns, rows, ..Table::default() });
    }

    /// Says what becomes of the claim in the setting of the authors' code.
    pub(super) fn by_code(&mut self, setting: impl Into<String>, reproduced: bool, ours: impl Into<String>) {
        self.by_code = Some(ByCode { setting: setting.into(), reproduced, ours: ours.into() });
    }

    /// Shows a picture on the page and keeps it as files.
    pub(super) fn picture(&mut self, part: &str, picture: &Picture, caption: String) -> Result<()> {
        let name = format!("{}-{part}", self.stem());
        self.section.figures.push(Figure { svg: picture.embedded(&name), caption });
        picture.files(&name)?.into_iter().for_each(|(name, content)| self.attach(name, content));
        Ok(())
    }

    /// Keeps the data behind the pictures.
    pub(super) fn csv(&mut self, header: &str, rows: impl Iterator<Item = String>) {
        let lines: String = rows.map(|row| row + "\n").collect();
        self.attach(format!("{}.csv", self.stem()), format!("{header}\n{lines}").into_bytes());
    }

    pub(super) fn judge(mut self, verdict: Verdict) -> Self {
        let Verdict { claim, criterion, ours, exact, .. } = &verdict;
        self.say(format!("The paper: {claim}."));
        let [here, theory] = self.kind.labels();
        self.say(format!("{here}: {ours}."));
        self.say(format!("{theory}: {exact}."));
        self.say(format!("The test: {criterion}."));
        let mut sentence = String::from(self.kind.sentence(verdict.reproduced));
        if let Some(by_code) = self.by_code.clone() {
            sentence += by_code.sentence();
            self.columns(&verdict, &by_code);
        }
        self.section.verdict = Some((verdict.holds, sentence));
        self.verdict = Some(verdict);
        self
    }

    /// The paper's text and its authors' code, side by side.
    fn columns(&mut self, verdict: &Verdict, by_code: &ByCode) {
        let said = |reproduced: bool| if reproduced { "yes" } else { "no" }.to_string();
        let row = |name: &str, text: &str, code: &str| vec![name.into(), text.into(), code.into()];
        self.table(
            &["", "by the text", "by the authors' code"],
            vec![
                row("setting", "as above", &by_code.setting),
                row("reproduced", &said(verdict.reproduced), &said(by_code.reproduced)),
                row("found", &verdict.ours, &by_code.ours),
            ],
        );
    }

    /// What became of the claim, in words; nothing where it was not judged.
    fn outcome(&self) -> String {
        let by_code = self.by_code.as_ref().filter(|code| {
            self.verdict.as_ref().is_some_and(|verdict| verdict.reproduced != code.reproduced)
        });
        let more = match by_code {
            Some(ByCode { reproduced: true, .. }) => " (reproduced by the authors' code)",
            Some(_) => " (not reproduced by the authors' code)",
            None => "",
        };
        self.verdict.as_ref().map_or(String::new(), |verdict| format!("{}{more}", verdict.outcome()))
    }

    pub(super) fn section(&self) -> Section {
        let (outcome, line) = match (&self.verdict, &self.skipped) {
            (Some(verdict), _) => (self.outcome(), verdict.claim.clone()),
            (None, Some(why)) => ("skipped".into(), why.clone()),
            (None, None) => Default::default(),
        };
        let (anchor, files) = (self.stem(), self.files.clone());
        Section { anchor, outcome, line, files, ..self.section.clone() }
    }

    fn stem(&self) -> String {
        if self.id.starts_with("table") { self.id.into() } else { format!("figure-{}", self.id) }
    }

    fn attach(&mut self, name: String, content: Vec<u8>) {
        self.files.push(name.clone());
        self.attachments.push((name, content));
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.verdict, &self.skipped) {
            (Some(verdict), _) => {
                let Verdict { claim, ours, exact, .. } = verdict;
                write!(
                    f,
                    "{:<6} {}: paper: {claim}; ours: {ours}; {}: {exact}",
                    self.id,
                    self.outcome(),
                    self.kind.theory()
                )?;
                match &self.by_code {
                    Some(ByCode { setting, ours, .. }) => write!(f, "; authors' code ({setting}): {ours}"),
                    None => Ok(()),
                }
            }
            (None, Some(why)) => write!(f, "{:<6} skipped: {why}", self.id),
            (None, None) => write!(f, "{:<6} {}", self.id, self.title),
        }
    }
}

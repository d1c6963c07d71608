//! What a page that is served while something happens shares with reports: their look, and how a security policy names a script or a style.
//!
//! Reports are files that load nothing. A live page asks the program that serves it, and nobody else; everything else is as theirs.

use std::collections::BTreeMap;

use crate::blocks::{self, GuaranteeLine};
use crate::shell;

/// The style of all pages: colours by role, tables that become cards on a telephone, light and dark, paper.
pub const STYLE: &str = shell::STYLE;

/// A script or a style as a security policy names it: by its hash.
pub fn source(text: &str) -> String {
    shell::source(text)
}

/// A table of cells that are markup already: whoever calls it has escaped what is in them. On narrow screens each row becomes a card.
pub fn table(id: &str, columns: &[&str], rows: &[Vec<String>]) -> String {
    shell::markup_table(id, columns, rows)
}

/// What is promised of a run, what was published about it and is not, and what is not covered: tables and lists without headings.
pub fn promises(lines: &[GuaranteeLine]) -> String {
    blocks::promises(lines)
}

/// The security policy of a report that is shown by a program: its own script and no other, whatever style it has, nothing from anywhere, and an origin of its own, so
/// that it can neither read the page around it nor ask for anything. A report is a file, and whoever wrote it may have changed it.
pub fn report_policy() -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts",
        shell::source(shell::SCRIPT)
    )
}

/// Puts parts into their places, `{{such}}`, once: what is in a part is never taken for a place.
pub fn fill(frame: &str, parts: &BTreeMap<&str, String>) -> String {
    let mut pieces = frame.split("{{");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (place, after) = piece.split_once("}}").unwrap_or((piece, ""));
        page += parts.get(place).map_or("", String::as_str);
        page += after;
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_part_is_not_a_place() {
        let parts = BTreeMap::from([("a", "{{b}}".to_owned()), ("b", "x".to_owned())]);
        assert_eq!(fill("<{{a}}|{{b}}|{{c}}>", &parts), "<{{b}}|x|>");
    }

    #[test]
    fn a_policy_names_what_it_allows() {
        assert_eq!(source(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}

//! What a page that is served while something happens shares with reports: their look, and how a security policy names a script or a style.
//!
//! Reports are files that load nothing. A live page asks the program that serves it, and nobody else; everything else is as theirs.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_names_what_it_allows() {
        assert_eq!(source(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}

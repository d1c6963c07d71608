//! What a page says of its making: program, command and seed, but neither where the page went nor how the result was printed.

use std::ffi::OsString;

use sottovoce_report::Provenance;

use super::{Global, input, output};

/// Options with a value that change no page.
const PLACES: [&str; 1] = ["--out"];
/// Options without one.
const MANNERS: [&str; 5] = ["--overwrite", "--quiet", "-q", "--verbose", "--json"];

impl Global {
    /// Where a page of this command comes from.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        let mut provenance = Provenance::default();
        self.sign(&mut provenance);
        provenance
    }

    /// Adds what the command line knows.
    pub(crate) fn sign(&self, provenance: &mut Provenance) {
        provenance.version = env!("CARGO_PKG_VERSION").into();
        provenance.command = command(self.words.iter().cloned());
        provenance.seed = Some(self.seed);
        // Of the files that were read, as JSON documents have them, but shorter.
        let hashes = input::hashes();
        let short = |key| hashes.get(key).map(|all: &String| all.chars().take(16).collect::<String>());
        provenance.graph_hash = short(input::GRAPH).or(provenance.graph_hash.take());
    }
}

/// The command that makes the same page, in a shell's words.
fn command(arguments: impl Iterator<Item = OsString>) -> String {
    let mut words = vec![output::program().to_owned()];
    let mut arguments = arguments.map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = arguments.next() {
        let name = word.split('=').next().unwrap_or_default();
        if PLACES.contains(&name) {
            if name == word {
                arguments.next();
            }
        } else if !MANNERS.contains(&name) {
            words.push(quoted(&word));
        }
    }
    words.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &[&str]) -> String {
        command(line.iter().map(OsString::from))
    }

    #[test]
    fn where_a_page_goes_is_no_part_of_what_it_is() {
        let plain = said(&["run", "rumor", "--peers", "64"]);
        assert_eq!(plain, "sottovoce run rumor --peers 64");
        assert_eq!(said(&["run", "rumor", "--out", "x", "--peers", "64", "--overwrite", "-q"]), plain);
        assert_eq!(said(&["run", "--json", "rumor", "--out=x y", "--peers", "64"]), plain);
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(said(&["a b", "it's", "", "x=1"]), r"sottovoce 'a b' 'it'\''s' '' x=1");
    }
}

//! Writes the sources of the book into a folder, from which mdBook makes it: `docs/`, what of the repository it links to, and the reference, which is made from the program.
//!
//! `docs/build` calls it: `cargo run --release -p sottovoce-cli --features node --example book -- FOLDER`. A link that leads nowhere ends it.
//! `draw` in place of a folder draws the pictures of `docs/pictures` anew; `check BOOK` follows the links of the book that mdBook made.

mod built;
mod documents;
mod markdown;
mod pictures;
mod reference;
mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Files that are for mdBook itself.
const SETTINGS: [&str; 2] = ["book.toml", "book.css"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (made, what) = match words[..] {
        ["draw"] => (drawn(), "pictures"),
        ["check", book] => (built::checked(Path::new(book)), "links lead somewhere"),
        [folder] => (written(Path::new(folder)), "pages"),
        _ => (
            Err("give the folder to write to, or `draw`, or `check` and the folder of the book".to_owned()),
            "",
        ),
    };
    match made {
        Ok(count) => {
            println!("{count} {what}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Draws all pictures where pages look for them; how many there are.
fn drawn() -> Result<usize, String> {
    let pictures = pictures::all()?;
    pictures.iter().try_for_each(|(path, svg)| source::put(&root(), path, svg.as_bytes()))?;
    Ok(pictures.len())
}

/// Writes everything into the folder; how many pages there are.
fn written(folder: &Path) -> Result<usize, String> {
    let root = root();
    let pages = source::pages(&root, &reference::all()?)?;
    let wrong = [source::broken(&root, &pages), source::unlisted(&root, &pages)?].concat();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    source::write(&root, &pages, &folder.join("src"))?;
    for name in SETTINGS {
        let text = std::fs::read(root.join("docs").join(name)).map_err(|why| format!("{name}: {why}"))?;
        source::put(folder, name, &text)?;
    }
    Ok(pages.len())
}

//! Writes the sources of the book into a folder, from which mdBook makes it: `docs/`, what of the repository it links to, and the reference, which is made from the program.
//!
//! `docs/build` calls it: `cargo run --release -p sottovoce-cli --features node --example book -- FOLDER`. A link that leads nowhere ends it.
//! With `draw` in place of a folder it draws the pictures of `docs/pictures` anew.

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
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("name the folder to write to, or `draw`");
        return ExitCode::from(2);
    };
    let (made, what) = match folder == "draw" {
        true => (drawn(), "pictures"),
        false => (written(Path::new(&folder)), "pages"),
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

//! The book (`docs/`): every page is listed, every link leads somewhere, and every command that is marked `sh test` does what the page says.

#[path = "../../examples/book/documents.rs"]
mod documents;
#[path = "../../examples/book/markdown.rs"]
mod markdown;
#[path = "../../examples/book/pictures.rs"]
mod pictures;
#[path = "../../examples/book/reference.rs"]
mod reference;
#[path = "../../examples/book/source.rs"]
mod source;

use std::path::{Path, PathBuf};
use std::process::Command;

use markdown::blocks;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_page_is_listed_and_every_link_leads_somewhere() {
    let pages = source::pages(&root(), &reference::all().unwrap()).unwrap();
    assert_eq!(source::broken(&root(), &pages), Vec::<String>::new());
    assert_eq!(
        source::unlisted(&root(), &pages).unwrap(),
        Vec::<String>::new(),
        "add them to docs/SUMMARY.md"
    );
    for page in
        ["docs/first-hour.md", "docs/reference/commands/account.md", "docs/reference/documents/run.md"]
    {
        assert!(pages.contains_key(page), "{page}");
    }
}

#[test]
fn what_is_made_for_mdbook_has_the_same_links() {
    let pages = source::pages(&root(), &reference::all().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    source::write(&root(), &pages, folder.path()).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("deploy.md").contains("](repository/deploy/systemd/"), "files come along");
    assert!(folder.path().join("repository/deploy/systemd/sottovoce@.service").is_file());
    assert!(
        read("repository/CONTRIBUTING.md").starts_with('#')
            && read("theorems/index.md").contains("(ring.md)")
    );
    assert!(
        read("SUMMARY.md").contains("- [account](reference/commands/account.md)"),
        "what is made is listed"
    );
}

/// Runs a page's marked blocks in one folder, in order (`sh test papers`: `crates/papers/tests/it/papers.rs`); the `text shown` behind a block must be among what it printed.
fn followed(page: &Path) -> usize {
    let text = std::fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_sottovoce"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let (mut run, mut printed) = (0, String::new());
    for block in blocks(&text) {
        match block.info.split_once(' ') {
            Some(("sh", "test node")) if !cfg!(feature = "node") => {}
            Some(("sh", "test" | "test node")) => {
                let mut shell = Command::new("sh");
                let shell = shell.args(["-euc", block.body]).current_dir(folder.path()).env("PATH", &path);
                let output = shell.env("SOTTOVOCE", root()).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}: {}\n{said}", page.display(), block.body);
                printed = String::from_utf8(output.stdout).unwrap() + &said;
                run += 1;
            }
            Some(("text", "shown")) => {
                let known: Vec<&str> = printed.lines().map(str::trim).collect();
                for line in
                    block.body.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "...")
                {
                    assert!(known.contains(&line), "{}: `{line}` is not in:\n{printed}", page.display());
                }
            }
            Some((language, file)) if file.contains('.') => {
                assert!(!language.is_empty());
                std::fs::write(folder.path().join(file), block.body).unwrap();
            }
            _ => {}
        }
    }
    run
}

#[test]
fn the_first_hour_can_be_followed() {
    assert!(followed(&root().join("docs/first-hour.md")) >= 8);
}

#[test]
fn three_hospitals_can_be_followed() {
    assert!(followed(&root().join("docs/three-hospitals.md")) >= 4);
}

#[test]
#[ignore = "second tier: every page"]
fn concepts_and_guides_can_be_followed() {
    assert!(followed(&root().join("docs/concepts.md")) >= 3);
    let guides = std::fs::read_dir(root().join("docs/how-to")).unwrap().map(|entry| entry.unwrap().path());
    let run: Vec<(PathBuf, usize)> = guides.map(|guide| (guide.clone(), followed(&guide))).collect();
    assert!(run.iter().map(|(_, count)| count).sum::<usize>() >= 12, "{run:?}");
}

#[test]
fn pictures_are_what_the_program_draws() {
    for (path, svg) in pictures::all().unwrap() {
        let drawn = std::fs::read_to_string(root().join(&path)).unwrap_or_default();
        assert!(drawn == svg, "{path} is not what is drawn: cargo run --release --example book -- draw");
    }
}

#[test]
fn code_is_not_taken_for_links_and_headings_are_named_as_mdbook_does() {
    let text = "# A `b` & C\n\nsee [x](a.md) and `[y](b.md)`\nand ``[z](`)`` [w](c.md#d)\n\n```sh test\n# no heading\n[v](d.md)\n```\n\n## A b C\n## A b C\n";
    let links: Vec<&str> = markdown::links(text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(links, ["a.md", "c.md#d"]);
    let mut anchors: Vec<String> = markdown::anchors(text).into_iter().collect();
    anchors.sort();
    assert_eq!(anchors, ["a-b--c", "a-b-c", "a-b-c-1"]);
    assert_eq!(blocks(text), [markdown::Block { info: "sh test", body: "# no heading\n[v](d.md)\n" }]);
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = |text: &str| source::Pages::from([("docs/a.md".to_owned(), text.to_owned())]);
    let wrong = |text: &str| source::broken(&root(), &page(text));
    assert!(
        wrong("# A\n[x](a.md#a) [y](../README.md) [z](../Cargo.toml) [o](https://example.org/#b)").len() == 1
    );
    for (link, why) in [
        ("nowhere.md", "no page"),
        ("#b", "no such heading"),
        ("../nowhere.toml", "no such file"),
        ("../deploy", "no such file"),
        ("../Cargo.toml#x", "a heading of what is no page"),
        ("../../../etc/passwd", "outside of the repository"),
    ] {
        let found = wrong(&format!("# A\n[x]({link})"));
        assert!(found.len() == 1 && found[0].contains(why), "{link}: {found:?}");
    }
}

/// A theorem's page names the tests that hold it against code: each is a function, under that name.
#[test]
fn theorems_cite_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = String::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|end| end == "rs") {
                sources += &std::fs::read_to_string(entry).unwrap();
            }
        }
    }
    let declared = sources.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
    let words: std::collections::HashSet<&str> = declared.collect();
    let mut cited = 0;
    for page in std::fs::read_dir(root.join("docs/theorems")).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&page).unwrap();
        let names = text.split('`').skip(1).step_by(2).filter(|name| {
            name.matches('_').count() > 1
                && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
        });
        for name in names {
            assert!(words.contains(name), "{}: `{name}` is nowhere", page.display());
            cited += 1;
        }
    }
    assert!(cited > 200, "{cited}");
}

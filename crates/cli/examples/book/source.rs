//! The pages of the book, where they lie in the repository and in the book, and whether every link leads somewhere.
//!
//! `docs/` is the book; what else of the repository a page links to comes along under `repository/`, so that every link works in both places.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::markdown;

/// Where the book lists its pages.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";

/// Texts by their paths in the repository.
pub(crate) type Pages = BTreeMap<String, String>;

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    Outside,
    Here { path: String, anchor: Option<String> },
}

/// The summary, all that it lists, and what is made for it (with `made`, the summary lists all of it).
pub(crate) fn pages(root: &Path, made: &[(String, String, String)]) -> Result<Pages, String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).map_err(|why| format!("{path}: {why}"));
    let mut pages: Pages = made.iter().map(|(path, _, text)| (path.clone(), text.clone())).collect();
    let summary = with_made(&read(SUMMARY)?, made);
    for range in markdown::links(&summary) {
        let Target::Here { path, .. } = target(SUMMARY, &summary[range]) else { continue };
        if let std::collections::btree_map::Entry::Vacant(free) = pages.entry(path.clone()) {
            free.insert(read(&path)?);
        }
    }
    pages.insert(SUMMARY.to_owned(), summary);
    Ok(pages)
}

/// The summary with the pages of each folder below the line that names its first: the others follow, one level deeper.
fn with_made(summary: &str, made: &[(String, String, String)]) -> String {
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let mut lines: Vec<String> = Vec::new();
    for line in summary.lines() {
        lines.push(line.to_owned());
        let named = made.iter().find(|(path, ..)| line.contains(&format!("({})", below(path))));
        let Some((first, ..)) = named else { continue };
        let indent = line.len() - line.trim_start().len() + 2;
        let others = made.iter().filter(|(path, ..)| folder(path) == folder(first) && path != first);
        lines.extend(others.map(|(path, title, _)| format!("{:indent$}- [{title}]({})", "", below(path))));
    }
    lines.join("\n") + "\n"
}

/// A path as the summary has it.
fn below(path: &str) -> &str {
    path.strip_prefix("docs/").unwrap_or(path)
}

/// Everything that is wrong with the links of these pages.
pub(crate) fn broken(root: &Path, pages: &Pages) -> Vec<String> {
    let mut wrong = Vec::new();
    for (page, text) in pages {
        for range in markdown::links(text) {
            let link = &text[range];
            let Target::Here { path, anchor } = target(page, link) else { continue };
            let problem = match (pages.get(&path), anchor) {
                _ if path.starts_with("..") => "outside of the repository",
                (Some(text), Some(anchor)) if !markdown::anchors(text).contains(&anchor) => "no such heading",
                (None, _) if path.ends_with(".md") => "no page of the book; add it to docs/SUMMARY.md",
                (None, Some(_)) => "a heading of what is no page",
                (None, None) if !root.join(&path).is_file() => "no such file",
                _ => continue,
            };
            wrong.push(format!("{page}: {link}: {problem}"));
        }
    }
    wrong
}

/// Files of `docs/` that the summary does not list.
pub(crate) fn unlisted(root: &Path, pages: &Pages) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).map_err(|why| format!("{folder}: {why}"))?;
        for entry in entries {
            let entry = entry.map_err(|why| format!("{folder}: {why}"))?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") && !pages.contains_key(&path) {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// Writes the pages and all that they link to into a folder, as mdBook reads them.
pub(crate) fn write(root: &Path, pages: &Pages, out: &Path) -> Result<(), String> {
    let mut files = BTreeSet::new();
    for (page, text) in pages {
        put(out, &place(page), moved(page, text, &mut files).as_bytes())?;
    }
    for file in files.iter().filter(|file| !pages.contains_key(*file)) {
        let bytes = fs::read(root.join(file)).map_err(|why| format!("{file}: {why}"))?;
        put(out, &place(file), &bytes)?;
    }
    Ok(())
}

/// The page with its links as they are in the book; the files that they lead to are added to the list.
fn moved(page: &str, text: &str, files: &mut BTreeSet<String>) -> String {
    let (mut moved, mut at) = (String::new(), 0);
    for range in markdown::links(text) {
        let Target::Here { path, anchor } = target(page, &text[range.clone()]) else { continue };
        let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
        moved += &text[at..range.start];
        moved += &match path == page {
            true => anchor,
            false => relative(&place(page), &place(&path)) + &anchor,
        };
        at = range.end;
        files.insert(path);
    }
    moved + &text[at..]
}

/// Where a file of the repository is in the book. What GitHub shows for a folder (`README.md`) is `index` for a browser.
fn place(path: &str) -> String {
    let path = path.strip_prefix("docs/").map_or_else(|| format!("repository/{path}"), str::to_owned);
    match path.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => path,
    }
}

/// Where a link on a page leads, from the root of the repository.
fn target(page: &str, link: &str) -> Target {
    if link.contains("://") || link.starts_with("mailto:") {
        return Target::Outside;
    }
    let (path, anchor) = match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (link, None),
    };
    let mut parts: Vec<&str> = page.split('/').collect();
    if !path.is_empty() {
        parts.pop();
        for part in path.split('/') {
            match part {
                "." | "" => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => _ = parts.pop(),
                part => parts.push(part),
            }
        }
    }
    Target::Here { path: parts.join("/"), anchor }
}

/// The way from one file to another.
fn relative(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.len() - 1 - common.min(from.len() - 1);
    let common = common.min(from.len() - 1);
    [vec![".."; up], to[common..].to_vec()].concat().join("/")
}

/// Writes a file and the folders above it.
pub(crate) fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path = folder.join(name);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, bytes));
    made.map_err(|why| format!("{}: {why}", path.display()))
}

//! The book as mdBook made it: every link of every page leads to a file, and to a place in it, that is there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How many links there are, if all lead somewhere; else those that do not. Links to other sites are not followed.
pub(crate) fn checked(book: &Path) -> Result<usize, String> {
    let pages = pages(book)?;
    let (mut count, mut wrong) = (0, Vec::new());
    for (page, text) in &pages {
        for link in attributes(text, &["href", "src"]) {
            let elsewhere = link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:");
            if !elsewhere {
                count += 1;
                if !leads(page, link, &pages) {
                    wrong.push(format!("{}: {link} leads nowhere", page.display()));
                }
            }
        }
    }
    match (count, wrong.is_empty()) {
        (0, _) => Err(format!("{}: there are no links in it", book.display())),
        (count, true) => Ok(count),
        (_, false) => Err(wrong.join("\n")),
    }
}

fn leads(page: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> bool {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let to = match path.is_empty() {
        true => page.to_owned(),
        false => flat(&page.parent().unwrap_or(page).join(path)),
    };
    match (pages.get(&to), anchor) {
        (Some(text), Some(anchor)) => attributes(text, &["id"]).contains(&anchor),
        (None, Some(_)) => false,
        (_, None) => to.is_file(),
    }
}

/// All pages; mdBook's own for what is not found has links from the root of a site.
fn pages(folder: &Path) -> Result<BTreeMap<PathBuf, String>, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))? {
        let path = entry.map_err(|why| why.to_string())?.path();
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else if path.extension().is_some_and(|end| end == "html") && !path.ends_with("404.html") {
            let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
            found.insert(flat(&path), text);
        }
    }
    Ok(found)
}

/// The values of these attributes.
fn attributes<'a>(text: &'a str, names: &[&str]) -> Vec<&'a str> {
    let values = |name: &&str| {
        let begin = format!(" {name}=\"");
        text.match_indices(&begin)
            .filter_map(|(at, begin)| text[at + begin.len()..].split('"').next())
            .collect::<Vec<_>>()
    };
    names.iter().flat_map(values).collect()
}

/// A path without steps back.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if matches!(flat.components().next_back(), Some(Component::Normal(_))) => {
                flat.pop();
            }
            Component::CurDir => {}
            part => flat.push(part),
        }
    }
    flat
}

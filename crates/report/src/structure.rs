//! What every page must be for readers who cannot see it, or cannot use a pointer; and that its colours can be told from its paper.

use std::collections::BTreeSet;

#[cfg(test)]
use crate::colour::{Rgb, tests::contrast};

/// Fails where a page breaks a rule: one first heading, none skipped, names for pictures and fields, heads for tables, links that lead
/// somewhere, no identifier twice, landmarks.
pub fn sound(page: &str) {
    let tags = tags(page);
    headings(&tags);
    let ids: Vec<&str> = tags.iter().filter_map(|tag| attribute(tag, "id")).collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "an identifier is there twice");
    for tag in &tags {
        let fails = |why: &str| panic!("{why}: {tag}");
        match name(tag) {
            "svg" => {
                let named = attribute(tag, "aria-labelledby").unwrap_or_else(|| fails("no name"));
                assert!(named.split(' ').all(|id| known.contains(id)), "{tag}");
                assert!(["img", "group"].contains(&attribute(tag, "role").unwrap_or_default()), "{tag}");
            }
            "input" | "select" => {
                let id = attribute(tag, "id").unwrap_or_else(|| fails("no identifier"));
                assert!(page.contains(&format!("<label for=\"{id}\"")), "no label: {tag}");
            }
            "a" => {
                let to = attribute(tag, "href").unwrap_or_else(|| fails("leads nowhere"));
                assert!(to.strip_prefix('#').is_none_or(|id| known.contains(id)), "leads nowhere: {tag}");
                assert!(!to.contains(':') && !to.starts_with('/'), "leads away: {tag}");
            }
            "th" => assert!(attribute(tag, "scope").is_some(), "{tag}"),
            _ => {}
        }
    }
    for landmark in ["<main ", "<footer", "<html lang=\"en\"", "<title>"] {
        assert!(page.contains(landmark), "{landmark}");
    }
    assert_eq!(page.matches("<table").count(), page.matches("<thead>").count(), "a table without a head");
}

fn headings(tags: &[&str]) {
    let level = |tag: &&str| ["h1", "h2", "h3", "h4"].iter().position(|h| name(tag) == *h);
    let levels: Vec<usize> = tags.iter().filter_map(level).collect();
    assert_eq!(levels.iter().filter(|level| **level == 0).count(), 1, "one first heading");
    assert_eq!(levels.first(), Some(&0));
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a heading is skipped: {levels:?}");
}

/// All opening tags outside style and script.
fn tags(page: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').map_or(rest.len(), |end| start + end + 1);
        let tag = &rest[start..end];
        rest = &rest[end..];
        for raw in ["style", "script"] {
            if name(tag) == raw {
                rest = rest.split_once(&format!("</{raw}>")).map_or("", |(_, after)| after);
            }
        }
        if !tag.starts_with("</") && !tag.starts_with("<!") {
            tags.push(tag);
        }
    }
    tags
}

fn name(tag: &str) -> &str {
    tag[1..].split([' ', '>', '/']).next().unwrap_or_default()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let start = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    tag[start..].split('"').next()
}

#[test]
#[should_panic(expected = "a heading is skipped")]
fn a_skipped_heading_is_noticed() {
    sound(
        "<!DOCTYPE html><html lang=\"en\"><title>t</title><main id=\"m\"><h1>a</h1><h3>b</h3></main><footer></footer>",
    );
}

#[test]
#[should_panic(expected = "no label")]
fn a_field_without_a_label_is_noticed() {
    sound(
        "<!DOCTYPE html><html lang=\"en\"><title>t</title><main id=\"m\"><h1>a</h1><input id=\"i\"></main><footer></footer>",
    );
}

/// The colours of each block of the stylesheet that sets them all: light, dark by choice, dark by the system.
#[cfg(test)]
fn palettes() -> Vec<std::collections::BTreeMap<String, Rgb>> {
    let style = include_str!("page.css").split("@media print").next().unwrap_or_default();
    let block = |text: &str| -> std::collections::BTreeMap<String, Rgb> {
        let pairs =
            text.split('}').next().unwrap_or_default().split(';').filter_map(|line| line.split_once(": #"));
        let byte = |hex: &str, at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let name = |text: &str| text.trim().trim_start_matches("--").to_owned();
        pairs.map(|(key, hex)| (name(key), Rgb(byte(hex, 0), byte(hex, 2), byte(hex, 4)))).collect()
    };
    style.split("  color-scheme:").skip(1).map(|text| block(text.split_once(';').unwrap().1)).collect()
}

#[test]
fn text_and_marks_stand_out_from_what_is_behind_them_in_light_and_in_dark() {
    let palettes = palettes();
    assert_eq!(palettes.len(), 3);
    assert_eq!(palettes[1], palettes[2], "both ways into the dark are the same");
    for palette in &palettes {
        let check = |ink: &str, behind: &str, least: f64| {
            let found = contrast(palette[ink], palette[behind]);
            assert!(found >= least, "{ink} on {behind}: {found:.2}");
        };
        // WCAG 2: 4.5 for text, 3 for graphics.
        for ink in ["text", "muted", "link"] {
            check(ink, "paper", 4.5);
            check(ink, "panel", 4.5);
        }
        for (ink, behind) in
            [("good", "good-back"), ("bad", "bad-back"), ("text", "good-back"), ("text", "bad-back")]
        {
            check(ink, behind, 4.5);
        }
        (0..6).for_each(|i| check(&format!("series-{i}"), "paper", 3.0));
        check("accent", "paper", 3.0);
    }
}

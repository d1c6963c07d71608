//! As much of Markdown as the book needs: where links are, what headings are called, which blocks of code there are.
//!
//! Code is masked first (its bytes become spaces), so that what is left can be searched without mistaking code for links.

// The tests run blocks of code, which the book only shows.
#![allow(dead_code)]

use std::collections::HashSet;
use std::ops::Range;

/// A block of code: what stands after its three back quotes, and its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    pub(crate) info: &'a str,
    pub(crate) body: &'a str,
}

/// The text with all code as spaces, byte by byte.
pub(crate) fn masked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in fences(text).into_iter().map(|(whole, _)| whole).chain(spans(text)) {
        bytes[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    // Whole spans were blanked, so that no letter is cut.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where the targets of links and pictures are.
pub(crate) fn links(text: &str) -> Vec<Range<usize>> {
    let plain = masked(text);
    let target = |(at, _): (usize, &str)| {
        let start = at + 2;
        plain[start..].find([')', ' ', '\n']).map(|length| start..start + length)
    };
    plain.match_indices("](").filter_map(target).collect()
}

/// What the headings of a page can be reached by, as mdBook names them.
pub(crate) fn anchors(text: &str) -> HashSet<String> {
    let plain = masked(text);
    let mut used = HashSet::new();
    let lines = plain.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some(*at - line.len()..*at)
    });
    for line in lines.filter(|line| plain[line.clone()].starts_with('#')) {
        let (marks, title) = text[line].trim_end().split_once(' ').unwrap_or_default();
        if !marks.is_empty() && marks.bytes().all(|byte| byte == b'#') {
            let id = anchor(&shown(title));
            let again = (1..).map(|k| format!("{id}-{k}"));
            let free = std::iter::once(id.clone()).chain(again).find(|id| !used.contains(id));
            used.extend(free);
        }
    }
    used
}

/// The anchor of a title.
pub(crate) fn anchor(title: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    };
    title.trim().to_lowercase().chars().filter_map(letter).collect()
}

/// A title as it is read: links without their targets.
fn shown(title: &str) -> String {
    let mut parts = title.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}

/// All blocks of code.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let block = |(_, (info, body)): (Range<usize>, (&'_ str, Range<usize>))| (info.len(), body);
    let cut = fences(text).into_iter().map(block);
    cut.map(|(length, body)| Block {
        info: text[body.start - 1 - length..body.start - 1].trim(),
        body: &text[body],
    })
    .collect()
}

/// Where a block is, what is said of it, and where its lines are.
type Fence<'a> = (Range<usize>, (&'a str, Range<usize>));

/// Fenced blocks: the whole of each, and what stands behind its back quotes with the range of its lines.
fn fences(text: &str) -> Vec<Fence<'_>> {
    let (mut found, mut open, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let bare = line.trim_end();
        match (bare.trim_start().strip_prefix("```"), open.take()) {
            (Some(info), None) => open = Some((at, info, end)),
            (Some(""), Some((start, info, body))) => found.push((start..end, (info, body..at))),
            (_, before) => open = before,
        }
        at = end;
    }
    found
}

/// Spans of code, outside of blocks: a run of back quotes up to the next run of the same length in the paragraph.
fn spans(text: &str) -> Vec<Range<usize>> {
    let blocks: Vec<Range<usize>> = fences(text).into_iter().map(|(whole, _)| whole).collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find('`').map(|k| at + k) {
        if let Some(block) = blocks.iter().find(|block| block.contains(&start)) {
            at = block.end;
            continue;
        }
        let run = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        let rest = start + run;
        let paragraph = text[rest..].find("\n\n").map_or(text.len(), |k| rest + k);
        match closing(&text[rest..paragraph], run) {
            Some(end) => {
                found.push(start..rest + end);
                at = rest + end;
            }
            None => at = rest,
        }
    }
    found
}

/// Where a run of exactly so many back quotes ends.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|k| at + k) {
        let length = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        at = start + length;
        if length == run {
            return Some(at);
        }
    }
    None
}

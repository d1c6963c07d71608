//! Matrix Market files: the places of a sparse matrix that are not zero.
//!
//! ```text
//! %%MatrixMarket matrix coordinate pattern symmetric
//! % a comment; `% node: NAME` names the rows in their order
//! 3 3 2                 rows, columns, entries
//! 2 1                   row and column, counted from 1; a value follows unless the matrix is a pattern
//! 3 2
//! ```
//!
//! The matrix is square with nothing on its diagonal. `symmetric` lists one of two entries, `general` both. Rows without names
//! are called as the format counts them, `1` to `n`; nodes that are called `0` to `n - 1` are therefore named when they are written.

use std::io::{self, Write};

use super::assemble::{Listing, Names, assemble};
use super::{Noted, weights_left_out};
use crate::graph::MOST_NODES;
use crate::{Error, Graph, Result};

/// What the first line says.
struct Kind {
    pattern: bool,
    symmetric: bool,
}

/// Reads a sparse matrix.
pub(super) fn read(text: &[u8]) -> Result<Noted> {
    let text = super::utf8(text)?;
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let kind = kind(lines.next().map_or("", |(_, line)| line))?;
    let (mut names, mut size, mut entries, mut weighted) = (Names::default(), None, Vec::new(), false);
    for (number, line) in lines {
        if let Some(name) = line.strip_prefix("% node:").map(str::trim) {
            let added = if name.is_empty() { None } else { names.add(name) };
            added.ok_or_else(|| Error::line(number, format!("`{name}` must be a new name")))?;
        } else if line.is_empty() || line.starts_with('%') {
        } else if let Some((nodes, _)) = size {
            let (row, column, value) = entry(number, line, nodes, &kind)?;
            weighted |= value != 0.0 && value != 1.0;
            entries.push((number, row, column, value));
        } else {
            size = Some(shape(number, line)?);
        }
    }
    let Some((nodes, promised)) = size else {
        return Err(Error::Format("no sizes found; a line `ROWS COLUMNS ENTRIES` follows the first".into()));
    };
    if entries.len() as u64 != promised {
        let problem = format!("{} entries, where {promised} are promised", entries.len());
        return Err(Error::Format(format!("{problem}; the file seems to be cut off")));
    }
    entries.retain(|entry| entry.3 != 0.0);
    let graph = named(build(nodes, &entries, &kind)?, names)?;
    Ok((graph, weighted.then(|| weights_left_out("the values of the entries")).into_iter().collect()))
}

fn kind(line: &str) -> Result<Kind> {
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [
            "%%matrixmarket",
            "matrix",
            "coordinate",
            field @ ("pattern" | "real" | "integer" | "double"),
            symmetry @ ("symmetric" | "general"),
        ] => Ok(Kind { pattern: *field == "pattern", symmetric: *symmetry == "symmetric" }),
        _ => Err(Error::line(
            1,
            format!(
                "`{}` is not `%%MatrixMarket matrix coordinate pattern|real|integer symmetric|general`; write the matrix so",
                super::show(line.as_bytes())
            ),
        )),
    }
}

/// Nodes and entries.
fn shape(number: usize, line: &str) -> Result<(usize, u64)> {
    let refuse = |problem: String| Err(Error::line(number, problem));
    let sizes: Option<Vec<u64>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    match sizes.as_deref() {
        Some(&[rows, columns, _]) if rows != columns => {
            refuse(format!("{rows} rows and {columns} columns; a graph's matrix is square"))
        }
        Some(&[rows, _, entries]) if (1..=MOST_NODES as u64).contains(&rows) => Ok((rows as usize, entries)),
        Some(&[rows, _, _]) => refuse(format!("`rows` is {rows}: give a number from 1 to {MOST_NODES}")),
        _ => refuse(format!("`{}` is not `ROWS COLUMNS ENTRIES`", super::show(line.as_bytes()))),
    }
}

/// Row and column, from 0, and the value.
fn entry(number: usize, line: &str, nodes: usize, kind: &Kind) -> Result<(u32, u32, f64)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let place = |word: &str| {
        let place: Option<usize> = word.parse().ok();
        let beyond = || Error::line(number, format!("`{word}` is no row; give numbers from 1 to {nodes}"));
        place.filter(|place| (1..=nodes).contains(place)).map(|place| place as u32 - 1).ok_or_else(beyond)
    };
    let (row, column, value) = match (words.as_slice(), kind.pattern) {
        (&[row, column], true) => (place(row)?, place(column)?, 1.0),
        (&[row, column, value], false) => {
            let parsed: Option<f64> = value.parse().ok();
            let wrong = || Error::line(number, format!("the value is `{value}`: give a finite number"));
            (place(row)?, place(column)?, parsed.filter(|value| value.is_finite()).ok_or_else(wrong)?)
        }
        _ => {
            let expected = if kind.pattern { "ROW COLUMN" } else { "ROW COLUMN VALUE" };
            let found = super::show(line.as_bytes());
            return Err(Error::line(
                number,
                format!("`{found}` is not `{expected}`, as the first line promises"),
            ));
        }
    };
    if row == column && value != 0.0 {
        let problem =
            format!("row {0}, column {0} is not zero; self-loops are not allowed, leave it out", row + 1);
        return Err(Error::line(number, problem));
    }
    Ok((row, column, value))
}

/// The graph of entries that are not zero.
fn build(nodes: usize, entries: &[(usize, u32, u32, f64)], kind: &Kind) -> Result<Graph> {
    let edges: Vec<_> = entries.iter().map(|&(_, row, column, _)| (row, column)).collect();
    let listing = if kind.symmetric { Listing::Once } else { Listing::BothWays };
    let graph = assemble(nodes, &edges, listing, |repeat| {
        let (first, second) = (entries[repeat.first].0, entries[repeat.second].0);
        Error::line(second, format!("the entry repeats that of line {first}; list each once"))
    })?;
    if !kind.symmetric && edges.len() != 2 * graph.edge_count() {
        let mut sorted = edges.clone();
        sorted.sort_unstable();
        let lonely = |entry: &&(usize, u32, u32, f64)| sorted.binary_search(&(entry.2, entry.1)).is_err();
        let (line, row, column, _) = *entries.iter().find(lonely).unwrap_or(&(1, 0, 0, 0.0));
        let (r, c) = (row + 1, column + 1);
        let problem = format!("row {r}, column {c} is there, but row {c}, column {r} is not");
        return Err(Error::line(line, format!("{problem}; make the matrix symmetric (SciPy: `A + A.T`)")));
    }
    Ok(graph)
}

fn named(graph: Graph, names: Names) -> Result<Graph> {
    match names.len() {
        0 => {
            let counted = (1..=graph.nodes()).map(|row| row.to_string()).collect();
            graph.with_labels(counted)
        }
        count if count == graph.nodes() => {
            let names = names.in_order();
            let numbered = names.iter().enumerate().all(|(row, name)| *name == row.to_string());
            if numbered { Ok(graph) } else { graph.with_labels(names) }
        }
        count => Err(Error::Format(format!(
            "{count} lines `% node: NAME` for {} rows; name every row or none",
            graph.nodes()
        ))),
    }
}

/// Writes the pattern below the diagonal.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "%%MatrixMarket matrix coordinate pattern symmetric")?;
    let counted = (0..graph.nodes()).all(|node| graph.label(node) == (node + 1).to_string());
    if !counted {
        (0..graph.nodes()).try_for_each(|node| writeln!(out, "% node: {}", graph.label(node)))?;
    }
    writeln!(out, "{0} {0} {1}", graph.nodes(), graph.edge_count())?;
    graph.edges().try_for_each(|(u, v)| writeln!(out, "{} {}", v + 1, u + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn patterns_and_values_symmetric_and_general() {
        let path = Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
        let path = path.with_labels(["1", "2", "3"].map(String::from).to_vec()).unwrap();
        for (text, notes) in [
            ("%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 2\n2 1\n3 2\n", 0),
            (
                "%%matrixmarket MATRIX coordinate real general\r\n3 3 5\r\n1 2 0.5\r\n2 1 .5\r\n2 3 1e0\r\n3 2 1\r\n1 1 0\r\n",
                1,
            ),
            ("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 1\n3 2 1\n3 1 0\n", 0),
        ] {
            let (graph, found) = read(text.as_bytes()).unwrap();
            assert_eq!((graph, found.len()), (path.clone(), notes), "{text}");
        }
    }

    #[test]
    fn bad_matrices_are_refused_with_their_line() {
        let general = |rest: &str| format!("%%MatrixMarket matrix coordinate pattern general\n{rest}");
        for (text, expected) in [
            ("".into(), "line 1: `` is not `%%MatrixMarket matrix coordinate"),
            ("%%MatrixMarket matrix array real general\n".into(), "line 1: `%%MatrixMarket matrix array"),
            (general("3 4 1\n"), "line 2: 3 rows and 4 columns; a graph's matrix is square"),
            (general("4000000000 4000000000 1\n"), "line 2: `rows` is 4000000000: give a number from 1 to"),
            (general("0 0 0\n"), "line 2: `rows` is 0"),
            (general("2 2\n"), "line 2: `2 2` is not `ROWS COLUMNS ENTRIES`"),
            (general("2 2 1\n1 3\n"), "line 3: `3` is no row; give numbers from 1 to 2"),
            (general("2 2 1\n0 1\n"), "line 3: `0` is no row"),
            (general("2 2 1\n1 2 3\n"), "line 3: `1 2 3` is not `ROW COLUMN`"),
            (general("2 2 1\n2 2\n"), "line 3: row 2, column 2 is not zero; self-loops"),
            (general("2 2 2\n1 2\n1 2\n"), "line 4: the entry repeats that of line 3"),
            (general("2 2 1\n1 2\n"), "line 3: row 1, column 2 is there, but row 2, column 1 is not"),
            (general("2 2 9\n1 2\n2 1\n"), "2 entries, where 9 are promised"),
            (general("% node: a\n2 2 2\n1 2\n2 1\n"), "1 lines `% node: NAME` for 2 rows"),
            (general(""), "no sizes found"),
        ] {
            assert!(message(&text).starts_with(expected), "{text}: {}", message(&text));
        }
    }
}

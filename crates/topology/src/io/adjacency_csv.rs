//! Adjacency matrices as comma-separated values: a square of 0 and 1, symmetric, with a zero diagonal.
//!
//! Names may stand in a first row, in a first column, or in both (then the corner holds anything but a number, usually
//! nothing), as pandas writes `networkx.to_pandas_adjacency`. Which of them are there is told from the shape: a matrix
//! with only one of them is not square, and the first cell of a bare matrix is on the diagonal, so it is 0.
//!
//! Edge lists are called `.csv`, too: two or three columns that are no square, or `source,target` above them, are read as such, and a note says so.

use std::io::{self, Write};

use csv::{Position, ReaderBuilder, StringRecord, WriterBuilder};

use super::assemble::{Listing, Names, assemble};
use super::{Noted, edge_list};
use crate::{Error, Graph, Result};

/// A row of the file and its line.
type Row = (usize, StringRecord);

/// Reads an adjacency matrix.
pub(super) fn read(text: &[u8]) -> Result<Noted> {
    if is_edge_list(text) {
        let (graph, mut notes) = edge_list::read(text, Listing::Once)?;
        notes.insert(0, "this is no square matrix: it is read as an edge list".into());
        return Ok((graph, notes));
    }
    matrix(text).map(|graph| (graph, Vec::new()))
}

/// Whether the text is rather a list of edges: two or three columns and no square.
fn is_edge_list(text: &[u8]) -> bool {
    let filled = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let rows = filled.clone().count();
    let columns = |line: &[u8]| line.iter().filter(|byte| b",;\t".contains(byte)).count() + 1;
    let few = |line: &[u8]| line.starts_with(b"#") || (2..=3).contains(&columns(line));
    // A square of two or three rows may have a row and a column of names besides.
    filled.clone().all(few) && (rows > 4 || edge_list::has_header(text))
}

fn matrix(text: &[u8]) -> Result<Graph> {
    let mut rows = rows(text)?;
    let Some(columns) = rows.first().map(|(_, row)| row.len()) else {
        return Err(Error::Format("the file is empty; expected a square matrix of 0 and 1".into()));
    };
    let cornered = rows.len() == columns && cell(&rows[0].1[0]).is_none();
    let header = (cornered || rows.len() == columns + 1).then(|| rows.remove(0));
    let skip = usize::from(cornered || rows.len() + 1 == columns);
    if rows.len() + skip != columns {
        let shape = format!("{} rows of {columns} columns are not a square matrix", rows.len());
        return Err(Error::Format(format!(
            "{shape}; if this is a list of edges, say that the format is `edge-list`"
        )));
    }
    let matrix = rows.iter().map(|row| ones(row, skip)).collect::<Result<Vec<_>>>()?;
    let names = names(header.as_ref(), &rows, skip)?;
    check_symmetric(&matrix, &rows)?;
    let above = matrix.iter().enumerate().flat_map(|(u, row)| row.iter().map(move |&v| (u as u32, v)));
    let edges: Vec<_> = above.filter(|(u, v)| u < v).collect();
    let Some(names) = names else { return assemble(rows.len(), &edges, Listing::Once, |_| unexpected()) };
    let numbering = names.settle();
    let graph = assemble(rows.len(), &numbering.edges(&edges), Listing::Once, |_| unexpected())?;
    numbering.dress(graph, Vec::new())
}

/// A matrix has one cell for each pair, so nothing can be listed twice; said rather than assumed.
fn unexpected() -> Error {
    Error::Format("an edge of the matrix was found twice".into())
}

/// All rows, of equal length.
fn rows(text: &[u8]) -> Result<Vec<Row>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut rows: Vec<Row> = Vec::new();
    for record in ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text).into_records() {
        let record = record.map_err(|error| {
            Error::line(line(text, error.position()), "the file is not UTF-8 text; save it as UTF-8")
        })?;
        let line = line(text, record.position());
        if let Some((first, row)) = rows.first().filter(|(_, row)| row.len() != record.len()) {
            let problem = format!("{} columns here, but {} on line {first}", record.len(), row.len());
            return Err(Error::line(line, problem));
        }
        rows.push((line, record));
    }
    Ok(rows)
}

/// The line on which a record starts: `csv` gives the position before the blank lines that it skips.
fn line(text: &[u8], position: Option<&Position>) -> usize {
    let Some(position) = position else { return 1 };
    let ahead = text.get(position.byte() as usize..).unwrap_or_default();
    let blank = ahead.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r');
    position.line() as usize + blank.filter(|&&byte| byte == b'\n').count()
}

/// The value of a cell: 0 or 1, also as a decimal number.
fn cell(text: &str) -> Option<bool> {
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        other => {
            other.parse::<f64>().ok().filter(|&value| value == 0.0 || value == 1.0).map(|value| value == 1.0)
        }
    }
}

/// The columns of a row that hold a 1, in increasing order, counted after the name.
fn ones((line, row): &Row, skip: usize) -> Result<Vec<u32>> {
    let mut ones = Vec::new();
    for (column, text) in row.iter().skip(skip).enumerate() {
        match cell(text) {
            Some(true) => ones.push(column as u32),
            Some(false) => {}
            None => {
                let problem =
                    format!("column {} holds `{text}`; give 0 or 1 (no weights)", column + skip + 1);
                return Err(Error::line(*line, problem));
            }
        }
    }
    Ok(ones)
}

/// The names in the header or the first column; where there are both they must agree.
fn names(header: Option<&Row>, rows: &[Row], skip: usize) -> Result<Option<Names>> {
    let first = (skip == 1).then(|| rows.iter().map(|(line, row)| (*line, &row[0])).collect::<Vec<_>>());
    let header =
        header.map(|(line, row)| row.iter().skip(skip).map(|name| (*line, name)).collect::<Vec<_>>());
    let mut both = header.iter().flatten().zip(first.iter().flatten());
    if let Some(((_, top), (line, left))) = both.find(|((_, top), (_, left))| top != left) {
        let problem =
            format!("the row is named `{left}`, but the header has `{top}` here; use one order for both");
        return Err(Error::line(*line, problem));
    }
    let Some(list) = first.or(header) else { return Ok(None) };
    let mut names = Names::default();
    for (line, name) in list {
        if names.add(name).is_none() {
            return Err(Error::line(
                line,
                format!("the name `{name}` is used twice; give each node its own"),
            ));
        }
    }
    Ok(Some(names))
}

fn check_symmetric(matrix: &[Vec<u32>], rows: &[Row]) -> Result<()> {
    for (u, row) in matrix.iter().enumerate() {
        for &v in row {
            let problem = if u == v as usize {
                format!(
                    "row {0}, column {0} of the matrix is 1; self-loops are not allowed, the diagonal must be 0",
                    u + 1
                )
            } else if matrix[v as usize].binary_search(&(u as u32)).is_err() {
                let (r, c) = (u + 1, v + 1);
                format!(
                    "row {r}, column {c} of the matrix is 1, but row {c}, column {r} is 0; make it symmetric"
                )
            } else {
                continue;
            };
            return Err(Error::line(rows[u].0, problem));
        }
    }
    Ok(())
}

/// Writes a matrix; names, if there are any, go into the first row and the first column.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new().from_writer(out);
    if let Some(labels) = graph.labels() {
        writer.write_record(std::iter::once("").chain(labels.iter().map(String::as_str)))?;
    }
    for node in 0..graph.nodes() {
        if let Some(labels) = graph.labels() {
            writer.write_field(&labels[node])?;
        }
        let mut neighbors = graph.neighbors(node).iter().map(|&v| v as usize).peekable();
        let cells = (0..graph.nodes()).map(|v| if neighbors.next_if_eq(&v).is_some() { "1" } else { "0" });
        writer.write_record(cells)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn names_may_stand_in_the_first_row_or_column_or_both() {
        let bare = read(b"0,1,0\n1,0,1\n0,1,0\n").unwrap().0;
        assert_eq!(bare.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(bare.labels(), None);
        for text in [
            ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n",
            "a,b,c\n0,1,0\n1,0,1\n0,1,0\n",
            "a,0,1,0\nb,1,0,1\nc,0,1,0\n",
            "\u{feff},a,b,c\r\na,0.0,1.0,0.0\r\n\r\nb, 1 ,0,1e0\r\nc,0,1,0\r\n",
        ] {
            let (graph, _) = read(text.as_bytes()).unwrap();
            assert_eq!(graph.labels().unwrap(), ["a", "b", "c"], "{text}");
            assert!(graph.edges().eq(bare.edges()), "{text}");
        }
    }

    #[test]
    fn numbered_headers_of_pandas_are_no_labels() {
        let (graph, _) = read(b",0,1\n0,0.0,1.0\n1,1.0,0.0\n").unwrap();
        assert_eq!((graph.nodes(), graph.labels()), (2, None));
    }

    #[test]
    fn bad_matrices_are_refused_with_line_row_and_column() {
        for (text, expected) in [
            ("", "the file is empty"),
            ("0,1\n1,0,0\n", "line 2: 3 columns here, but 2 on line 1"),
            (
                "0,1\n1,0\n1,0\n1,0\n",
                "4 rows of 2 columns are not a square matrix; if this is a list of edges",
            ),
            ("0,1\n\n1,2\n", "line 3: column 2 holds `2`; give 0 or 1"),
            (",a,b\na,0,x\nb,1,0\n", "line 2: column 3 holds `x`; give 0 or 1"),
            ("0,1,0\n1,0,0\n0,1,0\n", "line 3: row 3, column 2 of the matrix is 1, but row 2, column 3 is 0"),
            ("0,1\n1,1\n", "line 2: row 2, column 2 of the matrix is 1; self-loops are not allowed"),
            (",a,b\nb,0,1\na,1,0\n", "line 2: the row is named `b`, but the header has `a` here"),
            ("a,a\n0,1\n1,0\n", "line 1: the name `a` is used twice"),
        ] {
            assert!(message(text).starts_with(expected), "{text}: {}", message(text));
        }
        assert!(read(b"0,1\n1,\xff\n").unwrap_err().to_string().starts_with("line 2: the file is not UTF-8"));
    }
}

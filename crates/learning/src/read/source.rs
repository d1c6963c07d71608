//! Bytes and lines, whether compressed or not.

use std::io::{BufRead, BufReader, Cursor, Read};

use flate2::read::MultiGzDecoder;

use crate::{Error, Result};

/// The bytes behind a reader: unpacked, if they start like a gzip file.
pub(super) fn plain<'a>(mut reader: impl Read + 'a) -> Result<Box<dyn Read + 'a>> {
    let mut start = Vec::new();
    reader.by_ref().take(2).read_to_end(&mut start).map_err(|error| unreadable(&error))?;
    let packed = start == [0x1f, 0x8b];
    let whole = Cursor::new(start).chain(reader);
    Ok(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

/// What to say when reading fails.
pub(super) fn unreadable(error: &std::io::Error) -> Error {
    Error::Format(format!("cannot be read to its end ({error}); check that the file is whole"))
}

/// Lines of text with their numbers from 1, without their ends. Blanks stay: a tab at the end is an empty field.
pub(super) struct Lines<'a> {
    reader: BufReader<Box<dyn Read + 'a>>,
    bytes: Vec<u8>,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: impl Read + 'a) -> Result<Self> {
        Ok(Self { reader: BufReader::new(plain(reader)?), bytes: Vec::new(), number: 0 })
    }

    /// The next line; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &str)>> {
        self.bytes.clear();
        self.number += 1;
        let read = self.reader.read_until(b'\n', &mut self.bytes).map_err(|error| unreadable(&error))?;
        if read == 0 {
            return Ok(None);
        }
        let text = str::from_utf8(&self.bytes)
            .map_err(|_| Error::line(self.number, "the line is not UTF-8 text; convert the file"))?;
        Ok(Some((self.number, text.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']))))
    }
}

/// A finite number in a line.
pub(super) fn number(line: usize, what: &str, text: &str) -> Result<f64> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => {
            let advice = "give a finite number with a decimal point, or remove the row";
            Err(Error::line(line, format!("{what} is `{}`: {advice}", show(text))))
        }
    }
}

/// Text for a message: short, whatever the file holds.
pub(super) fn show(text: &str) -> String {
    if text.chars().count() > 80 { text.chars().take(80).chain("...".chars()).collect() } else { text.into() }
}

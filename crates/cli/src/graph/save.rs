//! Standard output whose reader may leave early.

use std::io::{self, Write};

/// Standard output that takes no offence at a reader who has gone away, as `head` does.
pub(super) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        forgiven(io::stdout().lock().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        forgiven(io::stdout().lock().flush(), ())
    }
}

fn forgiven<T>(result: io::Result<T>, otherwise: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(otherwise),
        other => other,
    }
}

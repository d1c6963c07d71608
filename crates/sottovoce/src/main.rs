//! The `sottovoce` program: parses, runs, and turns errors into messages and exit codes.

use std::process::ExitCode;

fn main() -> ExitCode {
    sottovoce::cli::main()
}

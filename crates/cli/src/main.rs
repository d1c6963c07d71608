//! The `sottovoce` program; everything is in the library beside it.

fn main() -> std::process::ExitCode {
    sottovoce_cli::main()
}

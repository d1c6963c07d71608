//! `run my.toml` is short for `run file my.toml`, `run -` for an experiment on standard input, and so for every command that takes an experiment's file.

use std::ffi::OsString;
use std::path::Path;

/// Commands that take an experiment's file.
const COMMANDS: [&str; 4] = ["run", "account", "audit", "plan"];

/// The arguments, with `file` put in before an experiment's file that follows a command.
pub(crate) fn named(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = arguments.collect();
    let command = (1..all.len()).find(|&i| COMMANDS.iter().any(|name| all[i] == *name));
    if let Some(place) = command.map(|i| i + 1)
        && all
            .get(place)
            .is_some_and(|next| next == "-" || Path::new(next).extension().is_some_and(|end| end == "toml"))
    {
        all.insert(place, "file".into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_experiments_that_follow_a_command_are_files() {
        let words = |line: &str| named(line.split(' ').map(OsString::from)).join(&OsString::from(" "));
        assert_eq!(words("sottovoce run my.toml --seeds 3"), "sottovoce run file my.toml --seeds 3");
        assert_eq!(words("sottovoce --json account a/my.toml"), "sottovoce --json account file a/my.toml");
        assert_eq!(words("sottovoce run - --out -"), "sottovoce run file - --out -");
        for same in
            ["sottovoce run quickstart --out my.toml", "sottovoce run", "sottovoce graph inspect my.toml"]
        {
            assert_eq!(words(same), same);
        }
    }
}

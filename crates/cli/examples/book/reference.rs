//! Pages of the reference, made from what the program says of itself: commands and options, experiments, JSON documents.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sottovoce::experiment::{KINDS, template};

use super::markdown::anchor;

/// A page that is made: its path in the repository, its title, its text.
pub(crate) type Made = (String, String, String);

/// All pages of the reference.
pub(crate) fn all() -> Result<Vec<Made>, String> {
    let options: Value = asked(&["schema", "--options"])?;
    let documents: Map<String, Value> = asked(&["schema"])?;
    Ok([commands(&options)?, experiments()?, super::documents::pages(&documents)].concat())
}

/// The JSON that the program prints for these words.
fn asked<T: serde::de::DeserializeOwned>(words: &[&str]) -> Result<T, String> {
    let answer = sottovoce_cli::ask(words).map_err(|fault| fault.message)?;
    serde_json::from_str(&answer.printed).map_err(|why| format!("{}: {why}", words.join(" ")))
}

/// The heading of options that every command has: they are on the first page alone.
const GLOBAL: &str = "Global options";

/// A page for each command, and one that lists all.
fn commands(options: &Value) -> Result<Vec<Made>, String> {
    let listed = options["commands"].as_array().ok_or("`schema --options` lists no commands")?;
    let mut parts: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for command in listed {
        let name = text(command, "name");
        parts.entry(name.split(' ').next().unwrap_or(name)).or_default().push(command);
    }
    let path = |name: &str| format!("docs/reference/commands/{name}.md");
    let mut index = "# Commands\n\nMade from the program itself (`sottovoce schema --options`). Every command has `--help`.\n\n| command | what it does |\n| --- | --- |\n".to_owned();
    for command in listed.iter().filter(|command| !text(command, "name").is_empty()) {
        let name = text(command, "name");
        let page = name.split(' ').next().unwrap_or(name);
        let title = format!("sottovoce {name}");
        index +=
            &format!("| [`{title}`]({page}.md#{}) | {} |\n", anchor(&title), cell(text(command, "about")));
    }
    index += "\nOptions of every command:\n";
    for program in listed.iter().filter(|command| text(command, "name").is_empty()) {
        index += &tables(program, |heading| heading == GLOBAL);
    }
    let mut made = vec![(path("all"), "Commands".to_owned(), index)];
    for (name, commands) in parts.into_iter().filter(|(name, _)| !name.is_empty()) {
        let sections: Vec<String> = commands.into_iter().map(command).collect();
        made.push((path(name), name.to_owned(), format!("# {name}\n\n{}", sections.join("\n"))));
    }
    Ok(made)
}

/// One command: what it is for, how it is called, its options by their headings, its examples.
fn command(command: &Value) -> String {
    let mut page = format!("## sottovoce {}\n\n{}\n", text(command, "name"), text(command, "about"));
    page += &format!("\n```text\n{}\n```\n", text(command, "usage").trim_start_matches("Usage: "));
    page += &tables(command, |heading| heading != GLOBAL);
    let examples: Vec<&str> =
        command["examples"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !examples.is_empty() {
        page += &format!("\n```sh\n{}\n```\n", examples.join("\n"));
    }
    match text(command, "notes") {
        "" => page,
        notes => format!("{page}\n```text\n{notes}\n```\n"),
    }
}

/// Tables of options, one for each of these headings.
fn tables(command: &Value, wanted: impl Fn(&str) -> bool) -> String {
    let mut headings: Vec<(&str, Vec<&Value>)> = Vec::new();
    for option in command["options"].as_array().into_iter().flatten() {
        let heading = Some(text(option, "heading")).filter(|name| !name.is_empty()).unwrap_or("Options");
        match headings.iter_mut().find(|(name, _)| *name == heading) {
            Some((_, options)) => options.push(option),
            None => headings.push((heading, vec![option])),
        }
    }
    let table = |(heading, options): (&str, Vec<&Value>)| {
        let rows: String = options.into_iter().map(option).collect();
        format!("\n**{heading}**\n\n| option | meaning | default |\n| --- | --- | --- |\n{rows}")
    };
    headings.into_iter().filter(|(heading, _)| wanted(heading)).map(table).collect()
}

/// A row of the table of options.
fn option(option: &Value) -> String {
    let short = option["short"].as_str().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let dashes = if option["positional"] == true { "" } else { "--" };
    let value = option["value"].as_str().map(|value| format!(" {value}")).unwrap_or_default();
    let called = match option["positional"] == true && !value.is_empty() {
        true => value.trim().to_owned(),
        false => format!("{dashes}{}{value}", text(option, "name")),
    };
    let possible: Vec<String> = option["possible"].as_array().into_iter().flatten().map(possible).collect();
    let possible = match possible.is_empty() {
        true => String::new(),
        false => format!(" One of {}.", possible.join(", ")),
    };
    let default = option["default"].as_str().map(|default| format!("`{default}`")).unwrap_or_default();
    let default =
        if option["required"] == true { "required".to_owned() } else { default.replace('|', "\\|") };
    let called = called.replace('|', "\\|");
    format!("| {short}`{called}` | {}{possible} | {default} |\n", cell(text(option, "help")))
}

/// A value that an option can have, and what it means.
fn possible(value: &Value) -> String {
    let help = cell(text(value, "help"));
    let help = help.trim_end_matches('.');
    match help.is_empty() {
        true => format!("`{}`", text(value, "value")),
        false => format!("`{}` ({help})", text(value, "value")),
    }
}

/// A page for each kind of experiment: the commented file that `sottovoce new` prints.
fn experiments() -> Result<Vec<Made>, String> {
    let path = |name: &str| format!("docs/reference/experiments/{name}.md");
    let mut index = "# Experiments (TOML)\n\nAn experiment is one description that options and files build alike. `sottovoce new KIND` prints a file with every field, its meaning and its default; these pages are those files. Fields that are not known are refused by name. A field has the name of the option of `sottovoce run KIND` that sets the same.\n\n".to_owned();
    let mut made = Vec::new();
    for kind in KINDS {
        let file = template(kind).map_err(|why| why.to_string())?;
        let about = file.lines().next().unwrap_or_default().trim_start_matches("# ");
        let about = about.split("   ").next().unwrap_or(about).trim_end_matches(" Run it:");
        index += &format!("* [{kind}]({kind}.md): {about}\n");
        let text = format!(
            "# {kind}\n\n```sh\nsottovoce new {kind} > my.toml\nsottovoce run my.toml\n```\n\n```toml\n{file}```\n"
        );
        made.push((path(kind), kind.to_owned(), text));
    }
    made.insert(0, (path("all"), "Experiments (TOML)".to_owned(), index));
    Ok(made)
}

/// A field that is text, or nothing.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Text as a cell of a table: on one line, without what Markdown or a browser would take for its own.
pub(crate) fn cell(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let outside = |(i, part): (usize, &str)| match i % 2 {
        0 => part.replace('<', "&lt;").replace('*', "\\*"),
        _ => part.to_owned(),
    };
    flat.split('`').enumerate().map(outside).collect::<Vec<_>>().join("`")
}

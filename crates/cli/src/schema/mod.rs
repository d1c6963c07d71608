//! `sottovoce schema`: the form of every JSON document, as JSON Schema.
//!
//! The keys are listed, with their meanings, in `keys.txt`; a test holds what the commands print against it. A line is a key, a
//! kind and a meaning. A key that ends in `?` may be missing. Kinds:
//!
//! ```text
//! integer number string boolean null any     as in JSON
//! [K]  {K}  K|L                              lists, objects with any keys, alternatives
//! "word"                                     this word
//! @name                                      an object of the section @name
//! ```
//!
//! Commands that print alike share a section.

use anyhow::bail;
use clap::Args;
use serde_json::{Map, Value, json};

use super::{Global, output};

const KEYS: &str = include_str!("keys.txt");
/// The section of the keys that every document has.
const COMMON: &str = "every document";

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sottovoce schema\n  sottovoce schema account averaging")]
pub(crate) struct Schema {
    /// The command, such as `account averaging`; without it, the schemas of all.
    command: Vec<String>,
}

impl Schema {
    pub(crate) fn run(&self, _: &Global) -> anyhow::Result<()> {
        let name = self.command.join(" ");
        let schema = if name.is_empty() { all() } else { of(&name) };
        let Some(schema) = schema else {
            let names: Vec<&str> = commands().collect();
            bail!("`command` is {name}: it prints no JSON document; give one of {}", names.join(", "))
        };
        output::write(format!("{}\n", serde_json::to_string_pretty(&schema)?).as_bytes())
    }
}

/// A key of a document.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    name: &'static str,
    kind: &'static str,
    meaning: &'static str,
    optional: bool,
}

/// The sections of the list: their names, and their lines.
fn sections() -> impl Iterator<Item = (&'static str, Vec<Key>)> {
    KEYS.split("\n# ").skip(1).map(|section| {
        let (name, lines) = section.split_once('\n').unwrap_or((section, ""));
        (name.trim(), lines.lines().filter_map(key).collect())
    })
}

/// A line: key, kind, meaning.
fn key(line: &'static str) -> Option<Key> {
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let (kind, meaning) = rest.trim_start().split_once("  ").unwrap_or((rest.trim(), ""));
    let optional = name.ends_with('?');
    Some(Key { name: name.trim_end_matches('?'), kind: kind.trim(), meaning: meaning.trim(), optional })
}

/// The commands that print documents.
fn commands() -> impl Iterator<Item = &'static str> {
    let names = sections().flat_map(|(names, _)| names.split(", "));
    names.filter(|name| !name.starts_with('@') && *name != COMMON)
}

/// All schemas, by command.
fn all() -> Option<Value> {
    let schemas: Option<Map<String, Value>> =
        commands().map(|name| Some((name.to_owned(), of(name)?))).collect();
    schemas.map(Value::Object)
}

/// The schema of a command's document.
fn of(command: &str) -> Option<Value> {
    let of = |wanted: &str| {
        sections().find(|(names, _)| names.split(", ").any(|name| name == wanted)).map(|(_, keys)| keys)
    };
    let keys = [of(COMMON)?, of(command).filter(|_| commands().any(|name| name == command))?].concat();
    let mut schema = object(&keys);
    let named =
        sections().filter_map(|(name, keys)| Some((name.strip_prefix('@')?.to_owned(), object(&keys))));
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(format!("sottovoce {command} --json")));
    schema.insert("$defs".to_owned(), Value::Object(named.map(|(name, map)| (name, map.into())).collect()));
    Some(schema.into())
}

/// An object with these keys and no others. Of a key that stands twice, the later line counts.
fn object(keys: &[Key]) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in keys {
        let mut kind = kind(key.kind);
        if let (Value::Object(fields), false) = (&mut kind, key.meaning.is_empty()) {
            fields.insert("description".to_owned(), json!(key.meaning));
        }
        properties.insert(key.name.to_owned(), kind);
    }
    let required: Vec<&str> = keys.iter().filter(|key| !key.optional).map(|key| key.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// The schema of a kind.
fn kind(text: &str) -> Value {
    let alternatives = split(text);
    if alternatives.len() > 1 {
        return json!({ "anyOf": alternatives.into_iter().map(kind).collect::<Vec<_>>() });
    }
    let inside = |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(item) = inside('[', ']') {
        return json!({ "type": "array", "items": kind(item) });
    }
    if let Some(value) = inside('{', '}') {
        return json!({ "type": "object", "additionalProperties": kind(value) });
    }
    if let Some(word) = inside('"', '"') {
        return json!({ "const": word });
    }
    match text.strip_prefix('@') {
        Some(name) => json!({ "$ref": format!("#/$defs/{name}") }),
        None if text == "any" => json!({}),
        None => json!({ "type": text }),
    }
}

/// The alternatives outside all brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, sign) in text.char_indices() {
        match sign {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            '|' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_nest() {
        assert_eq!(kind("[integer]"), json!({ "type": "array", "items": { "type": "integer" } }));
        assert_eq!(kind("{[@a]|null}")["additionalProperties"]["anyOf"][1], json!({ "type": "null" }));
        assert_eq!(kind("\"peer\"|integer")["anyOf"][0], json!({ "const": "peer" }));
    }

    #[test]
    fn every_key_has_a_known_kind_and_every_name_a_section() {
        let words = ["integer", "number", "string", "boolean", "null", "any"];
        let names: Vec<&str> = sections().filter_map(|(name, _)| name.strip_prefix('@')).collect();
        for (section, keys) in sections() {
            assert!(!keys.is_empty(), "{section} is empty");
            for key in keys {
                let parts = key.kind.split(['[', ']', '{', '}', '|']).filter(|part| !part.is_empty());
                for part in parts {
                    let known = match part.strip_prefix('@') {
                        Some(name) => names.contains(&name),
                        None => words.contains(&part) || part.starts_with('"'),
                    };
                    assert!(known, "{section}: {}: {part} is unknown", key.name);
                }
            }
        }
    }
}

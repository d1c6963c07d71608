//! Pages on JSON documents, made from their schemas: a table of keys for each, and the parts that several of them share.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::markdown::anchor;
use super::reference::{Made, cell};

/// Parts of documents by what they are called on the page: schemas of one name that differ are told apart by a number.
type Parts = BTreeMap<String, Value>;

/// A page for each command, one for the parts, and one that lists all.
pub(crate) fn pages(documents: &Map<String, Value>) -> Vec<Made> {
    let path = |name: &str| format!("docs/reference/documents/{name}.md");
    let mut index = "# JSON documents\n\nWhat `--json` prints, made from the schemas that `sottovoce schema` prints: JSON Schema for programs, tables here. Objects have no keys but these. Where a command prints one of several documents, each has a table.\n\n".to_owned();
    let mut parts = Parts::new();
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for (command, schema) in documents {
        let page = command.split(' ').next().unwrap_or(command);
        index += &format!("* [`{command}`]({page}.md#{})\n", anchor(command));
        let text = texts.entry(page).or_insert_with(|| format!("# {page} (JSON)\n"));
        *text += &document(command, &renamed(schema, &mut parts));
    }
    let mut made = vec![(path("all"), "JSON documents".to_owned(), index)];
    made.extend(texts.into_iter().map(|(page, text)| (path(page), page.to_owned(), text)));
    let mut shared = "# Parts of documents\n".to_owned();
    for (name, schema) in &parts {
        let about = schema["description"].as_str().map(|about| format!("{}\n\n", cell(about)));
        shared += &format!("\n## {name}\n\n{}{}", about.unwrap_or_default(), table(schema));
    }
    made.push((path("parts"), "parts".to_owned(), shared));
    made
}

/// One command's document, or documents.
fn document(command: &str, schema: &Value) -> String {
    let mut text = format!("\n## {command}\n");
    let forms = schema["anyOf"].as_array().filter(|_| schema.get("properties").is_none());
    match forms {
        Some(forms) => {
            for (i, form) in forms.iter().enumerate() {
                text += &format!("\n**Document {} of {}**\n\n{}", i + 1, forms.len(), table(form));
            }
        }
        None => text += &format!("\n{}", table(schema)),
    }
    text
}

/// The schema with its parts moved to the common list, and its references named as there.
fn renamed(schema: &Value, parts: &mut Parts) -> Value {
    let own = schema["$defs"].as_object().cloned().unwrap_or_default();
    let names: BTreeMap<String, String> =
        own.iter().map(|(name, part)| (name.clone(), listed(name, part, parts))).collect();
    for (old, new) in &names {
        let part = pointed(&own[old], &names);
        parts.insert(new.clone(), part);
    }
    pointed(schema, &names)
}

/// The name under which a part is in the list: its own, or the first free one with a number if that stands for something else.
fn listed(name: &str, part: &Value, parts: &mut Parts) -> String {
    let numbered = (2..).map(|k| format!("{name} ({k})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    // Keys tell parts apart; references inside them are named later.
    let keys =
        |part: &Value| part["properties"].as_object().map(|keys| keys.keys().cloned().collect::<Vec<_>>());
    let fits = |name: &String| {
        parts
            .get(name)
            .is_none_or(|known| keys(known) == keys(part) && known["description"] == part["description"])
    };
    let name = names.find(fits).unwrap_or_default();
    parts.entry(name.clone()).or_insert_with(|| part.clone());
    name
}

/// The same schema with references by these names.
fn pointed(schema: &Value, names: &BTreeMap<String, String>) -> Value {
    match schema {
        Value::Object(fields) => {
            let moved = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("$ref", Value::String(to)) => {
                    let name = to.rsplit('/').next().unwrap_or(to);
                    (key.clone(), Value::String(names.get(name).cloned().unwrap_or_else(|| name.to_owned())))
                }
                _ => (key.clone(), pointed(value, names)),
            };
            Value::Object(fields.iter().filter(|(key, _)| *key != "$defs").map(moved).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| pointed(item, names)).collect()),
        other => other.clone(),
    }
}

/// The keys of a schema as a table, or what it is, if it has none.
fn table(schema: &Value) -> String {
    let rows = rows("", schema);
    match rows.is_empty() {
        true => format!("{}.\n", kind(schema)),
        false => format!("| key | value | meaning |\n| --- | --- | --- |\n{}", rows.concat()),
    }
}

/// Rows for the keys of an object, of the objects inside it, and of those it is put together from.
fn rows(above: &str, schema: &Value) -> Vec<String> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut found = Vec::new();
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let name = format!("{above}{key}");
        let about = value["description"].as_str().unwrap_or_default();
        let may = if required.contains(&key.as_str()) { "" } else { " (may be absent)" };
        found.push(format!("| `{name}` | {}{may} | {} |\n", kind(value), cell(about)));
        found.extend(rows(&format!("{name}."), value));
        found.extend(rows(&format!("{name}[]."), &value["items"]));
    }
    for (word, one) in [("allOf", false), ("anyOf", true), ("oneOf", true)] {
        let parts =
            schema[word].as_array().into_iter().flatten().filter(|part| part.get("properties").is_some());
        for (i, part) in parts.enumerate() {
            if one {
                found.push(format!(
                    "| *or ({})* | | {} |\n",
                    i + 1,
                    cell(part["description"].as_str().unwrap_or_default())
                ));
            }
            found.extend(rows(above, part));
        }
    }
    found
}

/// What a value is.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return format!("[{name}](parts.md#{})", anchor(name));
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        if let Some(parts) = schema[word].as_array() {
            let mut kinds: Vec<String> = parts.iter().map(kind).collect();
            kinds.dedup();
            return kinds.join(if word == "allOf" { " and " } else { " or " });
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        Value::String(name) => vec![name.as_str()],
        _ => vec!["anything"],
    };
    types.into_iter().map(|name| plain(name, schema)).collect::<Vec<_>>().join(" or ")
}

/// A type by its name.
fn plain(name: &str, schema: &Value) -> String {
    let inside = |key: &str| Some(kind(&schema[key])).filter(|_| schema[key].is_object());
    match name {
        "array" => match (inside("items"), schema["prefixItems"].as_array()) {
            (Some(item), _) => format!("list of {item}"),
            (None, Some(items)) => format!("({})", items.iter().map(kind).collect::<Vec<_>>().join(", ")),
            (None, None) => "list".to_owned(),
        },
        "object" => {
            inside("additionalProperties").map_or("object".to_owned(), |of| format!("object of {of} by name"))
        }
        "boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    }
}

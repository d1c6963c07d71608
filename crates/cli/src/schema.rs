//! `sottovoce schema`: the form of every JSON document, as JSON Schema.
//!
//! It is derived from the types that are printed, and the meanings are their comments; a test holds what the commands print against
//! it. Objects admit no keys but those that are named.

use anyhow::bail;
use clap::Args;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use sottovoce::averaging::walk::{WalkRevealed, Walked};
use sottovoce::averaging::{Averaged, Revealed};
use sottovoce::deep;
use sottovoce::learning::{Learned, account, canary::Caught, plan::LearningPlan};
use sottovoce::personal;
use sottovoce::plan::RumorPlan;
use sottovoce::rumor::{self, Found, Survived};
use sottovoce::transcript::{Spent, Void};

use super::account::mechanism::{account::Account, calibration::Calibration};
use super::account::rumor::RumorAccount;
use super::account::rumor_graph::GraphAccount;
use super::account::walk::Walk;
use super::audit::{source_table::Finding, table::Reconstruction};
use super::compare::Comparison;
use super::graph::{convert, generate, report::Inspection};
use super::options::Options;
use super::output::Origin;
use super::plan::{averaging::Planned, written::Written};
use super::run::Printed;
use super::{Global, output};

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce schema\n  sottovoce schema account averaging\n  sottovoce schema --options account"
)]
pub(crate) struct Schema {
    /// The command, such as `account averaging`; without it, the schemas of all.
    command: Vec<String>,
    /// Print the command's own form instead, and those below it: its options, their defaults, possible values and help.
    #[arg(long)]
    options: bool,
}

impl Schema {
    pub(crate) fn run(&self, global: &Global, root: clap::Command) -> anyhow::Result<()> {
        if self.options {
            return self.print_options(global, root);
        }
        print(&self.command, COMMANDS)
    }

    fn print_options(&self, global: &Global, root: clap::Command) -> anyhow::Result<()> {
        let found = Options::of(root, &self.command);
        if found.commands.is_empty() {
            bail!("`command` is {}: there is none; see `sottovoce --help`", self.command.join(" "));
        }
        output::write(format!("{}\n", global.document(&found)?).as_bytes())
    }
}

/// What each command prints.
const COMMANDS: &[(&str, &[Form])] = &[
    ("graph generate", &[of::<generate::Document<'_>>, of::<generate::Summary>]),
    ("graph schedule", &[of::<crate::graph::schedule::Summary>]),
    ("graph convert", &[of::<convert::Plain<'_>>, of::<convert::Converted>]),
    ("graph inspect", &[of::<Inspection>]),
    ("account averaging", &[of::<Revealed>, of::<WalkRevealed>]),
    ("account transcript", &[of::<Revealed>]),
    ("account transcript walk", &[of::<WalkRevealed>]),
    ("account transcript learning", &[of::<account::Revealed>]),
    ("account transcript rumor", &[of::<rumor::Revealed>]),
    (
        "account file",
        &[
            of::<Revealed>,
            of::<WalkRevealed>,
            of::<account::Revealed>,
            of::<personal::Revealed>,
            of::<deep::Revealed>,
            of::<RumorAccount>,
            of::<GraphAccount>,
            of::<rumor::Revealed>,
        ],
    ),
    ("account personalized", &[of::<personal::Revealed>]),
    ("account transcript personalized", &[of::<personal::Revealed>]),
    ("account deep", &[of::<deep::Revealed>]),
    ("account transcript deep", &[of::<deep::Revealed>]),
    ("account learning", &[of::<account::Revealed>]),
    ("account walk", &[of::<Walk>]),
    ("account rumor", &[of::<RumorAccount>, of::<GraphAccount>, of::<rumor::Revealed>]),
    ("account mechanism", &[of::<Account>, of::<Calibration>]),
    ("plan averaging", &[of::<Written<Planned>>]),
    ("plan rumor", &[of::<Written<RumorPlan>>]),
    ("plan learning", &[of::<Written<LearningPlan>>]),
    ("plan personalized", &[of::<Written<personal::Planned>>]),
    ("plan file", &[of::<Written<Planned>>, of::<Written<RumorPlan>>, of::<Written<LearningPlan>>]),
    ("audit reconstruct", &[of::<Reconstruction>]),
    ("audit transcript", &[of::<Reconstruction>, of::<Void>]),
    ("audit transcript walk", &[of::<WalkRevealed>, of::<Void>]),
    ("audit transcript personalized", &[of::<personal::Revealed>, of::<Void>]),
    ("audit transcript deep", &[of::<deep::Revealed>, of::<Void>]),
    ("audit transcript learning", &[of::<Spent>, of::<Void>]),
    ("audit transcript rumor", &[of::<rumor::Suspected>, of::<Void>]),
    ("audit file", &[of::<Reconstruction>]),
    ("audit file learning", &[of::<Caught>]),
    ("audit file personalized", &[of::<personal::Attacked>]),
    ("audit file deep", &[of::<deep::Attacked>]),
    ("audit membership", &[of::<deep::Attacked>, of::<deep::MembershipFound>]),
    ("audit source", &[of::<Finding>]),
    ("run averaging", &[of::<Printed<Averaged>>, of::<Printed<Walked>>]),
    ("run quickstart", &[of::<Printed<Averaged>>]),
    ("run rumor", &[of::<Printed<Found>>, of::<Printed<Survived>>]),
    ("run learning", &[of::<Printed<Learned>>]),
    ("run personalized", &[of::<Printed<personal::Found>>]),
    ("run deep", &[of::<Printed<deep::Found>>]),
    (
        "run file",
        &[
            of::<Printed<Averaged>>,
            of::<Printed<Walked>>,
            of::<Printed<Found>>,
            of::<Printed<Survived>>,
            of::<Printed<Learned>>,
        ],
    ),
    ("new", &[of::<Map<String, Value>>]),
    ("compare", &[of::<Comparison>]),
    #[cfg(feature = "serve")]
    ("serve", &[of::<crate::serve::Listing>]),
    ("schema options", &[of::<Options>]),
];

/// Of each command that comes to nothing.
const FAILURE: (&str, &[Form]) = ("failure", &[of::<crate::exit::Failure>]);

/// Prints the schema of a command's documents, or where it is not said which, those of all these commands and of failures.
///
/// # Errors
///
/// If there is no such command, or standard output cannot be written.
pub fn print(command: &[String], commands: &[(&str, &[Form])]) -> anyhow::Result<()> {
    let all = commands.iter().chain([&FAILURE]);
    let mut all: Map<String, Value> =
        all.map(|(name, forms)| ((*name).to_owned(), schema(name, forms))).collect();
    let name = command.join(" ");
    let schema = if name.is_empty() { Some(json!(all)) } else { all.remove(&name) };
    let Some(schema) = schema else {
        let names: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
        bail!("`command` is {name}: it prints no JSON document; give one of {}", names.join(", "))
    };
    output::write(format!("{}\n", serde_json::to_string_pretty(&schema)?).as_bytes())
}

/// Writes down the form of a document.
pub type Form = fn(&mut SchemaGenerator) -> schemars::Schema;

/// A result after what it rests on.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its form is of use")]
struct Document<R> {
    #[schemars(flatten)]
    origin: Origin,
    #[schemars(flatten)]
    result: R,
}

/// The form of the document of a result.
pub fn of<R: JsonSchema>(generator: &mut SchemaGenerator) -> schemars::Schema {
    Document::<R>::json_schema(generator)
}

/// The schema of a command that prints one of these.
fn schema(command: &str, forms: &[Form]) -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut forms: Vec<Value> = forms.iter().map(|form| form(&mut generator).to_value()).collect();
    let mut schema = if forms.len() == 1 { forms.remove(0) } else { json!({ "anyOf": forms }) };
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("{} {command} --json", output::program()));
    schema["$defs"] = generator.take_definitions(true).into();
    close(&mut schema, true);
    schema
}

/// Forbids keys that are not named. Where an object is put together from several schemas, only all of them know its keys: its parts
/// (not the `whole`) stay open.
fn close(schema: &mut Value, whole: bool) {
    let Value::Object(fields) = schema else { return };
    let has = |key: &str| fields.contains_key(key);
    let choice = has("anyOf") || has("oneOf");
    let mixed = has("allOf") || (choice && has("properties"));
    if whole && (mixed || has("properties")) {
        let others = if mixed { "unevaluatedProperties" } else { "additionalProperties" };
        fields.entry(others).or_insert(json!(false));
    }
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.sort_by_key(Value::to_string);
        required.dedup();
    }
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => {
                parts.iter_mut().for_each(|part| close(part, whole && !mixed));
            }
            ("prefixItems", Value::Array(items)) => items.iter_mut().for_each(|item| close(item, true)),
            ("properties" | "patternProperties" | "$defs", Value::Object(named)) => {
                named.values_mut().for_each(|schema| close(schema, true));
            }
            ("items" | "additionalProperties", schema) => close(schema, true),
            ("description", Value::String(text)) => *text = plain(text),
            _ => {}
        }
    }
}

/// The first paragraph of a comment, without the targets of its links.
fn plain(comment: &str) -> String {
    let first = comment.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let mut parts = first.split("](");
    let text = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(text, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest));
    text.replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_without_the_program() {
        let comment = "Where [`A::b`](crate::A::b) or [`c`]\nsays so (really).\n\n```\nassert!(true);\n```";
        assert_eq!(plain(comment), "Where `A::b` or `c` says so (really).");
    }

    #[test]
    fn parts_of_an_object_know_its_keys_together() {
        let part = || json!({ "properties": { "b": { "properties": {} } } });
        let mut schema = json!({ "properties": { "a": {} }, "anyOf": [part()] });
        close(&mut schema, true);
        assert_eq!(schema["unevaluatedProperties"], false);
        let open = &schema["anyOf"][0];
        assert_eq!(
            (open.get("additionalProperties"), &open["properties"]["b"]["additionalProperties"]),
            (None, &json!(false))
        );
        let mut choice = json!({ "anyOf": [part()] });
        close(&mut choice, true);
        assert_eq!(choice["anyOf"][0]["additionalProperties"], false);
    }
}

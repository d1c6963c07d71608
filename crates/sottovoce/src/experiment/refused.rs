//! What is wrong with a file's field, said as of every parameter: the field, its value, and what it may be.

use crate::{Error, Result};

/// Letters of a value that are shown.
const SHOWN: usize = 60;

/// What a field may be, where it is said of a type.
const KINDS: [(&str, &str); 6] = [
    ("f64", "a number"),
    ("usize", "a whole number of at least 0"),
    ("u64", "a whole number of at least 0"),
    ("a boolean", "true or false"),
    ("a string", "a text"),
    ("struct ", "a table of fields"),
];

/// The field, the value and the remedy, from what the reader of a table says: its problem, and `in` which field it is.
pub(super) fn refused(table: &toml::Table, error: &toml::de::Error) -> Error {
    let said = error.to_string();
    let (problem, place) = said.trim_end().rsplit_once("\nin `").unwrap_or((said.trim_end(), ""));
    let place = place.strip_suffix('`').unwrap_or(place);
    let below = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    // What a value or a name says cannot stand behind what the reader adds.
    let (wrong, expected) = match problem.rsplit_once(", expected ") {
        Some((wrong, expected)) => (wrong, Some(expected)),
        None => (problem, None),
    };
    let quoted = |after: &str| wrong.strip_prefix(after).and_then(|rest| rest.strip_suffix('`'));
    if let Some(name) = quoted("missing field `") {
        return Error::refused(format!("`{}` is missing: give it", below(name)));
    }
    if let Some(name) = quoted("unknown field `") {
        let field = below(name);
        let value = shown(table, &field);
        let remedy = expected.map_or("leave it out".to_owned(), |expected| format!("give {expected}"));
        return Error::refused(format!("`{field}` is {value}: there is no such field; {remedy}"));
    }
    let field = if place.is_empty() { "experiment" } else { place };
    let said_of_it = problem.starts_with("unknown variant") || at(table, field).is_some_and(is_plain);
    let remedy = match expected {
        Some(expected) if said_of_it => format!("give {}", in_words(expected)),
        _ => problem.to_owned(),
    };
    Error::refused(format!("`{field}` is {}: {remedy}", shown(table, field)))
}

/// Where the text of an experiment has a field of this name, and what it is there.
///
/// ```
/// use sottovoce::experiment::places;
/// let found = places("experiment = 'averaging'\n[noise]\nsigma = 2.0", "sigma");
/// assert_eq!(found, [("noise.sigma".to_owned(), "2.0".to_owned())]);
/// assert!(places("[noise]\nsigma = 2.0", "sigma").is_empty()); // no experiment
/// ```
pub fn places(text: &str, name: &str) -> Vec<(String, String)> {
    let table = text.parse().unwrap_or_default();
    let mut found = Vec::new();
    if at(&table, "experiment").is_some() {
        collect(&table, "", name, &mut found);
    }
    found
}

fn collect(table: &toml::Table, above: &str, name: &str, found: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            toml::Value::Table(inner) => collect(inner, &path, name, found),
            plain if key == name => {
                found.push((path, plain.as_str().map_or_else(|| brief(plain), str::to_owned)));
            }
            _ => {}
        }
    }
}

/// Refuses arrays where tables belong: their places would be taken for names.
pub(super) fn check_tables(given: &toml::Table, read: &toml::Table) -> Result<()> {
    given.iter().try_for_each(|(name, value)| check_table(name, value, read.get(name)))
}

fn check_table(place: &str, given: &toml::Value, read: Option<&toml::Value>) -> Result<()> {
    match (given, read) {
        (toml::Value::Array(_), Some(toml::Value::Table(_))) => Err(Error::refused(format!(
            "`{place}` is {}: give a table of fields, each with its name",
            brief(given)
        ))),
        (toml::Value::Table(given), Some(toml::Value::Table(read))) => given
            .iter()
            .try_for_each(|(name, value)| check_table(&format!("{place}.{name}"), value, read.get(name))),
        _ => Ok(()),
    }
}

/// What a type is called.
fn in_words(expected: &str) -> &str {
    KINDS.iter().find(|(kind, _)| expected.starts_with(kind)).map_or(expected, |(_, words)| words)
}

fn is_plain(value: &toml::Value) -> bool {
    !value.is_table()
}

/// What the table has at a path with dots.
fn at<'a>(table: &'a toml::Table, path: &str) -> Option<&'a toml::Value> {
    let mut steps = path.split('.');
    let first = table.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))
}

fn shown(table: &toml::Table, path: &str) -> String {
    let Some(value) = at(table, path) else { return "given".to_owned() };
    brief(value)
}

fn brief(value: &toml::Value) -> String {
    let text = value.to_string().replace('\n', " ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    #[test]
    fn fields_values_and_remedies_are_named() {
        for (text, said) in [
            ("averaging'\n[noise]\nsigma = 'x'", "`noise.sigma` is \"x\": give a number"),
            (
                "averaging'\n[noise]\nbogus = 3",
                "`noise.bogus` is 3: there is no such field; give one of `sigma`",
            ),
            ("averaging'\nseed = -1", "`seed` is -1: give a whole number of at least 0"),
            ("averaging'\nbogus = 1", "`bogus` is 1: there is no such field; give one of `"),
            ("learning'\nseeds = 1.5", "`seeds` is 1.5: give a whole number of at least 0"),
            ("learning'\ntask = 3", "`task` is 3: give a table of fields"),
            ("learning'\n[target]\nagainst = 'me'", "`target.against` is \"me\": give one of `wire-tapper`"),
            ("learning'\n[protocol]\niterations = [1]", "`protocol.iterations` is [1]: give a whole number"),
            ("averaging'\ngraph = { family = { ring = { n = -3 } } }", "`graph` is { family ="),
            ("averaging'\nnoise = [2.0]", "`noise` is [2.0]: give a table of fields"),
            ("averaging'\ngraph = { family = { ring = [12] } }", "`graph.family.ring` is [12]: give a table"),
            ("averaging'\n[graph]\nbogus = 1", "`graph.bogus` is 1: there is no such field; leave it out"),
            ("learning'\n[target]\nagainst = \"\\nin `foo`\"", "`target.against` is"),
            (
                "learning'\n[target]\nagainst = ', expected x'",
                "`target.against` is \", expected x\": give one of",
            ),
            ("averaging'\n[noise]\n\"a`b\" = 3", "`noise.a`b` is 3: there is no such field; give one of"),
        ] {
            let error = Experiment::parse(&format!("experiment = '{text}")).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}

//! How options of a command line are parsed, with messages that say what to give.

/// Parses a whole number, such as a number of nodes.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "give a whole number that is not negative, such as 16".to_owned())
}

/// Parses any number; its range is checked where it is used.
pub fn real(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "give a number, such as 0.25".to_owned())
}

/// One of these names, as what it stands for.
pub(super) fn named<T>(names: &'static [&'static str]) -> impl clap::builder::TypedValueParser<Value = T>
where
    T: serde::de::DeserializeOwned + Clone + Send + Sync + 'static,
{
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(serde_json::Value::String(name)))
}

/// Keeps a text that can be parsed.
pub(super) fn checked<T>(
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static
where
    T: 'static,
{
    move |text| parse(text).map(|_| text.to_owned())
}

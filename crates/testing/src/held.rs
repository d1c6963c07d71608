//! Whether a document has the form that a schema says.

use std::collections::BTreeSet;

use serde_json::Value;

/// Keywords of JSON Schema that explain and do not restrict.
const SILENT: [&str; 5] = ["$schema", "$defs", "title", "description", "format"];

/// Holds a value against a schema: the keys that the schema names, or what is wrong. A keyword that is not known here is refused.
///
/// # Errors
///
/// What is wrong, and where.
pub fn held(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<BTreeSet<String>, String> {
    let Value::Object(keywords) = schema else {
        return if *schema == Value::Bool(false) {
            Err(format!("{at} is unknown"))
        } else {
            Ok(BTreeSet::new())
        };
    };
    let mut named = BTreeSet::new();
    for (keyword, asked) in keywords {
        let (list, number) = (asked.as_array().map_or(&[][..], Vec::as_slice), asked.as_u64());
        let size = || value.as_array().map_or(0, Vec::len) as u64;
        let fits = match keyword.as_str() {
            "$ref" => {
                let place = asked.as_str().unwrap().trim_start_matches('#');
                named.extend(held(value, root.pointer(place).unwrap(), root, at)?);
                true
            }
            "allOf" => {
                for part in list {
                    named.extend(held(value, part, root, at)?);
                }
                true
            }
            "anyOf" | "oneOf" => {
                let (fit, wrong): (Vec<_>, Vec<_>) =
                    list.iter().map(|part| held(value, part, root, at)).partition(Result::is_ok);
                if fit.is_empty() {
                    return Err(wrong.into_iter().filter_map(Result::err).collect::<Vec<_>>().join(" or "));
                }
                let one = fit.len() == 1 || keyword == "anyOf";
                named.extend(fit.into_iter().flatten().flatten());
                one
            }
            "type" if asked.is_array() => list.iter().any(|kind| is(value, kind)),
            "type" => is(value, asked),
            "const" => value == asked,
            "enum" => list.contains(value),
            "minimum" => value.as_f64().is_none_or(|value| value >= asked.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|value| value <= asked.as_f64().unwrap()),
            "minLength" => {
                value.as_str().is_none_or(|text| Some(text.chars().count() as u64) >= asked.as_u64())
            }
            "maxLength" => {
                value.as_str().is_none_or(|text| Some(text.chars().count() as u64) <= asked.as_u64())
            }
            "minItems" => Some(size()) >= number,
            "maxItems" => Some(size()) <= number,
            "required" => list.iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "items" | "prefixItems" | "properties" | "additionalProperties" | "unevaluatedProperties" => true,
            // Maps by number.
            "patternProperties" => asked.as_object().unwrap().keys().eq([r"^\d+$"]),
            word if SILENT.contains(&word) => true,
            word => panic!("{word} is not known here"),
        };
        if !fits {
            return Err(format!("{at} is {value}, where {keyword} is {asked}"));
        }
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        held(item, schema["prefixItems"].get(i).unwrap_or(&schema["items"]), root, &format!("{at}[{i}]"))?;
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let number = key.bytes().all(|byte| byte.is_ascii_digit());
        let patterned = schema.pointer(r"/patternProperties/^\d+$").filter(|_| number);
        let known = patterned.unwrap_or(&schema["properties"][key]);
        if !known.is_null() {
            named.insert(key.clone());
        } else if named.contains(key) {
            continue;
        }
        let others = ["additionalProperties", "unevaluatedProperties"].map(|word| &schema[word]);
        let other = others.into_iter().find(|schema| !schema.is_null()).unwrap_or(&Value::Null);
        held(value, if known.is_null() { other } else { known }, root, &format!("{at}.{key}"))?;
    }
    Ok(named)
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

//! Numbers that stand nowhere else, and a search for them in whatever a node says: as decimals, as hexadecimal digits, as bytes, and as whole numbers of grid steps.

/// One number, in all ways in which it could be told.
pub(crate) struct Canary {
    needles: Vec<(&'static str, Vec<u8>)>,
    /// Short ones, which count only where no letter or digit is beside them: hashes are full of digits.
    alone: Vec<(&'static str, Vec<u8>)>,
}

/// Bytes one after the other, as they are printed by `{:?}`.
fn listed(bytes: &[u8]) -> String {
    bytes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Canary {
    /// Of a number between 0.1 and 1 with many digits, on a fine grid.
    pub(crate) fn new(value: f64, grid: f64) -> Self {
        let steps = (value / grid).round_ties_even() as i64;
        assert!((0.1..1.0).contains(&value) && steps > 1 << 26, "it would be found where it is not: {value}");
        let mut needles: Vec<(&'static str, Vec<u8>)> = Vec::new();
        let mut add = |how: &'static str, bytes: Vec<u8>| needles.push((how, bytes));
        let whole = value.to_string();
        // Six digits, cut and rounded: whoever prints more of them prints these.
        add("as a decimal", whole.as_bytes()[..8].to_vec());
        add("as a decimal, rounded", format!("{value:.6}").into_bytes());
        let power = format!("{value:e}").to_lowercase();
        add("as a power of ten", power.as_bytes()[..9].to_vec());
        for (number, words) in [
            (value.to_bits(), ["in bytes", "in hexadecimal digits", "in listed bytes", "in escaped bytes"]),
            (
                steps as u64,
                [
                    "in steps, in bytes",
                    "in steps, in hexadecimal digits",
                    "in steps, in listed bytes",
                    "in steps, in escaped bytes",
                ],
            ),
        ] {
            for bytes in [number.to_le_bytes(), number.to_be_bytes()] {
                add(words[0], bytes.to_vec());
                add(words[1], hex(&bytes).into_bytes());
                add(words[1], hex(&bytes).to_uppercase().into_bytes());
                add(words[2], listed(&bytes).into_bytes());
                add(words[3], bytes.escape_ascii().to_string().into_bytes());
            }
        }
        let alone = vec![
            ("in steps", steps.to_string().into_bytes()),
            ("in steps, in hexadecimal digits", format!("{steps:x}").into_bytes()),
            ("in steps, in hexadecimal digits", format!("0x{steps:x}").into_bytes()),
        ];
        Self { needles, alone }
    }

    /// How it is told in this text, if it is.
    pub(crate) fn found(&self, text: &[u8]) -> Option<&'static str> {
        let anywhere = self.needles.iter().find(|(_, needle)| places(text, needle).next().is_some());
        let alone = || {
            let stands = |needle: &[u8]| places(text, needle).any(|at| stands_alone(text, at, needle.len()));
            self.alone.iter().find(|(_, needle)| stands(needle))
        };
        anywhere.or_else(alone).map(|(how, _)| *how)
    }
}

/// Where something begins.
fn places<'a>(text: &'a [u8], needle: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let first = needle[0];
    let begins = text.iter().enumerate().filter(move |(_, byte)| **byte == first).map(|(at, _)| at);
    begins.filter(move |&at| text[at..].starts_with(needle))
}

fn stands_alone(text: &[u8], at: usize, length: usize) -> bool {
    let free = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    free(at.checked_sub(1).and_then(|before| text.get(before))) && free(text.get(at + length))
}

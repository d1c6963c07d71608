//! Where a page comes from: what its reader needs to make it again, and nothing that differs from one making to the next (no time, no
//! machine).

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::text::escape;

/// What made a page, and of what. Whatever does not apply is left empty and not shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Provenance {
    /// The program's version.
    pub version: String,
    /// The command that makes the same page again.
    pub command: String,
    /// Seed of everything random.
    pub seed: Option<u64>,
    /// Hash of the graph ([`hash`]). Of private data there is none: whoever knows all rows but one would find that one by guessing.
    pub graph_hash: Option<String>,
}

impl Provenance {
    /// The foot of a page.
    pub(crate) fn html(&self) -> String {
        let seed = self.seed.map(|seed| seed.to_string());
        let given = |text: &String| (!text.is_empty()).then(|| text.clone());
        let facts = [
            ("Version", given(&self.version)),
            ("Command", given(&self.command)),
            ("Seed", seed),
            ("Graph (SHA-256)", self.graph_hash.clone()),
        ];
        let shown: String = facts
            .into_iter()
            .filter_map(|(label, value)| Some((label, value?)))
            .map(|(label, value)| {
                format!("<div><dt>{label}</dt><dd><code>{}</code></dd></div>\n", escape(&value))
            })
            .collect();
        if shown.is_empty() { shown } else { format!("<dl class=\"origin\">\n{shown}</dl>\n") }
    }
}

/// The first sixteen hexadecimal digits of the SHA-256 of all parts, one after the other: enough to see that two runs had the same graph.
pub fn hash<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut digest = Sha256::new();
    parts.into_iter().for_each(|part| digest.update(part));
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(hash(["a", "bc"]), "ba7816bf8f01cfea");
    }

    #[test]
    fn what_does_not_apply_is_not_shown() {
        assert_eq!(Provenance::default().html(), "");
        let some = Provenance { command: "run <x>".into(), seed: Some(7), ..Provenance::default() };
        let html = some.html();
        assert!(html.contains("run &lt;x&gt;") && html.contains("<code>7</code>"), "{html}");
        assert!(!html.contains("Graph") && !html.contains("Version"), "{html}");
    }
}

//! The document around a page: one file, one style, one script, and a policy that lets nothing else in.
//!
//! The policy allows no network, no frame, no inline handler and no style or script but the two named by hash. Data
//! travel in a block that is never executed.

use sha2::{Digest, Sha256};

use crate::provenance::Provenance;
use crate::text::escape;

pub(crate) const STYLE: &str = include_str!("page.css");
pub(crate) const SCRIPT: &str = include_str!("page.js");

/// A complete HTML file. `body` is markup; `data` is JSON for the script, empty where there is none.
pub(crate) fn document(title: &str, body: &str, data: &str, provenance: &Provenance) -> String {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(SCRIPT),
    );
    let data = if data.is_empty() {
        String::new()
    } else {
        format!("<script type=\"application/json\" id=\"data\">{}</script>\n", inert(data))
    };
    let (title, origin) = (escape(title), provenance.html());
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
         <button id=\"theme\" class=\"scripted\" type=\"button\" title=\"Switch between light and dark\" \
         aria-label=\"Switch between light and dark\"><span aria-hidden=\"true\">◐</span></button>\n\
         <main id=\"main\">\n{body}</main>\n<footer>{origin}\
         <p>Made by Sottovoce. This page is one file: it loads nothing and sends nothing.</p></footer>\n\
         <div id=\"tip\" role=\"tooltip\" hidden></div>\n\
         {data}<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// A script or a style as a security policy names it.
pub(crate) fn source(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text)))
}

/// JSON that cannot end the element it stands in, whatever its strings say.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Paragraphs of text.
pub(crate) fn paragraphs(texts: &[String]) -> String {
    texts.iter().map(|t| format!("<p>{}</p>\n", escape(t))).collect()
}

/// A list of texts; nothing where there are none.
pub(crate) fn list(texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let items: String = texts.iter().map(|t| format!("<li>{}</li>\n", escape(t))).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// A figure: `picture` is markup written by this crate, `caption` is text.
pub(crate) fn figure(picture: &str, caption: &str) -> String {
    let caption = if caption.is_empty() {
        String::new()
    } else {
        format!("<figcaption>{}</figcaption>\n", escape(caption))
    };
    format!("<figure>\n{picture}\n{caption}</figure>\n")
}

/// A link to a file in the page's own folder.
pub(crate) fn link(name: &str) -> String {
    let name = escape(name);
    format!("<a href=\"{name}\">{name}</a>")
}

/// A table of text. On narrow screens each row becomes a card, so each cell repeats its column's name.
pub(crate) fn table(id: &str, columns: &[&str], rows: &[Vec<String>]) -> String {
    let safe: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| escape(cell)).collect()).collect();
    markup_table(id, columns, &safe)
}

/// Columns beyond which a table may be wider than the page.
const MANY: usize = 6;

/// The same of cells that are markup already. A column without a name heads its rows.
pub(crate) fn markup_table(id: &str, columns: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |(content, name): (&String, &&str)| match name.is_empty() {
        true => format!("<th scope=\"row\">{content}</th>"),
        false => format!("<td data-label=\"{}\">{content}</td>", escape(name)),
    };
    let head = |name: &&str| match name.is_empty() {
        true => "<td></td>".to_owned(),
        false => format!("<th scope=\"col\">{}</th>", escape(name)),
    };
    let head: String = columns.iter().map(head).collect();
    let body: String = rows
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", row.iter().zip(columns).map(cell).collect::<String>()))
        .collect();
    let id = if id.is_empty() { String::new() } else { format!(" id=\"{id}\"") };
    // What may have to be scrolled can be reached by keys.
    let reached = match columns.len() > MANY {
        true => " tabindex=\"0\" role=\"group\" aria-label=\"A wide table\"",
        false => "",
    };
    format!(
        "<div class=\"wide\"{reached}><table{id}><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )
}

/// Bytes in base 64 (RFC 4648, with padding).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_standard() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn data_cannot_close_their_element() {
        let page = document(
            "<t>",
            "<p>x</p>",
            "{\"a\":\"</script><script>alert(1)</script>\"}",
            &Provenance::default(),
        );
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(page.contains("<title>&lt;t&gt;</title>") && page.contains("\\u003c/script\\u003e"));
    }

    #[test]
    fn a_table_that_may_be_scrolled_is_reached_by_keys() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert!(table("", &names, &[]).starts_with("<div class=\"wide\" tabindex=\"0\""));
        assert!(table("", &names[..6], &[]).starts_with("<div class=\"wide\"><table>"));
    }

    #[test]
    fn script_and_style_cannot_close_their_elements() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--") && !STYLE.contains("</style"));
        // A checkout that changes line ends would not break the policy: the hash is of what is written.
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("fetch("));
    }
}

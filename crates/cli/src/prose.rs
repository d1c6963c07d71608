//! Lines that fit: prose is broken between words, rows of tables are left as they are, and no number is written out in hundreds of digits.
//!
//! ```text
//! a sentence goes on two places
//!   to the right
//!   * a point of a list goes on
//!     below its text
//!   label    what is said of it goes
//!            on below its beginning
//!   a     row     with     columns     stays     on     its     line
//! ```

/// Widest that lines get; on a narrower terminal they are as wide as that.
pub(crate) const WIDTH: usize = 100;
/// Narrowest; a terminal below that breaks lines itself.
const NARROW: usize = 40;
/// Digits of a number that people may want to read.
const DIGITS: usize = 24;
/// How far to the right a sentence goes on.
const STEP: usize = 2;

/// The text, with prose broken to the width of the terminal.
pub(crate) fn wrapped(text: &str) -> String {
    let terminal = terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0));
    broken(&brief(text), terminal.clamp(NARROW, WIDTH)) // whole numbers
}

/// The text with numbers of very many digits in powers of ten.
fn brief(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
    while let Some(from) = rest.find(is_digit) {
        let number = &rest[from..];
        let to = number.find(|letter| !is_digit(letter)).unwrap_or(number.len());
        // A full stop may end the sentence.
        let to = number[..to].trim_end_matches('.').len().max(1); // whole numbers
        out.push_str(&rest[..from]);
        out.push_str(&match to > DIGITS {
            true => sottovoce_fault::brief(number[..to].to_owned()),
            false => number[..to].to_owned(),
        });
        rest = &number[to..];
    }
    out + rest
}

fn broken(text: &str, width: usize) -> String {
    text.lines().flat_map(|line| lines(line.trim_end(), width)).collect::<Vec<_>>().join("\n")
}

/// One line as several. A word that is too long by itself stays whole.
fn lines(line: &str, width: usize) -> Vec<String> {
    let gaps = gaps(line);
    if line.chars().count() <= width || gaps.len() > 1 {
        return vec![line.to_owned()];
    }
    let begin = line.chars().take_while(|letter| *letter == ' ').count();
    let beside = gaps.first().copied().filter(|column| *column < width / 2);
    let below = beside.unwrap_or((begin + STEP).min(width / 2)); // whole numbers
    let letters: Vec<char> = line.chars().collect();
    let (mut all, mut from, mut indent) = (Vec::new(), 0, 0);
    while from < letters.len() {
        // Spaces before the text of the line, or before what stands beside a label, are no place to break.
        let first = if from == 0 { beside.unwrap_or(begin) } else { from };
        let room = from + width - indent;
        let space = |range: std::ops::Range<usize>| range.into_iter().filter(|at| letters[*at] == ' ');
        let to = match letters.len() <= room {
            true => letters.len(),
            false => (space(first..room + 1).next_back())
                .or_else(|| space(room..letters.len()).next())
                .unwrap_or(letters.len()),
        };
        let part: String = letters[from..to].iter().collect();
        all.push(format!("{:indent$}{}", "", part.trim_end()));
        (from, indent) = (to + 1, below);
    }
    all
}

/// Where what follows two spaces or more begins, and what follows a bullet.
fn gaps(line: &str) -> Vec<usize> {
    let text = line.trim_start();
    let begin = line.chars().count() - text.chars().count();
    if text.starts_with("* ") {
        return vec![begin + 2];
    }
    let letters: Vec<char> = line.trim_end().chars().collect();
    let starts = |at: &usize| letters[*at] != ' ' && letters[at - 1] == ' ' && letters[at - 2] == ' ';
    (begin + 2..letters.len()).filter(starts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_goes_on_below_its_beginning_and_tables_stay() {
        let text = "a sentence goes on two places to the right\n\n  * a point of a list goes on below its text\n  \
                    label    what is said of it goes on below its beginning\n  a     row     with     columns     stays";
        let expected = "a sentence goes on two places\n  to the right\n\n  * a point of a list goes on\n    below its text\n  \
                        label    what is said of it\n           goes on below its\n           beginning\n  a     row     with     columns     stays";
        assert_eq!(broken(text, 30), expected);
    }

    #[test]
    fn wild_numbers_are_short_and_all_else_is_as_it_was() {
        let (large, small) = (1e300, 2.5e-30);
        assert_eq!(
            brief(&format!("is {large}: mu = -{small}, or {large}.")),
            "is 1e300: mu = -2.5e-30, or 1e300."
        );
        let kept = "v1.2.3 ... 0.5, 18446744073709551615 and 123456789012345678901234567890 at 2026-11-16.";
        assert_eq!(brief(kept), kept);
    }

    #[test]
    fn long_words_stay_whole_and_nothing_is_lost() {
        let text =
            "see /a/very/long/path/without/any/space/in/it and then go on with é and ± as one letter each";
        for width in 3..100 {
            let lines = broken(text, width);
            assert_eq!(
                lines.split_whitespace().collect::<Vec<_>>(),
                text.split_whitespace().collect::<Vec<_>>()
            );
            let wide = |line: &&str| line.chars().count() > width && line.trim().contains(' ');
            assert_eq!(lines.lines().find(wide), None, "{width}");
        }
        assert_eq!(broken("short", 30), "short");
    }
}

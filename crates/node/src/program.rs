//! A program of the node's owner that computes gradients: started once, asked on its standard input, heard on its standard output (`docs/node-program.md`).
//!
//! ```text
//!   node                                                    program
//!   {"sottovoce": 1, "width": 3, "rows": null, "data": ...}      ──►      once
//!   {"step": 0, "numbers": 3}  and 3 doubles                     ──►      a gradient at this point, please
//!                                                                ◄──      {"vectors": 2, "numbers": 3}  and 2 times 3 doubles
//! ```
//!
//! What it answers is a suggestion (`suggested.rs`).

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::holding::Programs;
use crate::part::Holding;
use crate::suggested::{Answer, Ask, late};
use crate::{Error, Result};

/// The version of what is said.
const SPOKEN: u32 = 1;

/// Bytes of the longest line of an answer, and numbers of the longest answer.
const LINE: u64 = 1 << 16;
const NUMBERS: usize = 1 << 27;

/// What a program is told at first.
#[derive(Serialize)]
struct Welcome<'a> {
    sottovoce: u32,
    width: usize,
    rows: Option<usize>,
    data: &'a str,
}

/// What it is asked.
#[derive(Serialize)]
struct Question<'a> {
    step: usize,
    numbers: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    examples: Option<&'a [u32]>,
}

/// How its answers begin.
#[derive(Deserialize)]
#[serde(untagged)]
enum Head {
    Vectors { vectors: usize, numbers: usize },
    Failed { error: String },
}

/// A program under way.
pub(crate) struct Program {
    called: String,
    child: Child,
    asks: Sender<Vec<u8>>,
    answers: Receiver<Answer>,
    patience: Duration,
    programs: Programs,
}

impl Program {
    /// Starts a program in the node's folder; each step lasts no longer than `patience`.
    pub(crate) fn start(
        command: &[String],
        holding: &Holding,
        (width, rows): (usize, Option<usize>),
        patience: Duration,
    ) -> Result<Self> {
        let called = command.join(" ");
        let Some((name, arguments)) = command.split_first() else {
            return Err(Error::parameter("program", "empty", "name a program, with its arguments"));
        };
        let mut started = Command::new(name);
        started.args(arguments).current_dir(&holding.folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        // What it starts in turn ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut started, 0);
        let started = started.spawn();
        let mut child =
            started.map_err(|cause| refused(&called, &format!("it cannot be started ({cause})")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(refused(&called, "it has no standard input and output"));
        };
        let file = std::path::absolute(&holding.file).unwrap_or_else(|_| holding.file.clone());
        let welcome = Welcome { sottovoce: SPOKEN, width, rows, data: &file.to_string_lossy() };
        let (asks, asked) = channel();
        let (answers, answered) = channel();
        std::thread::spawn(move || converse(input, output, width, &asked, &answers));
        let programs = holding.programs.clone();
        programs.started(child.id());
        let program = Self { called, child, asks, answers: answered, patience, programs };
        let told = program.asks.send(line(&welcome)?);
        told.map_err(|_| refused(&program.called, "it has ended"))?;
        Ok(program)
    }
}

impl Ask for Program {
    fn called(&self) -> String {
        self.called.clone()
    }

    fn ask(&mut self, step: usize, point: &[f64], examples: Option<&[u32]>) -> Answer {
        let question = line(&Question { step, numbers: point.len(), examples });
        let mut bytes = question.map_err(|error| error.to_string())?;
        bytes.extend(point.iter().flat_map(|x| x.to_le_bytes()));
        self.asks.send(bytes).map_err(|_| "it has ended".to_owned())?;
        match self.answers.recv_timeout(self.patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(late(step, self.patience))
            }
            Err(RecvTimeoutError::Disconnected) => Err("it has ended".to_owned()),
        }
    }
}

impl Program {
    /// Ends it, and what it has started.
    fn kill(&mut self) {
        self.programs.end(self.child.id());
        let _ = self.child.kill();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

/// Refuses a program that is not there, or may not be executed; it is not started.
pub(crate) fn found(command: &[String], folder: &Path) -> Result<()> {
    let Some(name) = command.first() else {
        return Err(Error::parameter("program", "empty", "name a program, with its arguments"));
    };
    // As the system looks for it: by its path from the folder that it is started in, or by its name in PATH.
    let places = if Path::new(name).components().count() > 1 {
        vec![PathBuf::new()]
    } else {
        std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect()
    };
    if places.iter().any(|place| is_program(&folder.join(place).join(name))) {
        return Ok(());
    }
    Err(refused(
        &command.join(" "),
        "it cannot be started (there is no such program, or it may not be executed)",
    ))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

fn refused(called: &str, what: &str) -> Error {
    Error::parameter("program", called, format!("{what}; nothing was sent. Mend it, and run it again"))
}

/// One line of JSON.
fn line(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)
        .map_err(|problem| Error::parameter("program", "unaskable", problem.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Hands questions over and answers back, one after the other, until either side ends. The first of what is handed over has no answer.
fn converse(
    mut input: ChildStdin,
    output: ChildStdout,
    width: usize,
    asked: &Receiver<Vec<u8>>,
    answers: &Sender<Answer>,
) {
    let mut output = BufReader::new(output);
    for (place, question) in asked.iter().enumerate() {
        let told = input.write_all(&question).and_then(|()| input.flush());
        if place == 0 && told.is_ok() {
            continue;
        }
        let answer = match told {
            Ok(()) => hear(&mut output, width),
            Err(cause) => Err(format!("it does not listen ({cause})")),
        };
        let over = answer.is_err();
        if answers.send(answer).is_err() || over {
            return;
        }
    }
}

/// One answer: a line, and as many doubles as it says, the lowest byte first.
fn hear(output: &mut impl BufRead, width: usize) -> Answer {
    let mut head = Vec::new();
    output.take(LINE).read_until(b'\n', &mut head).map_err(|cause| cause.to_string())?;
    if head.is_empty() {
        return Err("it has ended without an answer".to_owned());
    }
    let (vectors, numbers) = match serde_json::from_slice(&head) {
        Ok(Head::Vectors { vectors, numbers }) => (vectors, numbers),
        Ok(Head::Failed { error }) => {
            return Err(format!("it says: {}", error.chars().take(400).collect::<String>()));
        }
        Err(_) => {
            // What it is instead may be private.
            let length = head.len();
            return Err(format!(
                "an answer begins with {length} bytes that do not say its vectors and numbers"
            ));
        }
    };
    if numbers != width {
        return Err(format!("its vectors have {numbers} numbers, and {width} were agreed on"));
    }
    let all = vectors.checked_mul(numbers).filter(|all| *all <= NUMBERS);
    let all = all.ok_or_else(|| format!("{vectors} vectors of {numbers} numbers are too many"))?;
    let mut bytes = vec![0; 8 * all];
    output.read_exact(&mut bytes).map_err(|_| format!("it has ended before {all} numbers had come"))?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
}

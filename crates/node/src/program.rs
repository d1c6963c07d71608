//! A program of the node's owner that computes gradients: started once, asked on its standard input, heard on its standard output (`docs/node-program.md`).
//!
//! ```text
//!   node                                                    program
//!   {"sottovoce": 1, "width": 3, "rows": null, "data": ...}      ──►      once
//!   {"step": 0, "numbers": 3}  and 3 doubles                     ──►      a gradient at this point, please
//!                                                                ◄──      {"vectors": 2, "numbers": 3}  and 2 times 3 doubles
//! ```
//!
//! What it answers is a suggestion: the node clips every vector, takes the mean, rounds it and hides it. An answer that is none (another length, no number, too
//! late, an end) stops the step, and nothing is sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::gradients::{Gradients, mean_of};
use crate::part::Holding;
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

/// Numbers, or what is wrong with them.
type Answer = std::result::Result<Vec<f64>, String>;

/// A program under way.
pub(crate) struct Program {
    called: String,
    child: Child,
    asks: Sender<Vec<u8>>,
    answers: Receiver<Answer>,
    patience: Duration,
    width: usize,
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
        let started = Command::new(name)
            .args(arguments)
            .current_dir(&holding.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
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
        let program = Self { called, child, asks, answers: answered, patience, width };
        program.tell(line(&welcome)?)?;
        Ok(program)
    }

    fn wrong(&self, what: &str) -> Error {
        refused(&self.called, what)
    }

    fn tell(&self, bytes: Vec<u8>) -> Result<()> {
        self.asks.send(bytes).map_err(|_| self.wrong("it has ended"))
    }

    /// Asks for vectors at a point; hears as many as there are.
    fn ask(&mut self, step: usize, point: &[f64], examples: Option<&[u32]>) -> Result<Vec<f64>> {
        let mut bytes = line(&Question { step, numbers: point.len(), examples })?;
        bytes.extend(point.iter().flat_map(|x| x.to_le_bytes()));
        self.tell(bytes)?;
        let answer = match self.answers.recv_timeout(self.patience) {
            Ok(answer) => answer.map_err(|what| self.wrong(&what))?,
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                let seconds = self.patience.as_secs_f64();
                return Err(self.wrong(&format!("it has not answered step {step} within {seconds} seconds")));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(self.wrong("it has ended")),
        };
        if let Some(place) = answer.iter().position(|x| !x.is_finite()) {
            let (vector, number) = (place / self.width, place % self.width);
            let what = format!("number {number} of vector {vector} of step {step} is {}", answer[place]);
            return Err(self.wrong(&what));
        }
        Ok(answer)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Gradients for Program {
    fn mean(&mut self, step: usize, point: &[f64], clip: f64) -> Result<Vec<f64>> {
        let mut vectors = self.ask(step, point, None)?;
        if vectors.is_empty() {
            return Err(self.wrong(&format!("it has no vector for step {step}; one at least is needed")));
        }
        Ok(mean_of(&mut vectors, self.width, clip))
    }

    fn each(
        &mut self,
        step: usize,
        point: &[f64],
        picked: &[u32],
        take: &mut dyn FnMut(&mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let mut vectors = self.ask(step, point, Some(picked))?;
        let found = vectors.len() / self.width;
        if found != picked.len() {
            let what = format!("it has {found} vectors for {} examples of step {step}", picked.len());
            return Err(self.wrong(&what));
        }
        vectors.chunks_exact_mut(self.width).try_for_each(take)
    }
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
    let text = String::from_utf8_lossy(&head).trim_end().chars().take(80).collect::<String>();
    let (vectors, numbers) = match serde_json::from_slice(&head) {
        Ok(Head::Vectors { vectors, numbers }) => (vectors, numbers),
        Ok(Head::Failed { error }) => {
            return Err(format!("it says: {}", error.chars().take(400).collect::<String>()));
        }
        Err(_) => {
            return Err(format!("an answer begins with `{text}`, and not with its vectors and numbers"));
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

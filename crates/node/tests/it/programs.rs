//! Programs that compute gradients: the one of the documentation, and those that answer what is no answer.

use crate::common;

use std::process::Command;
use std::sync::Arc;

use common::parts::{agreement, check_debits, holdings, rehearse, stands};
use sottovoce::experiment::Experiment;
use sottovoce_node::descent::{Descent, Summed};
use sottovoce_node::{Function, Holding, Part, Priced, SharedFunction, Stands};
use sottovoce_protocol::ring::Residues;

const PEERS: usize = 3;

fn parts(round: f64) -> Vec<Summed> {
    let agreement = agreement(
        PEERS,
        &format!("grid = {:?}\nwidth = 2\nround = {round:?}", 2f64.powi(-24)),
        "experiment = 'learning'\ntask = { clip = 1.0 }\nstep = { size = 1.0 }\nprotocol = { method = 'butterfly', iterations = 6 }\nnoise = { sigma = 0.01 }",
    );
    let Experiment::Learning(learning) = agreement.experiment().unwrap() else { panic!("learning") };
    (0..PEERS).map(|peer| Summed(Descent::new(&agreement, &learning, peer).unwrap())).collect()
}

/// Whether there is a Python to run programs with.
fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("there is no python3 here: programs are not tried");
    }
    found
}

/// The program of the documentation.
fn documented() -> String {
    let text = include_str!("../../../../docs/node-program.md");
    let (_, rest) = text.split_once("```python\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn with(own: Holding, script: &str, folder: &std::path::Path) -> Holding {
    std::fs::write(folder.join("step.py"), script).unwrap();
    let program = Some(vec!["python3".to_owned(), "step.py".to_owned()]);
    Holding { program, folder: folder.to_owned(), ..own }
}

#[test]
fn the_documented_program_learns() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let rows = |peer: usize| {
        (0..10).map(|i| format!("{},{}\n", i as f64 / 10.0 - 0.45, u8::from(i + peer > 5))).collect()
    };
    let contents: Vec<String> = (0..PEERS).map(rows).collect();
    let own = holdings(folder.path(), &contents, "txt");
    let own: Vec<Holding> = own.into_iter().map(|own| with(own, &documented(), folder.path())).collect();
    let all = parts(30.0);
    let mut rehearsal = rehearse(&all, &own, folder.path(), usize::MAX);
    check_debits(&all, &mut rehearsal);
    // The same by hand.
    let mut model = [0.0f64; 2];
    for _ in 0..6 {
        let mut sum = [0.0; 2];
        for peer in 0..PEERS {
            for i in 0..10 {
                let (x, y) = (i as f64 / 10.0 - 0.45, f64::from(u8::from(i + peer > 5)));
                let slope = 1.0 / (1.0 + (-(model[0] * x + model[1])).exp()) - y;
                let gradient = [slope * x, slope];
                let length = gradient[0].hypot(gradient[1]);
                let factor = if length > 1.0 { 1.0 / length } else { 1.0 };
                (sum[0], sum[1]) = (sum[0] + factor * gradient[0], sum[1] + factor * gradient[1]);
            }
        }
        model = [model[0] - sum[0] / 30.0, model[1] - sum[1] / 30.0];
    }
    for stands in stands(&all, &mut rehearsal) {
        let Stands::Done(found) = stands else { panic!("{stands:?}") };
        assert!(found.iter().zip(model).all(|(x, y)| (x - y).abs() < 0.3), "{found:?} {model:?}");
    }
}

/// What its owner is told of a private step with this program: others see a step of zeros, and the same again in the next one.
fn trouble(script: &str, round: f64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let own = with(holdings(folder.path(), &["1\n".to_owned()], "txt").remove(0), script, folder.path());
    let part = parts(round).remove(0);
    let mut value = Residues::new(vec![0, 0], 40);
    let mut steps = part.steps(&own).unwrap();
    assert_eq!(own.trouble.told(), None);
    for step in 0..2 {
        steps(step, 1.0, &mut value).unwrap();
        assert!(value.centred().all(|sum| sum == 0), "nothing was made of it");
    }
    own.trouble.told().unwrap()
}

#[test]
fn what_is_no_answer_is_named() {
    if !python() {
        return;
    }
    let heard = "import sys, struct, json, time\nsys.stdin.buffer.readline()\nsys.stdin.buffer.readline()\nsys.stdin.buffer.read(16)\nout = sys.stdout.buffer\n";
    let said = |answer: &str| format!("{heard}{answer}\nout.flush()\nsys.stdin.buffer.readline()\n");
    for (script, expected) in [
        (
            said("out.write(b'{\"vectors\": 1, \"numbers\": 3}\\n' + bytes(24))"),
            "vectors have 3 numbers, and 2 were agreed on",
        ),
        (
            said("out.write(b'{\"vectors\": 1, \"numbers\": 2}\\n' + struct.pack('<2d', 1.0, float('nan')))"),
            "number 1 of vector 0 of step 0 is none",
        ),
        (
            said(
                "out.write(b'{\"vectors\": 2, \"numbers\": 2}\\n' + struct.pack('<4d', 0.0, 0.0, float('-inf'), 0.0))",
            ),
            "number 0 of vector 1 of step 0 is none",
        ),
        (said("out.write(b'{\"vectors\": 0, \"numbers\": 2}\\n')"), "no vector"),
        (said("out.write(b'{\"vectors\": 999999999999, \"numbers\": 2}\\n')"), "too many"),
        (said("out.write(b'{\"error\": \"no such column\"}\\n')"), "it says: no such column"),
        (said("out.write(b'good morning\\n')"), "begins with 13 bytes that do not say"),
        (
            format!("{heard}out.write(b'{{\"vectors\": 2, \"numbers\": 2}}\\n' + bytes(8))\nout.flush()\n"),
            "ended before 4 numbers",
        ),
        (heard.to_owned(), "ended without an answer"),
        ("raise SystemExit(3)".to_owned(), "program"),
    ] {
        let text = trouble(&script, 30.0);
        assert!(text.contains(expected), "{script}: {text}");
        assert!(text.contains("`program` is python3 step.py") && text.contains("zeros"), "{text}");
    }
    // Half a round, and what it has started ends with it.
    let late = trouble(
        &format!("{heard}import subprocess\nsubprocess.Popen(['sleep', '61.0625'])\ntime.sleep(60)\n"),
        1.0,
    );
    assert!(late.contains("not answered step 0 within 0.5 seconds"), "{late}");
    let left = std::process::Command::new("pgrep").args(["-f", "sleep 61.0625"]).output();
    assert!(left.is_ok_and(|found| found.stdout.is_empty()), "a child of the program goes on");
}

#[test]
fn wild_answers_cost_what_others_do() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "import sys, struct\nsys.stdin.buffer.readline()\nwhile sys.stdin.buffer.readline():\n    sys.stdin.buffer.read(16)\n    sys.stdout.buffer.write(b'{\"vectors\": 1, \"numbers\": 2}\\n' + struct.pack('<2d', 1e300, -1e308))\n    sys.stdout.buffer.flush()\n";
    let contents: Vec<String> = (0..PEERS).map(|peer| format!("{peer}\n")).collect();
    let own = holdings(folder.path(), &contents, "txt");
    let own: Vec<Holding> = own.into_iter().map(|own| with(own, script, folder.path())).collect();
    let all = parts(30.0);
    let mut rehearsal = rehearse(&all, &own, folder.path(), usize::MAX);
    check_debits(&all, &mut rehearsal);
    for stands in stands(&all, &mut rehearsal) {
        let Stands::Done(found) = stands else { panic!("{stands:?}") };
        // Six steps of length 1, all in one direction.
        assert!(found[0].abs() < 0.2 && (found[1] - 6.0).abs() < 0.2, "{found:?}");
    }
}

#[test]
fn a_program_that_is_none_is_refused_before_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let own = holdings(folder.path(), &["1\n".to_owned()], "txt").remove(0);
    let part = parts(1.0).remove(0);
    for (program, expected) in
        [(vec![], "empty"), (vec!["no-such-program-anywhere".to_owned()], "cannot be started")]
    {
        let own = Holding { program: Some(program), folder: folder.path().to_owned(), ..own.clone() };
        let error = part.steps(&own).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(part.forecast().unwrap().rounds > 0);
}

/// A function in this process: of all it holds, at its first step, and something else later.
struct Answers(fn(usize) -> Result<Vec<f64>, String>);

impl Function for Answers {
    fn vectors(&self, step: usize, _: &[f64], examples: Option<&[u32]>) -> Result<Vec<f64>, String> {
        assert!(examples.is_none());
        (self.0)(step)
    }
}

/// Two steps with this function: what was made of each, in steps of the grid, and what its owner was told.
fn stepped(answers: fn(usize) -> Result<Vec<f64>, String>, round: f64) -> (Vec<Vec<i64>>, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let own = holdings(folder.path(), &["1\n".to_owned()], "txt").remove(0);
    let function = Some(SharedFunction(Arc::new(Answers(answers))));
    let own = Holding { function, ..own };
    let mut steps = parts(round).remove(0).steps(&own).unwrap();
    let step = |step| {
        let mut value = Residues::new(vec![0, 0], 40);
        steps(step, 1.0, &mut value).unwrap();
        value.centred().collect()
    };
    ((0..2).map(step).collect(), own.trouble.told())
}

#[test]
fn functions_are_clipped_and_what_is_no_answer_is_zeros_from_then_on() {
    // Two vectors, each shortened to 1 by itself, then their mean.
    let (made, told) = stepped(|_| Ok(vec![1e30, 0.0, 0.0, 0.5]), 30.0);
    for step in &made {
        // Half of 1 and half of 0.5: twice as much along the first as along the second.
        assert!(step[0] < -1000 && (step[0] - 2 * step[1]).abs() <= 4 && told.is_none(), "{step:?} {told:?}");
    }
    type Answer = fn(usize) -> Result<Vec<f64>, String>;
    let late: Answer = |_| {
        std::thread::sleep(std::time::Duration::from_millis(1500));
        Ok(vec![1.0, 0.0])
    };
    let wrong: [(Answer, &str); 5] = [
        (|_| Err("no such column".to_owned()), "`program` is a function: no such column"),
        (|_| Ok(vec![1.0; 3]), "3 numbers for vectors of 2"),
        (|_| Ok(Vec::new()), "no vector for step 0"),
        (|_| panic!("broken"), "it broke off"),
        (late, "not answered step 0 within"),
    ];
    for (answers, said) in wrong {
        let (made, told) = stepped(answers, 1.0);
        assert!(made.iter().flatten().all(|sum| *sum == 0), "{made:?}");
        let told = told.unwrap();
        assert!(told.contains(said) && told.contains("zeros are taken from step 0 on"), "{told}");
    }
    let (made, told) = stepped(|_| Ok(vec![1.0, f64::NAN]), 30.0);
    assert!(made.iter().flatten().all(|sum| *sum == 0), "{made:?}");
    assert!(told.unwrap().contains("number 1 of vector 0 of step 0 is none"));
}

/// A function that reads: what it does to the file before it says that it has.
struct Reads(fn(&std::path::Path) -> Result<(), String>);

impl Function for Reads {
    fn read(&self, file: &std::path::Path) -> Result<(), String> {
        (self.0)(file)
    }

    fn vectors(&self, _: usize, _: &[f64], _: Option<&[u32]>) -> Result<Vec<f64>, String> {
        Ok(vec![0.0, 0.0])
    }
}

#[test]
fn functions_read_what_was_named_or_nothing() {
    let read = |how| {
        let folder = tempfile::tempdir().unwrap();
        let own = holdings(folder.path(), &["1\n".to_owned()], "txt").remove(0);
        let own = Holding { function: Some(SharedFunction(Arc::new(Reads(how)))), ..own };
        parts(1.0).remove(0).steps(&own).err().map(|error| error.to_string())
    };
    assert_eq!(read(|file| file.exists().then_some(()).ok_or_else(|| "nothing".to_owned())), None);
    let changed = read(|file| std::fs::write(file, "2\n").map_err(|error| error.to_string())).unwrap();
    assert!(changed.contains("`data`") && changed.contains("changed meanwhile"), "{changed}");
    let unread = read(|_| Err("no such column".to_owned())).unwrap();
    assert!(unread.contains("`values`") && unread.contains("no such column"), "{unread}");
}

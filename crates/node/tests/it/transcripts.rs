//! What a peer can show afterwards, what others make of it, and a recorded run once more in the simulator.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use common::village::{ALLOWED, Folder, Stop, agreement, average, key, value};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sottovoce_node::transcript::{Judged, Read, Transcript, together};
use sottovoce_node::{
    Agreement, Allowed, Before, Cost, Exact, Frame, Hash, Hello, Ledger, Observer, Place, Priced, Recorder,
    Recording, Spending, Standing, VERSION, replay,
};
use sottovoce_privacy::{Adversary, Loss, Unit};
use sottovoce_protocol::averaging::Message;
use sottovoce_views::door::{Setting, account};

const RELAY: &str = "protocol = { method = 'gossip', steps = 5 }\nnoise = { sigma = 0.5, relay-noise = 0.5 }";
const ACCELERATED: &str =
    "protocol = { method = 'accelerated', steps = 6 }\nnoise = { sigma = 0.5, relay-noise = 0.0 }";
const SUMS: &str = "protocol = { method = 'butterfly' }\nnoise = { sigma = 0.5, relay-noise = 0.0 }";
const MASKED: &str = "protocol = { method = 'butterfly' }\nnoise = { sigma = 0.5, masks = true, relay-noise = 0.0 }\nadversary = { colluders = 2 }";

/// A run to its end, with the grid that each takes.
fn ended(experiment: &str, stop: Stop) -> (Folder, Vec<Vec<f64>>) {
    let grid = if experiment == MASKED { -12 } else { -30 };
    let folder = Folder::new(agreement(6, "1", grid, experiment));
    let results = average(&folder, stop);
    (folder, results)
}

fn judged(file: &Read) -> Judged {
    let judged = file.judge().unwrap();
    assert!(judged.problems.is_empty(), "{:?}", judged.problems);
    judged
}

#[test]
fn the_account_is_what_the_ledger_debited() {
    for experiment in [RELAY, ACCELERATED, SUMS, MASKED] {
        let (folder, _) = ended(experiment, Stop::Never);
        for (peer, file) in folder.files().iter().enumerate() {
            let judged = judged(file);
            assert!(judged.finished == Some(true) && judged.remarks.is_empty(), "{:?}", judged.remarks);
            let budgets = folder.ledger(peer).budgets().unwrap();
            assert_eq!(judged.learnt.len(), budgets.len());
            let (roster, names) = (folder.agreement.roster().unwrap(), folder.agreement.names());
            for one in budgets {
                let who = one.observer.called(&roster, &names);
                let learnt = judged.learnt.iter().find(|learnt| learnt.observer == who).unwrap();
                for epsilon in [learnt.epsilon, learnt.debited] {
                    assert!(
                        (epsilon - one.epsilon).abs() <= 1e-12 * one.epsilon,
                        "{who}: {epsilon} {}",
                        one.epsilon
                    );
                }
                let guarantee = learnt.guarantee.as_ref().unwrap();
                assert_eq!(
                    (guarantee.unit, &guarantee.standing),
                    (Unit::User, &sottovoce_privacy::Standing::Proven)
                );
                assert_eq!(learnt.allowed, ALLOWED);
            }
        }
    }
}

/// What is averaged, as the accountant of simulations sees it.
fn setting(agreement: &Agreement) -> Setting {
    let place = sottovoce::experiment::Place {
        graph: agreement.graph().unwrap(),
        schedule: None,
        sha256: None,
        notes: vec![],
        name: String::new(),
    };
    agreement.averaging().unwrap().setting(&place, 0).unwrap()
}

#[test]
fn the_share_of_local_privacy_is_that_of_the_exact_accountant() {
    for experiment in [RELAY, SUMS] {
        let (folder, _) = ended(experiment, Stop::Never);
        let setting = setting(&folder.agreement);
        // What the grid adds to the root of a loss, as a share of the local one (docs/theorems/grid.md): two numbers in [0, 1], noise of 0.5, steps of 2^-30.
        let step = 2f64.powi(-30);
        let local = (2f64.sqrt() + 2f64.sqrt() * step) / 0.5;
        let inverse = |scale: f64| (step / scale).powi(2);
        let extra = match experiment {
            SUMS => (2.0 * 6.0f64).sqrt() * step / 0.5,
            _ => 2.01 * (2.0 * 6.0 * (inverse(0.5) + 5.0 * inverse(0.25))).sqrt(),
        };
        let hair = extra / local;
        assert!(hair < 1e-7);
        for (peer, file) in folder.files().iter().enumerate() {
            let judged = judged(file);
            let rho = |who: &str| {
                let learnt = judged.learnt.iter().find(|learnt| learnt.observer == who).unwrap();
                let Loss::Zcdp(rho) = learnt.guarantee.as_ref().unwrap().loss else { panic!("{learnt:?}") };
                rho
            };
            let whole = rho("who sees every message");
            let share = |adversary: &Adversary| account(&setting, adversary).unwrap().leakage.losses[peer];
            for other in (0..6).filter(|other| *other != peer) {
                let (found, known) = (rho(&format!("p{other}")) / whole, share(&Adversary::Peer(other)));
                let most = (known.sqrt() + hair).powi(2) + 1e-9;
                assert!(
                    found >= known - 1e-9 && found <= most,
                    "{experiment} {peer} {other}: {found} {known}"
                );
            }
            if peer > 1 {
                let (found, known) = (rho("p0 and p1") / whole, share(&Adversary::Coalition(vec![0, 1])));
                assert!(
                    found >= known - 1e-9 && found <= (known.sqrt() + hair).powi(2) + 1e-9,
                    "{found} {known}"
                );
            }
        }
    }
}

#[test]
fn what_both_ends_wrote_down_fits_together() {
    for experiment in [RELAY, ACCELERATED, MASKED] {
        let (folder, _) = ended(experiment, Stop::Again(2, 40));
        let files = folder.files();
        let judged: Vec<Judged> = files.iter().map(judged).collect();
        let finished: Vec<bool> = judged.iter().map(|judged| judged.finished.unwrap()).collect();
        assert!(finished.iter().all(|done| *done));
        let all = together(&files, &finished).unwrap();
        assert!(all.problems.is_empty() && all.remarks.is_empty() && all.absent.is_empty(), "{all:?}");
        assert_eq!(all.matched, judged.iter().map(|judged| judged.counts[2]).sum::<usize>());
        let some = together(&files[..4], &finished[..4]).unwrap();
        assert!(some.problems.is_empty() && some.absent == ["p4", "p5"] && some.matched < all.matched);
        assert!(
            together(&[files[0].clone(), files[0].clone()], &[true, true]).is_err(),
            "the same file twice"
        );
        assert!(
            together(&[files[0].clone(), ended(SUMS, Stop::Never).0.files().remove(0)], &[true; 2]).is_err()
        );
    }
}

#[test]
fn a_run_that_was_halted_says_so_and_stands() {
    let (folder, _) = ended(RELAY, Stop::For(2, 60));
    let files = folder.files();
    let judged: Vec<Judged> = files.iter().map(judged).collect();
    let finished: Vec<bool> = judged.iter().map(|judged| judged.finished.unwrap()).collect();
    assert!(finished.iter().all(|done| !done));
    let silent = judged[1].remarks.iter().any(|remark| remark.contains("had not heard p2"));
    assert!(silent, "{:?}", judged[1].remarks);
    let all = together(&files, &finished).unwrap();
    assert!(all.problems.is_empty(), "{:?}", all.problems);
    assert!(
        all.remarks.iter().any(|remark| remark.contains("to p2, who has not heard it")),
        "{:?}",
        all.remarks
    );
}

#[test]
fn records_of_other_runs_are_withheld_and_the_chain_is_whole() {
    let folder = Folder::new(agreement(6, "first", -30, RELAY));
    average(&folder, Stop::All(70));
    let first = folder.agreement.clone();
    let folder = folder.again(agreement(6, "second", -30, ACCELERATED));
    (0..6).for_each(|peer| {
        std::fs::rename(folder.recording(peer), folder.root().join(format!("{peer}"))).unwrap();
    });
    average(&folder, Stop::Never);
    let second = folder.files();
    let folder = folder.again(first);
    (0..6).for_each(|peer| {
        std::fs::rename(folder.root().join(format!("{peer}")), folder.recording(peer)).unwrap();
    });
    let results = average(&folder, Stop::Never);
    for (peer, file) in folder.files().iter().enumerate() {
        let judged = judged(file);
        assert!(
            judged.finished == Some(true) && judged.remarks[0].contains("belong to other runs"),
            "{:?}",
            judged.remarks
        );
        folder.ended(peer, &results[peer]);
    }
    second.iter().for_each(|file| assert!(file.judge().unwrap().problems.is_empty()));
    // Nothing of the other run is shown, but that there was one.
    let text = String::from_utf8(folder.file(0)).unwrap();
    assert!(!text.contains("second") && !text.contains("accelerated"), "{text}");
    replay(&recordings(&folder)).unwrap();
}

fn recordings(folder: &Folder) -> Vec<Recording> {
    (0..folder.parts.len()).map(|peer| Recording::read(&folder.recording(peer)).unwrap()).collect()
}

#[test]
fn a_recorded_run_is_the_same_in_the_simulator_bit_for_bit() {
    for experiment in [RELAY, ACCELERATED, MASKED, SUMS] {
        for stop in [Stop::Never, Stop::Again(2, 45)] {
            let (folder, results) = ended(experiment, stop);
            results.iter().enumerate().for_each(|(peer, result)| folder.ended(peer, result));
            // Private values are not written down; on so fine a grid noise is not nothing by chance (masks hide them besides).
            for peer in 0..results.len() {
                let text = std::fs::read_to_string(folder.recording(peer)).unwrap();
                let value = postcard::to_stdvec(&value(peer).to_vec()).unwrap();
                let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
                assert!(text.lines().nth(1).unwrap().starts_with("{\"covered\":[[0,null,"), "{text}");
                assert!(!text.contains(&hex), "{experiment} {peer}: a private value is recorded");
            }
            let again = replay(&recordings(&folder)).unwrap();
            let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            for (again, result) in again.iter().zip(&results) {
                assert_eq!(bits(again.as_ref().unwrap()), bits(result), "{experiment}");
            }
        }
    }
}

#[test]
fn a_recording_is_nobody_elses_and_of_one_run() {
    let (folder, results) = ended(RELAY, Stop::Never);
    results.iter().enumerate().for_each(|(peer, result)| folder.ended(peer, result));
    let all = recordings(&folder);
    let path = folder.recording(0);
    assert!(replay(&all[..5]).unwrap_err().to_string().contains("none of p5"));
    assert!(replay(&[&all[..], &all[..1]].concat()).unwrap_err().to_string().contains("two of p0"));
    // Another value somewhere is another result.
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text.lines().nth(1).unwrap();
    let digit = line.rfind("\"]]").unwrap() - 3;
    let other = if &line[digit..=digit] == "0" { "1" } else { "0" };
    std::fs::write(
        &path,
        text.replacen(line, &format!("{}{other}{}", &line[..digit], &line[digit + 1..]), 1),
    )
    .unwrap();
    let error = replay(&recordings(&folder)).unwrap_err();
    assert!(
        error.exit_code() == 5 && error.to_string().contains("is another one in the simulator"),
        "{error}"
    );
    std::fs::write(&path, &text).unwrap();
    // What a crash tore is no line, and is written over.
    std::fs::write(&path, &text[..text.len() - 5]).unwrap();
    folder.ended(0, &results[0]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // Nothing is overwritten, and no beginning is missing.
    let other = agreement(6, "2", -30, RELAY);
    let error = Recorder::open(&path, &other, 0, false).unwrap_err().to_string();
    assert!(error.contains("`record`") && error.contains("nothing is overwritten"), "{error}");
    // What is no recording stays as it is, with a line break or without one.
    for content in ["0.25 0.5", "0.25 0.5\n0.75", "{\"ended\": null}\n"] {
        let values = folder.root().join("values.txt");
        std::fs::write(&values, content).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&values, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let error = Recorder::open(&values, &other, 0, false).unwrap_err().to_string();
        assert!(error.contains("it is no recording"), "{error}");
        assert_eq!(std::fs::read_to_string(&values).unwrap(), content);
    }
    let error = Recorder::open(&folder.root().join("new"), &other, 0, true).unwrap_err().to_string();
    assert!(error.contains("begun without it"), "{error}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Recorder::open(&path, &folder.agreement, 0, true).unwrap_err().to_string();
        assert!(error.contains("644") && error.contains("secret"), "{error}");
    }
    assert!(!format!("{:?}", all[0]).contains(&format!("{:?}", results[0][0])));
}

#[test]
fn no_guess_can_be_tried_on_a_transcript() {
    // So coarse a grid that everything that was said can be tried.
    let folder = Folder::new(agreement(6, "1", -5, ACCELERATED));
    average(&folder, Stop::Never);
    let text = String::from_utf8(folder.file(0)).unwrap();
    // Everything in it that may be a hash.
    let bytes = |text: &str| -> Vec<u8> {
        let digit = |place: usize| u8::from_str_radix(&text[place..place + 2], 16).unwrap();
        (0..text.len()).step_by(2).map(digit).collect()
    };
    let words =
        text.split('"').filter(|word| word.len() >= 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let words: Vec<Vec<u8>> = words.map(bytes).collect();
    let shown: BTreeSet<&[u8]> = words.iter().flat_map(|word| word.windows(32)).collect();
    assert!(shown.len() > 1000 && shown.contains(&folder.agreement.hash().unwrap().0[..]));
    let absent = |bytes: &[u8], what: &str| {
        assert!(!shown.contains(&Hash::of(bytes).0[..]), "{what}");
        assert!(!words.iter().any(|word| word.windows(bytes.len()).any(|window| window == bytes)), "{what}");
    };
    absent(b"0.0\n", "the file of values");
    assert!(!shown.contains(&Folder::data(0).0[..]), "its hash");
    absent(&postcard::to_stdvec(&value(0).to_vec()).unwrap(), "the values");
    let first = std::fs::read_to_string(folder.recording(0)).unwrap();
    let said = first.lines().nth(1).unwrap().split('"').nth(3).unwrap().to_owned();
    assert!(said.len() > 30 && !text.contains(&said), "what noise made of the values");
    let said: Vec<f64> = postcard::from_bytes(&bytes(&said)).unwrap();
    assert!(
        said.iter().all(|x| (x * 32.0).fract() == 0.0 && x.abs() < 200.0 / 32.0),
        "it is among the guesses"
    );
    for a in -200..200 {
        for b in -200..200 {
            let value = [a, b].map(|unit| f64::from(unit) / 32.0).to_vec();
            for bytes in [postcard::to_stdvec(&value), postcard::to_stdvec(&Message { round: 0, value })] {
                assert!(!shown.contains(&Hash::of(&bytes.unwrap()).0[..]), "{a} {b}");
            }
        }
    }
    assert!(text.contains("\"node\": \"p0\"") && text.contains("round 0"));
}

/// What a reader takes from a file: every number, and whether it stands.
fn stands(text: &[u8]) -> Option<Vec<(String, u64, u64)>> {
    let judged = Transcript::parse(text).and_then(|file| file.judge()).ok()?;
    let numbers = judged
        .learnt
        .iter()
        .map(|one| (one.observer.clone(), one.epsilon.to_bits(), one.allowed.delta.to_bits()));
    judged.problems.is_empty().then(|| numbers.collect())
}

#[test]
fn a_file_that_was_changed_never_stands_with_other_numbers() {
    let mut dice = ChaCha8Rng::seed_from_u64(7);
    for experiment in [RELAY, MASKED] {
        let (folder, _) = ended(experiment, Stop::Never);
        let good = folder.file(1);
        let known = stands(&good).unwrap();
        let mut refused = 0;
        for round in 0..400 {
            let mut changed = good.clone();
            for _ in 0..dice.random_range(1..4) {
                let place = dice.random_range(0..changed.len());
                match round % 4 {
                    0 => changed[place] ^= 1 << dice.random_range(0..7),
                    1 => changed[place] = b"0123456789abcdef"[dice.random_range(0..16)],
                    2 => drop(changed.remove(place)),
                    _ => {
                        let end = (place + dice.random_range(1..2000)).min(changed.len()); // whole numbers
                        drop(changed.drain(place..end));
                    }
                }
            }
            match stands(&changed) {
                None => refused += 1,
                Some(numbers) => assert_eq!(numbers, known, "{}", String::from_utf8_lossy(&changed)),
            }
        }
        assert!(refused > 200, "{refused}");
    }
}

#[test]
fn a_file_needs_everybodys_signature_and_a_run() {
    let folder = Folder::new(agreement(6, "1", -30, RELAY));
    let ledger = folder.ledger(0);
    let mut some = folder.signatures();
    let error = Transcript::of(&ledger, &folder.agreement, &some).unwrap_err().to_string();
    assert!(error.contains("nothing is stored of it"), "{error}");
    some.signed.remove(&key(3).name().to_string());
    let error = Transcript::of(&ledger, &folder.agreement, &some).unwrap_err();
    assert!(error.exit_code() == 5 && error.to_string().contains("p3 has not signed"), "{error}");
    assert_eq!(Observer::of_keys(&Observer::WireTapper.keys()).unwrap(), Observer::WireTapper);
}

/// What `node status --json --files` says of a ledger, in a file.
fn export(ledger: &Ledger, path: &Path) {
    let budget = |one: &Standing| serde_json::json!({ "label": one.label, "exact": Exact::from(one) });
    let budgets: Vec<_> = ledger.budgets().unwrap().iter().map(budget).collect();
    let (sets, doubted) = (ledger.sets().unwrap(), ledger.doubted());
    let text = serde_json::json!({ "version": "any", "budgets": budgets, "sets": sets, "doubted": doubted });
    std::fs::write(path, text.to_string()).unwrap();
}

#[test]
fn what_was_spent_under_another_key_stays_spent() {
    let (folder, _) = ended(RELAY, Stop::Never);
    let path = folder.root().join("status.json");
    export(&folder.ledger(0), &path);
    let spent = Spending::read(&path).unwrap();
    let (place, name) = Place::create_after(&folder.root().join("new"), Some(&spent)).unwrap();
    assert_ne!(name, key(0).name());
    let (old, new) = (folder.ledger(0).budgets().unwrap(), place.open_ledger().unwrap().budgets().unwrap());
    assert_eq!((spent.len(), old.len()), (new.len(), new.len()));
    for (old, new) in old.iter().zip(&new) {
        assert_eq!((&old.observer, old.allowed, &old.label), (&new.observer, new.allowed, &new.label));
        // At how many orders it was spent is not brought along: epsilon may be stated larger, never smaller.
        assert!(new.epsilon >= old.epsilon && (new.used - old.used).abs() < 1e-9, "{old:?} {new:?}");
        assert!(old.epsilon > 0.0 && new.loss >= old.loss && new.chances >= old.chances);
    }
    // Nobody else looks into it; one that cannot be made leaves nothing behind.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.root().join("new")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let twice = folder.root().join("twice.json");
    let mut export: serde_json::Value = serde_json::from_str(&text).unwrap();
    let one = export["budgets"][0].clone();
    export["budgets"].as_array_mut().unwrap().push(one);
    std::fs::write(&twice, export.to_string()).unwrap();
    let half = folder.root().join("half");
    assert!(Place::create_after(&half, Some(&Spending::read(&twice).unwrap())).is_err());
    assert!(!half.exists(), "a half-made folder is left");
    // It is declared once, and entered once.
    let mut ledger = place.open_ledger().unwrap();
    let more = Allowed { epsilon: 99.0, ..ALLOWED };
    assert!(ledger.declare("values", &Observer::WireTapper, more).is_err());
    let none = Before::Part { loss: 0.0, chances: 0.0 };
    assert!(ledger.enter("values", &Observer::WireTapper, ALLOWED, none).is_err());
    // The same file under another name would begin with a budget of its own.
    let error = ledger.hold("other", Folder::data(0)).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("data set `values`"), "{error}");
    ledger.hold("values", Folder::data(0)).unwrap();
    ledger.hold("other", Hash::of(b"others")).unwrap();
    ledger.declare("other", &Observer::WireTapper, ALLOWED).unwrap();
    // What was spent of all of it is no price of one row.
    let rows = Cost { unit: Unit::Record, ..folder.parts[0].cost(&[]).unwrap() };
    let error = ledger.affords("values", &[], &rows).unwrap_err();
    assert!(error.to_string().contains("`unit` is Record"), "{error}");
    // A node that runs tells epsilons only.
    std::fs::write(&path, r#"{"budgets": [{"label": "values", "spent": 1.0}]}"#).unwrap();
    assert!(Spending::read(&path).unwrap_err().to_string().contains("stop it"));
    std::fs::write(&path, r#"{"budgets": []}"#).unwrap();
    assert!(Spending::read(&path).unwrap_err().to_string().contains("--files"));
    std::fs::write(&path, r#"{"spent": 1}"#).unwrap();
    let error = Spending::read(&path).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("node status --json"), "{error}");
}

#[test]
fn a_ledger_that_others_have_seen_more_of_counts_as_all_spent() {
    let (folder, _) = ended(ACCELERATED, Stop::Never);
    let first = folder.agreement.clone();
    let (ledger, copy) = (folder.root().join("0.ledger"), folder.root().join("copy"));
    std::fs::copy(&ledger, &copy).unwrap();
    let folder = folder.again(agreement(6, "second", -30, RELAY));
    (0..6).for_each(|peer| std::fs::remove_file(folder.recording(peer)).unwrap());
    average(&folder, Stop::Never);
    // The older copy meets somebody.
    std::fs::copy(&copy, &ledger).unwrap();
    let run = folder.agreement.hash().unwrap();
    let witness = folder.ledger(1).seen(&key(0).name()).unwrap();
    let part = &folder.parts[0];
    let (mut host, _) = part.on_grid(folder.ledger(0), &value(0), "values", Folder::data(0)).unwrap();
    let hello = Hello { version: VERSION, run, witness, reply: true };
    assert_eq!(host.hear(1, Frame::Hello(hello)).unwrap_err().exit_code(), 5);
    drop(host);
    assert!(Ledger::open(&ledger, key(0)).is_err());
    let mut doubted = Ledger::look(&ledger, key(0)).unwrap();
    assert!(doubted.doubted().unwrap().contains("older copy"));
    assert_eq!(doubted.hold("values", Hash::of(b"x")).unwrap_err().exit_code(), 5, "it is only read");
    // What it can still show, and that it is not to be relied on.
    let folder = folder.again(first);
    let file = Transcript::of(&doubted, &folder.agreement, &folder.signatures()).unwrap();
    let problems = Transcript::parse(&file.to_json().unwrap()).unwrap().judge().unwrap().problems;
    assert!(problems.len() == 1 && problems[0].contains("than it holds"), "{problems:?}");
    // A new key does not begin with its budget.
    let path = folder.root().join("status.json");
    export(&doubted, &path);
    let spent = Spending::read(&path).unwrap();
    let (place, _) = Place::create_after(&folder.root().join("new"), Some(&spent)).unwrap();
    let mut ledger = place.open_ledger().unwrap();
    // It may have forgotten data sets altogether.
    let error = ledger.declare("unheard of", &Observer::WireTapper, ALLOWED).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("counts as all"), "{error}");
    assert!(ledger.budgets().unwrap().iter().all(|one| one.epsilon >= one.allowed.epsilon * (1.0 - 1e-9)));
    let cost = folder.parts[0].cost(&[]).unwrap();
    let error = ledger.affords("values", &[], &cost).unwrap_err();
    assert!(error.exit_code() == 3 && error.to_string().contains("and 0 % of it"), "{error}");
}

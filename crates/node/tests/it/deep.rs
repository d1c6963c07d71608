//! From one agreement to agents of consensus deep learning: nets that are built in, and programs; every draw is paid for as one of all examples.

use crate::common;

use std::path::Path;

use common::parts::{check_debits, check_transcripts, rehearse, rho, stands, text};
use sottovoce::experiment::Experiment;
use sottovoce_node::deep::Deep;
use sottovoce_node::{Agreement, Holding, Observer, Part, Priced, Stands};
use sottovoce_privacy::{Loss, Unit};
use sottovoce_protocol::Shared;

const PEERS: usize = 3;

fn of(width: usize, rows: usize, grid: i32, experiment: &str) -> String {
    let fields = format!("grid = {:?}\nwidth = {width}\nround = 60.0", 2f64.powi(grid));
    text(PEERS, &fields, &format!("experiment = 'deep'\n{experiment}"))
        .replace("address =", &format!("rows = {rows}\naddress ="))
}

fn parts(agreement: &Agreement) -> Vec<Deep> {
    let Experiment::Deep(asked) = agreement.experiment().unwrap() else { panic!("deep") };
    (0..PEERS).map(|peer| Deep::new(agreement, &asked, peer).unwrap()).collect()
}

/// A folder as MNIST has it, of pictures whose bright half tells 0 from 1.
fn pictures(folder: &Path, peer: usize, count: usize) -> Holding {
    let place = folder.join(format!("images{peer}"));
    std::fs::create_dir_all(&place).unwrap();
    for (name, count) in [("train", count), ("t10k", 4)] {
        let label = |i: usize| (i + peer) % 2;
        let pixel =
            |i: usize, p: usize| if (p / 28 < 14) == (label(i) == 0) { 200 } else { (p * 7 % 40) as u8 };
        let mut images = [0x803u32, count as u32, 28, 28].map(u32::to_be_bytes).concat();
        images.extend((0..count).flat_map(|i| (0..784).map(move |p| pixel(i, p))));
        let mut labels = [0x801u32, count as u32].map(u32::to_be_bytes).concat();
        labels.extend((0..count).map(|i| label(i) as u8));
        std::fs::write(place.join(format!("{name}-images-idx3-ubyte")), images).unwrap();
        std::fs::write(place.join(format!("{name}-labels-idx1-ubyte")), labels).unwrap();
    }
    Holding::of("data", &place).unwrap()
}

/// A layer of 64 numbers on 32x32 pixels, and ten classes.
const MLP: usize = 1024 * 64 + 64 + 640 + 10;

#[test]
fn a_net_that_is_built_in_learns() {
    let experiment = "task = { kind = 'mnist' }\nprotocol = { method = 'dsgt', model = 'mlp', rounds = 4, lot = 12.0, rate = 0.5 }\nnoise = { clip = 2.0, noise-multiplier = 0.02 }";
    let all = parts(&Agreement::parse(&of(MLP, 12, -26, experiment)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let holdings: Vec<Holding> = (0..PEERS).map(|peer| pictures(folder.path(), peer, 12)).collect();
    let mut rehearsal = rehearse(&all, &holdings, folder.path(), 100_000);
    check_debits(&all, &mut rehearsal);
    let found = sottovoce_learning::images::open(&holdings[1].file).unwrap().train;
    let net = sottovoce_learning::Net::perceptron(found.shape(), &[64], 10).unwrap();
    let picked: Vec<u32> = (0..12).collect();
    let loss = |model: &[f32]| {
        let mut scratch = sottovoce_learning::net::Scratch::new(&net);
        net.measure(model, &found, &picked, &mut scratch).unwrap().mean_loss()
    };
    let start: Vec<f32> = {
        let agreement = Agreement::parse(&of(MLP, 12, -26, experiment)).unwrap();
        let hash = agreement.hash().unwrap();
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hash.0[..8]);
        net.start(u64::from_le_bytes(bytes))
    };
    for stands in stands(&all, &mut rehearsal) {
        let Stands::Done(model) = stands else { panic!("{stands:?}") };
        let model: Vec<f32> = model.into_iter().map(|x| x as f32).collect();
        assert!(loss(&model) < 0.8 * loss(&start), "{} of {}", loss(&model), loss(&start));
    }
}

#[test]
fn every_draw_is_paid_for_as_one_of_all_examples() {
    for (method, draws) in
        [("method = 'dsgd'", 5), ("method = 'dsgt'", 5), ("method = 'dinno', primal = 2", 10)]
    {
        let at = |lot: f64| {
            let experiment = format!(
                "protocol = {{ {method}, rounds = 5, lot = {lot:?} }}\nnoise = {{ clip = 2.0, noise-multiplier = 10.0 }}"
            );
            parts(&Agreement::parse(&of(3, 40, -24, &experiment)).unwrap()).remove(0)
        };
        // An exchanged example moves a sum by twice its length; whether few or all come into a lot makes no difference.
        let known = f64::from(draws) * 4.0 / (2.0 * 100.0);
        for lot in [40.0, 4.0] {
            let part = at(lot);
            let cost = part.cost(&[]).unwrap();
            assert_eq!((cost.unit, cost.releases[0].1), (Unit::Record, draws as u64));
            for observer in part.observers() {
                let found = rho(&part, &observer);
                assert!(
                    found >= known && found < 1.0001 * known,
                    "{method} {lot} {observer}: {found} {known}"
                );
            }
        }
    }
    let experiment =
        "protocol = { method = 'dsgd', rounds = 7, lot = 8.0 }\ntarget = { epsilon = 3.0, delta = 1e-6 }";
    let part = parts(&Agreement::parse(&of(3, 40, -24, experiment)).unwrap()).remove(0);
    let epsilon = Loss::zcdp(rho(&part, &Observer::WireTapper)).unwrap().epsilon(1e-6).unwrap().upper;
    assert!(epsilon <= 3.0 && epsilon > 2.97, "{epsilon}");
}

/// Gradients of half the squared distance from each example, a line of two numbers.
const NEAREST: &str = "import json, struct, sys
welcome = json.loads(sys.stdin.buffer.readline())
rows = [[float(word) for word in line.split()] for line in open(welcome['data'])]
while line := sys.stdin.buffer.readline():
    question = json.loads(line)
    model = struct.unpack('<2d', sys.stdin.buffer.read(16))
    picked = question['examples']
    sys.stdout.buffer.write((json.dumps({'vectors': len(picked), 'numbers': 2}) + '\\n').encode())
    for i in picked:
        sys.stdout.buffer.write(struct.pack('<2d', *[m - x for m, x in zip(model, rows[i])]))
    sys.stdout.buffer.flush()
";

fn programmed(folder: &Path, peer: usize, content: &str) -> Holding {
    let path = folder.join(format!("{peer}.txt"));
    std::fs::write(&path, content).unwrap();
    std::fs::write(folder.join("step.py"), NEAREST).unwrap();
    let program = Some(vec!["python3".to_owned(), "step.py".to_owned()]);
    Holding { program, one_by_one: true, folder: folder.to_owned(), ..Holding::of("data", &path).unwrap() }
}

#[test]
fn programs_meet_at_the_mean_of_their_examples() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("there is no python3 here: programs are not tried");
    }
    let folder = tempfile::tempdir().unwrap();
    for method in ["method = 'dsgd'", "method = 'dsgt'"] {
        let experiment = format!(
            "protocol = {{ {method}, rounds = 30, lot = 4.0, rate = 0.3, last-rate = 0.1 }}\nnoise = {{ clip = 4.0, noise-multiplier = 0.02 }}"
        );
        let agreement = Agreement::parse(&of(2, 4, -22, &experiment)).unwrap();
        let all = parts(&agreement);
        let rows = |peer: usize| {
            (0..4).map(|i| format!("{} {}\n", 0.1 * (peer + i) as f64, -0.2 * i as f64)).collect::<String>()
        };
        let own: Vec<Holding> = (0..PEERS).map(|peer| programmed(folder.path(), peer, &rows(peer))).collect();
        let place = tempfile::tempdir().unwrap();
        let mut rehearsal = rehearse(&all, &own, place.path(), 100_000);
        check_debits(&all, &mut rehearsal);
        check_transcripts::<Deep>(&agreement, &mut rehearsal, Unit::Record);
        for stands in stands(&all, &mut rehearsal) {
            let Stands::Done(model) = stands else { panic!("{stands:?}") };
            assert!((model[0] - 0.25).abs() < 0.05 && (model[1] + 0.3).abs() < 0.05, "{method}: {model:?}");
        }
    }
}

#[test]
fn an_exchanged_example_moves_a_draw_by_no_more_than_is_paid_for() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("there is no python3 here: programs are not tried");
    }
    let folder = tempfile::tempdir().unwrap();
    let grid = -20;
    let experiment = "protocol = { method = 'dsgd', rounds = 1, lot = 4.0 }\nnoise = { clip = 1.0, noise-multiplier = 1.0 }";
    let part = parts(&Agreement::parse(&of(2, 4, grid, experiment)).unwrap()).remove(0);
    let sum = |content: &str| {
        let own = programmed(folder.path(), 0, content);
        let mut value = Shared::from(vec![0.5f32, -0.25]);
        part.steps(&own).unwrap()(0, 1.0, &mut value).unwrap();
        value.iter().map(|x| f64::from(*x) / 2f64.powi(grid)).collect::<Vec<f64>>()
    };
    let before = sum("0 0\n1 1\n2 2\n3 3\n");
    for wild in ["1e300 1e300", "-1e300 1e308", "0.5 -0.25", "1e-300 -1e300"] {
        let after = sum(&format!("0 0\n{wild}\n2 2\n3 3\n"));
        let apart: Vec<f64> = before.iter().zip(&after).map(|(x, y)| x - y).collect();
        assert!(apart.iter().all(|x| x.fract() == 0.0));
        let moved = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(moved <= 2.0 / 4.0 * 2f64.powi(20) + 2f64.sqrt(), "{wild}: {moved}");
    }
}

#[test]
fn an_exchanged_image_moves_a_draw_by_no_more_than_is_paid_for() {
    let (folder, grid, count) = (tempfile::tempdir().unwrap(), -20, 6);
    let experiment = "task = { kind = 'mnist' }\nprotocol = { method = 'dsgd', model = 'mlp', rounds = 1, lot = 6.0 }\nnoise = { clip = 1.0, noise-multiplier = 1.0 }";
    let part = parts(&Agreement::parse(&of(MLP, count, grid, experiment)).unwrap()).remove(0);
    let own = pictures(folder.path(), 0, count);
    let file = own.file.join("train-images-idx3-ubyte");
    let tame = std::fs::read(&file).unwrap();
    // Models that others may have sent: small, and so large that a net's numbers leave their range.
    for size in [0.05f32, 1e19, 1e30, f32::MAX] {
        let model: Vec<f32> = (0..MLP).map(|i| size * ((i * 37 % 101) as f32 / 50.0 - 1.0)).collect();
        let sum = |content: &[u8]| {
            std::fs::write(&file, content).unwrap();
            let own = Holding::of("data", &own.file).unwrap();
            let mut value = Shared::from(model.clone());
            part.steps(&own).unwrap()(0, 1.0, &mut value).unwrap();
            value.iter().map(|x| f64::from(*x) / 2f64.powi(grid)).collect::<Vec<f64>>()
        };
        let before = sum(&tame);
        assert!(before.iter().all(|x| x.fract() == 0.0));
        for (image, pixel) in [(0, 0), (0, 255), (2, 255), (5, 0)] {
            let mut wild = tame.clone();
            wild[16 + 784 * image..16 + 784 * (image + 1)].fill(pixel);
            let apart = before.iter().zip(sum(&wild)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
            let most = 2.0 / count as f64 * 2f64.powi(-grid) + (MLP as f64).sqrt();
            assert!(apart <= most, "{size} {image} {pixel}: {apart} {most}");
        }
    }
}

#[test]
fn a_program_says_that_records_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = "protocol = { method = 'dsgd', rounds = 1, lot = 4.0 }\nnoise = { clip = 1.0, noise-multiplier = 1.0 }";
    let part = parts(&Agreement::parse(&of(2, 4, -20, experiment)).unwrap()).remove(0);
    let own = Holding { one_by_one: false, ..programmed(folder.path(), 0, "0 0\n") };
    let error = part.steps(&own).err().unwrap().to_string();
    assert!(error.contains("`program`") && error.contains("one-by-one"), "{error}");
}

#[test]
fn what_a_node_cannot_do_is_refused() {
    let good = of(
        3,
        40,
        -20,
        "protocol = { method = 'dsgd', rounds = 5, lot = 4.0 }\nnoise = { noise-multiplier = 2.0 }",
    );
    assert!(Agreement::parse(&good).unwrap().role(0).is_ok());
    for (old, new, expected) in [
        ("'dsgd'", "'central'", "`method`"),
        ("'dsgd'", "'local'", "`method`"),
        ("rows = 40\n", "", "`rows` is missing"),
        ("lot = 4.0", "lot = 41.0", "`lot` is 41"),
        ("noise-multiplier = 2.0", "noise-multiplier = 2.0, band = 4", "`band`"),
        ("noise-multiplier = 2.0", "noise-multiplier = 2.0, cancel = 4.0", "`cancel`"),
        ("noise-multiplier = 2.0", "noise-multiplier = 0.0", "`sigma` is 0"),
        ("noise-multiplier = 2.0", "noise-multiplier = 2.0, clip = inf", "`clip` is inf"),
        ("noise =", "task = { kind = 'drawn' }\nnoise =", "`task`"),
        ("noise =", "task = { kind = 'mnist' }\nnoise =", "`width` is 3"),
        ("noise =", "target = { epsilon = 1.0 }\nnoise =", "`epsilon`"),
        ("noise =", "graph = { fiedler = 0.5 }\nnoise =", "`graph`"),
        ("grid = 9.5367431640625e-7", "grid = 1.0", "`grid` is 1"),
        ("noise-multiplier = 2.0", "noise-multiplier = 1e-9, clip = 1e12", "`grid`"),
    ] {
        let changed = good.replacen(old, new, 1);
        assert_ne!(changed, good, "{old}");
        let error = Agreement::parse(&changed).and_then(|agreement| agreement.role(0).map(drop)).unwrap_err();
        assert!(error.to_string().contains(expected), "{old} -> {new}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let own = pictures(folder.path(), 0, 12);
    let part = parts(&Agreement::parse(&good).unwrap()).remove(0);
    let error = part.steps(&own).err().unwrap().to_string();
    assert!(error.contains("`kind`") && error.contains("program"), "{error}");
    let experiment = "task = { kind = 'mnist' }\nprotocol = { method = 'dsgd', model = 'mlp', rounds = 1, lot = 4.0 }\nnoise = { noise-multiplier = 2.0 }";
    let part = parts(&Agreement::parse(&of(MLP, 13, -30, experiment)).unwrap()).remove(0);
    let error = part.steps(&own).err().unwrap().to_string();
    assert!(error.contains("`rows` is 13") && error.contains("12 images"), "{error}");
}

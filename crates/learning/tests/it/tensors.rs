//! Parameters as safetensors: round trips, what is refused, and PyTorch's own gradients where it is there.

use std::process::Command;

use safetensors::tensor::{Dtype, TensorView};
use sottovoce_learning::net::{Layer, Net, Scratch, Shape};
use sottovoce_learning::{Images, images};
use sottovoce_testing::skipped;

fn small() -> Net {
    let layers = vec![
        Layer::Conv2d { name: "conv".into(), channels: 2, kernel: 2, stride: 1, padding: 0 },
        Layer::GroupNorm { name: "norm".into(), groups: 1 },
        Layer::Linear { name: "out".into(), outputs: 3 },
    ];
    Net::new(Shape { channels: 1, height: 3, width: 3 }, layers).unwrap()
}

/// A file of these tensors.
fn file(tensors: &[(&str, Dtype, &[usize], Vec<u8>)]) -> Vec<u8> {
    let view = |(name, dtype, sizes, bytes): &(&str, Dtype, &[usize], Vec<u8>)| {
        (
            name.to_string(),
            TensorView::new(*dtype, sizes.to_vec(), bytes).unwrap().data().to_vec(),
            *dtype,
            sizes.to_vec(),
        )
    };
    let owned: Vec<_> = tensors.iter().map(view).collect();
    let views = owned
        .iter()
        .map(|(name, bytes, dtype, sizes)| (name, TensorView::new(*dtype, sizes.clone(), bytes).unwrap()));
    safetensors::serialize(views, None).unwrap()
}

#[test]
fn parameters_come_back_bit_for_bit() {
    for net in [small(), Net::consensus_cnn()] {
        let parameters = net.start(5);
        assert_eq!(net.from_safetensors(&net.to_safetensors(&parameters).unwrap()).unwrap(), parameters);
        assert!(net.to_safetensors(&parameters[1..]).is_err());
        let text = serde_json::to_string(&net).unwrap();
        assert_eq!(serde_json::from_str::<Net>(&text).unwrap(), net);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let net = small();
    let floats = |count: usize| vec![0; 4 * count];
    let good: Vec<(&str, Dtype, &[usize], Vec<u8>)> = vec![
        ("conv.weight", Dtype::F32, &[2, 1, 2, 2], floats(8)),
        ("conv.bias", Dtype::F32, &[2], floats(2)),
        ("norm.weight", Dtype::F32, &[2], floats(2)),
        ("norm.bias", Dtype::F32, &[2], floats(2)),
        ("out.weight", Dtype::F32, &[3, 8], floats(24)),
        ("out.bias", Dtype::F32, &[3], floats(3)),
    ];
    let refused = |tensors: &[_]| net.from_safetensors(&file(tensors)).unwrap_err().to_string();
    assert!(net.from_safetensors(&file(&good)).is_ok());
    assert!(refused(&good[1..]).starts_with("`tensor` is `conv.weight`: the file lacks it"));
    let mut other = good.clone();
    other[0].2 = &[2, 4, 1, 1];
    assert!(refused(&other).contains("F32 [2, 4, 1, 1] for `conv.weight`: the net takes F32 [2, 1, 2, 2]"));
    other[0] = ("conv.weight", Dtype::F16, &[2, 1, 2, 2], vec![0; 16]);
    assert!(refused(&other).contains("F16 [2, 1, 2, 2] for `conv.weight`"));
    other[0] = good[0].clone();
    other[0].3[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(refused(&other).contains("NaN in `conv.weight`"));
    let with = |name| {
        let mut more = good.clone();
        more.push((name, Dtype::F32, &[1], floats(1)));
        refused(&more)
    };
    assert!(with("norm.running_mean").contains("`tensor` is norm.running_mean: BatchNorm mixes examples"));
    assert!(with("extra.weight").contains("`tensor` is extra.weight: the net has no such tensor"));
    let bytes = file(&good);
    for cut in [0, 4, 20, bytes.len() - 1] {
        let error = net.from_safetensors(&bytes[..cut]).unwrap_err().to_string();
        assert!(error.starts_with("no safetensors file ("), "{error}");
    }
}

#[test]
fn nets_that_cannot_be_are_refused() {
    let shape = Shape { channels: 4, height: 6, width: 6 };
    let refused = |layer: Layer| {
        let layers = vec![layer, Layer::Linear { name: "out".into(), outputs: 2 }];
        Net::new(shape, layers).unwrap_err().to_string()
    };
    let conv = |channels, kernel, stride, padding| Layer::Conv2d {
        name: "c".into(),
        channels,
        kernel,
        stride,
        padding,
    };
    assert!(
        refused(Layer::BatchNorm2d { name: "bn".into() })
            .starts_with("`layer` is BatchNorm2d `bn`: it mixes examples")
    );
    assert!(refused(conv(0, 3, 1, 0)).starts_with("`channels` is 0: "));
    assert!(refused(conv(1, 7, 1, 0)).starts_with("`kernel` is 7: "));
    assert!(refused(conv(1, 3, 0, 0)).starts_with("`stride` is 0: "));
    assert!(refused(conv(1, 3, 1, 3)).starts_with("`padding` is 3: "));
    assert!(refused(Layer::GroupNorm { name: "n".into(), groups: 3 }).contains("must divide the 4 channels"));
    assert!(refused(Layer::MaxPool { size: 7 }).starts_with("`size` is 7: "));
    assert!(refused(Layer::LeakyRelu { slope: f32::NAN }).starts_with("`slope` is NaN: "));
    assert!(refused(Layer::Residual { layers: vec![conv(3, 3, 1, 1)] }).starts_with("`residual` is 3x6x6: "));
    assert!(
        refused(Layer::Linear { name: "out".into(), outputs: 2 })
            .starts_with("`name` is out.weight: two layers")
    );
    assert!(Net::new(shape, vec![Layer::Relu]).unwrap_err().to_string().contains("without parameters"));
    let text =
        r#"{"input":{"channels":1,"height":2,"width":2},"layers":[{"layer":"batch-norm2d","name":"bn"}]}"#;
    assert!(serde_json::from_str::<Net>(text).unwrap_err().to_string().contains("BatchNorm2d `bn`"));
}

/// What a call is wrong about is said before any work.
#[test]
fn calls_are_checked() {
    let (net, images) = (Net::consensus_cnn(), images::drawn(4, 1).unwrap());
    let (parameters, mut scratch) = (net.start(1), Scratch::default());
    let mut sum = vec![0.0; net.parameters()];
    let mut call = |parameters: &[f32], images: &Images, picked: &[u32], clip: f32| {
        net.clipped_sum(parameters, images, picked, clip, &mut scratch, &mut sum).unwrap_err().to_string()
    };
    assert!(call(&parameters[1..], &images, &[0], 1.0).starts_with("`parameters` is 38423 numbers: "));
    assert!(call(&parameters, &images, &[0, 4], 1.0).starts_with("`picked` is 4: there are 4 images"));
    for clip in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(call(&parameters, &images, &[0], clip).starts_with("`clip` is "));
    }
    let small = images.resized(28, 28).unwrap();
    assert!(call(&parameters, &small, &[0], 1.0).starts_with("`images` is 1x28x28: the net takes 1x32x32"));
    assert!(net.gradient_sum(&parameters, &images, &[0], &mut scratch, &mut [0.0]).is_err());
}

/// The gradient by PyTorch is ours.
#[test]
fn pytorch_agrees() {
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let colours = Images::new(
        shape,
        (0..5 * 3072_usize).map(|at| (at * at / 7 % 253) as u8).collect(),
        vec![1, 9, 4, 4, 0],
        10,
    );
    let cases = [
        ("consensus", Net::consensus_cnn(), images::drawn(20, 6).unwrap()),
        ("resnet", Net::residual_net(shape, 10, [8, 12, 16, 24], 4).unwrap(), colours.unwrap()),
    ];
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let there = Command::new(&python).args(["-c", "import torch, safetensors.torch"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        return skipped(
            "torch",
            &format!("{python} has no torch and safetensors; set PYTHON to one that has"),
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (kind, net, images) in cases {
        let (parameters, count) = (net.start(4), images.len());
        let normal = if kind == "consensus" { (0.1307, 0.3081) } else { (0.0, 1.0) };
        let pixels = (0..count).flat_map(|at| images.pixels(at));
        let pixels: Vec<u8> = pixels
            .flat_map(|&byte| ((f32::from(byte) / 255.0 - normal.0) / normal.1).to_le_bytes())
            .collect();
        let sizes = [count, images.shape().channels, 32, 32];
        let given = file(&[
            ("pixels", Dtype::F32, &sizes, pixels),
            ("labels", Dtype::U8, &[count], images.labels().to_vec()),
        ]);
        std::fs::write(path("images"), given).unwrap();
        std::fs::write(path("parameters"), net.to_safetensors(&parameters).unwrap()).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/by_pytorch.py");
        let run = Command::new(&python)
            .arg(script)
            .arg(kind)
            .args([path("parameters"), path("images"), path("gradient")])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let theirs = net.from_safetensors(&std::fs::read(path("gradient")).unwrap()).unwrap();
        let (mut ours, all) = (vec![0.0; net.parameters()], (0..count as u32).collect::<Vec<_>>());
        let tally = net.gradient_sum(&parameters, &images, &all, &mut Scratch::default(), &mut ours).unwrap();
        let length = theirs.iter().map(|g| g * g).sum::<f32>().sqrt();
        let off = ours.iter().zip(&theirs).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt();
        assert!(off < 1e-5 * length, "{kind}: off by {off} of {length}");
        let loss: f64 = String::from_utf8_lossy(&run.stdout).trim().parse().unwrap();
        assert!((tally.loss - loss).abs() < 1e-5 * loss, "{kind}: {} but {loss}", tally.loss);
    }
}

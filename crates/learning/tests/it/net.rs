//! Nets from outside: gradients against finite differences, clipping against naive clipping, splits, lost examples, training.

use proptest::prelude::*;
use sottovoce_learning::net::{Layer, Net, Scratch, Shape};
use sottovoce_learning::{Images, images};

fn conv(name: &str, channels: usize, kernel: usize, stride: usize, padding: usize) -> Layer {
    Layer::Conv2d { name: name.into(), channels, kernel, stride, padding }
}

fn linear(name: &str, outputs: usize) -> Layer {
    Layer::Linear { name: name.into(), outputs }
}

fn norm(name: &str, groups: usize) -> Layer {
    Layer::GroupNorm { name: name.into(), groups }
}

/// Images of noise.
fn noise(shape: Shape, count: usize, classes: usize, seed: u64) -> Images {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let pixels = (0..count * shape.size()).map(|_| byte()).collect();
    let labels = (0..count).map(|_| byte() % classes as u8).collect();
    Images::new(shape, pixels, labels, classes).unwrap()
}

/// Every kind of layer, small: strides, padding, sizes that leave an edge over.
fn nets() -> Vec<(&'static str, Net)> {
    let shape = |channels, height, width| Shape { channels, height, width };
    let net = |shape, layers| Net::new(shape, layers).unwrap();
    vec![
        ("linear", net(shape(1, 3, 3), vec![linear("a", 4)])),
        ("perceptron", Net::perceptron(shape(2, 3, 2), &[20, 7], 3).unwrap()),
        (
            "conv",
            net(
                shape(2, 6, 5),
                vec![conv("a", 4, 3, 1, 1), Layer::Relu, conv("b", 2, 3, 1, 0), linear("c", 3)],
            ),
        ),
        ("stride", net(shape(3, 7, 9), vec![conv("a", 5, 3, 2, 1), conv("b", 4, 2, 3, 1), linear("c", 3)])),
        (
            "pools",
            net(
                shape(1, 9, 9),
                vec![
                    conv("a", 3, 2, 1, 0),
                    Layer::AvgPool { size: 2 },
                    Layer::LeakyRelu { slope: 0.1 },
                    conv("b", 2, 1, 1, 0),
                    Layer::MaxPool { size: 3 },
                    linear("c", 2),
                ],
            ),
        ),
        (
            "mish",
            net(
                shape(1, 7, 6),
                vec![
                    conv("a", 4, 2, 1, 0),
                    Layer::Mish,
                    Layer::MaxPool { size: 2 },
                    linear("b", 5),
                    Layer::Mish,
                    linear("c", 3),
                ],
            ),
        ),
        (
            "residual",
            net(
                shape(2, 4, 4),
                vec![
                    conv("a", 4, 3, 1, 1),
                    norm("a_gn", 2),
                    Layer::Mish,
                    Layer::Residual {
                        layers: vec![conv("b", 4, 3, 1, 1), norm("b_gn", 4), Layer::LeakyRelu { slope: 0.2 }],
                    },
                    Layer::GlobalMaxPool,
                    linear("c", 3),
                ],
            ),
        ),
        // Its convolutions are too large for gradients to be kept: by pairs of pixels, and by gradients written down.
        (
            "ghost",
            net(
                shape(16, 4, 4),
                vec![conv("a", 120, 3, 1, 1), Layer::Mish, Layer::AvgPool { size: 2 }, linear("b", 3)],
            ),
        ),
        (
            "large",
            net(
                shape(8, 14, 14),
                vec![conv("a", 90, 5, 1, 1), Layer::Relu, Layer::AvgPool { size: 12 }, linear("b", 3)],
            ),
        ),
    ]
}

fn total_loss(net: &Net, parameters: &[f32], images: &Images, picked: &[u32]) -> f64 {
    net.measure(parameters, images, picked, &mut Scratch::default()).unwrap().loss
}

fn gradient(net: &Net, parameters: &[f32], images: &Images, picked: &[u32]) -> Vec<f32> {
    let mut sum = vec![0.0; net.parameters()];
    net.gradient_sum(parameters, images, picked, &mut Scratch::default(), &mut sum).unwrap();
    sum
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for (name, net) in nets() {
        let images = noise(net.input(), 3, net.classes(), 5);
        let parameters = net.start(3);
        let exact = gradient(&net, &parameters, &images, &[0, 1, 2]);
        let scale = exact.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
        let loss = |k: usize, by: f32| {
            let mut moved = parameters.clone();
            moved[k] += by;
            total_loss(&net, &moved, &images, &[0, 1, 2])
        };
        let step = (net.parameters() / 60).max(1);
        for k in (0..net.parameters()).step_by(step).chain(net.parameters() - 3..net.parameters()) {
            let (h, here) = (1e-3, loss(k, 0.0));
            let (left, right) = ((here - loss(k, -h)) / f64::from(h), (loss(k, h) - here) / f64::from(h));
            // Where the largest pixel of a window changes between the two, one side tells.
            let slopes = [0.5 * (left + right), left, right];
            let off = slopes
                .map(|slope| (slope - f64::from(exact[k])).abs())
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            assert!(off < 2e-3 * scale.max(0.2), "{name}, parameter {k}: {} but {slopes:?}", exact[k]);
        }
    }
}

/// Mish, then the largest: with two evaluations as with four.
#[test]
fn pooling_before_mish_is_exact() {
    let shape = Shape { channels: 1, height: 8, width: 8 };
    let layers = |between: Vec<Layer>| {
        let mut layers = vec![conv("a", 3, 3, 1, 0), Layer::Mish];
        layers.extend(between);
        layers.extend([Layer::MaxPool { size: 2 }, linear("b", 4)]);
        Net::new(shape, layers).unwrap()
    };
    // A leaky ReLU that leaks everything keeps the two apart.
    let (fused, apart) = (layers(vec![]), layers(vec![Layer::LeakyRelu { slope: 1.0 }]));
    let images = noise(shape, 20, 4, 1);
    let all: Vec<u32> = (0..20).collect();
    for seed in 0..5 {
        // Larger weights: pixels on both sides of Mish's lowest point.
        let parameters: Vec<f32> = fused.start(seed).iter().map(|p| 6.0 * p).collect();
        assert_eq!(
            gradient(&fused, &parameters, &images, &all),
            gradient(&apart, &parameters, &images, &all)
        );
    }
}

/// Every gradient written down, shortened and added.
fn naive(net: &Net, parameters: &[f32], images: &Images, picked: &[u32], clip: f64) -> (Vec<f64>, usize) {
    let (mut sum, mut clipped) = (vec![0.0; net.parameters()], 0);
    for &at in picked {
        let own = gradient(net, parameters, images, &[at]);
        let norm = own.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
        clipped += usize::from(norm > clip);
        let factor = if norm > clip { clip / norm } else { 1.0 };
        sum.iter_mut().zip(&own).for_each(|(sum, &g)| *sum += factor * f64::from(g));
    }
    (sum, clipped)
}

fn far(fast: &[f32], naive: &[f64]) -> f64 {
    fast.iter().zip(naive).map(|(&fast, naive)| (f64::from(fast) - naive).powi(2)).sum::<f64>().sqrt()
}

/// The norm over all parameters of one example is at most the bound, and fast sums are naive ones.
#[test]
fn clipping_is_naive_clipping() {
    for (name, net) in nets() {
        let images = noise(net.input(), 37, net.classes(), 9);
        let (parameters, mut scratch) = (net.start(2), Scratch::new(&net));
        // Some are longer than the bound, and some are not.
        let mut norms: Vec<f64> = (0..37)
            .map(|at| {
                gradient(&net, &parameters, &images, &[at])
                    .iter()
                    .map(|&g| f64::from(g).powi(2))
                    .sum::<f64>()
                    .sqrt()
            })
            .collect();
        norms.sort_by(f64::total_cmp);
        let gap = |at: usize| norms[at + 1] - norms[at];
        let at = (10..26).max_by(|&a, &b| gap(a).total_cmp(&gap(b))).unwrap();
        let clip = norms[at] + 0.5 * gap(at);
        for picked in
            [&[][..], &[7], &[3, 3, 30], &(0..16).collect::<Vec<u32>>(), &(0..37).rev().collect::<Vec<u32>>()]
        {
            let mut sum = vec![0.0; net.parameters()];
            let tally =
                net.clipped_sum(&parameters, &images, picked, clip as f32, &mut scratch, &mut sum).unwrap();
            let (expected, clipped) = naive(&net, &parameters, &images, picked, clip);
            assert_eq!((tally.examples, tally.clipped, tally.lost), (picked.len(), clipped, 0), "{name}");
            let off = far(&sum, &expected) / (clip * picked.len().max(1) as f64);
            assert!(off < 1e-5, "{name}, {} examples: off by {off:e}", picked.len());
            let length = sum.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
            assert!(length <= clip * picked.len() as f64, "{name}: {length} of {clip}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However a lot is split into calls, and in whatever room, the sum is the same but for rounding; the same split gives the same bits.
    #[test]
    fn splits_do_not_matter(cuts in proptest::collection::vec(0_usize..60, 0..5), seed in 0_u64..50) {
        let net = Net::new(
            Shape { channels: 1, height: 6, width: 6 },
            vec![conv("a", 3, 3, 1, 1), Layer::Mish, Layer::MaxPool { size: 2 }, linear("b", 4)],
        ).unwrap();
        let images = noise(net.input(), 60, 4, seed);
        let (parameters, all) = (net.start(seed), (0..60).collect::<Vec<u32>>());
        let sum = |cuts: &[usize], scratch: &mut Scratch| {
            let (mut sum, mut from) = (vec![0.0; net.parameters()], 0);
            for &to in cuts.iter().chain([&60]) {
                net.clipped_sum(&parameters, &images, &all[from..to], 0.7, scratch, &mut sum).unwrap();
                from = to;
            }
            sum
        };
        let mut cuts = cuts;
        cuts.sort_unstable();
        let whole = sum(&[], &mut Scratch::default());
        let (split, again) = (sum(&cuts, &mut Scratch::default()), sum(&cuts, &mut Scratch::new(&net)));
        prop_assert_eq!(&split, &again);
        let off = split.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        prop_assert!(off < 1e-5 * 0.7 * 60.0, "off by {}", off);
    }
}

/// Weights that overflow for bright images only: those are lost, and nothing of them is left in the sum.
#[test]
fn what_is_not_finite_counts_for_nothing() {
    let shape = Shape { channels: 1, height: 4, width: 4 };
    let nets = [
        Net::new(shape, vec![conv("a", 2, 3, 1, 1), Layer::Mish, Layer::MaxPool { size: 2 }, linear("b", 2)])
            .unwrap(),
        Net::new(
            shape,
            vec![conv("a", 300, 3, 1, 1), norm("n", 3), Layer::Relu, conv("c", 60, 2, 1, 0), linear("b", 2)],
        )
        .unwrap(),
    ];
    for net in nets {
        let mut pixels = vec![0; 3 * 16];
        pixels[16..32].fill(255);
        let images = Images::new(shape, pixels, vec![0, 1, 1], 2).unwrap();
        let mut parameters = net.start(1);
        parameters[..9].fill(3e38);
        let mut scratch = Scratch::default();
        let mut sum = |picked: &[u32]| {
            let mut sum = vec![0.0; net.parameters()];
            let tally = net.clipped_sum(&parameters, &images, picked, 1.0, &mut scratch, &mut sum).unwrap();
            (sum, tally)
        };
        let (with, tally) = sum(&[0, 1, 2]);
        assert_eq!((tally.examples, tally.lost), (3, 1));
        assert!(with.iter().all(|g| g.is_finite()) && tally.loss.is_finite());
        let (without, _) = sum(&[0, 2]);
        let off = with.iter().zip(&without).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-6, "off by {off}");
        // Nothing is known where all parameters are unknown.
        let unknown = vec![f32::NAN; net.parameters()];
        let mut sum = vec![0.0; net.parameters()];
        let tally = net.clipped_sum(&unknown, &images, &[0, 1, 2], 1.0, &mut scratch, &mut sum).unwrap();
        assert_eq!((tally.lost, tally.correct, sum.iter().all(|g| *g == 0.0)), (3, 0, true));
    }
}

#[test]
fn the_nets_of_the_paper_have_its_sizes() {
    assert_eq!(Net::consensus_cnn().parameters(), 38_424);
    let shape = Shape { channels: 3, height: 32, width: 32 };
    assert_eq!(Net::resnet9(shape, 100).unwrap().parameters(), 7_802_724);
    let names: Vec<_> =
        Net::consensus_cnn().tensors().map(|(name, sizes)| (name.to_owned(), sizes.to_vec())).collect();
    assert_eq!(names[0], ("seq.0.weight".into(), vec![3, 1, 5, 5]));
    assert_eq!(names[2], ("seq.4.weight".into(), vec![64, 588]));
    let start = Net::consensus_cnn().start(1);
    let within = |range: std::ops::Range<usize>, most: f32| start[range].iter().all(|p| p.abs() <= most);
    assert!(
        within(0..78, 0.2) && within(78..37_774, 588_f32.sqrt().recip()) && within(37_774..38_424, 0.125)
    );
    assert!(start[..78].iter().any(|p| p.abs() > 0.19));
    assert_ne!(start, Net::consensus_cnn().start(2));
}

/// Plain descent on drawn figures: far above chance, on others than those learned from.
#[test]
fn drawn_figures_are_learned() {
    let (net, train, test) =
        (Net::consensus_cnn(), images::drawn(3000, 1).unwrap(), images::drawn(1000, 2).unwrap());
    let (mut parameters, mut scratch) = (net.start(1), Scratch::new(&net));
    let accuracy = |parameters: &[f32]| {
        let all: Vec<u32> = (0..1000).collect();
        net.measure(parameters, &test, &all, &mut Scratch::default()).unwrap().accuracy()
    };
    assert!(accuracy(&parameters) < 0.25);
    let mut sum = vec![0.0; net.parameters()];
    for step in 0..400_u32 {
        let picked: Vec<u32> = (0..128).map(|k| (step * 128 + k) * 7 % 3000).collect();
        sum.fill(0.0);
        net.clipped_sum(&parameters, &train, &picked, 1.0, &mut scratch, &mut sum).unwrap();
        parameters.iter_mut().zip(&sum).for_each(|(p, g)| *p -= 0.5 / 128.0 * g);
    }
    let reached = accuracy(&parameters);
    // 87.6 % where this was written.
    assert!(reached > 0.85, "{reached}");
}

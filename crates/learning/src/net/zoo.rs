//! The nets of Bayrooti, Gao and Prorok's consensus learning, and a plain one. Names are those of the authors' PyTorch modules.

use super::{Layer, Net, Shape};
use crate::Result;

fn conv(name: &str, channels: usize, kernel: usize, padding: usize) -> Layer {
    Layer::Conv2d { name: name.into(), channels, kernel, stride: 1, padding }
}

fn linear(name: &str, outputs: usize) -> Layer {
    Layer::Linear { name: name.into(), outputs }
}

impl Net {
    /// The consensus paper's net for MNIST at 32x32: three kernels of 5x5, Mish, max pool, 64 numbers, Mish, ten classes.
    ///
    /// # Panics
    ///
    /// Never: its layers fit.
    pub fn consensus_cnn() -> Self {
        let layers = vec![
            conv("seq.0", 3, 5, 0),
            Layer::Mish,
            Layer::MaxPool { size: 2 },
            linear("seq.4", 64),
            Layer::Mish,
            linear("seq.6", 10),
        ];
        Self::new(Shape { channels: 1, height: 32, width: 32 }, layers).expect("the layers fit")
    }

    /// Linear layers of these widths with ReLU between them, then the classes.
    pub fn perceptron(input: Shape, hidden: &[usize], classes: usize) -> Result<Self> {
        let mut layers = Vec::new();
        for &width in hidden {
            layers.push(linear(&layers.len().to_string(), width));
            layers.push(Layer::Relu);
        }
        layers.push(linear(&layers.len().to_string(), classes));
        Self::new(input, layers)
    }

    /// The consensus paper's net for CIFAR: nine layers with residual blocks, GroupNorm of 16 groups, leaky ReLU of 0.1; 7,802,724
    /// parameters for 100 classes.
    pub fn resnet9(input: Shape, classes: usize) -> Result<Self> {
        Self::residual_net(input, classes, [64, 128, 256, 512], 16)
    }

    /// The same with other widths and groups.
    pub fn residual_net(input: Shape, classes: usize, widths: [usize; 4], groups: usize) -> Result<Self> {
        let mut layers = unit("conv0", widths[0], groups, false);
        for (number, &width) in widths[1..].iter().enumerate() {
            let number = number + 1;
            layers.extend(unit(&format!("conv{number}"), width, groups, true));
            let inside = ["conv1", "conv2"]
                .iter()
                .flat_map(|name| unit(&format!("residual{number}.{name}"), width, groups, false));
            layers.push(Layer::Residual { layers: inside.collect() });
        }
        layers.extend([Layer::GlobalMaxPool, linear("fc1", classes)]);
        Self::new(input, layers)
    }
}

/// A convolution of 3x3, a max pool where one is asked for, GroupNorm, leaky ReLU.
fn unit(name: &str, channels: usize, groups: usize, pool: bool) -> Vec<Layer> {
    let mut layers = vec![conv(name, channels, 3, 1)];
    layers.extend(pool.then_some(Layer::MaxPool { size: 2 }));
    layers.push(Layer::GroupNorm { name: format!("{name}_gn"), groups });
    layers.push(Layer::LeakyRelu { slope: 0.1 });
    layers
}

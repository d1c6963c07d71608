//! Parameters as safetensors, under PyTorch's names and in its shapes: a state dictionary is read as it is, and read by others.

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::Net;
use crate::{Error, Result};

/// What BatchNorm leaves in a state dictionary.
const OF_BATCH_NORM: [&str; 3] = ["running_mean", "running_var", "num_batches_tracked"];

impl Net {
    /// The names and sizes of its tensors, in the order of the parameters.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.steps.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.sizes.as_slice()))
    }

    /// The bytes of a safetensors file.
    pub fn to_safetensors(&self, parameters: &[f32]) -> Result<Vec<u8>> {
        if parameters.len() != self.parameters() {
            let remedy = format!("the net has {}; give as many", self.parameters());
            return Err(Error::parameter("parameters", format!("{} numbers", parameters.len()), remedy));
        }
        let bytes: Vec<u8> = parameters.iter().flat_map(|number| number.to_le_bytes()).collect();
        let broken = |error| Error::Format(format!("the tensors cannot be written ({error}); check the net"));
        let mut views = Vec::new();
        for tensor in &self.steps.tensors {
            let data = &bytes[4 * tensor.place.start..4 * tensor.place.end];
            let view = TensorView::new(Dtype::F32, tensor.sizes.clone(), data).map_err(broken)?;
            views.push((tensor.name.as_str(), view));
        }
        safetensors::serialize(views, None).map_err(broken)
    }

    /// Parameters from the bytes of a safetensors file. Nothing is left out, and nothing may be too much.
    pub fn from_safetensors(&self, bytes: &[u8]) -> Result<Vec<f32>> {
        let broken = |error| Error::Format(format!("no safetensors file ({error}); check that it is whole"));
        let file = SafeTensors::deserialize(bytes).map_err(broken)?;
        let mut names = file.names();
        names.sort_unstable();
        if let Some(name) = names.iter().find(|name| OF_BATCH_NORM.iter().any(|end| name.ends_with(end))) {
            let remedy = "BatchNorm mixes examples, so that none can be clipped by itself; train a model with GroupNorm";
            return Err(Error::parameter("tensor", name, remedy));
        }
        let known = |name: &str| self.steps.tensors.iter().any(|tensor| tensor.name == name);
        if let Some(name) = names.iter().find(|name| !known(name)) {
            let remedy = "the net has no such tensor; take the net that it was saved from";
            return Err(Error::parameter("tensor", name, remedy));
        }
        let mut parameters = vec![0.0; self.parameters()];
        for tensor in &self.steps.tensors {
            let name = &tensor.name;
            let found = file.tensor(name).map_err(|_| {
                let remedy = "the file lacks it; take the file of this net";
                Error::parameter("tensor", format!("`{name}`"), remedy)
            })?;
            if found.dtype() != Dtype::F32 || found.shape() != tensor.sizes {
                let value = format!("{:?} {:?} for `{name}`", found.dtype(), found.shape());
                return Err(Error::parameter(
                    "tensor",
                    value,
                    format!("the net takes F32 {:?}", tensor.sizes),
                ));
            }
            let numbers = found.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
            let slots = &mut parameters[tensor.place.clone()];
            slots.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = number);
            if let Some(wrong) = slots.iter().find(|number| !number.is_finite()) {
                let remedy = "give finite numbers; did the training diverge?";
                return Err(Error::parameter("tensor", format!("{wrong} in `{name}`"), remedy));
            }
        }
        Ok(parameters)
    }
}

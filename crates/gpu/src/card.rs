//! A graphics card: its driver is looked for at run time, and kernels are compiled for it then.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute_enum;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream};
use cudarc::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
use sottovoce_learning::net::Net;

use crate::{Error, Result};

/// The text of the kernels.
const TEXT: [&str; 3] =
    [include_str!("kernels/forward.cu"), include_str!("kernels/back.cu"), include_str!("kernels/learn.cu")];

/// Parameters of the net that the kernels are written for.
pub(crate) const PARAMETERS: usize = 38_424;

/// Bytes of the weights that the kernel `back` keeps in shared memory.
pub(crate) const WEIGHTS: u32 = 64 * 196 * 4;

/// A card, ready to compute. A copy is the same card.
#[derive(Clone)]
pub struct Card {
    pub(crate) stream: Arc<CudaStream>,
    pub(crate) kernels: Kernels,
    name: String,
}

#[derive(Clone)]
pub(crate) struct Kernels {
    pub(crate) convolve: CudaFunction,
    pub(crate) classify: CudaFunction,
    pub(crate) back: CudaFunction,
    pub(crate) clip: CudaFunction,
    pub(crate) outer: CudaFunction,
    pub(crate) small: CudaFunction,
    pub(crate) tally: CudaFunction,
    pub(crate) hear: CudaFunction,
    pub(crate) step: CudaFunction,
    #[cfg(test)]
    pub(crate) noise: CudaFunction,
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Card {
    /// The first card. Refused, with a message, where there is none.
    pub fn open() -> Result<Self> {
        // What is missing must not be called: the loader panics.
        // SAFETY: both only open a library by its name, to see whether it is there.
        #[allow(unsafe_code)]
        let (driver, compiler) =
            unsafe { (cudarc::driver::sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
        if !driver {
            return Err(Error::Missing("no driver of an NVIDIA card (libcuda) is found".into()));
        }
        if !compiler {
            return Err(Error::Missing("the run-time compiler of CUDA (libnvrtc) is not found".into()));
        }
        let context =
            CudaContext::new(0).map_err(|error| Error::Missing(format!("no card answers ({error})")))?;
        let module = compiled(&context, &TEXT.concat())?;
        let kernel = |name: &str| module.load_function(name);
        let kernels = Kernels {
            convolve: kernel("convolve")?,
            classify: kernel("classify")?,
            back: kernel("back")?,
            clip: kernel("clip")?,
            outer: kernel("outer")?,
            small: kernel("small")?,
            tally: kernel("tally")?,
            hear: kernel("hear")?,
            step: kernel("step")?,
            #[cfg(test)]
            noise: kernel("noise")?,
        };
        let most = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        kernels.back.set_attribute(most, WEIGHTS as i32)?;
        Ok(Self { stream: context.default_stream(), kernels, name: context.name()? })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Refuses a net that no kernels are written for.
    pub fn check(net: &Net) -> Result<()> {
        if *net == Net::consensus_cnn() {
            return Ok(());
        }
        let remedy =
            "on a card it is the consensus paper's (cnn); take that one, or compute on the processor";
        Err(Error::parameter("net", format!("one of {} parameters", net.parameters()), remedy))
    }
}

/// Kernels, compiled for the card.
pub(crate) fn compiled(context: &Arc<CudaContext>, text: &str) -> Result<Arc<CudaModule>> {
    let (major, minor) = context.compute_capability()?;
    let options = CompileOptions {
        // Every operation is rounded by itself, as on a processor; where it is not, the text says so.
        fmad: Some(false),
        options: vec![format!("--gpu-architecture=compute_{major}{minor}")],
        ..CompileOptions::default()
    };
    Ok(context.load_module(compile_ptx_with_opts(text, options).map_err(refused)?)?)
}

fn refused(error: CompileError) -> Error {
    Error::Compiler(match error {
        CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
        other => other.to_string(),
    })
}

/// Launches a kernel for each of `y` lots or agents, with so many threads in a block and, if given, so many bytes that they share.
///
/// Only this macro calls a kernel. Its arguments must be those of the kernel's text, in that order, and as long as the text reads and writes.
macro_rules! launch {
    ($card:expr, $kernel:ident, ($x:expr, $y:expr), ($threads:expr, $shared:expr), [$($arg:expr),* $(,)?]) => {{
        let shape = cudarc::driver::LaunchConfig {
            grid_dim: ($x as u32, $y as u32, 1),
            block_dim: ($threads, 1, 1),
            shared_mem_bytes: $shared,
        };
        let mut call = $card.stream.launch_builder(&$card.kernels.$kernel);
        $(cudarc::driver::PushKernelArg::arg(&mut call, $arg);)*
        // SAFETY: as the macro asks for; vectors are made for the largest lots that can come, and lots are checked on the host.
        #[allow(unsafe_code)]
        let launched = unsafe { call.launch(shape) };
        launched?;
    }};
    ($card:expr, $kernel:ident, ($x:expr, $y:expr), $threads:expr, $arguments:tt) => {
        launch!($card, $kernel, ($x, $y), ($threads, 0), $arguments)
    };
}
pub(crate) use launch;

//! A spec by flags, and all its rarer fields by their places.

use clap::Args;
use sottovoce::experiment::{Averaging, Deep, Experiment, Learning, Personalized, Rumor};
use sottovoce::{Error, Result};

/// A spec by flags.
#[derive(Debug, Args)]
// The spec within has the same name.
#[group(skip)]
pub(crate) struct Spec<S: Args> {
    #[command(flatten)]
    spec: S,
    #[command(flatten)]
    more: Fields,
}

/// Fields of a spec that have no flag of their own.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Fields {
    /// Any field of the spec by its place in a file, such as network.jitter=0.2 (all of them: `sottovoce new`).
    #[arg(long, value_name = "PLACE=VALUE")]
    set: Vec<String>,
}

/// A spec of one protocol.
pub(crate) trait Kind: Sized {
    /// As any spec.
    fn whole(self) -> Experiment;
    /// Of any spec, where it is one of this protocol.
    fn part(experiment: Experiment) -> Option<Self>;
}

/// One line for each protocol.
macro_rules! kinds {
    ($($spec:ident: $wrap:expr, $bound:pat => $take:expr;)*) => {$(
        impl Kind for $spec {
            fn whole(self) -> Experiment {
                $wrap(self)
            }

            fn part(experiment: Experiment) -> Option<Self> {
                match experiment {
                    $bound => Some($take),
                    _ => None,
                }
            }
        }
    )*};
}

kinds! {
    Averaging: |spec| Experiment::Averaging(Box::new(spec)), Experiment::Averaging(spec) => *spec;
    Learning: |spec| Experiment::Learning(Box::new(spec)), Experiment::Learning(spec) => *spec;
    Personalized: |spec| Experiment::Personalized(Box::new(spec)), Experiment::Personalized(spec) => *spec;
    Deep: |spec| Experiment::Deep(Box::new(spec)), Experiment::Deep(spec) => *spec;
    Rumor: Experiment::Rumor, Experiment::Rumor(spec) => spec;
}

impl<S: Args + Kind + Clone> Spec<S> {
    /// As any spec.
    pub(crate) fn experiment(&self) -> Result<Experiment> {
        self.spec.clone().whole().with_fields(&self.more.set)
    }

    /// With all that was set.
    pub(crate) fn get(&self) -> Result<S> {
        self.more.of(self.spec.clone())
    }
}

impl Fields {
    /// A spec with these fields.
    pub(crate) fn of<S: Kind>(&self, spec: S) -> Result<S> {
        let set = S::part(spec.whole().with_fields(&self.set)?);
        set.ok_or_else(|| Error::refused("`set` changes the kind of the spec: please report this"))
    }
}

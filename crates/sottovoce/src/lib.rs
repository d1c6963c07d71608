//! Private peer-to-peer learning whose privacy numbers are exact, typed and attacked.
//!
//! Peers average private values, and you see what everybody learned of everybody:
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! # let ring = sottovoce::Graph::from_edges(6, (0..6).map(|peer| (peer, (peer + 1) % 6)))?;
//! # let ring = ring.with_labels(["ana", "ben", "eva", "ida", "jon", "kim"].map(str::to_owned).to_vec())?;
//! # let file = std::fs::File::create("peers.graphml")?;
//! # sottovoce::topology::io::write(&ring, sottovoce::topology::io::Format::GraphMl, file)?;
//! use sottovoce::{Adversary, Averaging, Graph};
//!
//! let graph = Graph::read("peers.graphml")?;
//! let run = Averaging::new(&graph)
//!     .values([0.2, 0.7, 0.4, 0.9, 0.1, 0.6], 0.0..=1.0)
//!     .pairwise_noise(10.0)
//!     .epsilon(1.0).delta(1e-5).against(Adversary::eavesdropper().with_colluders(2))
//!     .run(7)?; // the seed
//! println!("{:.3} ± {:.3}", run.mean(), run.std_error());
//! for pair in run.account(Adversary::every_peer())?.pairs() {
//!     println!("{} learns of {}: epsilon <= {}", pair.observer, pair.target, pair.epsilon);
//! }
//! assert!(run.attack(1000)?.claim_holds());
//! run.report("out/")?;
//! # assert_eq!(run.account(Adversary::every_peer())?.pairs().len(), 30);
//! # assert!(run.account(Adversary::eavesdropper().with_colluders(2))?.epsilon() <= Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Peers learn a model together ([`Learning`]); labels are 0 and 1, and the ranges of features are public:
//!
//! ```
//! use sottovoce::{Adversary, Graph, Learning};
//!
//! let graph = Graph::from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])?;
//! let rows = (0..80).map(|i| {
//!     let age = 20.0 + f64::from(i);
//!     ((i % 4).to_string(), vec![age, f64::from(i % 3)], f64::from(u8::from(age > 60.0)))
//! });
//! let run = Learning::gossip(&graph)
//!     .rows(rows, [("age", 0.0..=120.0), ("visits", 0.0..=10.0)])
//!     .epsilon(8.0).against(Adversary::eavesdropper()).seeds(1)
//!     .run(7)?;
//! println!("model {:?}, accuracy {:?}", run.model(), run.accuracy());
//! assert!(run.account(Adversary::eavesdropper())?.epsilon() <= Some(8.0));
//! assert!(run.attack(200)?.claim_holds());
//! # Ok::<(), sottovoce::Error>(())
//! ```
//!
//! Every peer learns a model of its own, with help from similar peers ([`Personalized`]):
//!
//! ```
//! use sottovoce::{Adversary, Graph, Personalized};
//!
//! let similar = Graph::from_edges(3, [(0, 1), (1, 2)])?;
//! let rows = (0..90).map(|i| {
//!     let x = f64::from(i % 30) / 30.0;
//!     ((i / 30).to_string(), vec![x], f64::from(u8::from(x > 0.5)))
//! });
//! let run = Personalized::new(&similar)
//!     .rows(rows, [("x", 0.0..=1.0)])
//!     .epsilon(2.0).seeds(1)
//!     .run(7)?;
//! println!("accuracy {:.2}", run.worth());
//! assert!(run.account(Adversary::eavesdropper())?.epsilon() <= Some(2.0));
//! # Ok::<(), sottovoce::Error>(())
//! ```
//!
//! A net is learned together from images ([`Deep`]):
//!
//! ```
//! use sottovoce::{Adversary, Deep, Graph, Images, Net, Shape};
//!
//! let shape = Shape { channels: 1, height: 4, width: 4 };
//! let images = |count: u8| {
//!     let labels: Vec<u8> = (0..count).map(|i| i % 2).collect();
//!     let pixels = labels.iter().flat_map(|label| [label * 200; 16]).collect();
//!     Images::new(shape, pixels, labels, 2)
//! };
//! let graph = Graph::from_edges(3, [(0, 1), (1, 2), (2, 0)])?;
//! let run = Deep::new(&graph)
//!     .images([images(50)?, images(50)?, images(50)?], images(20)?)
//!     .net(Net::Mlp).rounds(5).batch(50.0)
//!     .epsilon(4.0)
//!     .run(7)?;
//! println!("accuracy {:.2}", run.accuracy());
//! assert!(run.account(Adversary::eavesdropper())?.epsilon() <= Some(4.0));
//! # Ok::<(), sottovoce::Error>(())
//! ```
//!
//! A rumour spreads, and nobody can tell who began ([`Rumor`]):
//!
//! ```
//! use sottovoce::Rumor;
//!
//! let run = Rumor::among(40).curious(4).delta(0.3).run(7)?;
//! println!("{:?} rounds; {}", run.rounds(), run.attack(2000)?);
//! # Ok::<(), sottovoce::Error>(())
//! ```
//!
//! The same runs are described by files (`Experiment::read`), by the flags of the program `sottovoce`, and from Python: they share one spec and one
//! preparation. Everything else in this crate is for these programs and may change.

#[doc(hidden)]
pub mod averaging;
#[doc(hidden)]
pub mod deep;
mod door;
#[doc(hidden)]
pub mod experiment;
mod learn;
#[doc(hidden)]
pub mod personal;
#[doc(hidden)]
pub mod rumor;
#[doc(hidden)]
pub mod spine;
#[doc(hidden)]
pub mod training;
#[doc(hidden)]
pub mod transcript;

pub use door::{
    Account, Adversary, Attack, Averaging, Deep, Learning, Pair, Personalized, Protocol, Rumor, Run, Spread,
};
pub use experiment::{DeepMethod, Experiment, Model as Net, PeerValue};
pub use sottovoce_engine::terms::Stated as Guarantee;
pub use sottovoce_engine::{Error, Result};
pub use sottovoce_learning::Images;
pub use sottovoce_learning::net::Shape;
pub use sottovoce_topology::Graph;

/// All that a program needs: `use sottovoce::prelude::*`.
pub mod prelude {
    pub use sottovoce_privacy::{Accountant, Adjacency, Mechanism, Risk, Standing, Unit};
    pub use sottovoce_topology::family::{Family, generate};

    pub use crate::{
        Account, Adversary, Attack, Averaging, Deep, DeepMethod, Error, Experiment, Graph, Guarantee, Images,
        Learning, Net, Pair, PeerValue, Personalized, Rumor, Run, Shape, Spread,
    };
}

#[doc(hidden)]
pub use sottovoce_audit as audit;
#[doc(hidden)]
pub use sottovoce_engine::{SIMULATED, learning, names, origin, plan, require, terms};
#[doc(hidden)]
pub use sottovoce_learning as tasks;
#[doc(hidden)]
pub use sottovoce_privacy as privacy;
#[doc(hidden)]
pub use sottovoce_protocol as protocol;
#[doc(hidden)]
pub use sottovoce_report as report;
#[doc(hidden)]
pub use sottovoce_simulator as simulator;
#[doc(hidden)]
pub use sottovoce_topology as topology;
#[doc(hidden)]
pub use sottovoce_views as views;

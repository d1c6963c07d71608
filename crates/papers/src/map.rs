//! A graph whose peers are coloured by what one of them loses or learns.

use sottovoce_report::{GraphPicture, Picture, layout};
use sottovoce_topology::Graph;

use super::colours::Colours;
use super::statistics::choose;

/// More edges than this only blacken a picture.
const EDGES: usize = 5000;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) name: &'a str,
    pub(super) graph: &'a Graph,
    /// The peer that stands out.
    pub(super) peer: usize,
}

/// The same with a place for everyone.
pub(super) struct Map<'a> {
    scene: Scene<'a>,
    edges: Vec<(u32, u32)>,
    positions: Vec<(f64, f64)>,
}

impl<'a> Map<'a> {
    /// Where peers have no place of their own, forces find one.
    pub(super) fn new(scene: Scene<'a>, seed: u64) -> Self {
        let positions = match scene.graph.coordinates() {
            Some(places) => places.iter().map(|p| (p[0], p[1])).collect(),
            None => layout(scene.graph.nodes(), &pairs(scene.graph), seed),
        };
        Self::at(scene, positions, seed)
    }

    /// The graph at given places; of very many edges a random part is drawn.
    pub(super) fn at(scene: Scene<'a>, positions: Vec<(f64, f64)>, seed: u64) -> Self {
        let all = pairs(scene.graph);
        let keep = |i: &usize| all.len() <= EDGES || choose(seed, *i as u64, all.len()) < EDGES;
        let edges = (0..all.len()).filter(keep).map(|i| all[i]).collect();
        Self { scene, edges, positions }
    }

    pub(super) fn picture(&self, title: &str, losses: &[f64], colours: &Colours) -> Picture {
        let Scene { name, peer, .. } = self.scene;
        GraphPicture {
            title: format!("{title}, {name}"),
            description: format!(
                "Each peer of the {name} graph coloured by its loss, from dark (least) to pale (most)."
            ),
            positions: self.positions.clone(),
            edges: self.edges.clone(),
            values: losses.iter().map(|loss| colours.place(*loss)).collect(),
            labels: Vec::new(),
            observer: Some(peer),
            bar: colours.bar(),
            size: (480.0, 520.0),
        }
        .still()
    }
}

fn pairs(graph: &Graph) -> Vec<(u32, u32)> {
    graph.edges().map(|(u, v)| (u as u32, v as u32)).collect()
}

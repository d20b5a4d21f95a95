//! Minimum cuts of networks, by which the tape plan is chosen (see `unzip`).
//!
//! A network has nodes that tell themselves apart, two of which are its source and its sink, and edges with
//! capacities. A cut takes edges away such that nothing leads from the source to the sink; its weight is the
//! sum of their capacities. Of all cuts of least weight the one nearest to the sink is given.
//!
//! *Cost*: a network falls apart into components that share no node but the two ends. Each is solved
//! exactly by Dinic's algorithm if it has at most [`LIMIT`] nodes; larger ones have no node on the sink's side.

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The most nodes of a component that is solved.
pub const LIMIT: usize = 600;
/// The capacity of an edge that is never cut.
pub const INFINITE: u64 = 1 << 50;

/// The source and the sink, which have the first numbers.
const ENDS: usize = 2;

/// A network.
///
/// ```
/// use jut_ad::network::{INFINITE, Network};
///
/// // a or b has to go; a is cheaper.
/// let mut network = Network::new("source", "sink");
/// network.edge("source", "b", 8);
/// network.edge("b", "a", 3);
/// network.edge("a", "sink", INFINITE);
/// assert_eq!(network.sink_side(), ["sink", "a"]);
/// ```
#[derive(Clone, Debug)]
pub struct Network<N> {
    numbers: HashMap<N, usize>,
    nodes: Vec<N>,
    edges: Vec<(usize, usize, u64)>,
}

impl<N: Copy + Eq + Hash> Network<N> {
    /// A network without edges.
    pub fn new(source: N, sink: N) -> Network<N> {
        let mut network = Network { numbers: HashMap::new(), nodes: Vec::new(), edges: Vec::new() };
        network.number(source);
        network.number(sink);
        network
    }

    /// Whether a node has an edge, or is an end.
    pub fn has(&self, node: N) -> bool {
        self.numbers.contains_key(&node)
    }

    fn number(&mut self, node: N) -> usize {
        let next = self.nodes.len();
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }

    /// Adds an edge, if it has a capacity.
    pub fn edge(&mut self, from: N, to: N, capacity: u64) {
        if capacity > 0 {
            let edge = (self.number(from), self.number(to), capacity);
            self.edges.push(edge);
        }
    }

    /// The nodes on the sink's side of the minimum cuts nearest to it, component by component.
    pub fn sink_side(&self) -> Vec<N> {
        let mut components = UnionFind::<usize>::new(self.nodes.len());
        for (from, to, _) in &self.edges {
            if *from >= ENDS && *to >= ENDS {
                components.union(*from, *to);
            }
        }
        let mut edges: BTreeMap<usize, Vec<(usize, usize, u64)>> = BTreeMap::new();
        for edge in &self.edges {
            let inner = if edge.0 < ENDS { edge.1 } else { edge.0 };
            edges.entry(components.find(inner)).or_default().push(*edge);
        }
        let mut side = Vec::new();
        for edges in edges.into_values() {
            let mut numbers = HashMap::new();
            let mut nodes = Vec::new();
            let mut graph: DiGraph<(), u64> = DiGraph::new();
            for end in 0..ENDS {
                numbers.insert(end, graph.add_node(()));
                nodes.push(end);
            }
            for (from, to, capacity) in edges {
                let [from, to] = [from, to].map(|node| {
                    *numbers.entry(node).or_insert_with(|| {
                        nodes.push(node);
                        graph.add_node(())
                    })
                });
                graph.add_edge(from, to, capacity);
            }
            if nodes.len() <= LIMIT + ENDS {
                let reached = nearest_cut(&graph, NodeIndex::new(0), NodeIndex::new(1));
                side.extend(reached.into_iter().map(|node| self.nodes[nodes[node.index()]]));
            }
        }
        side
    }
}

/// The nodes from which the sink can be reached in what a maximum flow leaves of the capacities.
fn nearest_cut(graph: &DiGraph<(), u64>, source: NodeIndex, sink: NodeIndex) -> Vec<NodeIndex> {
    let (_, flow) = dinics(graph, source, sink);
    let mut seen = vec![false; graph.node_count()];
    let mut reached = vec![sink];
    seen[sink.index()] = true;
    let mut next = 0;
    while let Some(node) = reached.get(next).copied() {
        next += 1;
        let incoming = graph.edges_directed(node, petgraph::Incoming);
        let left = incoming.filter(|e| flow[e.id().index()] < *e.weight()).map(|e| e.source());
        let outgoing = graph.edges_directed(node, petgraph::Outgoing);
        let back = outgoing.filter(|e| flow[e.id().index()] > 0).map(|e| e.target());
        for other in left.chain(back) {
            if !std::mem::replace(&mut seen[other.index()], true) {
                reached.push(other);
            }
        }
    }
    reached
}

//! Minimum cuts against all cuts of small networks.

use jut_ad::network::{INFINITE, Network};
use std::collections::HashSet;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Source,
    Sink,
    Value(usize),
    Again(usize),
}

/// What it costs to cut off one side: the capacities of the edges that lead there.
fn price(edges: &[(Node, Node, u64)], side: &HashSet<Node>) -> u64 {
    let cut = edges.iter().filter(|(from, to, _)| !side.contains(from) && side.contains(to));
    cut.map(|(_, _, capacity)| capacity).sum()
}

#[test]
fn no_cut_of_a_random_network_is_cheaper_and_none_as_cheap_is_smaller() {
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..300 {
        let mut edges = Vec::new();
        for k in 0..rng.usize(2..8) {
            let price = rng.u64(0..10);
            if rng.bool() {
                edges.push((Node::Source, Node::Value(k), price));
            } else {
                edges.push((Node::Source, Node::Again(k), price));
                edges.push((Node::Again(k), Node::Value(k), 8));
                for operand in (0..k).filter(|_| rng.bool()) {
                    edges.push((Node::Value(operand), Node::Again(k), INFINITE));
                }
            }
            if rng.u8(0..3) == 0 {
                edges.push((Node::Value(k), Node::Sink, INFINITE));
            }
        }
        let mut network = Network::new(Node::Source, Node::Sink);
        edges.iter().for_each(|(from, to, capacity)| network.edge(*from, *to, *capacity));
        let mut side: HashSet<Node> = network.sink_side().into_iter().collect();
        side.insert(Node::Sink);
        let found = price(&edges, &side);
        let ends = edges.iter().flat_map(|(from, to, _)| [*from, *to]);
        let inner: HashSet<Node> =
            ends.filter(|node| !matches!(node, Node::Source | Node::Sink)).collect();
        for bits in 0..1_u32 << inner.len() {
            let chosen = inner.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1);
            let other: HashSet<Node> = chosen.map(|(_, node)| *node).chain([Node::Sink]).collect();
            let price = price(&edges, &other);
            assert!(found <= price);
            assert!(found < price || side.len() <= other.len());
        }
    }
}

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

#[test]
fn no_cut_of_a_random_network_is_cheaper_and_none_as_cheap_is_smaller() {
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..300 {
        let mut network = Network::new(Node::Source, Node::Sink);
        for k in 0..rng.usize(2..8) {
            let price = rng.u64(0..10);
            if rng.bool() {
                network.edge(Node::Source, Node::Value(k), price);
            } else {
                network.edge(Node::Source, Node::Again(k), price);
                network.edge(Node::Again(k), Node::Value(k), 8);
                for operand in (0..k).filter(|_| rng.bool()) {
                    network.edge(Node::Value(operand), Node::Again(k), INFINITE);
                }
            }
            if rng.u8(0..3) == 0 {
                network.edge(Node::Value(k), Node::Sink, INFINITE);
            }
        }
        let mut side: HashSet<Node> = network.sink_side().into_iter().collect();
        side.insert(Node::Sink);
        let found = network.price(&|node| side.contains(&node));
        let inner = &network.nodes()[2..];
        for bits in 0..1_u32 << inner.len() {
            let chosen = inner.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1);
            let other: HashSet<Node> = chosen.map(|(_, node)| *node).chain([Node::Sink]).collect();
            let price = network.price(&|node| other.contains(&node));
            assert!(found <= price);
            assert!(found < price || side.len() <= other.len());
        }
    }
}

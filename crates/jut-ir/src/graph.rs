//! Nodes of a graph that reach each other.
//!
//! *Cost*: linear in the graph (Tarjan's algorithm), without recursion: a path may be as long as a program.

/// Some nodes of a graph that reach each other, or one that does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Component<N> {
    /// Its nodes, in ascending order.
    pub members: Vec<N>,
    /// Whether there is an edge from one of them to one of them.
    pub is_recursive: bool,
}

/// The strongly connected components of what `roots` reach, those that are reached first; `successors` adds those of
/// a node to a list.
pub fn strongly_connected(
    count: usize,
    roots: impl IntoIterator<Item = usize>,
    mut successors: impl FnMut(usize, &mut Vec<usize>),
) -> Vec<Component<usize>> {
    const NEW: usize = usize::MAX;
    // When a node was met, and the first node met that it is known to reach in its own component.
    let (mut met, mut low) = (vec![NEW; count], vec![NEW; count]);
    let mut done = vec![false; count];
    let mut clock = 0;
    let mut open: Vec<usize> = Vec::new();
    let mut out = Vec::new();
    // A node, its successors, and how many of them have been looked at.
    let mut path: Vec<(usize, Vec<usize>, usize)> = Vec::new();
    for root in roots {
        let mut next = (met[root] == NEW).then_some(root);
        loop {
            if let Some(node) = next.take() {
                (met[node], low[node]) = (clock, clock);
                clock += 1;
                open.push(node);
                let mut edges = Vec::new();
                successors(node, &mut edges);
                path.push((node, edges, 0));
            }
            let Some((node, edges, at)) = path.last_mut() else { break };
            let node = *node;
            if let Some(to) = edges.get(*at).copied() {
                *at += 1;
                if met[to] == NEW {
                    next = Some(to);
                } else if !done[to] {
                    low[node] = low[node].min(met[to]);
                }
                continue;
            }
            let to_itself = edges.contains(&node);
            path.pop();
            if let Some((caller, ..)) = path.last() {
                low[*caller] = low[*caller].min(low[node]);
            }
            if low[node] == met[node] {
                let start = open.iter().rposition(|n| *n == node).unwrap_or(0);
                let mut members = open.split_off(start);
                members.iter().for_each(|n| done[*n] = true);
                members.sort_unstable();
                let is_recursive = to_itself || members.len() > 1;
                out.push(Component { members, is_recursive });
            }
        }
    }
    out
}

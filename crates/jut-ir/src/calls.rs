//! The graph of calls: which definitions call which, and which call themselves.
//!
//! Definitions stand in any order, and call themselves and each other. What is asked of all definitions,
//! callees before callers, is asked of the *components* of the graph: a component is one definition that does not
//! call itself, or a set of those that call each other in a circle (strongly connected). Between components the
//! graph has no circle, so they come callees first; inside one, a question is answered for all members together.
//!
//! *Cost*: linear in the graph (Tarjan's algorithm), without recursion: a chain of calls may be as long as a program.

use crate::entity::{FuncId, SecondaryMap};
use crate::ir::{Block, Call, Program, Rhs};

/// Calls `visit` with every call of a block, nested blocks included, in order.
pub fn for_each_call(block: &Block, visit: &mut dyn FnMut(&Call)) {
    for stmt in &block.stmts {
        if let Rhs::Call(call) = &stmt.rhs {
            visit(call);
        }
        stmt.rhs.blocks().into_iter().for_each(|inner| for_each_call(inner, visit));
    }
}

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

/// The components of what `roots` call, directly or not, callees first. Functions for which `skip` holds are
/// left out, with what they call.
pub fn components(
    program: &Program,
    roots: impl IntoIterator<Item = FuncId>,
    skip: &dyn Fn(FuncId) -> bool,
) -> Vec<Component<FuncId>> {
    use crate::entity::EntityRef;
    let roots = roots.into_iter().map(|id| id.index());
    let found = strongly_connected(program.funcs.len(), roots, |node, out| {
        for_each_call(&program.funcs[FuncId::new(node)].body, &mut |call| {
            if !skip(call.func) {
                out.push(call.func.index());
            }
        });
        // What is called last comes first.
        out.reverse();
    });
    let named = found.into_iter().map(|component| Component {
        members: component.members.into_iter().map(FuncId::new).collect(),
        is_recursive: component.is_recursive,
    });
    named.collect()
}

/// The functions that `roots` call, directly or not, and themselves, callees first but for those that call each
/// other.
pub fn callees_first(program: &Program, roots: impl IntoIterator<Item = FuncId>) -> Vec<FuncId> {
    components(program, roots, &|_| false).into_iter().flat_map(|c| c.members).collect()
}

/// The functions that `root` calls, directly or not, those that state their derivatives, and itself, in the order of
/// the program.
pub fn reached(program: &Program, root: FuncId) -> Vec<FuncId> {
    let mut seen = SecondaryMap::<FuncId, bool>::new();
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut seen[id], true) {
            for_each_call(&program.funcs[id].body, &mut |call| work.push(call.func));
            work.extend(program.funcs[id].rule.map(crate::ir::Rule::func));
        }
    }
    program.funcs.keys().filter(|id| seen[*id]).collect()
}

/// Which functions call themselves, directly or not.
#[derive(Clone, Debug, Default)]
pub struct Recursion {
    /// The number of the component, from 1; 0 for functions that do not call themselves.
    component: SecondaryMap<FuncId, u32>,
}

impl Recursion {
    /// That of a whole program.
    pub fn of(program: &Program) -> Recursion {
        let mut component = SecondaryMap::new();
        let found = components(program, program.funcs.keys(), &|_| false);
        for (number, found) in (1..).zip(found.iter().filter(|c| c.is_recursive)) {
            found.members.iter().for_each(|id| component[*id] = number);
        }
        Recursion { component }
    }

    /// Whether a function calls itself.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.component[func] != 0
    }

    /// Whether a call of `callee` in `caller` is one of a function by itself.
    pub fn is_inside(&self, caller: FuncId, callee: FuncId) -> bool {
        self.is_recursive(callee) && self.component[caller] == self.component[callee]
    }
}

/// How many calls of functions that call each other may be in each other, below the one from outside. More is the
/// error [`crate::RuntimeErrorKind::Recursion`].
pub const LEVELS: i64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(edges: &[&[usize]]) -> Vec<(Vec<usize>, bool)> {
        let found = strongly_connected(edges.len(), 0..edges.len(), |n, out| out.extend(edges[n]));
        found.into_iter().map(|c| (c.members, c.is_recursive)).collect()
    }

    #[test]
    fn callees_come_first_and_circles_together() {
        assert_eq!(
            of(&[&[], &[0], &[1, 0]]),
            [(vec![0], false), (vec![1], false), (vec![2], false)]
        );
        assert_eq!(of(&[&[2], &[], &[1]]), [(vec![1], false), (vec![2], false), (vec![0], false)]);
        assert_eq!(of(&[&[0]]), [(vec![0], true)]);
        assert_eq!(of(&[&[1, 3], &[2], &[0], &[]]), [(vec![3], false), (vec![0, 1, 2], true)]);
        let two = of(&[&[1], &[0, 2], &[3], &[2]]);
        assert_eq!(two, [(vec![2, 3], true), (vec![0, 1], true)]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let found = strongly_connected(200_000, [0], |n, out| out.extend([(n + 1) % 200_000]));
        assert_eq!((found.len(), found[0].members.len()), (1, 200_000));
    }
}

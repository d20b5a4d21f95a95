//! The graph of calls: which definitions call which, and which call themselves.
//!
//! Definitions stand in any order, and call themselves and each other. What is asked of all definitions,
//! callees before callers, is asked of the *components* of the graph: a component is one definition that does not
//! call itself, or a set of those that call each other in a circle (strongly connected). Between components the
//! graph has no circle, so they come callees first; inside one, a question is answered for all members together.
//!
//! *Cost*: linear in the graph ([`crate::graph`]).

use crate::entity::{FuncId, SecondaryMap};
use crate::graph::{Component, strongly_connected};
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

/// The functions that `root` calls, directly or not, those that state their derivatives, what the declarations of other languages among
/// them name, and itself, in the order of the program.
pub fn reached(program: &Program, root: FuncId) -> Vec<FuncId> {
    follow(program, root, true)
}

/// The same without what declarations of other languages name.
pub fn reached_by_calls(program: &Program, root: FuncId) -> Vec<FuncId> {
    follow(program, root, false)
}

fn follow(program: &Program, root: FuncId, declared: bool) -> Vec<FuncId> {
    let mut seen = SecondaryMap::<FuncId, bool>::new();
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut seen[id], true) {
            for_each_call(&program.funcs[id].body, &mut |call| work.push(call.func));
            work.extend(program.funcs[id].rule.map(crate::ir::Rule::func));
            if let Some(declared) = program.declared(id).filter(|_| declared) {
                work.extend([declared.linear, declared.transpose, declared.value]);
                work.extend(declared.derivative);
            }
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

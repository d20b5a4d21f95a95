//! Functions that call themselves, and how deep.
//!
//! Nothing runs on a stack that may be too small, and a recursion ends where the data say. So a function that calls
//! itself, directly or not, has a last parameter of its own, the levels that it may still go down. A call of it from
//! outside gives [`LEVELS`]; one inside checks that there is one left, which is the error `R08` if not, and gives one
//! less:
//!
//! ```text
//! loop def f(n: i64, x: f64, levels: i64) -> (f64) = {
//!   ..
//!   check 0 <= 0 < levels @0:23..34
//!   rest = levels - 1
//!   y = call f(m, x, rest)
//! ```
//!
//! All engines count alike, so they fail alike. The stack of a call is that of so many levels; where that would be more
//! than [`MOST_STACK`], because a level takes much of it, there are fewer ([`fewer_levels`]).
//!
//! *Cost*: linear.

pub use jut_ir::calls::LEVELS;

use crate::form::{Atom, LoopFuncId, LoopProgram, Stmt};
use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::Literal;
use jut_ir::graph::{Component, strongly_connected};

/// Bytes of stack that the levels of a program may take.
pub const MOST_STACK: usize = 1 << 30;

/// The functions that call each other, and all others by themselves, callees first.
pub fn components(program: &LoopProgram) -> Vec<Component<LoopFuncId>> {
    let count = program.funcs.len();
    let found = strongly_connected(count, 0..count, |k, out| {
        program.funcs[LoopFuncId::new(k)].body.for_each(&mut |stmt| {
            if let Stmt::Call { func, .. } = stmt {
                out.push(func.index());
            }
        });
    });
    let named = found.into_iter().map(|component| Component {
        members: component.members.into_iter().map(LoopFuncId::new).collect(),
        is_recursive: component.is_recursive,
    });
    named.collect()
}

/// For each function the number of its component, from 1, if it calls itself; else 0.
pub fn recursive(program: &LoopProgram) -> SecondaryMap<LoopFuncId, u32> {
    let mut number = SecondaryMap::new();
    for (k, found) in (1..).zip(components(program).iter().filter(|c| c.is_recursive)) {
        found.members.iter().for_each(|id| number[*id] = k);
    }
    number
}

/// How many levels calls from outside give.
pub fn levels(program: &LoopProgram) -> i64 {
    let (mut program, mut most) = (program.clone(), 0);
    from_outside(&mut program, &mut |levels| most = most.max(*levels));
    most
}

/// The program with fewer levels than it has, in the proportion of what they may take of the stack to what they do;
/// `None` if they may.
pub fn fewer_levels(program: &LoopProgram, stack: usize) -> Option<LoopProgram> {
    if stack <= MOST_STACK {
        return None;
    }
    let levels = levels(program);
    if levels < 2 {
        return None;
    }
    let fewer = (levels as u128 * MOST_STACK as u128 / stack as u128) as i64;
    Some(with_levels(program, fewer.clamp(1, levels - 1)))
}

/// The program in which calls from outside give so many levels.
pub fn with_levels(program: &LoopProgram, levels: i64) -> LoopProgram {
    let mut program = program.clone();
    from_outside(&mut program, &mut |given| *given = levels);
    program
}

/// Bytes of stack that a call of the last function takes at most, by those of each function.
pub fn stack(program: &LoopProgram, frame: &dyn Fn(LoopFuncId) -> usize) -> usize {
    let levels = usize::try_from(levels(program)).unwrap_or(0);
    let mut depth: SecondaryMap<LoopFuncId, usize> = SecondaryMap::new();
    for component in components(program) {
        let mut deepest = 0;
        for id in &component.members {
            program.funcs[*id].body.for_each(&mut |stmt| {
                if let Stmt::Call { func, .. } = stmt {
                    deepest = deepest.max(depth[*func]);
                }
            });
        }
        let own = component.members.iter().map(|id| frame(*id)).max().unwrap_or(0);
        let times = if component.is_recursive { levels + 1 } else { 1 };
        component.members.iter().for_each(|id| depth[*id] = deepest + own.saturating_mul(times));
    }
    program.funcs.keys().next_back().map_or(0, |last| depth[last])
}

/// Visits the number of levels that each call of a recursive function from outside gives.
fn from_outside(program: &mut LoopProgram, visit: &mut dyn FnMut(&mut i64)) {
    let number = recursive(program);
    for (id, function) in program.funcs.iter_mut() {
        function.body.for_each_mut(&mut |stmt| {
            if let Stmt::Call { func, args, .. } = stmt
                && number[*func] != 0
                && number[*func] != number[id]
                && let Some(Atom::Lit(Literal::I64(levels))) = args.last_mut()
            {
                visit(levels);
            }
        });
    }
}

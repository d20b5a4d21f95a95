//! Cleaning up the loop form.
//!
//! Lowering spells everything out where it is needed: the same row address in every statement, a
//! load, an addition and a store for every `+=`. Ten walks tidy up, without changing one bit of
//! any result or which error a program reports:
//!
//! | walk | what it does |
//! |---|---|
//! | `motion` | one name per expression; loop-invariant operations move out of loops |
//! | `swap` | two loops in each other change places, if one goes down columns and the other along rows |
//! | `unswitch` | a loop with a branch on what is the same in all iterations becomes two loops |
//! | `peel` | the ends of a loop are taken out, if the middle has fewer branches or chosen integers then, or a cell that can be a register; a loop that also sums by lanes becomes two first (`distribute`), and one of sums leaves out ends that add nothing |
//! | `cells` | a cell's content is remembered; a cell that a loop only adds to is a register in it |
//! | `gather` | a loop that adds to neighbours is turned round: each element gathers what it is due |
//! | `join` | a loop of sums and what stands behind it over the same range are one loop; so are loops of one step over time, of which one leaves something for the other only |
//! | `extremes` | a loop for a maximum compares once, as long as there is no new one |
//! | `fresh` | an array is not filled with zeros first, if a loop or a kernel adds to each of its cells once |
//! | `dead` | what nobody reads goes |
//!
//! Example, the inner loop of a gradient with respect to row sums, before and after:
//!
//! ```text
//! for up (j in 0 .. d) {             g0 = g[i]
//!   row = i * d                      row = i * d
//!   r = x[row ..]                    r = x[row ..]
//!   a = r[j]                         (g1) = for up (j in 0 .. d) carry (g2 = g0) {
//!   g0 = g[i]                          a = r[j]
//!   g1 = g0 + a                        g3 = g2 + a
//!   g[i] = g1                          (g3)
//! }                                  }
//!                                    g[i] = g1
//! ```
//!
//! (where a loop may run zero times, what can be out of range then stands under an `if`).
//!
//! What depends on the backend comes after all of that, and is decided by a description of it:
//!
//! | walk | what it does |
//! |---|---|
//! | `swap` | once more, where what the inner loop adds to one cell may be taken for eight rows at a time |
//! | `interchange` | loops in loops that go through memory by columns go by rows |
//! | `unswitch`, `peel`, `gather` | once more, for longer bodies, if many iterations can be taken at once |
//! | `join` | once more, for loops with more to compute, if vectors are long |
//! | `arrange` | then a loop that still adds to neighbours does so in the order of a vector |
//! | `known` | what that has made once more of a loop that was left as it was goes |
//! | `calm` | a loop for a maximum compares eight or sixteen numbers at once |
//! | `cells` | once more, where loops of sums in order are taken several iterations at a time: several cells of an array are registers |
//! | `jam` | four sums in order, each for an iteration of the loop around, are summed up in one loop |
//! | [`shares`] | loops become functions that may be called for shares of their range, on several threads |
//! | [`strip_mine`] | mathematical functions are called for many iterations at once |
//! | `vector` | loops are marked whose iterations are taken several at a time |
//! | `history` | states that all go on the tape are written to their rows of it |
//! | `home` | what every iteration allocates is allocated once |
//! | `signs` | what is negated to be added is subtracted |
//!
//! Requires and ensures: a well-formed function. Cost: linear, up to hashing.

mod arrange;
mod calm;
mod cells;
mod dead;
mod distribute;
mod extremes;
mod fresh;
mod gather;
mod history;
mod home;
mod interchange;
mod jam;
mod join;
mod known;
mod motion;
mod peel;
pub mod shares;
mod signs;
pub mod strip_mine;
mod swap;
mod unswitch;
mod vector;

use crate::form::{Atom, Block, LoopFunction, LoopProgram, Stmt};
use crate::target::{Loops, Target};
use jut_ir::Literal;

/// Statements of a body that is written again without its branches.
const REPEATED: usize = 64;

/// The same where iterations can be taken many at a time.
const REPEATED_FOR_VECTORS: usize = 160;

/// So many.
const LONG: u32 = 8;

/// What a loop that is turned round may cost, in quarters of what it did: iterations that run in order are much slower.
const TWICE: usize = 8;

/// The same where long vectors take a loop that is [arranged](arrange) in its order.
const ONCE: usize = 5;

/// Tidies up a function.
pub fn optimise(func: &mut LoopFunction) {
    // The walks over loops look at all names before they begin.
    let loops = func.body.any(&mut Stmt::is_loop);
    motion::run(func);
    if loops {
        if swap::may_run(func) {
            cells::forward(func);
            if swap::run(func, false) {
                motion::run(func);
            }
        }
        split(func, REPEATED, true);
    }
    cells::run(func);
    if loops {
        gather::run(func, TWICE);
        join::run(func, join::SHORT);
        extremes::run(func);
    }
    // The zeros that are not loaded any more are constants.
    if func.body.any(&mut |stmt| matches!(stmt, Stmt::Fill { .. })) && fresh::run(func) {
        motion::run(func);
    }
    dead::run(func);
}

/// Takes branches out of loops whose bodies have so many statements at most, with more memory perhaps; whether it changed anything.
fn split(func: &mut LoopFunction, largest: usize, adds: bool) -> bool {
    let unswitched = unswitch::run(func, largest);
    let changed = peel::run(func, largest, adds) || unswitched;
    if changed {
        motion::run(func);
    }
    changed
}

/// The same of larger bodies, for long vectors, and what then follows.
fn split_for_vectors(func: &mut LoopFunction) {
    if split(func, REPEATED_FOR_VECTORS, false) {
        known::run(func);
        cells::run(func);
        if gather::run(func, ONCE) {
            motion::run(func);
            known::run(func);
        }
        if fresh::run(func) {
            motion::run(func);
        }
        dead::run(func);
    }
}

/// The program as a backend translates it: the last passes, which depend on what it can take.
///
/// Memory that they add is of constant length, [`ADDED`] bytes a function at most, and comes first: a backend that takes vectors of loops has
/// room for it on the stack, so what [`crate::need`] has said of the program before is enough for what is made of it.
pub fn for_target(program: &LoopProgram, target: &Target) -> LoopProgram {
    let mut program = program.clone();
    if let Some(vectors) = target.vectors
        && vectors.loops != Loops::None
    {
        for func in program.funcs.values_mut() {
            if vectors.nested && swap::may_run(func) && swap::run(func, true) {
                motion::run(func);
                cells::run(func);
            }
            if interchange::run(func, vectors.nested) {
                motion::run(func);
                cells::run(func);
                dead::run(func);
            }
        }
    }
    if target.vectors.is_some_and(|vectors| vectors.together >= LONG) {
        for func in program.funcs.values_mut() {
            split_for_vectors(func);
            if join::run(func, join::LONG) {
                dead::run(func);
            }
            arrange::run(func);
        }
    }
    if let Some(vectors) = &target.vectors {
        program.funcs.values_mut().for_each(|func| calm::run(func, vectors));
    }
    if target.vectors.is_some_and(|vectors| vectors.in_order) {
        program.funcs.values_mut().for_each(cells::carry_sums);
    }
    if let Some(vectors) = target.vectors {
        let together = if vectors.in_order { jam::FOUR } else { jam::TWO };
        for func in program.funcs.values_mut() {
            if jam::run(func, together) {
                motion::run(func);
                cells::forward(func);
                dead::run(func);
            }
        }
    }
    if let Some(least) = target.shares {
        shares::run(&mut program, least);
    }
    if let Some(mined) = strip_mine::run(&program, target) {
        program = mined;
    }
    if let Some(vectors) = &target.vectors {
        for func in program.funcs.values_mut() {
            vector::run(func, vectors);
        }
    }
    let params = |func: &LoopFunction| func.params.iter().map(|p| p.role).collect();
    let roles = program.funcs.iter().map(|(id, func)| (id, params(func))).collect();
    for func in program.funcs.values_mut() {
        history::run(func, &roles);
        home::run(func);
        signs::run(func);
    }
    program
}

/// Bytes of a function at most that [`for_target`] adds for buffers of constant length.
pub const ADDED: u32 = strip_mine::MOST + interchange::MOST;

/// What stands for a statement that a walk has taken out of its list.
fn filler() -> Stmt {
    Stmt::If {
        dst: Vec::new(),
        cond: Atom::Lit(Literal::Bool(false)),
        then: Block::default(),
        other: Block::default(),
    }
}

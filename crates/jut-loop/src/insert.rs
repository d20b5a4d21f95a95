//! New functions before those that call them: functions call only earlier ones, so all places behind them move.

use crate::form::{LoopFuncId, LoopFunction, LoopProgram, Stmt};
use crate::recursion;
use cranelift_entity::{EntityRef, SecondaryMap};

/// A function whose calls have the new places already.
pub(crate) struct Moving<'a> {
    /// Its place before.
    pub id: LoopFuncId,
    /// The place of the first function that is put before it.
    pub base: usize,
    /// Whether it calls itself.
    pub is_recursive: bool,
    /// The function.
    pub func: &'a mut LoopFunction,
}

/// Gives every function to `make`, and puts what that gives before it. Functions that call themselves stay one behind the
/// other: nothing is put before those.
pub(crate) fn before(
    program: &mut LoopProgram,
    make: &mut dyn FnMut(Moving<'_>) -> Vec<LoopFunction>,
) {
    let mut moved: SecondaryMap<LoopFuncId, LoopFuncId> =
        SecondaryMap::with_default(LoopFuncId::new(0));
    let recursive = recursion::recursive(program);
    let old = std::mem::take(&mut program.funcs);
    for (id, mut func) in old {
        // Functions that call each other stand one after the other: so it is known where they will stand.
        let previous = id.index().checked_sub(1).map(LoopFuncId::new);
        if recursive[id] != 0 && previous.is_none_or(|before| recursive[before] != recursive[id]) {
            let members = recursive.iter().filter(|(_, number)| **number == recursive[id]);
            for (k, (member, _)) in members.enumerate() {
                moved[member] = LoopFuncId::new(program.funcs.len() + k);
            }
        }
        func.body.for_each_mut(&mut |stmt| {
            if let Stmt::Call { func, .. } = stmt {
                *func = moved[*func];
            }
        });
        let is_recursive = recursive[id] != 0;
        let base = program.funcs.len();
        let made = make(Moving { id, base, is_recursive, func: &mut func });
        if !is_recursive {
            made.into_iter().for_each(|new| {
                program.funcs.push(new);
            });
        }
        moved[id] = program.funcs.push(func);
    }
}

//! What only some arms read of a carried array.
//!
//! A carry is stored by the loop, in every iteration; an arm stores what it binds, when it is taken. So an
//! array of which some arms of a branch read no more than cells gets a name of its own in all that read it,
//! and is stored there, or its cells are:
//!
//! ```text
//! (u; u') = case c { true -> { .. v[j] .. }  false -> { (v; v') } }
//! (u; u') = case c { true -> { v_1 = v; .. v_1[j] .. }  false -> { (v; v') } }
//! ```
//!
//! If the residual has v in any case, `v_1 = v` is computed again. This goes only for branches that stand in the
//! loop itself: one in a loop inside would store the array once per iteration of that. *Cost*: linear in the
//! text of loops that carry arrays, times the nesting of branches in them.

use crate::unzip::record::value_stmt;
use jut_ir::build::Namer;
use jut_ir::map::Mapper;
use jut_ir::visit::Use;
use jut_ir::*;

/// Names the arrays that only some arms of a branch read.
pub(super) fn name_in_arms(func: &mut Function, namer: &mut Namer) {
    let mut body = std::mem::take(&mut func.body);
    Pass { func, namer }.block(&mut body, &[]);
    func.body = body;
}

/// What a block does with an array, other than to return it, itself or from branches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Nothing,
    /// Numbers out of it, each once.
    Cells,
    Whole,
}

/// Whether a statement gives an array another name, or another part: the residual does not read it for that.
fn is_other_name(rhs: &Rhs) -> bool {
    matches!(rhs, Rhs::Atom(_) | Rhs::Update { .. })
}

/// Another name for what a block reads.
fn rename(block: &mut Block, names: &mut Rename) {
    for stmt in &mut block.stmts {
        if is_other_name(&stmt.rhs) {
            continue;
        }
        stmt.rhs.map_own_uses(names);
        let loops = matches!(stmt.rhs, Rhs::Scan(_));
        for inner in stmt.rhs.blocks_mut() {
            rename(inner, names);
            if loops {
                inner.nl.iter_mut().for_each(|a| names.atom(a));
            }
        }
    }
}

struct Rename {
    from: NVar,
    to: NVar,
}

impl Mapper for Rename {
    fn nvar(&mut self, v: &mut NVar) {
        if *v == self.from {
            *v = self.to;
        }
    }
}

struct Pass<'a> {
    func: &'a mut Function,
    namer: &'a mut Namer,
}

impl Pass<'_> {
    /// A block; `carried` are the arrays that the innermost loop carries.
    fn block(&mut self, block: &mut Block, carried: &[NVar]) {
        for stmt in &mut block.stmts {
            match &mut stmt.rhs {
                Rhs::Scan(scan) => {
                    let array = |v: &NVar| matches!(self.func.nvars[*v].ty, Type::Array(..));
                    let carried: Vec<NVar> =
                        scan.carry.iter().map(|(v, _)| *v).filter(array).collect();
                    self.block(&mut scan.body, &carried);
                }
                Rhs::Case(case) if !stmt.lin.is_empty() && !carried.is_empty() => {
                    for arm in &mut case.arms {
                        self.block(&mut arm.body, carried);
                    }
                    for v in carried {
                        let arms = case.arms.iter();
                        let reads: Vec<Read> = arms.map(|arm| self.reads(&arm.body, *v)).collect();
                        if reads.iter().all(|read| *read == Read::Whole) {
                            continue;
                        }
                        for (arm, read) in case.arms.iter_mut().zip(reads) {
                            if read != Read::Nothing {
                                self.name(&mut arm.body, *v);
                            }
                        }
                    }
                }
                rhs => {
                    for nested in rhs.blocks_mut() {
                        self.block(nested, carried);
                    }
                }
            }
        }
    }

    fn reads(&self, block: &Block, v: NVar) -> Read {
        let mut most = Read::Nothing;
        for stmt in &block.stmts {
            let mut found = false;
            stmt.rhs.for_each_own_use(&mut |name| found |= name == Use::N(v));
            // Another name, such as those in the arms of branches inside.
            found &= !is_other_name(&stmt.rhs);
            let numbers = stmt.nl.iter().all(|y| self.func.nvars[*y].ty.is_scalar());
            let cell = matches!(stmt.rhs, Rhs::Index(..) | Rhs::Size(..)) && numbers;
            let own = match (found, cell) {
                (false, _) => Read::Nothing,
                (true, true) => Read::Cells,
                (true, false) => Read::Whole,
            };
            let loops = matches!(stmt.rhs, Rhs::Scan(_));
            let inside = stmt.rhs.blocks().into_iter().map(|inner| match self.reads(inner, v) {
                Read::Nothing if !(loops && inner.nl.contains(&Atom::Var(v))) => Read::Nothing,
                _ if loops => Read::Whole,
                read => read,
            });
            most = inside.fold(most.max(own), Read::max);
        }
        most
    }

    /// A name of its own for what a block reads of `v`.
    fn name(&mut self, block: &mut Block, v: NVar) {
        let data = self.func.nvars[v].clone();
        let name = self.namer.fresh(&data.name);
        let own = self.func.nvars.push(VarData { name, ..data });
        rename(block, &mut Rename { from: v, to: own });
        let loc = Loc::made(self.func.nvars[v].span, Origin::Unzip);
        block.stmts.insert(0, value_stmt(own, Rhs::Atom(Atom::Var(v)), loc));
    }
}

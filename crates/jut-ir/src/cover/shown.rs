//! New arrays have sizes of which something shows that they are not negative, and fit into memory.
//!
//! Arrays are what the range rule learns sizes from, also those that nobody reads, for which no memory is asked. So the
//! checker wants their sizes shown before: before a loop stacks results, before zeros, before operations on whole
//! arrays whose results may be shorter than the operands, or as long as their product, and before calls of functions of other languages, which are left out
//! where nobody needs what they give (J303). What is linear shows nothing, and needs no proof.
//!
//! ```text
//! ys = scan par (i < n) { .. }         ▶        check n >= 0; check n * 32768; ys = scan par (i < n) { .. }
//! zs = acc r: [n]f64 { .. }            ▶        check n >= 0; check n * 32768; zs = acc r: [n]f64 { .. }
//! ```
//!
//! Usually another array has this length. Where there is none, or a pass took it away because nobody reads it, this puts checks.
//! Without optimisations the array itself would fail there.
//!
//! *Requires*: a function that the checker accepts but for such sizes. *Ensures*: the checker accepts it; same results, same
//! errors. *Cost*: one walk, and a comparison for each check.

use super::FITS;
use super::accesses::each_statement;
use crate::build::Namer;
use crate::entity::FuncId;
use crate::ir::*;
use crate::prim;
use crate::size::Size;
use crate::sizes;

/// Puts checks before new arrays whose sizes nothing shows not to be negative, or to fit. Sizes that are computed for that get names of
/// `namer`, or, if there is none, of one that knows the names of the function.
///
/// `foreign` says which functions are of other languages.
pub fn show_sizes(
    func: &mut Function,
    namer: Option<&mut Namer>,
    foreign: &dyn Fn(FuncId) -> bool,
) {
    show(func, namer, foreign, false);
}

/// The same for a text that says itself which sizes are not negative: checks that they fit into memory.
pub fn show_fitting(func: &mut Function, namer: &mut Namer, foreign: &dyn Fn(FuncId) -> bool) {
    show(func, Some(namer), foreign, true);
}

fn show(
    func: &mut Function,
    mut namer: Option<&mut Namer>,
    foreign: &dyn Fn(FuncId) -> bool,
    only_fitting: bool,
) {
    if !makes_arrays(func, foreign, &func.body) {
        return;
    }
    let mut own = None;
    each_statement(func, &mut |func, facts, stmt, before| {
        // What the text says of the tape is about the array.
        let (loc, mut unknown) = (stmt.loc.by(stmt.loc.origin), Vec::<Size>::new());
        // A product of sizes may have wrapped below 0, which no text says anything of.
        let flattens = matches!(stmt.rhs, Rhs::Structured(op, ..) if op.is_flattening());
        let only_fitting = only_fitting && !flattens;
        new_sizes(func, stmt, foreign, &mut |size| {
            let shown =
                facts.is_fitting(size) && (only_fitting || facts.is_plainly_non_negative(size));
            if !shown && !unknown.contains(size) {
                unknown.push(size.clone());
            }
        });
        for size in unknown {
            let namer = match &mut namer {
                Some(namer) => &mut **namer,
                None => own.get_or_insert_with(|| Namer::of(func)),
            };
            let n = sizes::operand(func, namer, &size, loc, before);
            let mut checks = Vec::new();
            if !only_fitting && !facts.is_plainly_non_negative(&size) {
                checks.push(Check::NonNegative(n));
            }
            if !facts.is_fitting(&size) {
                checks.push(Check::Exact(prim::IMUL, n, Atom::Lit(Literal::I64(FITS))));
            }
            before.extend(checks.into_iter().map(|check| Stmt {
                nl: Vec::new(),
                lin: Vec::new(),
                rhs: Rhs::Check(check),
                annotated: false,
                loc,
            }));
        }
    });
}

/// Calls `visit` with each size of what a statement makes anew.
pub fn new_sizes(
    func: &Function,
    stmt: &Stmt,
    foreign: &dyn Fn(FuncId) -> bool,
    visit: &mut dyn FnMut(&Size),
) {
    match &stmt.rhs {
        Rhs::Call(call) if foreign(call.func) => {
            for v in &stmt.nl {
                func.nvars[*v].ty.for_each_size(&mut |size| {
                    // What the function gives beside the array is looked at behind the call.
                    if !size.names().iter().any(|name| stmt.nl.contains(name)) {
                        visit(size);
                    }
                });
            }
        }
        Rhs::Region(region) if region.mode == Mode::Acc && region.start.is_none() => {
            func.caps[region.cap].ty.for_each_size(visit);
        }
        Rhs::Scan(scan) if scan.body.nl.len() > scan.carry.len() => {
            let stacks = scan.body.nl.len() - scan.carry.len();
            // How often a loop runs that may end early is not negative.
            if scan.dir != Dir::While {
                visit(&func.size_of(scan.bound));
            }
            for v in stmt.nl.iter().rev().take(stacks) {
                func.nvars[*v].ty.element().into_iter().for_each(|ty| ty.for_each_size(visit));
            }
        }
        Rhs::Structured(op, _, sizes) => {
            sizes.iter().for_each(&mut *visit);
            let mut dims = Vec::new();
            for v in &stmt.nl {
                func.nvars[*v].ty.for_each_size(&mut |size| dims.push(size.clone()));
            }
            let open = op.open_results().filter_map(|k| dims.get(k));
            open.chain(dims.first().filter(|_| op.is_flattening())).for_each(visit);
        }
        _ => {}
    }
}

fn makes_arrays(func: &Function, foreign: &dyn Fn(FuncId) -> bool, block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        let mut makes = false;
        new_sizes(func, stmt, foreign, &mut |_| makes = true);
        makes || stmt.rhs.blocks().into_iter().any(|inner| makes_arrays(func, foreign, inner))
    })
}

//! Programs up to names: a canonical choice of all names that a definition or data type binds.
//!
//! Two definitions are equal up to names iff their canonical forms print the same. Variables are
//! called `n0`, `n1`, .. in the order of their binders, linear ones `l0'`, `l1'`, .. whatever their
//! primes, capabilities `c0`, `c1`, ..; fields of a constructor `f0`, `f1`, ..; results that
//! a type mentions `r0`, `r1`, .. (other results lose their names). Names of definitions, data types and constructors stay: other declarations mention
//! them. Doc comments go.
//!
//! ```text
//! core def f.lin(tape: f.tape; u': f64) -> (; f64) = {      core def f.lin(n0: f.tape; l0': f64) -> (; f64) = {
//!   f.tape(c) = tape                                          f.tape(n1) = n0
//!   v' = c * u'                                               l1' = n1 * l0'
//!   (; v')                                                    (; l1')
//! }                                                         }
//! ```
//!
//! *Requires*: a well-typed program. *Ensures*: the result is well-typed and means the same.
//! *Cost*: linear.

use crate::entity::{Cap, FuncId, LVar, NVar, SecondaryMap};
use crate::ir::*;
use crate::print::{print_data, print_function};
use crate::visit::Use;
use std::collections::HashSet;

/// The program with canonical names.
pub fn canonical(program: &Program) -> Program {
    let mut program = program.clone();
    for data in program.datas.values_mut() {
        data.doc.clear();
        for constructor in &mut data.constructors {
            for (k, field) in constructor.fields.iter_mut().enumerate() {
                field.name = ecow::eco_format!("f{k}");
            }
        }
    }
    for func in program.funcs.values_mut() {
        rename(func);
    }
    program
}

/// The text of a definition with canonical names, for comparisons.
pub fn canonical_text(program: &Program, func: FuncId) -> String {
    print_function(&canonical(program), func)
}

/// The text of a data type with canonical field names, for comparisons.
pub fn canonical_data_text(program: &Program, data: crate::DataId) -> String {
    print_data(&canonical(program), data)
}

fn rename(func: &mut Function) {
    let mut names = Names::default();
    func.params.iter().for_each(|v| names.nvar(*v));
    func.lin_params.iter().for_each(|x| names.lvar(*x));
    func.cap_params.iter().for_each(|c| names.cap(*c));
    names.block(&func.body);
    for (k, v) in names.nvars.iter().enumerate() {
        func.nvars[*v].name = ecow::eco_format!("n{k}");
    }
    for (k, x) in names.lvars.iter().enumerate() {
        func.lvars[*x].name = ecow::eco_format!("l{k}'");
    }
    for (k, c) in names.caps.iter().enumerate() {
        func.caps[*c].name = ecow::eco_format!("c{k}");
    }
    let types = func.results.iter().map(|r| &r.ty).chain(func.lin_results.iter().map(|r| &r.ty));
    let mentioned: HashSet<NVar> = types.flat_map(|ty| ty.size_names()).collect();
    for (k, result) in func.results.iter_mut().enumerate() {
        result.name = result.name.filter(|v| mentioned.contains(v));
        if let Some(v) = result.name {
            func.nvars[v].name = ecow::eco_format!("r{k}");
        }
    }
    for result in &mut func.lin_results {
        result.name = None;
    }
    func.doc.clear();
}

/// Variables in the order of their binders.
#[derive(Default)]
struct Names {
    nvars: Vec<NVar>,
    lvars: Vec<LVar>,
    caps: Vec<Cap>,
    seen_n: SecondaryMap<NVar, bool>,
    seen_l: SecondaryMap<LVar, bool>,
    seen_c: SecondaryMap<Cap, bool>,
}

impl Names {
    fn nvar(&mut self, v: NVar) {
        if !std::mem::replace(&mut self.seen_n[v], true) {
            self.nvars.push(v);
        }
    }

    fn lvar(&mut self, x: LVar) {
        if !std::mem::replace(&mut self.seen_l[x], true) {
            self.lvars.push(x);
        }
    }

    fn cap(&mut self, c: Cap) {
        if !std::mem::replace(&mut self.seen_c[c], true) {
            self.caps.push(c);
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            stmt.rhs.for_each_inner_binder(&mut |binder| match binder {
                Use::N(v) => self.nvar(v),
                Use::L(x) => self.lvar(x),
                Use::C(c) => self.cap(c),
            });
            for inner in stmt.rhs.blocks() {
                self.block(inner);
            }
            stmt.nl.iter().for_each(|v| self.nvar(*v));
            stmt.lin.iter().for_each(|x| self.lvar(*x));
        }
    }
}

//! The part of a program that some definitions need, as text: the definitions, those they call,
//! and the data types of everything in them. So what is printed reads back by itself.

use jut_ir::visit::Use;
use jut_ir::{ArmPattern, Block, DataId, Decl, FuncId, Function, Program, Rhs, Type, print};
use std::collections::HashSet;

/// Prints what `roots` need, in the order of the program.
pub fn print(program: &Program, roots: &[FuncId]) -> String {
    let mut needs = Needs::new(program);
    let mut work = roots.to_vec();
    while let Some(id) = work.pop() {
        if needs.funcs.insert(id) {
            if let Some(declared) = program.declared(id) {
                work.extend([declared.linear, declared.transpose]);
                work.extend(declared.derivative);
            }
            needs.function(&program.funcs[id], &mut work);
        }
    }
    let mut out = String::new();
    for decl in &program.order {
        let text = match decl {
            Decl::Data(id) if needs.datas.contains(id) => print::print_data(program, *id),
            // One declaration for both of its functions.
            Decl::Func(id) if program.declared(*id).is_some_and(|d| d.value == *id) => continue,
            Decl::Func(id) if needs.funcs.contains(id) => print::print_function(program, *id),
            _ => continue,
        };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&text);
    }
    out
}

struct Needs<'p> {
    program: &'p Program,
    funcs: HashSet<FuncId>,
    datas: HashSet<DataId>,
}

impl<'p> Needs<'p> {
    fn new(program: &'p Program) -> Needs<'p> {
        Needs { program, funcs: HashSet::new(), datas: HashSet::new() }
    }

    fn function(&mut self, f: &Function, calls: &mut Vec<FuncId>) {
        f.params.iter().for_each(|v| self.ty(&f.nvars[*v].ty));
        f.lin_params.iter().for_each(|v| self.ty(&f.lvars[*v].ty));
        f.cap_params.iter().for_each(|c| self.ty(&f.caps[*c].ty));
        f.results.iter().for_each(|r| self.ty(&r.ty));
        f.lin_results.iter().for_each(|r| self.ty(&r.ty));
        f.body.for_each_binder(&mut |used| match used {
            Use::N(v) => self.ty(&f.nvars[v].ty),
            Use::L(v) => self.ty(&f.lvars[v].ty),
            Use::C(c) => self.ty(&f.caps[c].ty),
        });
        self.block(&f.body, calls);
    }

    /// What is mentioned in a block without being the type of a name.
    fn block(&mut self, block: &Block, calls: &mut Vec<FuncId>) {
        for stmt in &block.stmts {
            match &stmt.rhs {
                Rhs::Call(call) => calls.push(call.func),
                Rhs::Con(con, _) | Rhs::Open { con, .. } => self.data(con.data),
                Rhs::Case(case) => {
                    for arm in &case.arms {
                        if let ArmPattern::Con(con) = arm.pattern {
                            self.data(con.data);
                        }
                    }
                }
                _ => {}
            }
            stmt.rhs.blocks().into_iter().for_each(|inner| self.block(inner, calls));
        }
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {}
            Type::Tuple(items) => items.iter().for_each(|t| self.ty(t)),
            Type::Array(_, element) => self.ty(element),
            Type::Data(id) => self.data(*id),
        }
    }

    fn data(&mut self, id: DataId) {
        if self.datas.insert(id) {
            let program = self.program;
            let fields = program.datas[id].constructors.iter().flat_map(|c| &c.fields);
            let record = program.datas[id].record.iter().flat_map(|record| &record.fields);
            fields.chain(record).for_each(|f| self.ty(&f.ty));
        }
    }
}

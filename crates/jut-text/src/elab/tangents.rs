//! Tangent types that a text names without declaring them: `Tree.tan` beside `data Tree = ..`, with the constructors
//! `Leaf.tan`, `Node.tan` and `Tree.tan.none`.
//!
//! They are what J would declare ([`jut_ir::tangent`]), and declared before the first definition behind the data types of
//! which they are made. A type that has a tangent of another kind has no such name.

use super::{File, Global, Globals, derived};
use jut_ir::entity::EntityRef;
use jut_ir::{ConRef, DataId, Program};

/// Data types of a file whose tangent types are to be declared.
pub(super) struct Named {
    wanted: Vec<String>,
}

impl Named {
    /// Those whose tangent types the text mentions.
    pub fn of(file: &File) -> Named {
        let datas = file.ast.decls.iter().filter_map(|decl| match decl {
            crate::ast::Decl::Data(d) => Some(d.name.text),
            _ => None,
        });
        let names: Vec<&str> = datas.collect();
        let tangent = |name: &str| format!("{name}.tan");
        let mentioned = names.iter().filter(|name| {
            let tangent = tangent(name);
            file.text.contains(&tangent) && !names.contains(&tangent.as_str())
        });
        Named { wanted: mentioned.map(ToString::to_string).collect() }
    }

    /// Declares those of which all is known by now.
    pub fn declare(
        &mut self,
        program: &mut Program,
        globals: &mut Globals,
        derivatives: &mut derived::Derivatives,
    ) {
        if self.wanted.is_empty() {
            return;
        }
        let before = program.datas.len();
        self.wanted.retain(|name| {
            let Some(data) = globals.datas.get(&globals.full(name)).copied() else { return false };
            if !is_known(program, data) {
                return true;
            }
            if program.needs_tangent(data) {
                derivatives.declare_tangent(program, data);
            }
            false
        });
        for id in (before..program.datas.len()).map(DataId::new) {
            let data = &program.datas[id];
            globals.datas.insert(data.name.clone(), id);
            globals.fields.insert(id, Default::default());
            globals.declared.insert(data.name.clone(), data.span);
            for (index, con) in data.constructors.iter().enumerate() {
                let con_ref = ConRef { data: id, index: index as u32 };
                globals.names.insert(con.name.clone(), Global::Con(con_ref));
                globals.declared.insert(con.name.clone(), data.span);
            }
        }
    }
}

/// Whether a data type and all of which it is made are declared: those that are not have no name yet.
fn is_known(program: &Program, data: DataId) -> bool {
    let (mut seen, mut work) = (vec![data], vec![data]);
    while let Some(data) = work.pop() {
        if program.datas[data].name.is_empty() {
            return false;
        }
        for field in program.datas[data].constructors.iter().flat_map(|con| &con.fields) {
            field.ty.for_each_data(&mut |other| {
                if !seen.contains(&other) {
                    seen.push(other);
                    work.push(other);
                }
            });
        }
    }
    true
}

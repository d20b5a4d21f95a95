//! Values that are not made of a fixed number of scalars and flat arrays, such as trees, at the border between a Rust
//! program and an engine: the caller sees the values, machine code sees a list of integers and a list of floats, and the
//! functions that go between them are part of the program.
//!
//! ```text
//! data Tree.flat = (m: i64, ints: [m]i64, k: i64, floats: [k]f64)
//! def f.grad(t: flat) -> flat = { t = Tree.read(t); g = f.grad.inside(t); Tree.tan.write(g) }
//! ```
//!
//! So no engine knows of such values, all of them agree on what they mean, and every access to the lists is one that the
//! program tests. In the lists stand, in order, for a scalar itself (a truth value as 0 or 1), for a sum the number of the
//! constructor before the fields, for an array its sizes before the elements.
//!
//! Taken over so are recursive data types, declared tangents ([`jut_ir::tangent`]), and arrays of records that are no
//! flat arrays.

mod code;
mod read;
mod unpack;
mod values;
mod write;

use crate::layout::{is_flat, reached};
use code::Code;
use jut_ir::entity::EntityRef;
use jut_ir::*;
use std::collections::HashMap;

pub(crate) use unpack::{fits, unpack};
pub(crate) use values::{LEVELS, ZERO, has_room, owned, pack, too_deep};

/// What of a function's parameters and results is handed over in lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Border {
    /// For each parameter the type that its caller sees, if it is another one.
    pub params: Vec<Option<Type>>,
    /// The same of the results.
    pub results: Vec<Option<Type>>,
}

/// The functions and types that hand values over.
struct Lists {
    /// A list of integers and one of floats in a record.
    flat: DataId,
    /// Linked lists of integers and of floats.
    links: [DataId; 2],
    readers: HashMap<DataId, FuncId>,
    writers: HashMap<DataId, FuncId>,
}

/// A function around `root` that callers can call, if they cannot call it itself.
pub(crate) fn wrap(program: &mut Program, root: FuncId) -> Option<(FuncId, Border)> {
    let inner = program.funcs[root].signature();
    let params: Vec<&Type> = inner.params.iter().map(|p| &inner.nvars[*p].ty).collect();
    let results: Vec<&Type> = inner.results.iter().map(|r| &r.ty).collect();
    let (mut read, mut written) = (Vec::new(), Vec::new());
    let packed = |tys: &[&Type], found: &mut Vec<DataId>| -> Vec<bool> {
        let one = |ty: &&Type| {
            let packed = !is_flat(program, ty);
            packed.then(|| reached(program, ty, found));
            packed
        };
        tys.iter().map(one).collect()
    };
    let (params, results) = (packed(&params, &mut read), packed(&results, &mut written));
    if !params.contains(&true) && !results.contains(&true) {
        return None;
    }
    let lists = declare(program, &inner.name, &read, &written);
    let (func, border) = outside(program, &lists, (root, &inner), &params, &results);
    program.funcs[root].name = format!("{}.inside", inner.name);
    Some((program.add_func(func), border))
}

/// Declares what hands values of these types over.
fn declare(program: &mut Program, name: &str, read: &[DataId], written: &[DataId]) -> Lists {
    let record = |name: String, constructors: Vec<Constructor>| Data {
        name,
        constructors,
        ..Data::default()
    };
    let field = |name: &str, ty: Type| Field { name: name.into(), ty };
    let of = |k: usize, ty: Type| Type::array(Size::var(NVar::new(k)), ty);
    let flat = format!("{name}.flat");
    let fields = vec![
        field("m", Type::I64),
        field("ints", of(0, Type::I64)),
        field("k", Type::I64),
        field("floats", of(2, Type::F64)),
    ];
    let flat = program.add_data(record(flat.clone(), vec![Constructor { name: flat, fields }]));
    let links = [("ints", Type::I64), ("floats", Type::F64)].map(|(list, ty)| {
        let name = format!("{name}.{list}");
        let id = program.add_data(Data::default());
        let some = vec![field("x", ty), field("rest", Type::Data(id))];
        let none = Constructor { name: format!("{name}.none"), fields: Vec::new() };
        let some = Constructor { name: format!("{name}.some"), fields: some };
        program.datas[id] = record(name, vec![none, some]);
        id
    });
    let mut reserved = |datas: &[DataId]| -> HashMap<DataId, FuncId> {
        datas.iter().map(|data| (*data, program.add_func(Function::default()))).collect()
    };
    let (readers, writers) = (reserved(read), reserved(written));
    let lists = Lists { flat, links, readers, writers };
    let named = |data: DataId, what: &str| format!("{name}.{}.{what}", program.datas[data].name);
    let code = |data: DataId, what: &str| {
        Code::new(program, &lists, named(data, what), program.datas[data].span)
    };
    let readers = read.iter().map(|d| (lists.readers[d], read::function(code(*d, "read"), *d)));
    let writers =
        written.iter().map(|d| (lists.writers[d], write::function(code(*d, "write"), *d)));
    let made: Vec<(FuncId, Function)> = readers.chain(writers).collect();
    for (id, func) in made {
        program.funcs[id] = func;
    }
    lists
}

/// The function that callers call.
fn outside(
    program: &Program,
    lists: &Lists,
    (root, inner): (FuncId, &Function),
    params: &[bool],
    results: &[bool],
) -> (Function, Border) {
    let mut c = Code::new(program, lists, inner.name.clone(), inner.span);
    (c.b.func.doc, c.b.func.size_params) = (inner.doc.clone(), inner.size_params);
    let mut border = Border::default();
    let mut names: HashMap<NVar, Size> = HashMap::new();
    let here = |names: &HashMap<NVar, Size>, ty: &Type| ty.subst(&mut |v| names.get(&v).cloned());
    let mut given = Vec::new();
    for (p, packed) in inner.params.iter().zip(params) {
        let VarData { name, ty, span, .. } = &inner.nvars[*p];
        let ty = here(&names, ty);
        let outer = if *packed { Type::Data(lists.flat) } else { ty.clone() };
        let v = c.b.nvar(name, outer, *span);
        c.b.func.params.push(v);
        names.insert(*p, Size::var(v));
        given.push((v, packed.then(|| ty.clone())));
        border.params.push(packed.then_some(ty));
    }
    let args = given.into_iter().map(|(v, packed)| match packed {
        None => Atom::Var(v),
        Some(ty) => {
            let m = c.var("m", Type::I64);
            let ints = c.var("ints", Type::array(Size::var(m), Type::I64));
            let k = c.var("k", Type::I64);
            let floats = c.var("floats", Type::array(Size::var(k), Type::F64));
            let con = ConRef { data: lists.flat, index: 0 };
            let open = Rhs::Open { con, value: v, eqs: vec![None; 4], proved: false };
            c.push(vec![m, ints, k, floats], open);
            let at = [code::int(0), code::int(0)];
            let (m, k) = (Atom::Var(m), Atom::Var(k));
            let mut stream = read::Stream { ints: (m, ints), floats: (k, floats), at };
            let value = c.read(&ty, &mut stream);
            c.at_end(&stream);
            value
        }
    });
    let args: Vec<Atom> = args.collect();
    // Results of the call have names of their own; those of the function stand in its types.
    let (mut bound, mut declared) = (Vec::new(), Vec::new());
    let mut inside = names.clone();
    for (result, packed) in inner.results.iter().zip(results) {
        let v = c.var("y", here(&inside, &result.ty));
        let ty = here(&names, &result.ty);
        let outer = if *packed { Type::Data(lists.flat) } else { ty.clone() };
        let name = result.name.map(|name| {
            let VarData { name: text, ty, span, .. } = &inner.nvars[name];
            let outer = c.b.nvar(text, ty.clone(), *span);
            names.insert(name, Size::var(outer));
            inside.insert(name, Size::var(v));
            outer
        });
        border.results.push(packed.then_some(ty));
        declared.push(ResultDecl { name, ty: outer });
        bound.push(v);
    }
    let call = Call { func: root, args, lin_args: Vec::new(), places: Vec::new() };
    c.push(bound.clone(), Rhs::Call(Box::new(call)));
    let mut nl = Vec::new();
    for (v, packed) in bound.into_iter().zip(results) {
        nl.push(match packed {
            false => Atom::Var(v),
            true => {
                let mut sink = c.sink();
                c.write(Atom::Var(v), &mut sink);
                let (ints, floats) = (c.array(0, &sink), c.array(1, &sink));
                let fields = vec![sink[1], ints, sink[3], floats];
                let con = ConRef { data: lists.flat, index: 0 };
                c.bind("flat", Type::Data(lists.flat), Rhs::Con(con, fields))
            }
        });
    }
    let mut func = c.finish(&[], nl);
    func.results = declared;
    (func, border)
}

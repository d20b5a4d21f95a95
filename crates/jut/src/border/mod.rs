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
mod kept;
mod read;
mod unpack;
mod values;
mod write;

use crate::layout::{is_flat, reached};
use code::Code;
use jut_ir::entity::EntityRef;
use jut_ir::*;
use kept::Hand;
use std::collections::HashMap;

pub(crate) use kept::wrap_kept;
pub(crate) use unpack::{fits, unpack};
pub(crate) use values::{LEVELS, ZERO, has_room, owned, pack, too_deep};

/// What of a function's parameters and results is handed over in lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Border {
    /// For each parameter the type that its caller sees, if it is another one.
    pub params: Vec<Option<Type>>,
    /// The same of the results.
    pub results: Vec<Option<Type>>,
    /// What sizes are called in these types: the function's parameters, then the names of its results.
    names: Vec<NVar>,
}

impl Border {
    /// With the names that the same function has now, when it was optimised.
    pub fn renamed(mut self, func: &Function) -> Border {
        let now = func.params.iter().copied().chain(func.results.iter().filter_map(|r| r.name));
        let now: HashMap<NVar, NVar> = self.names.iter().copied().zip(now).collect();
        for ty in self.params.iter_mut().chain(&mut self.results).flatten() {
            *ty = ty.subst(&mut |v| now.get(&v).copied().map(Size::var));
        }
        self.names = self.names.iter().filter_map(|v| now.get(v).copied()).collect();
        self
    }
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

/// A function that callers may not be able to call as it is, and what of it is handed over in lists.
struct Around {
    root: FuncId,
    /// The function without its body.
    inner: Function,
    /// For each parameter whether it is handed over in lists.
    params: Vec<bool>,
    /// The same of the results.
    results: Vec<bool>,
}

impl Around {
    /// Callers see neither the first `saved` parameters nor, if there is a `tape`, the last result.
    fn new(program: &Program, root: FuncId, saved: usize, tape: bool) -> Around {
        let inner = program.funcs[root].signature();
        let seen = inner.results.len().saturating_sub(tape.into());
        let packed = |is_seen: bool, ty: &Type| is_seen && !is_flat(program, ty);
        let params = inner.params.iter().enumerate();
        let params = params.map(|(k, p)| packed(k >= saved, &inner.nvars[*p].ty)).collect();
        let results = inner.results.iter().enumerate();
        let results = results.map(|(k, r)| packed(k < seen, &r.ty)).collect();
        Around { root, inner, params, results }
    }

    /// Whether anything is handed over in lists.
    fn is_needed(&self) -> bool {
        self.params.contains(&true) || self.results.contains(&true)
    }

    /// The data types of which what callers give and get in lists is made.
    fn reached(&self, program: &Program, read: &mut Vec<DataId>, written: &mut Vec<DataId>) {
        let Around { inner, params, results, .. } = self;
        for (p, _) in inner.params.iter().zip(params).filter(|(_, packed)| **packed) {
            reached(program, &inner.nvars[*p].ty, read);
        }
        for (result, _) in inner.results.iter().zip(results).filter(|(_, packed)| **packed) {
            reached(program, &result.ty, written);
        }
    }
}

/// A function around `root` that callers can call, if they cannot call it itself.
pub(crate) fn wrap(program: &mut Program, root: FuncId) -> Option<(FuncId, Border)> {
    let around = Around::new(program, root, 0, false);
    if !around.is_needed() {
        return None;
    }
    let (mut read, mut written) = (Vec::new(), Vec::new());
    around.reached(program, &mut read, &mut written);
    let lists = declare(program, &around.inner.name, &read, &written);
    Some(put_around(program, &lists, &around, Hand::Nothing))
}

/// Adds the function that callers call.
fn put_around(
    program: &mut Program,
    lists: &Lists,
    around: &Around,
    hand: Hand<'_>,
) -> (FuncId, Border) {
    let (func, border) = outside(program, lists, around, hand);
    program.funcs[around.root].name = format!("{}.inside", around.inner.name);
    (program.add_func(func), border)
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

/// An argument of the function inside.
enum Given {
    /// A parameter.
    Plain(NVar),
    /// One whose lists are these.
    InLists(NVar, Type),
    /// A field of what is kept.
    Kept(usize),
}

/// The function that callers call.
fn outside(
    program: &Program,
    lists: &Lists,
    around: &Around,
    hand: Hand<'_>,
) -> (Function, Border) {
    let Around { root, inner, params, results } = around;
    let mut c = Code::new(program, lists, inner.name.clone(), inner.span);
    (c.b.func.doc, c.b.func.size_params) = (inner.doc.clone(), inner.size_params);
    let mut border = Border::default();
    let mut names: HashMap<NVar, Size> = HashMap::new();
    let here = |names: &HashMap<NVar, Size>, ty: &Type| ty.subst(&mut |v| names.get(&v).cloned());
    let mut given = Vec::new();
    let mut kept = None;
    let saved = hand.saved();
    for (k, (p, packed)) in inner.params.iter().zip(params).enumerate() {
        if let Some(field) = hand.field(k) {
            given.push(Given::Kept(field));
            continue;
        }
        if k == saved {
            kept = hand.parameter(&mut c, &mut border);
        }
        let VarData { name, ty, span, .. } = &inner.nvars[*p];
        let ty = here(&names, ty);
        let outer = if *packed { Type::Data(lists.flat) } else { ty.clone() };
        let v = c.b.nvar(name, outer, *span);
        c.b.func.params.push(v);
        names.insert(*p, Size::var(v));
        border.params.push(packed.then(|| ty.clone()));
        given.push(if *packed { Given::InLists(v, ty) } else { Given::Plain(v) });
    }
    if inner.params.len() <= saved {
        kept = hand.parameter(&mut c, &mut border);
    }
    // Before any other name is made: callers see these in types.
    let named = inner.results.iter().map(|result| {
        let VarData { name, ty, span, .. } = &inner.nvars[result.name?];
        Some(c.b.nvar(name, ty.clone(), *span))
    });
    let named: Vec<Option<NVar>> = named.collect();
    let fields = match kept {
        Some(kept) => hand.open(&mut c, kept, &given),
        None => Vec::new(),
    };
    let args = given.into_iter().map(|given| match given {
        Given::Plain(v) => Atom::Var(v),
        Given::Kept(k) => Atom::Var(fields[k]),
        Given::InLists(v, ty) => {
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
    for ((result, packed), own) in inner.results.iter().zip(results).zip(named) {
        let v = c.var("y", here(&inside, &result.ty));
        let ty = here(&names, &result.ty);
        let outer = if *packed { Type::Data(lists.flat) } else { ty.clone() };
        if let (Some(name), Some(own)) = (result.name, own) {
            names.insert(name, Size::var(own));
            inside.insert(name, Size::var(v));
        }
        border.results.push(packed.then_some(ty));
        declared.push(ResultDecl { name: own, ty: outer });
        bound.push(v);
    }
    let call = Call { func: *root, args: args.clone(), lin_args: Vec::new(), places: Vec::new() };
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
    hand.give(&mut c, &args, (&mut nl, &mut declared));
    let mut func = c.finish(&[], nl);
    func.results = declared;
    let named = func.results.iter().filter_map(|r| r.name);
    border.names = func.params.iter().copied().chain(named).collect();
    (func, border)
}

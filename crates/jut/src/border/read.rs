//! Reading: values out of a list of integers and one of floats.
//!
//! ```text
//! core def Tree.read(m: i64, ints: [m]i64, k: i64, floats: [k]f64, i: i64, j: i64) -> (Tree, i64, i64) = {
//!   check i < m
//!   tag = ints[i]
//!   ..
//! }
//! ```
//!
//! Floats of 32 bits stand in the list as the same numbers in 64. Every access is tested, so no list makes them read anything else; and what is no value is an error: a number of no
//! constructor, an array of other sizes than its type says, what is left over.

use super::code::{Code, field_type, int};
use jut_ir::*;

/// The lists, and where the next integer and the next float are.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    pub ints: (Atom, NVar),
    pub floats: (Atom, NVar),
    pub at: [Atom; 2],
}

/// The function that reads values of a data type.
pub(super) fn function(mut c: Code<'_>, id: DataId) -> Function {
    let m = c.param("m", Type::I64);
    let ints = c.param("ints", Type::array(Size::var(m), Type::I64));
    let k = c.param("k", Type::I64);
    let floats = c.param("floats", Type::array(Size::var(k), Type::F64));
    let at = ["i", "j"].map(|name| Atom::Var(c.param(name, Type::I64)));
    let mut stream = Stream { ints: (Atom::Var(m), ints), floats: (Atom::Var(k), floats), at };
    let types = [Type::Data(id), Type::I64, Type::I64];
    let count = c.program.datas[id].constructors.len();
    let nl = if count == 1 {
        constructed(&mut c, ConRef { data: id, index: 0 }, stream)
    } else {
        let tag = c.int(&mut stream);
        c.check(Check::Below(tag, int(count as i64)));
        choice(&mut c, id, tag, 0, &types, stream)
    };
    c.finish(&types, nl)
}

/// The constructor with the number `tag`, which is not less than `index`.
fn choice(
    c: &mut Code<'_>,
    data: DataId,
    tag: Atom,
    index: u32,
    types: &[Type],
    stream: Stream,
) -> Vec<Atom> {
    let con = ConRef { data, index };
    if index as usize + 1 == c.program.datas[data].constructors.len() {
        return constructed(c, con, stream);
    }
    let condition = Rhs::Prim(prim::IEQ, vec![tag, int(index.into())]);
    let condition = c.bind("b", Type::Bool, condition);
    let yes = c.block(|c| constructed(c, con, stream));
    let no = c.block(|c| choice(c, data, tag, index + 1, types, stream));
    c.branch(condition, [yes, no], types)
}

fn constructed(c: &mut Code<'_>, con: ConRef, mut stream: Stream) -> Vec<Atom> {
    let mut fields = Vec::new();
    for field in c.program.constructor(con).fields.clone() {
        let ty = field_type(&c.b.func, &fields, &field.ty);
        fields.push(c.read(&ty, &mut stream));
    }
    let value = c.bind("value", Type::Data(con.data), Rhs::Con(con, fields));
    vec![value, stream.at[0], stream.at[1]]
}

impl Code<'_> {
    /// The next value of a type.
    pub fn read(&mut self, ty: &Type, stream: &mut Stream) -> Atom {
        match ty {
            Type::Float(width) => {
                let (count, floats) = stream.floats;
                let x = self.next(count, floats, Type::F64, &mut stream.at[1]);
                match width {
                    Width::Double => x,
                    Width::Single => self.bind("x", Type::F32, Rhs::Prim(prim::SINGLE, vec![x])),
                }
            }
            Type::I64 => self.int(stream),
            Type::I32 => {
                let n = self.int(stream);
                self.bind("k", Type::I32, Rhs::Prim(prim::NARROW, vec![n]))
            }
            Type::Bool => {
                let n = self.int(stream);
                self.bind("b", Type::Bool, Rhs::Prim(prim::INE, vec![n, int(0)]))
            }
            Type::Tuple(items) => {
                let parts = items.iter().map(|ty| self.read(ty, stream)).collect();
                self.bind("t", ty.clone(), Rhs::Tuple(parts))
            }
            Type::Data(id) => {
                let (m, ints) = stream.ints;
                let (k, floats) = stream.floats;
                let [i, j] = stream.at;
                let args = vec![m, Atom::Var(ints), k, Atom::Var(floats), i, j];
                let types = [ty.clone(), Type::I64, Type::I64];
                let made = self.call(self.lists.readers[id], args, &types);
                stream.at = [made[1], made[2]];
                made[0]
            }
            Type::Array(..) => {
                // Its sizes stand before the elements; they are those of the type.
                let mut dims = Vec::new();
                ty.for_each_size(&mut |size| dims.push(size.clone()));
                let mut bounds = Vec::new();
                let mut cells = int(1);
                for size in &dims {
                    let bound = self.bound(size);
                    let given = self.int(stream);
                    self.same(given, bound);
                    if !bounds.is_empty() {
                        self.check(Check::Exact(prim::IMUL, cells, bound));
                    }
                    cells = match bounds.is_empty() {
                        true => bound,
                        false => self.prim("cells", prim::IMUL, [cells, bound]),
                    };
                    bounds.push(bound);
                }
                self.read_elements(ty, &bounds, stream)
            }
        }
    }

    fn read_elements(&mut self, ty: &Type, bounds: &[Atom], stream: &mut Stream) -> Atom {
        let (Type::Array(_, element), Some((bound, inner))) = (ty, bounds.split_first()) else {
            return self.read(ty, stream);
        };
        let types = [(**element).clone()];
        let made = self.scan(Dir::Up, *bound, &stream.at, &types, |c, _, at| {
            let mut stream = Stream { at: [at[0], at[1]], ..*stream };
            let value = c.read_elements(element, inner, &mut stream);
            vec![stream.at[0], stream.at[1], value]
        });
        stream.at = [made[0], made[1]];
        made[2]
    }

    /// Tests that the lists end here.
    pub fn at_end(&mut self, stream: &Stream) {
        self.same(stream.at[0], stream.ints.0);
        self.same(stream.at[1], stream.floats.0);
    }

    fn same(&mut self, a: Atom, b: Atom) {
        let apart = self.prim("apart", prim::ISUB, [a, b]);
        self.check(Check::Below(apart, int(1)));
    }

    fn int(&mut self, stream: &mut Stream) -> Atom {
        let (count, ints) = stream.ints;
        self.next(count, ints, Type::I64, &mut stream.at[0])
    }

    fn next(&mut self, count: Atom, list: NVar, ty: Type, at: &mut Atom) -> Atom {
        self.check(Check::Below(*at, count));
        let value = Rhs::Index(list, vec![Step::Index { index: *at, proved: false }]);
        let value = self.bind("x", ty, value);
        *at = self.after(*at, 1);
        value
    }
}

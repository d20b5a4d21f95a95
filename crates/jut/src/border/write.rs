//! Writing: values onto a list of integers and one of floats, the last one first, and from there into arrays.
//!
//! ```text
//! core def Tree.write(value: Tree, ints: ints, m: i64, floats: floats, k: i64) -> (ints, i64, floats, i64)
//! ```

use super::code::{Code, field_type, int};
use jut_ir::*;

/// The lists so far, and how long they are.
pub(super) type Sink = [Atom; 4];

/// The function that writes values of a data type.
pub(super) fn function(mut c: Code<'_>, id: DataId) -> Function {
    let types = c.sink_types();
    let value = c.param("value", Type::Data(id));
    let names = ["ints", "m", "floats", "k"];
    let mut sink = [0, 1, 2, 3].map(|k| Atom::Var(c.param(names[k], types[k].clone())));
    let constructors = c.program.datas[id].constructors.clone();
    let mut arms = Vec::new();
    for (index, con) in constructors.iter().enumerate() {
        let mut vars: Vec<NVar> = Vec::new();
        for field in &con.fields {
            let atoms: Vec<Atom> = vars.iter().map(|v| Atom::Var(*v)).collect();
            let ty = field_type(&c.b.func, &atoms, &field.ty);
            vars.push(c.var(&field.name, ty));
        }
        let made_by = ConRef { data: id, index: index as u32 };
        if constructors.len() == 1 {
            let eqs = vec![None; vars.len()];
            c.push(vars.clone(), Rhs::Open { con: made_by, value, eqs, proved: false });
            vars.iter().for_each(|v| c.write(Atom::Var(*v), &mut sink));
            return c.finish(&types, sink.to_vec());
        }
        let body = c.block(|c| {
            let mut sink = sink;
            c.put_int(int(index as i64), &mut sink);
            vars.iter().for_each(|v| c.write(Atom::Var(*v), &mut sink));
            sink.to_vec()
        });
        let fields = vars.into_iter().map(FieldPattern::Bind).collect();
        arms.push(Arm { pattern: ArmPattern::Con(made_by), fields, proved: false, body });
    }
    let bound = c.results(&types);
    let scrutinee = Atom::Var(value);
    c.push(bound.clone(), Rhs::Case(Box::new(Case { scrutinee, arms })));
    c.finish(&types, bound.into_iter().map(Atom::Var).collect())
}

impl Code<'_> {
    fn sink_types(&self) -> [Type; 4] {
        let [ints, floats] = self.lists.links.map(Type::Data);
        [ints, Type::I64, floats, Type::I64]
    }

    /// Empty lists.
    pub fn sink(&mut self) -> Sink {
        let [ints, floats] = self.lists.links.map(|data| {
            let none = Rhs::Con(ConRef { data, index: 0 }, Vec::new());
            self.bind("none", Type::Data(data), none)
        });
        [ints, int(0), floats, int(0)]
    }

    /// A value behind what is there.
    pub fn write(&mut self, value: Atom, sink: &mut Sink) {
        match self.b.func.type_of(value) {
            Type::Float(Width::Double) => self.put(1, value, sink),
            Type::Float(Width::Single) => {
                let long = self.bind("x", Type::F64, Rhs::Prim(prim::DOUBLE, vec![value]));
                self.put(1, long, sink);
            }
            Type::I64 => self.put_int(value, sink),
            Type::I32 => {
                let long = self.bind("n", Type::I64, Rhs::Prim(prim::WIDEN, vec![value]));
                self.put_int(long, sink);
            }
            Type::Bool => {
                let [yes, no] = [1, 0].map(|n| Block { nl: vec![int(n)], ..Block::default() });
                let n = self.branch(value, [yes, no], &[Type::I64]);
                self.put_int(n[0], sink);
            }
            Type::Tuple(items) => {
                let Some(tuple) = value.var() else { return };
                let parts = self.results(&items);
                self.push(parts.clone(), Rhs::Untuple(tuple));
                parts.into_iter().for_each(|v| self.write(Atom::Var(v), sink));
            }
            Type::Data(id) => {
                let args = vec![value, sink[0], sink[1], sink[2], sink[3]];
                let types = self.sink_types();
                let made = self.call(self.lists.writers[&id], args, &types);
                sink.copy_from_slice(&made);
            }
            ty @ Type::Array(..) => {
                let mut dims = Vec::new();
                ty.for_each_size(&mut |size| dims.push(size.clone()));
                let bounds: Vec<Atom> = dims.iter().map(|size| self.bound(size)).collect();
                bounds.iter().for_each(|n| self.put_int(*n, sink));
                self.write_elements(value, &bounds, sink);
            }
        }
    }

    fn write_elements(&mut self, value: Atom, bounds: &[Atom], sink: &mut Sink) {
        let (Type::Array(_, element), Some(array), Some((bound, inner))) =
            (self.b.func.type_of(value), value.var(), bounds.split_first())
        else {
            return self.write(value, sink);
        };
        let made = self.scan(Dir::Up, *bound, sink, &[], |c, index, carried| {
            let part = Rhs::Index(array, vec![Step::Index { index, proved: false }]);
            let part = c.bind("part", *element, part);
            let mut sink = [0, 1, 2, 3].map(|k| carried[k]);
            c.write_elements(part, inner, &mut sink);
            sink.to_vec()
        });
        sink.copy_from_slice(&made);
    }

    fn put_int(&mut self, value: Atom, sink: &mut Sink) {
        self.put(0, value, sink);
    }

    /// A number onto the list with a number.
    fn put(&mut self, list: usize, value: Atom, sink: &mut Sink) {
        let data = self.lists.links[list];
        let con = Rhs::Con(ConRef { data, index: 1 }, vec![value, sink[2 * list]]);
        sink[2 * list] = self.bind("l", Type::Data(data), con);
        sink[2 * list + 1] = self.after(sink[2 * list + 1], 1);
    }

    /// A list and its length as an array in the order in which it was written.
    pub fn array(&mut self, list: usize, sink: &Sink) -> Atom {
        let (link, count) = (sink[2 * list], sink[2 * list + 1]);
        let data = self.lists.links[list];
        let (ty, zero) = match list {
            0 => (Type::I64, Literal::I64(0)),
            _ => (Type::F64, Literal::F64(0.0)),
        };
        self.check(Check::NonNegative(count));
        let stacked = [ty.clone()];
        let made = self.scan(Dir::Down, count, &[link], &stacked, |c, _, carried| {
            let [x, rest] = [c.var("x", ty.clone()), c.var("rest", Type::Data(data))];
            let arm = |index: u32, fields: Vec<NVar>, nl: Vec<Atom>| Arm {
                pattern: ArmPattern::Con(ConRef { data, index }),
                fields: fields.into_iter().map(FieldPattern::Bind).collect(),
                proved: false,
                body: Block { nl, ..Block::default() },
            };
            let none = arm(0, Vec::new(), vec![carried[0], Atom::Lit(zero)]);
            let link = arm(1, vec![x, rest], vec![Atom::Var(rest), Atom::Var(x)]);
            let bound = c.results(&[Type::Data(data), ty.clone()]);
            let case = Case { scrutinee: carried[0], arms: vec![none, link] };
            c.push(bound.clone(), Rhs::Case(Box::new(case)));
            bound.into_iter().map(Atom::Var).collect()
        });
        made[1]
    }
}

//! Statements without nested blocks, calls apart: the rules of the leaves.

use super::walk::{Checked, Checker, Definition, Values};
use crate::entity::NVar;
use crate::ir::*;
use crate::prim::{self, Prim};
use crate::size::Size;
use crate::structured::{Misfit, Structured};
use crate::types::Type;

impl Checker<'_> {
    /// The rule of a leaf.
    pub(super) fn leaf(&mut self, rhs: &Rhs) -> Checked<Values> {
        match rhs {
            Rhs::Atom(a) => {
                let ty = self.atom(*a)?;
                let definition = match ty {
                    Type::I64 => Definition::Transparent(self.func.size_of(*a)),
                    _ => Definition::Opaque,
                };
                Ok(Values { nl: vec![(ty, definition)], lin: Vec::new() })
            }
            Rhs::Prim(prim, args) => self.prim(*prim, args),
            Rhs::Structured(op, args, sizes) => {
                let arrays: Checked<Vec<Type>> = args.iter().map(|a| self.atom(*a)).collect();
                let ty = self.structured(*op, arrays?, sizes)?;
                let mut dims = Vec::new();
                ty.for_each_size(&mut |size| dims.push(size.clone()));
                let open = op.open_results().filter_map(|k| dims.get(k));
                let product = dims.first().filter(|_| op.is_flattening());
                for size in sizes.iter().chain(open).chain(product) {
                    self.size_shown(size, |size| format!("the result has size {size}"))?;
                }
                Ok(Values::one(ty))
            }
            Rhs::Tuple(items) => {
                let items: Checked<Vec<Type>> = items.iter().map(|a| self.atom(*a)).collect();
                Ok(Values::one(Type::Tuple(items?)))
            }
            Rhs::Untuple(v) => {
                let nl = self.components(self.nvar(*v)?)?;
                let nl = nl.into_iter().map(|ty| (ty, Definition::Opaque)).collect();
                Ok(Values { nl, lin: Vec::new() })
            }
            Rhs::Proj(v, k) => self.projection(*v, *k),
            Rhs::Con(con, args) => self.construct(*con, args),
            Rhs::Open { con, value, eqs, .. } => {
                let ty = self.nvar(*value)?;
                let constructor = self.program.constructor(*con);
                self.require(*ty == Type::Data(con.data), "J202", |c| {
                    format!("`{}` does not open {}", constructor.name, c.show(ty))
                })?;
                self.require(self.program.datas[con.data].constructors.len() == 1, "J206", |_| {
                    format!("`{}` is one of several constructors: use `case`", constructor.name)
                })?;
                self.fields(constructor, eqs)
            }
            Rhs::ArrayLit(items) => {
                let Some(first) = items.first() else {
                    return Err(self.error("J202", "an array literal needs an element"));
                };
                let ty = self.atom(*first)?;
                for item in items {
                    let other = self.atom(*item)?;
                    self.require(other == ty, "J202", |c| {
                        format!("elements of type {} and {}", c.show(&ty), c.show(&other))
                    })?;
                }
                Ok(Values::one(Type::array(Size::constant(items.len() as i64), ty)))
            }
            Rhs::Size(v, k) => {
                let whole = self.nvar(*v)?;
                let mut ty = whole;
                for _ in 0..*k {
                    ty = ty.element().unwrap_or(&Type::Bool);
                }
                let Some(size) = ty.size() else {
                    let message = format!("{} has no dimension {k}", self.show(whole));
                    return Err(self.error("J205", message));
                };
                let definition = Definition::Transparent(size.clone());
                Ok(Values { nl: vec![(Type::I64, definition)], lin: Vec::new() })
            }
            Rhs::Index(v, path) => {
                let ty = self.nvar(*v)?;
                Ok(Values::one(self.part(ty, path)?))
            }
            Rhs::Update { array, path, value } => {
                let ty = self.nvar(*array)?;
                let part = self.updated_part(ty, path)?;
                self.operand(*value, &part)?;
                Ok(Values::one(ty.clone()))
            }
            Rhs::Cast { value, ty, .. } => {
                self.cast(self.nvar(*value)?, ty)?;
                Ok(Values::one(ty.clone()))
            }
            Rhs::Check(check) => self.check(check),
            linear => self.linear_leaf(linear),
        }
    }

    /// The rule of a linear leaf: every linear operand is used up.
    fn linear_leaf(&mut self, rhs: &Rhs) -> Checked<Values> {
        let lin = match rhs {
            Rhs::LCopy(x) | Rhs::LNeg(x) => vec![self.consume(*x)?],
            Rhs::LAdd(x, y) => vec![self.consume_alike(*x, *y)?],
            Rhs::LScale(a, x) => {
                self.operand(*a, &Type::F64)?;
                vec![self.consume(*x)?]
            }
            Rhs::LSelect(a, x, y) => {
                self.operand(*a, &Type::Bool)?;
                vec![self.consume_alike(*x, *y)?]
            }
            Rhs::LApply { op, operand, args, sizes, x } => {
                let others: Checked<Vec<Type>> = args.iter().map(|a| self.atom(*a)).collect();
                self.require(op.transpose(*operand).is_some(), "J104", |_| {
                    format!("`{}` is not linear in this operand", op.row().name)
                })?;
                let arrays = op.with_linear(*operand, self.consume(*x)?, others?);
                vec![self.structured(*op, arrays, sizes)?]
            }
            Rhs::LZero(ty) => {
                self.sizes_in_scope(ty)?;
                self.linear_type(ty)?;
                vec![ty.clone()]
            }
            Rhs::Dup(x) => {
                let ty = self.consume(*x)?;
                vec![ty.clone(), ty]
            }
            Rhs::Drop(x) => {
                self.consume(*x)?;
                Vec::new()
            }
            Rhs::LTuple(items) => {
                let items: Checked<Vec<Type>> = items.iter().map(|x| self.consume(*x)).collect();
                vec![Type::Tuple(items?)]
            }
            Rhs::LUntuple(x) => {
                let ty = self.consume(*x)?;
                self.components(&ty)?
            }
            Rhs::LCon { con, sizes, fields } => {
                let found: Checked<Vec<Type>> = fields.iter().map(|x| self.consume(*x)).collect();
                let found = found?;
                let expected = self.tangent_fields(*con, sizes)?;
                self.require(found == expected, "J202", |c| {
                    let show = |types: &[Type]| types.iter().map(|t| c.show(t)).collect::<Vec<_>>();
                    let (found, expected) = (show(&found).join(", "), show(&expected).join(", "));
                    let name = &c.program.constructor(*con).name;
                    format!("the fields of `{name}` are {expected}, not {found}")
                })?;
                vec![Type::Data(con.data)]
            }
            Rhs::LOpen { con, sizes, value, .. } => {
                let ty = self.consume(*value)?;
                self.require(ty == Type::Data(con.data), "J202", |c| {
                    format!("`{}` does not open {}", c.program.constructor(*con).name, c.show(&ty))
                })?;
                self.tangent_fields(*con, sizes)?
            }
            Rhs::LCast { value, ty, .. } => {
                let from = self.consume(*value)?;
                self.cast(&from, ty)?;
                vec![ty.clone()]
            }
            Rhs::LUpdate { x, path, value } => {
                let ty = self.consume(*x)?;
                let (part, found) = (self.updated_part(&ty, path)?, self.consume(*value)?);
                self.require(found == part, "J202", |c| {
                    format!("the part has type {}, not {}", c.show(&part), c.show(&found))
                })?;
                vec![ty]
            }
            Rhs::LTake { x, path } => {
                let ty = self.consume(*x)?;
                let part = self.updated_part(&ty, path)?;
                vec![ty, part]
            }
            Rhs::Rd(place) => vec![self.place_of_mode(place, Mode::Rd)?],
            Rhs::Inc(place, operand) => {
                self.increment(place, *operand)?;
                Vec::new()
            }
            _ => return Err(self.error("J104", "not a linear operation")),
        };
        Ok(Values::linear(lin))
    }

    /// The types of the linear fields of a constructor of tangents, whose sizes are given.
    fn tangent_fields(&self, con: ConRef, sizes: &[Atom]) -> Checked<Vec<Type>> {
        let constructor = self.program.constructor(con);
        self.require(self.program.is_tangent(con.data) && con.index > 0, "J104", |_| {
            format!("`{}` is no constructor of a tangent that is not zero", constructor.name)
        })?;
        let measures = constructor.fields.iter().filter(|f| f.ty == Type::I64).count();
        self.field_count(constructor, constructor.fields.len() - measures + sizes.len())?;
        let mut given = sizes.iter();
        let mut known: Vec<Option<Size>> = Vec::new();
        let mut types = Vec::new();
        for field in &constructor.fields {
            match (&field.ty, given.as_slice()) {
                (Type::I64, [atom, ..]) => {
                    given.next();
                    self.operand(*atom, &Type::I64)?;
                    known.push(Some(self.func.size_of(*atom)));
                }
                (ty, _) => {
                    types.push(instantiate(ty, &known));
                    known.push(None);
                }
            }
        }
        Ok(types)
    }

    /// The type of the part of an array that a path of indices and slices leads to.
    fn part(&self, ty: &Type, path: &[Step]) -> Checked<Type> {
        self.require(!path.is_empty(), "J205", |_| "an index is missing".to_string())?;
        let is_field = |step: &Step| matches!(step, Step::Field(_));
        self.require(!path.iter().any(is_field), "J204", |_| {
            "a component is read by a statement of its own".to_string()
        })?;
        self.path(ty, path)
    }

    /// The type of the part of an array that is replaced or taken out: also a component of an element.
    fn updated_part(&self, ty: &Type, path: &[Step]) -> Checked<Type> {
        let begins = matches!(path.first(), Some(Step::Index { .. } | Step::Slice { .. }));
        self.require(begins, "J205", |_| "an index is missing".to_string())?;
        self.path(ty, path)
    }

    /// An operand of the given type.
    fn operand(&self, atom: Atom, expected: &Type) -> Checked<()> {
        let found = self.atom(atom)?;
        self.require(found == *expected, "J202", |c| {
            let (found, expected) = (c.show(&found), c.show(expected));
            format!("operand `{}` has type {found}, not {expected}", c.show_atom(atom))
        })
    }

    fn consume_alike(&mut self, x: crate::LVar, y: crate::LVar) -> Checked<Type> {
        let (a, b) = (self.consume(x)?, self.consume(y)?);
        self.require(a == b, "J202", |c| {
            format!("operands of type {} and {}", c.show(&a), c.show(&b))
        })?;
        Ok(a)
    }

    fn components(&self, ty: &Type) -> Checked<Vec<Type>> {
        match ty {
            Type::Tuple(items) => Ok(items.clone()),
            _ => Err(self.error("J202", format!("{} is not a tuple", self.show(ty)))),
        }
    }

    fn prim(&self, prim: Prim, args: &[Atom]) -> Checked<Values> {
        let row = prim.row();
        self.require(args.len() == row.params.len(), "J208", |_| {
            format!("`{}` takes {} operands, not {}", row.text, row.params.len(), args.len())
        })?;
        for (arg, scalar) in args.iter().zip(row.params) {
            self.operand(*arg, &scalar.ty())?;
        }
        let form = |k: usize| self.func.size_of(args[k]);
        // A definition that would be too large to carry along leaves the name opaque.
        let size = match prim {
            prim::IADD => form(0).checked_add(&form(1)),
            prim::ISUB => form(0).checked_sub(&form(1)),
            prim::IMUL => form(0).checked_mul(&form(1)),
            prim::INEG => Some(-form(0)),
            _ => None,
        };
        let definition = size.map_or(Definition::Opaque, Definition::Transparent);
        Ok(Values { nl: vec![(row.result.ty(), definition)], lin: Vec::new() })
    }

    /// The type of what a structured primitive gives.
    fn structured(&self, op: Structured, arrays: Vec<Type>, sizes: &[Size]) -> Checked<Type> {
        let row = op.row();
        for size in sizes {
            self.sizes_in_scope(&Type::array(size.clone(), Type::F64))?;
        }
        let arrays = arrays.into_iter().map(|ty| (ty, Size::default()));
        let operands = op.operands(arrays, sizes.iter().map(|s| (Type::I64, s.clone())));
        op.result_type(&operands).map_err(|misfit| match misfit {
            Misfit::Count => {
                let (wanted, given) = (row.params.len(), operands.len());
                self.error("J208", format!("`{}` takes {wanted} operands, not {given}", row.name))
            }
            Misfit::Kind(k) => {
                let (wanted, given) =
                    (row.params[k].text(op.widths().0), self.show(&operands[k].0));
                self.error("J202", format!("`{}` takes {wanted} here, not {given}", row.name))
            }
            Misfit::Size { operand, earlier, .. }
                if operand == earlier && op.product().is_none() =>
            {
                let given = self.show(&operands[operand].0);
                self.error("J202", format!("`{}` takes a square matrix, not {given}", row.name))
            }
            Misfit::Size { operand, earlier, sizes } if operand == earlier => {
                let [given, wanted] = sizes.each_ref().map(|s| self.show_size(s));
                self.error("J202", format!("`{}` of {given} cells, not {wanted}", row.name))
            }
            Misfit::Size { operand, earlier, .. } => {
                let show = |k: usize| self.show(&operands[k].0);
                let (a, b) = (show(earlier), show(operand));
                self.error("J202", format!("`{}` of {a} and {b}", row.name))
            }
        })
    }

    fn projection(&self, v: NVar, k: u32) -> Checked<Values> {
        let ty = self.nvar(v)?;
        let missing = || self.error("J204", format!("{} has no component {k}", self.show(ty)));
        match ty {
            Type::Tuple(items) => {
                let item = items.get(k as usize).ok_or_else(missing)?;
                Ok(Values::one(item.clone()))
            }
            Type::Data(data) => {
                let [constructor] = self.program.datas[*data].constructors.as_slice() else {
                    let message = format!("{} has several constructors: use `case`", self.show(ty));
                    return Err(self.error("J206", message));
                };
                let field = constructor.fields.get(k as usize).ok_or_else(missing)?;
                self.require(field.ty.size_names().is_empty(), "J207", |_| {
                    let name = &constructor.name;
                    format!("field `{}` has a size of its own: open `{name}`", field.name)
                })?;
                Ok(Values::one(field.ty.clone()))
            }
            _ => Err(missing()),
        }
    }

    fn construct(&self, con: ConRef, args: &[Atom]) -> Checked<Values> {
        let constructor = self.program.constructor(con);
        self.field_count(constructor, args.len())?;
        let mut sizes: Vec<Option<Size>> = Vec::new();
        for (field, arg) in constructor.fields.iter().zip(args) {
            let found = self.atom(*arg)?;
            let expected = instantiate(&field.ty, &sizes);
            self.require(found == expected, "J202", |c| {
                let (found, expected) = (c.show(&found), c.show(&expected));
                format!("field `{}` takes {expected}, not {found}", field.name)
            })?;
            sizes.push((found == Type::I64).then(|| self.func.size_of(*arg)));
        }
        Ok(Values::one(Type::Data(con.data)))
    }

    pub(super) fn field_count(&self, constructor: &Constructor, given: usize) -> Checked<()> {
        let count = constructor.fields.len();
        self.require(given == count, "J208", |_| {
            format!("`{}` has {count} fields, not {given}", constructor.name)
        })
    }

    /// The fields that a pattern binds, earlier bound ones being placeholders; `=n` states that
    /// an i64 field has the normal form of n.
    pub(super) fn fields(
        &self,
        constructor: &Constructor,
        eqs: &[Option<Atom>],
    ) -> Checked<Values> {
        self.field_count(constructor, eqs.len())?;
        let mut sizes: Vec<Option<Size>> = Vec::new();
        let mut values = Values::none();
        for (field, eq) in constructor.fields.iter().zip(eqs) {
            if let Some(atom) = eq {
                self.require(field.ty == Type::I64, "J211", |_| {
                    format!("`=` on field `{}`, which is not a size", field.name)
                })?;
                let found = self.atom(*atom)?;
                self.require(found == Type::I64, "J211", |c| {
                    format!("`={}` is not an i64", c.show_atom(*atom))
                })?;
                sizes.push(Some(self.func.size_of(*atom)));
            } else {
                let ty = instantiate(&field.ty, &sizes);
                let position = Size::position(values.nl.len());
                sizes.push((ty == Type::I64).then_some(position));
                values.nl.push((ty, Definition::Opaque));
            }
        }
        Ok(values)
    }

    fn cast(&self, from: &Type, to: &Type) -> Checked<()> {
        self.sizes_in_scope(to)?;
        self.require(same_up_to_sizes(from, to), "J212", |c| {
            format!("a cast from {} to {} changes more than sizes", c.show(from), c.show(to))
        })
    }

    fn check(&mut self, check: &Check) -> Checked<Values> {
        match check {
            Check::Below(index, size) => {
                let (index, size) = (self.size(*index, "operand")?, self.size(*size, "operand")?);
                self.facts.add_below(index, size);
            }
            Check::Within { lo, len, size } => {
                let (lo, len) = (self.size(*lo, "operand")?, self.size(*len, "operand")?);
                let size = self.size(*size, "operand")?;
                self.facts.add_within(lo, len, size);
            }
            Check::NonNegative(size) => {
                let size = self.size(*size, "operand")?;
                self.facts.add_non_negative(size);
            }
            Check::Exact(operation, a, b) => {
                let known = [prim::IADD, prim::ISUB, prim::IMUL].contains(operation);
                self.require(known, "J302", |_| {
                    "a check of arithmetic is one of `a + b`, `a - b`, `a * b`".to_string()
                })?;
                let (a, b) = (self.size(*a, "operand")?, self.size(*b, "operand")?);
                self.facts.add_exact(*operation, &a, &b);
            }
            Check::Show(Shown::Value(a)) => {
                let ty = self.atom(*a)?;
                self.require(ty.is_scalar(), "J202", |c| {
                    format!("a number is shown, and this is of type {}", c.show(&ty))
                })?;
            }
            Check::Show(Shown::Before(i)) => {
                self.size(*i, "operand")?;
            }
            Check::Show(Shown::Text(_) | Shown::End) => {}
        }
        Ok(Values::none())
    }

    /// `p += x'` on `wr`, `p += a` on `acc`.
    fn increment(&mut self, place: &Place, operand: Operand) -> Checked<()> {
        let (mode, ty) = self.place(place)?;
        let name = &self.func.caps[place.root].name;
        self.require(mode != Mode::Rd, "J111", |_| {
            format!("`{name}` has mode `rd`, which does not allow `+=`")
        })?;
        let found = match (operand, mode) {
            (Operand::L(x), Mode::Wr) => self.consume(x)?,
            (Operand::N(a), Mode::Acc) => self.atom(a)?,
            (Operand::L(x), _) => {
                let x = &self.func.lvars[x].name;
                let message = format!("`{name}` has mode `acc` and takes no linear `{x}`");
                return Err(self.error("J101", message));
            }
            (Operand::N(a), _) => {
                let a = self.show_atom(a);
                let message = format!("`{name}` has mode `wr` and takes no non-linear `{a}`");
                return Err(self.error("J102", message));
            }
        };
        self.require(found == ty, "J202", |c| {
            format!("the place holds {}, not {}", c.show(&ty), c.show(&found))
        })
    }
}

/// The type of a field, given the normal forms of the i64 fields before it.
fn instantiate(ty: &Type, sizes: &[Option<Size>]) -> Type {
    ty.subst(&mut |v| sizes.get(v.as_u32() as usize).cloned().flatten())
}

fn same_up_to_sizes(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Array(_, a), Type::Array(_, b)) => same_up_to_sizes(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_up_to_sizes(a, b))
        }
        (a, b) => a == b,
    }
}

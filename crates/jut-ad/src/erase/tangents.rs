//! Operations of linear code on declared tangents ([`jut_ir::tangent`]) as operations on data: zero is the first
//! constructor, and what opens a tangent is a `case`.

use super::Eraser;
use jut_ir::*;

/// Whether a linear type holds declared tangents.
pub(crate) fn has_data(ty: &Type) -> bool {
    let mut found = false;
    ty.for_each_data(&mut |_| found = true);
    found
}

impl Eraser<'_> {
    /// Zero of a type that holds declared tangents: their first constructor.
    pub(super) fn zero(&mut self, ty: &Type, loc: Loc, out: &mut Vec<Stmt>) -> NVar {
        let rhs = match ty {
            Type::Data(data) => Rhs::Con(ConRef { data: *data, index: 0 }, Vec::new()),
            Type::Tuple(items) => {
                let items = items.iter().map(|ty| Atom::Var(self.zero(ty, loc, out)));
                Rhs::Tuple(items.collect())
            }
            Type::Array(n, element) if has_data(element) => {
                self.elements(n, loc, out, |eraser, _, stmts| eraser.zero(element, loc, stmts))
            }
            _ => return self.total(ty.clone(), None, loc, out),
        };
        let v = self.named_var("z", ty.clone(), loc);
        out.push(Stmt { nl: vec![v], lin: Vec::new(), rhs, annotated: false, loc });
        v
    }

    /// A value of a type that holds declared tangents, without the cells of its arrays.
    pub(super) fn copied(&mut self, v: NVar, ty: &Type, loc: Loc, out: &mut Vec<Stmt>) -> NVar {
        let rhs = match ty {
            Type::Tuple(items) => {
                let parts: Vec<NVar> =
                    items.iter().map(|ty| self.named_var("part", ty.clone(), loc)).collect();
                let rhs = Rhs::Untuple(v);
                let nl = parts.clone();
                out.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
                let parts = parts.into_iter().zip(items);
                Rhs::Tuple(parts.map(|(v, ty)| self.copied(v, ty, loc, out).into()).collect())
            }
            Type::Array(n, element) if has_data(element) => {
                self.elements(n, loc, out, |eraser, index, stmts| {
                    let index = Step::Index { index: Atom::Var(index), proved: false };
                    let part = eraser.named_var("part", (**element).clone(), loc);
                    let rhs = Rhs::Index(v, vec![index]);
                    let nl = vec![part];
                    stmts.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
                    eraser.copied(part, element, loc, stmts)
                })
            }
            Type::Array(..) => return self.total(ty.clone(), Some(v), loc, out),
            _ => return v,
        };
        let copy = self.named_var("part", ty.clone(), loc);
        out.push(Stmt { nl: vec![copy], lin: Vec::new(), rhs, annotated: false, loc });
        copy
    }

    /// A loop that makes the elements of an array.
    fn elements(
        &mut self,
        n: &Size,
        loc: Loc,
        out: &mut Vec<Stmt>,
        make: impl FnOnce(&mut Self, NVar, &mut Vec<Stmt>) -> NVar,
    ) -> Rhs {
        let bound = self.size_atom(n, loc, out);
        self.show_size(self.subst.size(&self.func, n), loc, out);
        let index = self.named_var("i", Type::I64, loc);
        let mut stmts = Vec::new();
        self.enter();
        let made = make(self, index, &mut stmts);
        self.leave();
        Rhs::Scan(Box::new(Scan {
            dir: Dir::Par,
            index,
            bound,
            carry: vec![],
            lin_carry: vec![],
            slices: vec![],
            lin_slices: vec![],
            cap_slices: vec![],
            body: Block { stmts, nl: vec![Atom::Var(made)], lin: vec![] },
        }))
    }

    pub(super) fn named_var(&mut self, hint: &str, ty: Type, loc: Loc) -> NVar {
        let name = self.namer.fresh(hint);
        self.func.nvars.push(VarData { name, ty, def: None, span: loc.span })
    }

    /// The fields of a tangent that `con` made, zeros of any other: a `case`.
    pub(super) fn open(
        &mut self,
        con: ConRef,
        sizes: &[Atom],
        value: NVar,
        lin: &[LVar],
        loc: Loc,
    ) -> Rhs {
        let types: Vec<Type> = lin.iter().map(|x| self.func.lvars[*x].ty.clone()).collect();
        let count = self.derivatives.program.datas[con.data].constructors.len();
        let mut arms = Vec::with_capacity(count);
        for index in 0..count as u32 {
            let made_by = ConRef { index, ..con };
            let declared = self.derivatives.program.constructor(made_by).fields.clone();
            let (mut fields, mut stmts, mut nl) = (Vec::new(), Vec::new(), Vec::new());
            self.enter();
            if made_by == con {
                let (mut sizes, mut types) = (sizes.iter(), types.iter());
                for field in &declared {
                    fields.push(match field.ty {
                        Type::I64 => match sizes.next() {
                            Some(n) => FieldPattern::Eq(*n),
                            None => continue,
                        },
                        _ => {
                            let Some(ty) = types.next() else { continue };
                            let v = self.named_var(&field.name, ty.clone(), loc);
                            nl.push(Atom::Var(v));
                            FieldPattern::Bind(v)
                        }
                    });
                }
            } else {
                let mut vars: Vec<NVar> = Vec::new();
                for field in &declared {
                    let at = |v: NVar| vars.get(v.as_u32() as usize).map(|v| Size::var(*v));
                    let ty = field.ty.subst(&mut { at });
                    vars.push(self.named_var(&field.name, ty, loc));
                }
                fields.extend(vars.into_iter().map(FieldPattern::Bind));
                for ty in &types {
                    nl.push(match ty {
                        ty @ Type::Float(_) => Atom::Lit(ty.number(0.0)),
                        ty => Atom::Var(self.zero(ty, loc, &mut stmts)),
                    });
                }
            }
            self.leave();
            let body = Block { stmts, nl, lin: Vec::new() };
            arms.push(Arm { pattern: ArmPattern::Con(made_by), fields, proved: false, body });
        }
        Rhs::Case(Box::new(Case { scrutinee: Atom::Var(value), arms }))
    }
}

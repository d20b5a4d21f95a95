//! Formulas for bytes: polynomials in sizes, sums over iterations, terms of arms.

use crate::unzip::plan::Plan;
use jut_ir::entity::SecondaryMap;
use jut_ir::prim::{Prim, Syntax};
use jut_ir::*;

/// How many bytes something adds to a tape.
#[derive(Clone, PartialEq, Debug)]
pub enum Bytes {
    /// A polynomial in names of `f.nonlin`.
    Exact(Size),
    /// The sum over the iterations of a loop.
    Sum {
        /// The index.
        index: NVar,
        /// How many iterations.
        count: Size,
        /// Bytes of one iteration.
        each: Box<Bytes>,
    },
    /// Only if an arm is taken.
    If {
        /// The arm's constructor.
        arm: String,
        /// Bytes of the arm.
        each: Box<Bytes>,
    },
    /// Not a formula in names of this function; in words.
    Words(String),
}

/// What is known of an i64 name.
#[derive(Clone, Debug)]
enum Known {
    /// The parameter at a position.
    Parameter(usize),
    /// A primitive makes it.
    Prim(Prim, Vec<Atom>),
    /// It has a definition in normal form.
    Form(Size),
    /// A loop index.
    Index,
    /// Made otherwise.
    Opaque,
}

/// The i64 names of `f.nonlin`, for formulas.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    names: SecondaryMap<NVar, Option<(String, Known)>>,
}

/// How deep definitions are followed; each may name several others, so not far.
const DEPTH: usize = 16;

impl Sizes {
    pub(super) fn of(func: &Function, plan: &Plan) -> Sizes {
        let mut sizes = Sizes::default();
        let scalar = |ty: &Type| matches!(ty, Type::I64 | Type::Float(_));
        for (v, data) in func.nvars.iter().filter(|(_, data)| scalar(&data.ty)) {
            let form = plan.same.size_name(func, v);
            let known = if form == Size::var(v) { Known::Opaque } else { Known::Form(form) };
            sizes.names[v] = Some((data.name.to_string(), known));
        }
        let integer = |p: &NVar| func.nvars[*p].ty == Type::I64;
        for (k, p) in func.params.iter().enumerate().filter(|(_, p)| integer(p)) {
            sizes.learn(*p, Known::Parameter(k));
        }
        sizes.learn_block(&func.body);
        plan.joints.iter().flat_map(|j| &j.prelude).for_each(|stmt| sizes.learn_stmt(stmt));
        sizes
    }

    fn learn(&mut self, v: NVar, known: Known) {
        if let Some((_, old @ Known::Opaque)) = &mut self.names[v] {
            *old = known;
        }
    }

    fn learn_block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.learn_stmt(stmt);
            stmt.rhs.blocks().into_iter().for_each(|inner| self.learn_block(inner));
        }
    }

    /// A statement may say what a name is.
    fn learn_stmt(&mut self, stmt: &Stmt) {
        if let (Rhs::Prim(prim, args), [v]) = (&stmt.rhs, &stmt.nl[..]) {
            self.learn(*v, Known::Prim(*prim, args.clone()));
        }
        if let Rhs::Scan(scan) = &stmt.rhs {
            self.learn(scan.index, Known::Index);
        }
    }

    /// A polynomial over parameters as one over something else.
    pub(super) fn over_arguments(
        &self,
        size: &Size,
        argument: &dyn Fn(usize) -> Option<Size>,
    ) -> Option<Size> {
        let mut all = true;
        let size = size.subst(&mut |name| {
            let value = match &self.names[name] {
                Some((_, Known::Parameter(k))) => argument(*k),
                _ => None,
            };
            all &= value.is_some();
            value
        });
        all.then_some(size)
    }

    // ---- values

    /// The value of a formula for given i64 arguments, by position.
    pub fn eval(&self, bytes: &Bytes, argument: &dyn Fn(usize) -> Option<i64>) -> Option<i64> {
        self.eval_in(bytes, argument, &mut Vec::new())
    }

    /// The value of a size in the first iteration of every loop round it.
    pub(super) fn first(
        &self,
        size: &Size,
        argument: &dyn Fn(usize) -> Option<i64>,
    ) -> Option<i64> {
        let index = |(v, known): (NVar, &Option<(String, Known)>)| {
            matches!(known, Some((_, Known::Index))).then_some((v, 0))
        };
        let indices: Vec<(NVar, i64)> = self.names.iter().filter_map(index).collect();
        self.size(size, argument, &indices, 0)
    }

    fn eval_in(
        &self,
        bytes: &Bytes,
        argument: &dyn Fn(usize) -> Option<i64>,
        indices: &mut Vec<(NVar, i64)>,
    ) -> Option<i64> {
        match bytes {
            Bytes::Exact(size) => self.size(size, argument, indices, 0),
            Bytes::Sum { index, count, each } => {
                let mut sum = 0i64;
                for i in 0..self.size(count, argument, indices, 0)? {
                    indices.push((*index, i));
                    let bytes = self.eval_in(each, argument, indices);
                    indices.pop();
                    sum = sum.checked_add(bytes?)?;
                }
                Some(sum)
            }
            Bytes::If { .. } | Bytes::Words(_) => None,
        }
    }

    fn size(
        &self,
        size: &Size,
        argument: &dyn Fn(usize) -> Option<i64>,
        indices: &[(NVar, i64)],
        depth: usize,
    ) -> Option<i64> {
        let mut all = true;
        let value = size.eval(&mut |name| {
            let value = self.name(name, argument, indices, depth);
            all &= value.is_some();
            value.unwrap_or(0)
        });
        all.then_some(value)
    }

    fn name(
        &self,
        name: NVar,
        argument: &dyn Fn(usize) -> Option<i64>,
        indices: &[(NVar, i64)],
        depth: usize,
    ) -> Option<i64> {
        match self.literal(name, argument, indices, depth)? {
            Literal::I64(value) => Some(value),
            Literal::F64(_) | Literal::F32(_) | Literal::I32(_) | Literal::Bool(_) => None,
        }
    }

    fn literal(
        &self,
        name: NVar,
        argument: &dyn Fn(usize) -> Option<i64>,
        indices: &[(NVar, i64)],
        depth: usize,
    ) -> Option<Literal> {
        if let Some((_, value)) = indices.iter().rev().find(|(index, _)| *index == name) {
            return Some(Literal::I64(*value));
        }
        if depth > DEPTH {
            return None;
        }
        match &self.names[name].as_ref()?.1 {
            Known::Parameter(k) => argument(*k).map(Literal::I64),
            Known::Form(size) => self.size(size, argument, indices, depth + 1).map(Literal::I64),
            Known::Prim(prim, args) => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(match arg {
                        Atom::Lit(literal) => *literal,
                        Atom::Var(v) => self.literal(*v, argument, indices, depth + 1)?,
                    });
                }
                Some((prim.row().eval)(&values))
            }
            Known::Index | Known::Opaque => None,
        }
    }

    // ---- text

    /// A formula as text, without the word `bytes`.
    pub fn text(&self, bytes: &Bytes) -> String {
        match bytes {
            Bytes::Exact(size) => self.size_text(size, 0),
            Bytes::Sum { index, count, each } => {
                let (index, count) = (self.name_text(*index, 0), self.size_text(count, 0));
                format!("(sum over {index} < {count} of {})", self.text(each))
            }
            Bytes::If { arm, each } => format!("({} if {arm})", self.text(each)),
            Bytes::Words(words) => words.clone(),
        }
    }

    fn size_text(&self, size: &Size, depth: usize) -> String {
        if size.terms().is_empty() {
            return "0".to_string();
        }
        let mut text = String::new();
        // The largest monomials first.
        for (names, coefficient) in size.terms().iter().rev() {
            let sign = if *coefficient < 0 { "-" } else { "+" };
            match (text.is_empty(), sign) {
                (true, "-") => text.push('-'),
                (true, _) => {}
                (false, _) => text.push_str(&format!(" {sign} ")),
            }
            let mut factors: Vec<String> =
                names.iter().map(|name| self.name_text(*name, depth)).collect();
            let magnitude = coefficient.unsigned_abs();
            if magnitude != 1 || factors.is_empty() {
                factors.insert(0, magnitude.to_string());
            }
            text.push_str(&factors.join(" "));
        }
        text
    }

    fn name_text(&self, name: NVar, depth: usize) -> String {
        let Some((text, known)) = &self.names[name] else { return "?".to_string() };
        match known {
            Known::Prim(prim, args) if depth < 4 => {
                let row = prim.row();
                let args: Vec<String> = args
                    .iter()
                    .map(|arg| match arg {
                        Atom::Var(v) => self.name_text(*v, depth + 1),
                        Atom::Lit(Literal::I64(k)) => k.to_string(),
                        Atom::Lit(Literal::I32(k)) => k.to_string(),
                        Atom::Lit(Literal::F64(x)) => x.to_string(),
                        Atom::Lit(Literal::F32(x)) => x.to_string(),
                        Atom::Lit(Literal::Bool(b)) => b.to_string(),
                    })
                    .collect();
                match row.syntax {
                    Syntax::Call => format!("{}({})", row.text, args.join(", ")),
                    Syntax::Infix => format!("({})", args.join(&format!(" {} ", row.text))),
                    Syntax::Prefix => format!("({}{})", row.text, args.join("")),
                }
            }
            Known::Form(size) if depth < 4 => match size.terms().len() {
                1 => self.size_text(size, depth + 1),
                _ => format!("({})", self.size_text(size, depth + 1)),
            },
            _ => text.clone(),
        }
    }
}

/// The bytes of a value of a type: 8 per number, 4 per number of 32 bits, 1 per truth value.
pub(super) fn type_bytes(program: &Program, ty: &Type, depth: usize) -> Option<Size> {
    Some(match ty {
        Type::Float(width) => Size::constant(width.bytes() as i64),
        Type::I64 => Size::constant(8),
        Type::I32 => Size::constant(4),
        Type::Bool => Size::constant(1),
        Type::Tuple(items) => {
            let mut sum = Size::default();
            for item in items {
                sum = sum + type_bytes(program, item, depth)?;
            }
            sum
        }
        Type::Array(size, element) => size.clone() * type_bytes(program, element, depth)?,
        Type::Data(data) => {
            // Where the data value was made, its bytes have been counted; here it is kept.
            let [constructor] = &program.datas[*data].constructors[..] else { return None };
            let mut sum = Size::default();
            for field in &constructor.fields {
                if depth > 8 || !field.ty.size_names().is_empty() {
                    return None;
                }
                sum = sum + type_bytes(program, &field.ty, depth + 1)?;
            }
            sum
        }
    })
}

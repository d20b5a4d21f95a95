//! How J writes tangents down: statement by statement, into the [`Frame`] of the block that is being written.

use super::frame::{CLOSED_AT_ONCE, Frame, Handle};
use super::needs::{BlockNeeds, Need};
use crate::Derivatives;
use crate::activity::{Activity, Kinds};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::SecondaryMap;
use jut_ir::prim::Prim;
use jut_ir::{
    Atom, Block, Cap, ConRef, Diagnostic, Function, LVar, LinVarData, Literal, Loc, Mode, NVar,
    Origin, Place, Program, Rhs, Span, Step, Stmt, Type, sizes,
};
use std::cell::OnceCell;

/// J at work on one function.
pub(super) struct Writer<'a> {
    pub program: &'a Program,
    pub kinds: &'a Kinds,
    /// The function that is differentiated.
    pub source: &'a Function,
    pub activity: &'a Activity,
    /// The derivative; it keeps the non-linear variables of the source.
    pub builder: FunctionBuilder,
    pub handles: SecondaryMap<NVar, Option<Handle>>,
    /// The `wr` capability beside each live reference.
    pub writers: SecondaryMap<Cap, Option<Cap>>,
    /// Tangent types of live variables.
    pub tangents: SecondaryMap<NVar, Option<Type>>,
    /// The block that is being written.
    pub frame: Frame,
    /// The blocks around it, outermost first.
    pub around: Vec<Frame>,
    /// What was not found and must be there, if anything.
    mistake: OnceCell<Diagnostic>,
    /// Counts statements; `born` says when a variable was bound.
    pub clock: u32,
    pub born: SecondaryMap<NVar, u32>,
    pub lin_born: SecondaryMap<LVar, u32>,
    /// Whether some variable is bound a second time, after a region that returns it.
    pub rebound: bool,
}

impl<'a> Writer<'a> {
    pub fn new(
        derivatives: &'a Derivatives,
        source: &'a Function,
        activity: &'a Activity,
    ) -> Writer<'a> {
        let mut derivative = source.clone();
        derivative.body = Block::default();
        let mut builder = FunctionBuilder::from_function(derivative);
        for (v, data) in source.nvars.iter() {
            if activity.is_live(v) {
                builder.namer.reserve(&format!("{}'", data.name));
            }
        }
        Writer {
            program: &derivatives.program,
            kinds: &derivatives.kinds,
            source,
            activity,
            builder,
            handles: SecondaryMap::new(),
            writers: SecondaryMap::new(),
            tangents: SecondaryMap::new(),
            frame: Frame::default(),
            around: Vec::new(),
            mistake: OnceCell::new(),
            clock: 0,
            born: SecondaryMap::new(),
            lin_born: SecondaryMap::new(),
            rebound: false,
        }
    }

    // ---- frames and statements

    pub fn enter(&mut self, needs: BlockNeeds) {
        let inner = Frame { patience: CLOSED_AT_ONCE, needs, ..Frame::default() };
        self.around.push(std::mem::replace(&mut self.frame, inner));
    }

    /// What must be there, or else something that stands in its place until the function is done: then it is an error.
    pub fn known<T>(
        &self,
        found: Option<T>,
        what: impl FnOnce() -> String,
        span: Span,
        instead: impl FnOnce() -> T,
    ) -> T {
        found.unwrap_or_else(|| {
            self.mistake.get_or_init(|| {
                let what = format!("forward differentiation does not find {}", what());
                crate::internal(span, &what)
            });
            instead()
        })
    }

    /// # Errors
    /// `J999` if something was not found that must be there, or written where nothing is.
    pub fn finish(&mut self) -> Result<(), Diagnostic> {
        let lost = self.frame.out.first().map(|stmt| stmt.loc.span);
        if let Some(span) = lost.or((!self.around.is_empty()).then_some(self.source.span)) {
            self.known(None, || "the block of a statement".to_string(), span, || ());
        }
        self.mistake.take().map_or(Ok(()), Err)
    }

    /// What the block still needs of a variable.
    pub fn need(&self, var: NVar) -> Need {
        self.frame.needs.of(var)
    }

    pub fn emit_stmt(&mut self, stmt: Stmt) {
        self.clock += 1;
        stmt.nl.iter().for_each(|v| self.born[*v] = self.clock);
        stmt.lin.iter().for_each(|x| self.lin_born[*x] = self.clock);
        self.frame.bound.extend(&stmt.nl);
        self.frame.out.push(stmt);
    }

    pub fn emit(&mut self, nl: Vec<NVar>, lin: Vec<LVar>, rhs: Rhs, loc: Loc) {
        let loc = loc.by(Origin::Forward);
        self.emit_stmt(Stmt { nl, lin, rhs, annotated: false, loc });
    }

    /// `y' = rhs`.
    pub fn emit_linear(&mut self, y: LVar, rhs: Rhs, loc: Loc) {
        self.emit(vec![], vec![y], rhs, loc);
    }

    /// Binds a fresh name to a primitive; integer arithmetic stays transparent.
    /// What the text says of the tape of a value holds for its partial derivatives too.
    pub fn emit_prim(&mut self, hint: &str, prim: Prim, args: Vec<Atom>, loc: Loc) -> NVar {
        let var = sizes::prim_var(&mut self.builder, hint, prim, &args, loc.span);
        let (rhs, loc) = (Rhs::Prim(prim, args), Loc { tape: loc.tape, ..loc.by(Origin::Forward) });
        self.emit_stmt(Stmt { nl: vec![var], lin: vec![], rhs, annotated: false, loc });
        var
    }

    // ---- tangents

    /// The linear variable called like the variable: `y'`.
    pub fn tangent_var(&mut self, var: NVar, ty: Type, span: Span) -> LVar {
        let mut name = self.source.nvars[var].name.clone();
        name.push('\'');
        self.builder.func.lvars.push(LinVarData { name, ty, span })
    }

    /// A further linear variable for the tangent of a variable: `y_1'`, ..
    pub fn aux(&mut self, var: NVar, span: Span) -> LVar {
        let hint = format!("{}_1", self.source.nvars[var].name);
        let ty = self.tangent_type(var);
        self.builder.lvar(&hint, ty, span)
    }

    /// The tangent type of a live variable.
    pub fn tangent_type(&self, var: NVar) -> Type {
        let data = &self.source.nvars[var];
        let what = || format!("the type of the tangent of `{}`", data.name);
        self.known(self.tangents[var].clone(), what, data.span, || Type::F64)
    }

    /// The tangent type of any type without sums; `None` if absent.
    pub fn tangent_of(&self, ty: &Type) -> Option<Type> {
        ty.tangent(self.program).ok().flatten()
    }

    /// The tangent type of what has a tangent.
    pub fn tangent_of_part(&self, ty: &Type, loc: Loc) -> Type {
        let what = || "the type of a tangent".to_string();
        self.known(self.tangent_of(ty), what, loc.span, || Type::F64)
    }

    /// `tan(v)`: the tangent of a live variable.
    pub fn take(&mut self, var: NVar, loc: Loc) -> LVar {
        self.served(var);
        match self.handles[var].clone() {
            Some(Handle::At(place)) => {
                let x = self.aux(var, loc.span);
                self.emit_linear(x, Rhs::Rd(place), loc);
                x
            }
            Some(Handle::Val(x)) => x,
            None => {
                self.known(
                    None,
                    || format!("the tangent of `{}`", self.source.nvars[var].name),
                    loc.span,
                    || (),
                );
                self.zero(self.tangent_type(var), loc)
            }
        }
    }

    /// One of the needs of a variable has been served.
    pub fn served(&mut self, var: NVar) {
        self.frame.needs.serve(var);
    }

    /// An operand of a primitive.
    pub fn operand(&self, args: &[Atom], k: usize, loc: Loc) -> Atom {
        let what = || format!("operand {k} of a primitive");
        self.known(args.get(k).copied(), what, loc.span, || Atom::Lit(Literal::F64(0.0)))
    }

    /// A linear variable for the tangent of `var`: called `y'` if it is live, else fresh.
    pub fn part_var(&mut self, var: NVar, ty: Type, span: Span) -> LVar {
        if self.activity.is_live(var) {
            self.tangent_var(var, ty, span)
        } else {
            let hint = self.source.nvars[var].name.clone();
            self.builder.lvar(&hint, ty, span)
        }
    }

    /// The tangent of an operand; a zero of the given type if it is not live.
    pub fn take_or_zero(&mut self, atom: Atom, ty: &Type, loc: Loc) -> LVar {
        match atom {
            Atom::Var(v) if self.activity.is_live(v) => self.take(v, loc),
            _ => self.zero(ty.clone(), loc),
        }
    }

    pub fn zero(&mut self, ty: Type, loc: Loc) -> LVar {
        let z = self.builder.lvar("z", ty.clone(), loc.span);
        self.emit_linear(z, Rhs::LZero(ty), loc);
        z
    }

    /// Gives a variable its tangent by value: a region if some use needs a place.
    pub fn bind(&mut self, var: NVar, x: LVar, loc: Loc) {
        let need = self.need(var);
        self.handles[var] = Some(Handle::Val(x));
        if need.place {
            self.frame.opening.push((var, loc));
        }
    }

    /// Gives a variable its tangent by place. A scalar that a loop captures is read at once.
    pub fn bind_place(&mut self, var: NVar, place: Place, loc: Loc) {
        let need = self.need(var);
        if need.times == 0 {
            return;
        }
        if need.place && self.source.nvars[var].ty.is_scalar() {
            self.bind_read(var, place, loc);
        } else {
            self.handles[var] = Some(Handle::At(place));
        }
    }

    /// Nested blocks are done: what they have captured is outside what it was before.
    pub fn handles_are(&mut self, captured: Vec<(NVar, Handle)>) {
        for (v, handle) in captured {
            self.handles[v] = Some(handle);
        }
    }

    /// Reads a place as the tangent of a variable.
    pub fn bind_read(&mut self, var: NVar, place: Place, loc: Loc) {
        if self.need(var).times > 0 {
            // What is from outside has a tangent of its name there.
            let x = match self.handles[var] {
                Some(_) => self.aux(var, loc.span),
                None => self.tangent_var(var, self.tangent_type(var), loc.span),
            };
            self.emit_linear(x, Rhs::Rd(place), loc);
            self.bind(var, x, loc);
        }
    }

    /// A path into a value as a path into its tangent: positions count present components only.
    pub fn tangent_path(&self, ty: &Type, path: &[Step]) -> Vec<Step> {
        let mut ty = ty;
        let what = || "the type of a part".to_string();
        let part = |found| self.known(found, what, self.source.span, || &Type::F64);
        let mut out = Vec::new();
        for step in path {
            match step {
                Step::Index { .. } => {
                    ty = part(ty.element());
                    out.push(*step);
                }
                Step::Slice { .. } => out.push(*step),
                Step::Field(k) => {
                    let items = components(self.program, ty);
                    out.push(Step::Field(tangent_position(self.kinds, &items, *k as usize)));
                    ty = part(items.get(*k as usize).copied());
                }
            }
        }
        out
    }

    /// `dx`: the capability for the tangent of a variable.
    pub fn capability(&mut self, var: NVar, mode: Mode, ty: Type, span: Span) -> Cap {
        let hint = format!("d{}", self.source.nvars[var].name);
        self.builder.cap(&hint, mode, false, ty, span)
    }
}

/// The components of a tuple or of a data type: the fields of all constructors.
pub(super) fn components<'p>(program: &'p Program, ty: &'p Type) -> Vec<&'p Type> {
    match ty {
        Type::Tuple(items) => items.iter().collect(),
        Type::Data(d) => {
            program.datas[*d].constructors.iter().flat_map(|c| &c.fields).map(|f| &f.ty).collect()
        }
        _ => Vec::new(),
    }
}

/// Where the fields of a constructor begin among the components of its data type.
pub(super) fn first_field(program: &Program, con: ConRef) -> usize {
    let before = program.datas[con.data].constructors.iter().take(con.index as usize);
    before.map(|c| c.fields.len()).sum()
}

/// The position of a component's tangent in the tangent tuple.
pub(super) fn tangent_position(kinds: &Kinds, items: &[&Type], k: usize) -> u32 {
    items.iter().take(k).filter(|t| kinds.has_float(t)).count() as u32
}

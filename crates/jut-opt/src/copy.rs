//! Copying a block with new names: for inlining and unrolling.

use crate::rewrite::{self, Rewriter};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::{Cap, NVar};
use jut_ir::hash::HashMap;
use jut_ir::ir::*;
use jut_ir::size::Size;
use jut_ir::types::Type;

/// Copies blocks into the function under construction. What a block binds gets new names; its free
/// names become what [`Copy::name_is`] and [`Copy::cap_is`] say, or stay.
pub struct Copy<'a> {
    /// The function that the blocks come from; `None`: the one under construction.
    source: Option<&'a Function>,
    builder: &'a mut FunctionBuilder,
    nvars: HashMap<NVar, Atom>,
    sizes: HashMap<NVar, Size>,
    caps: HashMap<Cap, Place>,
}

impl<'a> Copy<'a> {
    /// A copier from a function (or, with `None`, within one).
    pub fn new(source: Option<&'a Function>, builder: &'a mut FunctionBuilder) -> Copy<'a> {
        let (nvars, sizes, caps) = (HashMap::default(), HashMap::default(), HashMap::default());
        Copy { source, builder, nvars, sizes, caps }
    }

    /// In what is copied, `var` means `atom`.
    pub fn name_is(&mut self, var: NVar, atom: Atom) {
        self.sizes.insert(var, self.builder.func.size_of(atom));
        self.nvars.insert(var, atom);
    }

    /// In what is copied, `cap` means a place.
    pub fn cap_is(&mut self, cap: Cap, place: Place) {
        self.caps.insert(cap, place);
    }

    fn size(&self, size: &Size) -> Size {
        size.subst(&mut |name| self.sizes.get(&name).cloned())
    }
}

impl Rewriter for Copy<'_> {
    fn atom(&mut self, atom: Atom) -> Atom {
        atom.var().and_then(|v| self.nvars.get(&v).copied()).unwrap_or(atom)
    }

    fn root(&mut self, root: Cap) -> Place {
        self.caps.get(&root).cloned().unwrap_or(Place::root(root))
    }

    fn step(&mut self, step: Step) -> Step {
        match step {
            Step::Index { index, .. } => Step::Index { index, proved: true },
            Step::Slice { lo, len, .. } => Step::Slice { lo, len, proved: true },
            Step::Field(k) => Step::Field(k),
        }
    }

    fn ty(&mut self, ty: &Type) -> Type {
        ty.subst(&mut |name| self.sizes.get(&name).cloned())
    }

    fn bind(&mut self, var: NVar) -> NVar {
        let data = self.source.unwrap_or(&self.builder.func).nvars[var].clone();
        let def = data.def.as_ref().map(|d| self.size(d));
        let ty = self.ty(&data.ty);
        let new = self.builder.nvar(&data.name, ty, data.span);
        self.builder.func.nvars[new].def = def;
        self.nvars.insert(var, Atom::Var(new));
        self.sizes.insert(var, Size::var(new));
        new
    }

    fn bind_cap(&mut self, cap: Cap) -> Cap {
        let data = self.source.unwrap_or(&self.builder.func).caps[cap].clone();
        let ty = self.ty(&data.ty);
        let new = self.builder.cap(&data.name, data.mode, data.lanes, ty, data.span);
        self.caps.insert(cap, Place::root(new));
        new
    }

    fn block(&mut self, block: Block) -> Block {
        let stmts = block
            .stmts
            .into_iter()
            .map(|stmt| {
                let rhs = rewrite::rhs(self, stmt.rhs);
                let nl = stmt.nl.into_iter().map(|v| self.bind(v)).collect();
                Stmt { nl, lin: stmt.lin, rhs, annotated: stmt.annotated, loc: stmt.loc }
            })
            .collect();
        let nl = block.nl.into_iter().map(|a| self.atom(a)).collect();
        Block { stmts, nl, lin: block.lin }
    }
}

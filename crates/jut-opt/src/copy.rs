//! Copying a block with new names: for inlining and unrolling.

use crate::rewrite::{self, Rewriter};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::{Cap, NVar, SecondaryMap};
use jut_ir::hash::HashMap;
use jut_ir::ir::*;
use jut_ir::size::Size;
use jut_ir::types::Type;

/// What names of the source mean.
enum Names {
    /// For a part of a function.
    Few(HashMap<NVar, Atom>),
    /// For all of it: a table by number, which is as long as the function has names.
    All(SecondaryMap<NVar, Option<Atom>>),
}

impl Names {
    fn get(&self, var: NVar) -> Option<Atom> {
        match self {
            Names::Few(names) => names.get(&var).copied(),
            Names::All(names) => names.get(var).copied().flatten(),
        }
    }

    fn insert(&mut self, var: NVar, atom: Atom) {
        match self {
            Names::Few(names) => {
                names.insert(var, atom);
            }
            Names::All(names) => names[var] = Some(atom),
        }
    }
}

/// Copies blocks into the function under construction. What a block binds gets new names; its free
/// names become what [`Copy::name_is`] and [`Copy::cap_is`] say, or stay.
pub struct Copy<'a> {
    /// The function that the blocks come from; `None`: the one under construction.
    source: Option<&'a Function>,
    builder: &'a mut FunctionBuilder,
    nvars: Names,
    /// What integers mean in types.
    sizes: HashMap<NVar, Size>,
    caps: HashMap<Cap, Place>,
}

impl<'a> Copy<'a> {
    /// A copier from a function (or, with `None`, within one).
    pub fn new(source: Option<&'a Function>, builder: &'a mut FunctionBuilder) -> Copy<'a> {
        let (sizes, caps) = (HashMap::default(), HashMap::default());
        Copy { source, builder, nvars: Names::Few(HashMap::default()), sizes, caps }
    }

    /// A copier of the whole body of a function.
    pub fn whole(source: &'a Function, builder: &'a mut FunctionBuilder) -> Copy<'a> {
        let nvars = Names::All(SecondaryMap::with_capacity(source.nvars.len()));
        Copy { nvars, ..Copy::new(Some(source), builder) }
    }

    /// In what is copied, `var` means `atom`.
    pub fn name_is(&mut self, var: NVar, atom: Atom) {
        if self.source.unwrap_or(&self.builder.func).nvars[var].ty == Type::I64 {
            self.sizes.insert(var, self.builder.func.size_of(atom));
        }
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
        atom.var().and_then(|v| self.nvars.get(v)).unwrap_or(atom)
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
        if data.ty == Type::I64 {
            self.sizes.insert(var, Size::var(new));
        }
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

//! Copying code into a new function with its own variables.
//!
//! U and T build their results over the variables of the function they read, because that needs
//! no environments. [`Relocator`] then moves a finished block into a function of its own, in one
//! walk: it gives every variable that is still in use a place in the new tables, translates
//! types, and applies the substitutions that have piled up (the result of a region *is* the
//! variable that its body returns, once the body has been hoisted).
//!
//! Names are kept where they are unique in scope, and get a number where hoisting has brought two
//! of the same name together.
//!
//! *Requires*: every name is bound before it is used. *Ensures*: names are unique in scope; no
//! variable of the new function is unused by text. *Cost*: linear in the code copied.

use jut_ir::build::Namer;
use jut_ir::entity::SecondaryMap;
use jut_ir::hash::HashSet;
use jut_ir::map::Mapper;
use jut_ir::*;

/// What names stand for: other names, or literals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Substitution {
    /// Non-linear names. Chains are followed.
    pub values: SecondaryMap<NVar, Option<Atom>>,
    /// Linear names. Chains are followed.
    pub tangents: SecondaryMap<LVar, Option<LVar>>,
}

impl Substitution {
    /// What an operand stands for.
    pub fn atom(&self, mut atom: Atom) -> Atom {
        while let Atom::Var(v) = atom {
            let Some(next) = self.values[v] else { break };
            atom = next;
        }
        atom
    }

    /// What a non-linear name stands for, if it is a name.
    pub fn nvar(&self, v: NVar) -> Option<NVar> {
        self.atom(Atom::Var(v)).var()
    }

    /// What a linear name stands for.
    pub fn lvar(&self, mut x: LVar) -> LVar {
        while let Some(next) = self.tangents[x] {
            x = next;
        }
        x
    }

    /// The size that a size name stands for, in normal form.
    pub fn size_name(&self, func: &Function, name: NVar) -> Size {
        match self.atom(Atom::Var(name)) {
            Atom::Var(v) => match &func.nvars[v].def {
                Some(def) => self.size(func, def),
                None => Size::var(v),
            },
            literal => func.size_of(literal),
        }
    }

    /// A size after substitution.
    pub fn size(&self, func: &Function, size: &Size) -> Size {
        size.subst(&mut |name| self.values[name].map(|_| self.size_name(func, name)))
    }

    /// A type after substitution.
    pub fn ty(&self, func: &Function, ty: &Type) -> Type {
        ty.subst(&mut |name| self.values[name].map(|_| self.size_name(func, name)))
    }
}

/// Moves code of one function into a new one.
pub(crate) struct Relocator<'a> {
    from: &'a Function,
    subst: &'a Substitution,
    /// The new function.
    pub to: Function,
    namer: Namer,
    nvars: SecondaryMap<NVar, Option<NVar>>,
    lvars: SecondaryMap<LVar, Option<LVar>>,
    caps: SecondaryMap<Cap, Option<Cap>>,
    /// What has been bound already. A region may bind what its body returns under the same
    /// index, and so may loops over one batch what they slice; here that is another variable.
    bound: (SecondaryMap<NVar, bool>, SecondaryMap<LVar, bool>, SecondaryMap<Cap, bool>),
    in_scope: HashSet<Name>,
    /// Names in the order in which they came into scope.
    trail: Vec<Name>,
}

impl<'a> Relocator<'a> {
    /// An empty function with the given name, for code of `from`.
    pub fn new(from: &'a Function, subst: &'a Substitution, namer: &Namer, name: String) -> Self {
        let to = Function { name, span: from.span, ..Function::default() };
        Relocator {
            from,
            subst,
            to,
            namer: namer.clone(),
            nvars: SecondaryMap::new(),
            lvars: SecondaryMap::new(),
            caps: SecondaryMap::new(),
            bound: Default::default(),
            in_scope: HashSet::default(),
            trail: Vec::new(),
        }
    }

    /// A function with the given body in place of its own, every binding a variable of its own.
    pub fn whole(func: &Function, body: Block) -> Function {
        let (subst, namer) = (Substitution::default(), Namer::of(func));
        let mut new = Relocator::new(func, &subst, &namer, func.name.clone());
        new.params(&func.params, &func.lin_params, &func.cap_params);
        new.body(body);
        for result in &func.results {
            let ty = new.ty(&result.ty);
            let name = result.name.map(|v| new.result_name(v));
            new.to.results.push(ResultDecl { name, ty });
        }
        for result in &func.lin_results {
            let ty = new.ty(&result.ty);
            new.to.lin_results.push(LinResultDecl { name: result.name.clone(), ty });
        }
        Function { doc: func.doc.clone(), size_params: func.size_params, ..new.to }
    }

    /// Sets the parameters. They stay in scope for the body.
    pub fn params(&mut self, values: &[NVar], tangents: &[LVar], caps: &[Cap]) {
        self.to.params = values.iter().map(|v| self.bind_nvar(*v)).collect();
        self.to.lin_params = tangents.iter().map(|x| self.bind_lvar(*x)).collect();
        self.to.cap_params = caps.iter().map(|c| self.bind_cap(*c)).collect();
    }

    /// Sets the body.
    pub fn body(&mut self, mut body: Block) {
        self.block(&mut body);
        self.to.body = body;
    }

    /// A type of the old function, in terms of the new one.
    pub fn ty(&mut self, ty: &Type) -> Type {
        if matches!(ty, Type::Float(_) | Type::I64 | Type::I32 | Type::Bool | Type::Data(_)) {
            return ty.clone();
        }
        self.subst.ty(self.from, ty).subst(&mut |name| Some(Size::var(self.nvar(name))))
    }

    /// A named result, which later result types may mention. It is in nobody's scope.
    pub fn result_name(&mut self, name: NVar) -> NVar {
        let data = self.from.nvars[name].clone();
        let ty = self.ty(&data.ty);
        let new = self.to.nvars.push(VarData { ty, def: None, ..data });
        self.nvars[name] = Some(new);
        new
    }

    fn scoped(&mut self, name: &Name) -> Name {
        let mut name = name.clone();
        if !self.in_scope.insert(name.clone()) {
            name = self.namer.fresh(&name);
            self.in_scope.insert(name.clone());
        }
        self.trail.push(name.clone());
        name
    }

    fn leave(&mut self, mark: usize) {
        for name in self.trail.drain(mark..) {
            self.in_scope.remove(&name);
        }
    }

    fn nvar(&mut self, v: NVar) -> NVar {
        let v = self.subst.nvar(v).unwrap_or(v);
        if let Some(new) = self.nvars[v] {
            return new;
        }
        // The type follows when the name is bound.
        let new = self.to.nvars.push(VarData { def: None, ..self.from.nvars[v].clone() });
        self.nvars[v] = Some(new);
        new
    }

    fn lvar(&mut self, x: LVar) -> LVar {
        let x = self.subst.lvar(x);
        if let Some(new) = self.lvars[x] {
            return new;
        }
        let new = self.to.lvars.push(self.from.lvars[x].clone());
        self.lvars[x] = Some(new);
        new
    }

    fn cap(&mut self, c: Cap) -> Cap {
        if let Some(new) = self.caps[c] {
            return new;
        }
        let new = self.to.caps.push(self.from.caps[c].clone());
        self.caps[c] = Some(new);
        new
    }

    fn bind_nvar(&mut self, v: NVar) -> NVar {
        if std::mem::replace(&mut self.bound.0[v], true) {
            self.nvars[v] = None;
        }
        let data = &self.from.nvars[v];
        let name = self.scoped(&data.name);
        let ty = self.ty(&data.ty);
        let def = data.def.as_ref().map(|def| {
            let def = self.subst.size(self.from, def);
            def.subst(&mut |name| Some(Size::var(self.nvar(name))))
        });
        let new = self.nvar(v);
        self.to.nvars[new] = VarData { name, ty, def, span: data.span };
        new
    }

    fn bind_lvar(&mut self, x: LVar) -> LVar {
        if std::mem::replace(&mut self.bound.1[x], true) {
            self.lvars[x] = None;
        }
        let data = &self.from.lvars[x];
        let name = self.scoped(&data.name);
        let ty = self.ty(&data.ty);
        let new = self.lvar(x);
        self.to.lvars[new] = LinVarData { name, ty, span: data.span };
        new
    }

    fn bind_cap(&mut self, c: Cap) -> Cap {
        if std::mem::replace(&mut self.bound.2[c], true) {
            self.caps[c] = None;
        }
        let data = &self.from.caps[c];
        let name = self.scoped(&data.name);
        let ty = self.ty(&data.ty);
        let new = self.cap(c);
        self.to.caps[new] = CapData { name, ty, ..data.clone() };
        new
    }

    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            let mark = self.trail.len();
            self.rhs(&mut stmt.rhs);
            self.leave(mark);
            stmt.nl.iter_mut().for_each(|v| *v = self.bind_nvar(*v));
            stmt.lin.iter_mut().for_each(|x| *x = self.bind_lvar(*x));
        }
        block.nl.iter_mut().for_each(|a| self.atom(a));
        block.lin.iter_mut().for_each(|x| *x = self.lvar(*x));
    }

    fn rhs(&mut self, rhs: &mut Rhs) {
        rhs.map_own_uses(self);
        match rhs {
            Rhs::Region(region) => {
                region.cap = self.bind_cap(region.cap);
                self.block(&mut region.body);
            }
            Rhs::Scan(scan) => {
                scan.index = self.bind_nvar(scan.index);
                scan.carry.iter_mut().for_each(|(v, _)| *v = self.bind_nvar(*v));
                scan.slices.iter_mut().for_each(|(v, _)| *v = self.bind_nvar(*v));
                scan.lin_carry.iter_mut().for_each(|(x, _)| *x = self.bind_lvar(*x));
                scan.lin_slices.iter_mut().for_each(|(x, _)| *x = self.bind_lvar(*x));
                scan.cap_slices.iter_mut().for_each(|(c, _)| *c = self.bind_cap(*c));
                self.block(&mut scan.body);
            }
            Rhs::Case(case) => {
                for arm in &mut case.arms {
                    let mark = self.trail.len();
                    for field in &mut arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            *v = self.bind_nvar(*v);
                        }
                    }
                    self.block(&mut arm.body);
                    self.leave(mark);
                }
            }
            _ => {}
        }
    }
}

impl Mapper for Relocator<'_> {
    fn atom(&mut self, atom: &mut Atom) {
        *atom = match self.subst.atom(*atom) {
            Atom::Var(v) => Atom::Var(self.nvar(v)),
            literal => literal,
        };
    }

    fn nvar(&mut self, v: &mut NVar) {
        *v = self.nvar(*v);
    }

    fn lvar(&mut self, x: &mut LVar) {
        *x = self.lvar(*x);
    }

    fn cap(&mut self, c: &mut Cap) {
        *c = self.cap(*c);
    }

    fn ty(&mut self, ty: &mut Type) {
        *ty = self.ty(ty);
    }

    fn size(&mut self, size: &mut Size) {
        if let Type::Array(new, _) = self.ty(&Type::array(size.clone(), Type::F64)) {
            *size = new;
        }
    }
}

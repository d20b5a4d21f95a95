//! What is asked of definitions: sizes and types of operands, the signature, which pass takes them, what is of another language.

use crate::entity::{FuncId, NVar};
use crate::hash::HashMap;
use crate::ir::*;
use crate::size::Size;
use crate::types::Type;

impl Function {
    /// The normal form of an i64 operand: its transparent definition, itself, or a literal.
    pub fn size_of(&self, atom: Atom) -> Size {
        match atom {
            Atom::Lit(Literal::I64(k)) => Size::constant(k),
            Atom::Lit(_) => Size::constant(0),
            Atom::Var(v) => self.nvars[v].def.clone().unwrap_or_else(|| Size::var(v)),
        }
    }

    /// The type of an operand.
    pub fn type_of(&self, atom: Atom) -> Type {
        match atom {
            Atom::Lit(l) => l.ty(),
            Atom::Var(v) => self.nvars[v].ty.clone(),
        }
    }

    /// The function without its body, and with the variables of its signature alone.
    pub fn signature(&self) -> Function {
        let mut to = Function {
            name: self.name.clone(),
            doc: self.doc.clone(),
            span: self.span,
            size_params: self.size_params,
            derived: self.derived,
            rule: self.rule,
            foreign: self.foreign,
            ..Function::default()
        };
        let types = (self.params.iter().map(|v| &self.nvars[*v].ty))
            .chain(self.results.iter().map(|r| &r.ty))
            .chain(self.lin_params.iter().map(|x| &self.lvars[*x].ty))
            .chain(self.lin_results.iter().map(|r| &r.ty))
            .chain(self.cap_params.iter().map(|c| &self.caps[*c].ty));
        let named = self.results.iter().filter_map(|r| r.name);
        let mut known: HashMap<NVar, NVar> = HashMap::default();
        for v in self.params.iter().copied().chain(named).chain(types.flat_map(Type::size_names)) {
            known.entry(v).or_insert_with(|| to.nvars.push(self.nvars[v].clone()));
        }
        let mut size = |v: NVar| known.get(&v).map(|new| Size::var(*new));
        for data in to.nvars.values_mut() {
            data.ty = data.ty.subst(&mut size);
            data.def = data.def.as_ref().map(|def| def.subst(&mut size));
        }
        to.params = self.params.iter().map(|v| known[v]).collect();
        for result in &self.results {
            let name = result.name.map(|v| known[&v]);
            to.results.push(ResultDecl { name, ty: result.ty.subst(&mut size) });
        }
        for x in &self.lin_params {
            let LinVarData { name, ty, span } = self.lvars[*x].clone();
            to.lin_params.push(to.lvars.push(LinVarData { name, ty: ty.subst(&mut size), span }));
        }
        for result in &self.lin_results {
            let (name, ty) = (result.name.clone(), result.ty.subst(&mut size));
            to.lin_results.push(LinResultDecl { name, ty });
        }
        for c in &self.cap_params {
            let data = self.caps[*c].clone();
            to.cap_params.push(to.caps.push(CapData { ty: data.ty.subst(&mut size), ..data }));
        }
        to
    }

    /// Whether there is nothing linear in the signature: the domain of J.
    pub fn is_nonlinear(&self) -> bool {
        self.lin_params.is_empty()
            && self.lin_results.is_empty()
            && self.cap_params.iter().all(|c| self.caps[*c].mode == Mode::Acc)
    }

    /// Whether there is no non-linear result: the domain of T.
    pub fn is_linear(&self) -> bool {
        !self.is_nonlinear()
            && self.results.is_empty()
            && self.cap_params.iter().all(|c| self.caps[*c].mode != Mode::Acc)
    }
}

impl Function {
    /// Whether it is a function of another language.
    pub fn is_foreign(&self) -> bool {
        self.foreign.is_some()
    }

    /// Whether it is the linear one of the two of a declaration.
    pub fn is_foreign_linear(&self) -> bool {
        matches!(self.foreign, Some(Foreign { form: Form::Linear { .. }, .. }))
    }
}

impl Program {
    /// What is declared of a function of another language, given either of its two forms.
    pub fn declared(&self, func: FuncId) -> Option<Declared> {
        let linear = match self.funcs.get(func)?.foreign?.form {
            Form::Linear { .. } => func,
            Form::Value { of } => of,
        };
        match self.funcs.get(linear)?.foreign?.form {
            Form::Linear { transpose, value, derivative } => {
                Some(Declared { linear, transpose, value, derivative })
            }
            Form::Value { .. } => None,
        }
    }

    /// What gives the derivative of the ordinary values of a function of another language.
    pub fn foreign_derivative(&self, func: FuncId) -> Option<FuncId> {
        match self.funcs.get(func)?.foreign?.form {
            Form::Value { .. } => self.declared(func)?.derivative,
            Form::Linear { .. } => None,
        }
    }

    /// The names of the functions of other languages, by their numbers.
    pub fn foreign_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for func in self.funcs.values().filter(|f| f.is_foreign_linear()) {
            let number = func.foreign.map_or(0, |foreign| foreign.number as usize);
            if names.len() <= number {
                names.resize(number + 1, String::new());
            }
            names[number].clone_from(&func.name);
        }
        names
    }

    /// The functions of other languages, both of each declaration.
    pub fn foreign(&self) -> impl Iterator<Item = FuncId> {
        self.funcs.iter().filter(|(_, f)| f.is_foreign()).map(|(id, _)| id)
    }
}

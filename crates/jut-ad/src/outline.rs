//! A block as a definition of its own.
//!
//! ```text
//! t = a * y; u = sin(t)   of y   ⟶   f.fn(a, y) = { t = a * y; u = sin(t); u },  captured: a
//! ```
//!
//! What the block reads and does not bind becomes a parameter, in front of those that it is said to have; sizes stand
//! before the arrays that have them. A transparent size of outside is computed again inside, by its definition, so that it is
//! transparent there.
//!
//! *Requires*: a well-typed block without linear names whose accesses are covered by what stands in it. *Ensures*: a
//! definition whose call with the captured values and values of the parameters gives what the block does. *Cost*: linear.

use crate::relocate::{Relocator, Substitution};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::{EntityRef, SecondaryMap};
use jut_ir::graph::strongly_connected;
use jut_ir::visit::Use;
use jut_ir::*;

/// Makes a definition of a block of `b`, and gives what it captures: its first parameters.
///
/// # Errors
/// `J901` for a block that adds to sums or reads linear names of outside, and for arrays whose size it computes and does not give before them.
pub fn outline(
    b: &mut FunctionBuilder,
    block: Block,
    params: &[NVar],
    name: String,
    span: Span,
) -> Result<(Function, Vec<NVar>), Diagnostic> {
    let refuse = |what: &str| {
        let message = format!("not built yet: the derivative of a function without a name {what}");
        Diagnostic::error("J901", span, message)
            .help("make it a definition, and give it what it needs")
    };
    let Some(reads) = Reads::of(b, &block, params) else {
        return Err(refuse("that adds to a sum outside of it"));
    };
    let (captured, transparent) = reads.captured(b, &[]);
    let results: Vec<Type> = block.nl.iter().map(|a| b.func.type_of(*a)).collect();
    let mut bound: SecondaryMap<NVar, bool> = SecondaryMap::new();
    block.for_each_binder(&mut |binder| {
        if let Use::N(v) = binder {
            bound[v] = true;
        }
    });
    // A size that the block computes is a result before those that have it, which has a name for that.
    let mut named: Vec<(Size, NVar)> = Vec::new();
    let mut declared: Vec<ResultDecl> = Vec::new();
    let own = |size: &Size| size.names().into_iter().any(|v| bound[v]);
    for (atom, ty) in block.nl.iter().zip(&results) {
        let ty = with_names(ty, &named);
        if ty.size_names().into_iter().any(|v| bound[v]) {
            return Err(refuse("that gives an array whose size is no result before it"));
        }
        let size = (ty == Type::I64).then(|| b.func.size_of(*atom));
        let name = match (atom, size) {
            (Atom::Var(v), Some(size)) if own(&size) && results.iter().any(|ty| has(ty, &size)) => {
                let name = b.func.nvars.push(VarData { def: None, ..b.func.nvars[*v].clone() });
                named.push((size, name));
                Some(name)
            }
            _ => None,
        };
        declared.push(ResultDecl { name, ty });
    }
    let part = Part { block, params: params.to_vec(), results: declared, name, span };
    Ok((part.outlined(b, &captured, transparent), captured))
}

/// Makes a definition of a block that captures what another one does, in the same order.
///
/// # Errors
/// `J901` for a block that adds to sums, reads other names of outside, or gives arrays whose sizes it computes.
pub fn outline_as(
    b: &mut FunctionBuilder,
    block: Block,
    captured: &[NVar],
    params: Vec<NVar>,
    name: String,
    span: Span,
) -> Result<Function, Diagnostic> {
    let refuse = |what: &str| {
        let message = format!("not built yet: a rule for a call with functions {what}");
        Err(Diagnostic::error("J901", span, message)
            .help("make definitions of the functions, and give them what they need"))
    };
    let Some(reads) = Reads::of(b, &block, &params) else {
        return refuse("that add to a sum outside of them");
    };
    let (own, transparent) = reads.captured(b, captured);
    if own.iter().any(|v| !captured.contains(v)) {
        return refuse("of which the definition uses less than its rule");
    }
    let mut bound: SecondaryMap<NVar, bool> = SecondaryMap::new();
    block.for_each_binder(&mut |binder| {
        if let Use::N(v) = binder {
            bound[v] = true;
        }
    });
    let types: Vec<Type> = block.nl.iter().map(|a| b.func.type_of(*a)).collect();
    if types.iter().any(|ty| ty.size_names().into_iter().any(|v| bound[v])) {
        return refuse("whose tangents have sizes that it computes");
    }
    let results = types.into_iter().map(|ty| ResultDecl { name: None, ty }).collect();
    let part = Part { block, params, results, name, span };
    Ok(part.outlined(b, captured, transparent))
}

/// One of several definitions to be.
pub struct Part {
    /// What it computes.
    pub block: Block,
    /// Its parameters, behind what it captures.
    pub params: Vec<NVar>,
    /// Its results, in the names of the block.
    pub results: Vec<ResultDecl>,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// Definitions that call each other.
pub struct Together {
    /// Those that others call before these, with numbers from the first on.
    pub funcs: Vec<Function>,
    /// Which of them is that of the first part.
    pub entry: usize,
    /// What that captures.
    pub captured: Vec<NVar>,
}

/// Makes definitions of blocks of `b` that call each other: the k-th one is the function with the number `unnumbered` + k where it is
/// called, and hands on to those that it calls what these capture. The numbers of the definitions begin with `first`.
///
/// # Errors
/// `J901` for a block that adds to sums or reads linear names of outside.
pub fn outline_together(
    b: &mut FunctionBuilder,
    mut parts: Vec<Part>,
    unnumbered: FuncId,
    first: FuncId,
) -> Result<Together, Diagnostic> {
    let mut reads = Vec::new();
    for part in &parts {
        let Some(own) = Reads::of(b, &part.block, &part.params) else {
            let message = "not built yet: a function that adds to a sum outside of it, for a definition that calls itself";
            let help = "let the function give what it adds";
            return Err(Diagnostic::error("J901", part.span, message).help(help));
        };
        let mut called = Vec::new();
        callees(&part.block, unnumbered, &mut called);
        reads.push((own, called));
    }
    // Whoever calls one has to have what that captures, or captures it too.
    let mut captured: Vec<Vec<NVar>> = vec![Vec::new(); parts.len()];
    loop {
        let mut grown = false;
        for (k, (own, called)) in reads.iter().enumerate() {
            let handed: Vec<NVar> =
                called.iter().filter_map(|k| captured.get(*k)).flatten().copied().collect();
            let (now, _) = own.captured(b, &handed);
            grown |= now.len() != captured[k].len();
            captured[k] = now;
        }
        if !grown {
            break;
        }
    }
    let edges = |k: usize, out: &mut Vec<usize>| out.extend(&reads[k].1);
    let components = strongly_connected(parts.len(), 0..parts.len(), edges);
    let order: Vec<usize> = components.into_iter().flat_map(|c| c.members).collect();
    let mut place = vec![0; parts.len()];
    order.iter().enumerate().for_each(|(at, k)| place[*k] = at);
    let mut funcs = Vec::new();
    for k in order {
        let (part, (own, called)) = (&mut parts[k], &reads[k]);
        let handed: Vec<NVar> =
            called.iter().filter_map(|k| captured.get(*k)).flatten().copied().collect();
        let (_, transparent) = own.captured(b, &handed);
        let number = |k: usize| FuncId::new(first.index() + place[k]);
        hand_on(&mut part.block, unnumbered, &number, &captured);
        let part = Part {
            block: std::mem::take(&mut part.block),
            params: std::mem::take(&mut part.params),
            results: std::mem::take(&mut part.results),
            name: std::mem::take(&mut part.name),
            span: part.span,
        };
        funcs.push(part.outlined(b, &captured[k], transparent));
    }
    let entry = place.first().copied().unwrap_or_default();
    Ok(Together { funcs, entry, captured: captured.into_iter().next().unwrap_or_default() })
}

/// The parts that a block calls.
fn callees(block: &Block, unnumbered: FuncId, out: &mut Vec<usize>) {
    for stmt in &block.stmts {
        if let Rhs::Call(call) = &stmt.rhs
            && let Some(k) = call.func.index().checked_sub(unnumbered.index())
        {
            out.push(k);
        }
        for inner in stmt.rhs.blocks() {
            callees(inner, unnumbered, out);
        }
    }
}

/// Calls get their numbers, and what is captured as their first arguments.
fn hand_on(
    block: &mut Block,
    unnumbered: FuncId,
    number: &dyn Fn(usize) -> FuncId,
    captured: &[Vec<NVar>],
) {
    for stmt in &mut block.stmts {
        if let Rhs::Call(call) = &mut stmt.rhs
            && let Some(k) = call.func.index().checked_sub(unnumbered.index())
            && let Some(captured) = captured.get(k)
        {
            call.func = number(k);
            call.args.splice(..0, captured.iter().map(|v| Atom::Var(*v)));
        }
        for inner in stmt.rhs.blocks_mut() {
            hand_on(inner, unnumbered, number, captured);
        }
    }
}

/// What a block reads.
struct Reads {
    /// What it binds, and its parameters.
    inside: SecondaryMap<NVar, bool>,
    /// Everything, in the order of the text.
    names: Vec<NVar>,
}

impl Reads {
    /// Of a block that reads nothing linear of outside, and no capabilities.
    fn of(b: &FunctionBuilder, block: &Block, params: &[NVar]) -> Option<Reads> {
        let mut inside: SecondaryMap<NVar, bool> = SecondaryMap::new();
        let mut caps: SecondaryMap<Cap, bool> = SecondaryMap::new();
        let mut types: Vec<Type> = params.iter().map(|p| b.func.nvars[*p].ty.clone()).collect();
        params.iter().for_each(|p| inside[*p] = true);
        block.for_each_binder(&mut |binder| match binder {
            Use::N(v) => {
                inside[v] = true;
                types.push(b.func.nvars[v].ty.clone());
            }
            Use::C(c) => caps[c] = true,
            Use::L(_) => {}
        });
        let mut outer = false;
        let mut names: Vec<NVar> = types.iter().flat_map(Type::size_names).collect();
        block.for_each_use(&b.func, &mut |name| match name {
            Use::N(v) => names.push(v),
            Use::C(c) => outer |= !caps[c],
            Use::L(_) => outer = true,
        });
        (!outer).then_some(Reads { inside, names })
    }

    /// What it captures, with what it hands on: sizes and then values; and the transparent names of outside that it reads.
    fn captured(&self, b: &FunctionBuilder, handed: &[NVar]) -> (Vec<NVar>, Vec<NVar>) {
        let mut inside = self.inside.clone();
        let mut work: Vec<NVar> = self.names.iter().chain(handed).copied().collect();
        let (mut sizes, mut values, mut transparent) = (Vec::new(), Vec::new(), Vec::new());
        work.reverse();
        while let Some(v) = work.pop() {
            if std::mem::replace(&mut inside[v], true) {
                continue;
            }
            let VarData { ty, def, .. } = &b.func.nvars[v];
            work.extend(ty.size_names());
            match def {
                Some(def) => {
                    work.extend(def.names());
                    transparent.push(v);
                }
                None if *ty == Type::I64 => sizes.push(v),
                None => values.push(v),
            }
        }
        sizes.append(&mut values);
        (sizes, transparent)
    }
}

impl Part {
    /// The definition.
    fn outlined(
        self,
        b: &mut FunctionBuilder,
        captured: &[NVar],
        transparent: Vec<NVar>,
    ) -> Function {
        let Part { block, params, results, name, span } = self;
        let (mut subst, mut stmts) = (Substitution::default(), Vec::new());
        let loc = Loc::source(span);
        for v in transparent {
            let Some(def) = b.func.nvars[v].def.clone() else { continue };
            subst.values[v] = Some(match (def.as_constant(), def.as_var()) {
                (Some(k), _) => Atom::Lit(Literal::I64(k)),
                (_, Some(of)) => Atom::Var(of),
                _ => Atom::Var(sizes::compute(&mut b.func, &mut b.namer, &def, loc, &mut stmts)),
            });
        }
        let all: Vec<NVar> = captured.iter().chain(&params).copied().collect();
        let mut new = Relocator::new(&b.func, &subst, &b.namer, name);
        new.params(&all, &[], &[]);
        stmts.extend(block.stmts);
        new.body(Block { stmts, ..block });
        for ResultDecl { name, ty } in &results {
            let ty = new.ty(ty);
            let name = name.map(|name| new.result_name(name));
            new.to.results.push(ResultDecl { name, ty });
        }
        Function { span, derived: true, ..new.to }
    }
}

/// Whether a type has an array of this size.
fn has(ty: &Type, size: &Size) -> bool {
    let mut found = false;
    ty.for_each_size(&mut |own| found |= own == size);
    found
}

/// A type with names in the place of sizes: the last of each.
fn with_names(ty: &Type, named: &[(Size, NVar)]) -> Type {
    match ty {
        Type::Array(size, element) => {
            let name = named.iter().rev().find(|(own, _)| own == size);
            let size = name.map_or_else(|| size.clone(), |(_, name)| Size::var(*name));
            Type::array(size, with_names(element, named))
        }
        Type::Tuple(items) => Type::Tuple(items.iter().map(|ty| with_names(ty, named)).collect()),
        other => other.clone(),
    }
}

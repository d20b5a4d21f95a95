//! Automatic differentiation of Linear A in four passes, and batching as a fifth, each a function from definitions to
//! definitions of the same program ("You Only Linearize Once", POPL 2023).
//!
//! | pass | module | from | to |
//! |---|---|---|---|
//! | J | [`forward`] | `f`, non-linear | `f.jvp`: values and tangents |
//! | U | [`unzip`] | `f.jvp` | `f.nonlin` and `f.lin`, joined by the tape `f.tape` |
//! | T | [`transpose`] | `f.lin` | `f.linT`: cotangents |
//! | L | [`erase`] | any | the same, all of it non-linear: J's domain again |
//! | B | [`batch`] | any | `f.vmap`: the same of every element of a batch |
//!
//! [`compose`] puts them together into gradients and products with the Jacobian; [`language`] makes those that
//! the text of a program asks for. [`activity`] says
//! which values have a tangent. The type checker of `jut-ir` accepts what every pass makes; that is
//! how the passes are tested, because a transformation that loses or doubles a cotangent makes an
//! ill-typed program.
//!
//! All derived definitions live in one program, beside the user's: [`Derivatives`] owns it and
//! remembers what has been derived from what, so each definition is transformed once and code size
//! grows by a constant factor (Theorem 8.1).

pub mod activity;
pub mod batch;
pub mod compose;
pub mod erase;
pub mod forward;
pub mod language;
mod linearity;
pub mod network;
pub mod outline;
mod relocate;
pub mod transpose;
pub mod unzip;

use activity::{Influence, Kinds};
use jut_ir::entity::EntityRef;
use jut_ir::{Data, DataId, Decl, Diagnostic, FuncId, Function, Mode, Program, Span, names};
use std::collections::{HashMap, HashSet};

/// `J999`: a pass lacks what every program has that the checker accepts. It says so, and makes nothing up in its place.
fn internal(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("J999", span, format!("internal error: {what}"))
        .help("please report this program")
}

/// A program, and what has been derived from what in it.
#[derive(Clone, Debug, Default)]
pub struct Derivatives {
    /// The user's definitions and all derived ones, callees before callers.
    pub program: Program,
    /// J, by function and mask.
    pub(crate) jvps: HashMap<(FuncId, Mask), Jvp>,
    /// The masks that calls have asked for, and those they were given; see [`forward`].
    pub(crate) masks: HashMap<FuncId, Vec<(Mask, Mask)>>,
    /// U, by function (a `jvp`, or a user-written function with linear parameters) and policy.
    pub(crate) unzipped: HashMap<(FuncId, Policy), Unzipped>,
    /// What U made halves of, where that is not the function itself: with parts that are computed again.
    pub(crate) prepared: HashMap<(FuncId, Policy), Function>,
    /// The functions that U has made of what is computed again as a whole.
    pub(crate) parts: HashSet<FuncId>,
    /// The halves, with a tape, of those of them that call functions of which they are a part.
    pub(crate) circular: HashMap<(FuncId, Policy), Unzipped>,
    /// Those of them that keep checkpoints in binomial order.
    pub(crate) revolved: HashMap<FuncId, unzip::Revolved>,
    /// T.
    pub(crate) transposed: HashMap<FuncId, FuncId>,
    /// L.
    pub(crate) erased: HashMap<FuncId, FuncId>,
    /// Which data types have floats and arrays.
    pub(crate) kinds: Kinds,
    /// What each function's results depend on.
    pub(crate) influences: HashMap<FuncId, Influence>,
    /// Forward derivatives by rules in cotangents: between two calls in them there is a tape.
    pub(crate) by_cotangents: HashSet<FuncId>,
    /// What states the derivative of a definition with a rule.
    pub(crate) stated: HashMap<FuncId, FuncId>,
    /// The definitions that give zeros with the shape of a value.
    pub(crate) zeros: HashMap<DataId, FuncId>,
    /// B, by function and mapped parameters, and what it has nothing to do for as a whole.
    pub(crate) batched: HashMap<(FuncId, Mask), FuncId>,
    pub(crate) by_element: HashSet<(FuncId, Mask)>,
    /// The generated functions for linear operations at compound types, by name.
    pub(crate) operations: HashMap<String, FuncId>,
    /// Compositions, by what was asked for.
    pub(crate) compositions: HashMap<compose::Asked, compose::Composition>,
    /// Linear approximations that are kept and applied.
    pub(crate) linearized: HashMap<(FuncId, Mask, Policy), compose::Linearized>,
    /// Names of functions, data types and constructors in use.
    names: HashSet<String>,
    /// Of how many functions and data types the names were noted by [`Derivatives::resume`].
    seen: (usize, usize),
    /// Whether passes take bodies for the last time; see [`Derivatives::once`].
    once: bool,
    /// Functions whose bodies have been taken.
    taken: HashSet<FuncId>,
}

impl Derivatives {
    /// Starts from a checked program.
    pub fn new(program: Program) -> Derivatives {
        let mut names = HashSet::new();
        names.extend(program.funcs.values().map(|f| f.name.clone()));
        for data in program.datas.values() {
            names.insert(data.name.clone());
            names.extend(data.constructors.iter().map(|c| c.name.clone()));
        }
        let mut derivatives = Derivatives { program, names, ..Derivatives::default() };
        derivatives.know_foreign(0);
        derivatives
    }

    /// What T and L make of functions of other languages is declared.
    fn know_foreign(&mut self, first: usize) {
        let new = self.program.foreign().filter(|id| id.index() >= first);
        for declared in new.filter_map(|id| self.program.declared(id)) {
            self.transposed.insert(declared.linear, declared.transpose);
            self.erased.insert(declared.linear, declared.value);
            self.erased.insert(declared.value, declared.value);
        }
    }

    /// Starts from a checked program of which one gradient, one product with the Jacobian or its transpose
    /// is made ([`compose::grad`], [`compose::vjp`], [`compose::jvp`] and their like), and nothing else.
    /// Each body is then forgotten once it has been read for the last time: of a long program, memory
    /// holds two or three stages at a time.
    pub fn once(program: Program) -> Derivatives {
        Derivatives { once: true, ..Derivatives::new(program) }
    }

    /// Goes on with a program that has got further definitions meanwhile.
    pub(crate) fn resume(&mut self, program: Program) {
        let (funcs, datas) = self.seen;
        self.names.extend(program.funcs.values().skip(funcs).map(|f| f.name.clone()));
        for data in program.datas.values().skip(datas) {
            self.names.insert(data.name.clone());
            self.names.extend(data.constructors.iter().map(|c| c.name.clone()));
        }
        self.seen = (program.funcs.len(), program.datas.len());
        self.program = program;
        self.know_foreign(funcs);
    }

    /// A function, to make another one of it. Under [`Derivatives::once`] only its signature stays.
    pub(crate) fn take(&mut self, id: FuncId) -> Result<Function, Diagnostic> {
        let func = &mut self.program.funcs[id];
        if !self.once {
            return Ok(func.clone());
        }
        if !self.taken.insert(id) {
            let what = format!("`{}` is read after it was forgotten", func.name);
            return Err(internal(func.span, &what));
        }
        let signature = func.signature();
        Ok(std::mem::replace(func, signature))
    }

    /// Under [`Derivatives::once`]: of all functions that `root` does not need, only signatures stay.
    pub(crate) fn keep_only(&mut self, root: FuncId) {
        if !self.once {
            return;
        }
        let kept: HashSet<FuncId> =
            jut_ir::calls::callees_first(&self.program, [root]).into_iter().collect();
        for (id, func) in self.program.funcs.iter_mut() {
            if !kept.contains(&id) && self.taken.insert(id) {
                *func = func.signature();
            }
        }
    }

    /// Adds a derived function; a name that is taken already (the user may have printed and pasted
    /// a stage) gets a number.
    pub fn add_func(&mut self, mut func: Function) -> FuncId {
        func.name = self.fresh_name(&func.name);
        self.program.add_func(func)
    }

    /// A derived function that is called before it is made: its name alone. [`Derivatives::complete`] declares it.
    pub(crate) fn reserve(&mut self, name: &str) -> FuncId {
        let name = self.fresh_name(name);
        self.program.funcs.push(Function { name, ..Function::default() })
    }

    /// Declares a function that has been reserved.
    pub(crate) fn complete(&mut self, id: FuncId, func: Function) -> FuncId {
        self.program.order.push(Decl::Func(id));
        self.fill(id, func)
    }

    /// Gives a function that has been reserved all but its place among the declarations.
    pub(crate) fn fill(&mut self, id: FuncId, func: Function) -> FuncId {
        let name = std::mem::take(&mut self.program.funcs[id].name);
        self.program.funcs[id] = Function { name, ..func };
        id
    }

    /// Adds a derived data type; names that are taken get a number.
    pub fn add_data(&mut self, mut data: Data) -> DataId {
        self.name_data(&mut data);
        self.program.add_data(data)
    }

    /// Gives a derived data type and its constructors names that are not taken.
    pub(crate) fn name_data(&mut self, data: &mut Data) {
        let wish = data.name.clone();
        data.name = self.fresh_name(&wish);
        for constructor in &mut data.constructors {
            // A record's constructor has the name of its type.
            constructor.name = if constructor.name == wish {
                data.name.clone()
            } else {
                self.fresh_name(&constructor.name)
            };
        }
    }

    /// A name for a function, data type or constructor like `wish` that is not taken, and now is.
    pub fn fresh_name(&mut self, wish: &str) -> String {
        let mut name = wish.to_string();
        let mut number = 0;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{wish}_{number}");
        }
        name
    }

    /// The mask for the erasure of a function: its linear parameters have become active ones.
    pub(crate) fn mask_of_erased(&self, func: FuncId, erased: FuncId, mask: &Mask) -> Mask {
        if erased == func {
            return mask.clone();
        }
        let given = self.program.funcs[func].params.len();
        Mask::new(&self.program, erased, |k| k >= given || mask.is_active(k))
    }

    /// What J made of a function under a mask, if it has.
    pub fn jvp_of(&self, func: FuncId, mask: &Mask) -> Option<&Jvp> {
        self.jvps.get(&(func, mask.clone()))
    }
}

/// Which non-linear parameters of a function are active, that is, have a tangent. One entry per
/// parameter; parameters without a float are never active.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mask(pub(crate) Vec<bool>);

impl Mask {
    /// Every parameter that has a float.
    pub fn full(program: &Program, func: FuncId) -> Mask {
        Mask::new(program, func, |_| true)
    }

    /// The parameters at the given positions.
    pub fn only(program: &Program, func: FuncId, positions: &[usize]) -> Mask {
        Mask::new(program, func, |k| positions.contains(&k))
    }

    /// The parameters that `wanted` picks, as far as they have a float.
    pub fn new(program: &Program, func: FuncId, wanted: impl Fn(usize) -> bool) -> Mask {
        let f = &program.funcs[func];
        let active =
            |(k, p): (usize, &jut_ir::NVar)| wanted(k) && f.nvars[*p].ty.has_float(program);
        Mask(f.params.iter().enumerate().map(active).collect())
    }

    /// The parameters that `wanted` picks of so many, with floats or without: those that a batch is mapped over.
    pub fn of(count: usize, wanted: impl Fn(usize) -> bool) -> Mask {
        Mask((0..count).map(wanted).collect())
    }

    /// Whether the k-th parameter is active.
    pub fn is_active(&self, k: usize) -> bool {
        self.0.get(k).copied().unwrap_or(false)
    }

    /// Whether nothing is active.
    pub fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }

    /// The positions of the active parameters.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, active)| **active).map(|(k, _)| k)
    }

    /// The name that derived functions start from: `f` for the full mask, else `f{w,b}`.
    pub fn name(&self, program: &Program, func: FuncId) -> String {
        let f = &program.funcs[func];
        if *self == Mask::full(program, func) {
            return f.name.clone();
        }
        let active: Vec<&str> =
            self.positions().map(|k| f.nvars[f.params[k]].name.as_str()).collect();
        names::masked(&f.name, &active)
    }
}

/// How a parameter's tangent is passed, by its type alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passing {
    /// No float, no tangent.
    Inactive,
    /// A linear parameter.
    Value,
    /// A capability: anything with an array in it.
    Capability,
}

impl Passing {
    /// How the tangent of a value of type `ty` is passed.
    pub fn of(kinds: &Kinds, ty: &jut_ir::Type) -> Passing {
        if !kinds.has_float(ty) {
            Passing::Inactive
        } else if kinds.has_array(ty) {
            Passing::Capability
        } else {
            Passing::Value
        }
    }
}

/// What J made of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Jvp {
    /// The forward derivative.
    pub func: FuncId,
    /// Which results of the function have a tangent, one entry per non-linear result.
    pub results: Vec<bool>,
    /// Which `acc` parameters have a tangent (a `wr` parameter after all others), one entry each.
    pub accs: Vec<bool>,
}

/// How much goes on the tape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Policy {
    /// The paper's: every need is stored.
    StoreAll,
    /// What takes the least time: nothing is stored that arguments, carried states and other stored
    /// values give by less arithmetic than a store and a load take, and nothing twice.
    #[default]
    Default,
    /// [`Policy::Default`], for memory that is scarcer than time: divisions too are computed again.
    Minimal,
}

impl Policy {
    /// All policies, the one that stores most first.
    pub const ALL: [Policy; 3] = [Policy::StoreAll, Policy::Default, Policy::Minimal];

    /// What it is called where policies are written down.
    pub fn name(self) -> &'static str {
        match self {
            Policy::StoreAll => "store_all",
            Policy::Default => "default",
            Policy::Minimal => "minimal",
        }
    }
}

/// What U made of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unzipped {
    /// The non-linear half: the results of the function, then the tape if there is one.
    pub nonlin: FuncId,
    /// The linear half: forwarded parameters, result sizes, the tape if there is one; tangents;
    /// capabilities.
    pub lin: FuncId,
    /// The type of the tape, if anything is stored.
    pub tape: Option<DataId>,
    /// Positions of the function's parameters that `lin` takes, in order.
    pub forwarded: Vec<usize>,
    /// Positions of the i64 results of the function that `lin` takes, in order.
    pub result_sizes: Vec<usize>,
}

/// A part of Linear A that a pass takes or makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fragment {
    /// Nothing linear in the signature, and nothing linear that is not local: J's domain.
    NonLinear,
    /// Non-linear and linear results: the whole of Linear A.
    Mixed,
    /// Only linear results; non-linear statements never read linear names (Linear B): T's domain.
    Linear,
}

impl Fragment {
    /// Whether the signature of a definition is that of the fragment.
    pub fn holds(self, func: &Function) -> bool {
        match self {
            Fragment::NonLinear => func.is_nonlinear(),
            Fragment::Mixed => true,
            Fragment::Linear => {
                func.results.is_empty()
                    && func.cap_params.iter().all(|c| func.caps[*c].mode != Mode::Acc)
            }
        }
    }
}

/// One pass, for the command line, the tests and the documentation.
pub struct Pass {
    /// What it is called.
    pub name: &'static str,
    /// The letter that the paper gives it.
    pub letter: char,
    /// One sentence.
    pub about: &'static str,
    /// The figure or section of the paper.
    pub figure: &'static str,
    /// What it takes.
    pub takes: Fragment,
    /// What the definitions that it makes are, in order; the checker must accept them as such.
    pub makes: &'static [Fragment],
    /// Applies it under the default policy.
    pub apply: fn(&mut Derivatives, FuncId) -> Result<Vec<FuncId>, Diagnostic>,
}

/// The passes, in the order in which a gradient uses them; then the one that it does not use.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "forward",
        letter: 'J',
        about: "pairs every float value with its tangent",
        figure: "Fig. 7",
        takes: Fragment::NonLinear,
        makes: &[Fragment::Mixed],
        apply: |d, f| {
            let mask = Mask::full(&d.program, f);
            forward::forward(d, f, &mask).map(|f| vec![f])
        },
    },
    Pass {
        name: "unzip",
        letter: 'U',
        about: "parts values from tangents; the tape joins the halves",
        figure: "Fig. 8",
        takes: Fragment::Mixed,
        makes: &[Fragment::NonLinear, Fragment::Linear],
        apply: |d, f| unzip::unzip(d, f, Policy::Default).map(|u| vec![u.nonlin, u.lin]),
    },
    Pass {
        name: "transpose",
        letter: 'T',
        about: "turns the map from tangents to tangents round: cotangents flow back",
        figure: "Fig. 11",
        takes: Fragment::Linear,
        makes: &[Fragment::Linear],
        apply: |d, f| transpose::transpose(d, f).map(|f| vec![f]),
    },
    Pass {
        name: "erase",
        letter: 'L',
        about: "forgets linearity, so that the result can be differentiated again",
        figure: "section 4.5",
        takes: Fragment::Mixed,
        makes: &[Fragment::NonLinear],
        apply: |d, f| erase::erase(d, f).map(|f| vec![f]),
    },
    Pass {
        name: "vmap",
        letter: 'B',
        about: "takes every element of a batch: what is the same for all is computed once",
        figure: "not in the paper",
        takes: Fragment::Mixed,
        makes: &[Fragment::Mixed],
        apply: |d, f| {
            let mapped = batch::mappable(&d.program, f);
            batch::batch(d, f, &mapped).map(|f| vec![f])
        },
    },
];

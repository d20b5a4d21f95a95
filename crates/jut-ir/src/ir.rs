//! Programs, functions, blocks and statements.
//!
//! Everything is in A-normal form: a block is a flat list of statements and a list of results, a
//! statement is a pattern and **one** operation, operands are names or literals. Blocks nest only
//! inside loops, branches and regions. Every list is split "non-linear ; linear ; capabilities",
//! like the text form.
//!
//! The linear operations are a closed enumeration ([`Rhs::LAdd`] ..). Only non-linear primitives
//! are an open table ([`crate::prim`]); so U and T never change when a primitive is added.

use crate::entity::{Cap, DataId, FuncId, LVar, NVar, PrimaryMap};
use crate::names::Name;
use crate::prim::Prim;
use crate::size::Size;
use crate::span::{Loc, Span};
use crate::structured::Structured;
use crate::tape::TapePolicy;
use crate::types::Type;

mod checks;

pub use crate::data::{Constructor, Data, Field, Record};
pub use crate::foreign::{Declared, Foreign, Form};
pub use crate::scalar::Literal;
pub use checks::{Check, Shown};

/// A whole program: declarations in order, each visible to those after it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Data types.
    pub datas: PrimaryMap<DataId, Data>,
    /// Definitions.
    pub funcs: PrimaryMap<FuncId, Function>,
    /// The order of declarations, for printing and for scope.
    pub order: Vec<Decl>,
}

/// One declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decl {
    /// A data type.
    Data(DataId),
    /// A definition.
    Func(FuncId),
}

impl Program {
    /// Declares a data type after everything declared so far.
    pub fn add_data(&mut self, data: Data) -> DataId {
        let id = self.datas.push(data);
        self.order.push(Decl::Data(id));
        id
    }

    /// Declares a function after everything declared so far.
    pub fn add_func(&mut self, func: Function) -> FuncId {
        let id = self.funcs.push(func);
        self.order.push(Decl::Func(id));
        id
    }

    /// The function with the given name (linear search; passes keep their own maps).
    pub fn find_func(&self, name: &str) -> Option<FuncId> {
        self.funcs.iter().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }

    /// The definitions of which the program states the derivative, and how.
    pub fn rules(&self) -> impl Iterator<Item = (FuncId, Rule)> {
        self.order.iter().filter_map(|decl| match decl {
            Decl::Func(func) => self.funcs[*func].rule.map(|rule| (*func, rule)),
            Decl::Data(_) => None,
        })
    }

    /// The data type with the given name.
    pub fn find_data(&self, name: &str) -> Option<DataId> {
        self.datas.iter().find(|(_, d)| d.name == name).map(|(id, _)| id)
    }

    /// The constructor that `con` means.
    pub fn constructor(&self, con: ConRef) -> &Constructor {
        &self.datas[con.data].constructors[con.index as usize]
    }
}

/// One constructor of a data type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConRef {
    /// The data type.
    pub data: DataId,
    /// Which constructor.
    pub index: u32,
}

/// A definition.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its name: a path, with a mask for derived functions that have one: `f{w,b}.jvp`.
    pub name: String,
    /// Doc comment, without the slashes.
    pub doc: String,
    /// The definition's head in the user's text.
    pub span: Span,
    /// How many of the first parameters are sizes declared in brackets (`def f[n, d](..)`);
    /// a surface call leaves them out.
    pub size_params: usize,
    /// Whether passes made it for a derivative that the text takes of another definition.
    pub derived: bool,
    /// What J makes its derivative of, in place of its body.
    pub rule: Option<Rule>,
    /// What of another language it is, in place of a body.
    pub foreign: Option<Foreign>,
    /// Non-linear parameters.
    pub params: Vec<NVar>,
    /// Linear parameters.
    pub lin_params: Vec<LVar>,
    /// Capability and reference parameters.
    pub cap_params: Vec<Cap>,
    /// Types of the non-linear results: a telescope.
    pub results: Vec<ResultDecl>,
    /// Types of the linear results; sizes may name non-linear results.
    pub lin_results: Vec<LinResultDecl>,
    /// The body.
    pub body: Block,
    /// All non-linear variables of the function.
    pub nvars: PrimaryMap<NVar, VarData>,
    /// All linear variables of the function. A name includes its primes: `x'`.
    pub lvars: PrimaryMap<LVar, LinVarData>,
    /// All capabilities and references of the function.
    pub caps: PrimaryMap<Cap, CapData>,
}

/// A derivative that the program states: a definition without linear parts that is linear in its last
/// parameters ([`crate::check`] proves it).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// `rule jvp f = g`: `g(x, dx)` gives the tangents of the results of `f(x)`. It takes, after the
    /// parameters of `f`, one tangent for each of them that has floats.
    Jvp(FuncId),
    /// `rule vjp f = g`: `g(x, dy)` gives the cotangents of the parameters of `f`. It takes, after
    /// the parameters of `f`, one cotangent for each result that has floats.
    Vjp(FuncId),
}

impl Rule {
    /// The definition that states the derivative.
    pub fn func(self) -> FuncId {
        match self {
            Rule::Jvp(func) | Rule::Vjp(func) => func,
        }
    }

    /// Its word in the text.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Jvp(_) => "jvp",
            Rule::Vjp(_) => "vjp",
        }
    }

    /// The same of another definition.
    pub fn with(self, func: FuncId) -> Rule {
        match self {
            Rule::Jvp(_) => Rule::Jvp(func),
            Rule::Vjp(_) => Rule::Vjp(func),
        }
    }
}

/// A non-linear result of a definition.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultDecl {
    /// The variable that later result types call this result by, if it is named (it is bound
    /// nowhere in the body).
    pub name: Option<NVar>,
    /// Its type.
    pub ty: Type,
}

/// A linear result of a definition.
#[derive(Clone, PartialEq, Debug)]
pub struct LinResultDecl {
    /// Its name with primes, if it is named; for the reader only.
    pub name: Option<Name>,
    /// Its type.
    pub ty: Type,
}

/// What is known of a non-linear variable.
#[derive(Clone, PartialEq, Debug)]
pub struct VarData {
    /// The name as printed; unique among the names in scope.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// For a *transparent* i64 name (bound by `+ - *`, negation, a copy, a literal or `size`): its
    /// definition in normal form, over opaque names. Types never mention transparent names.
    pub def: Option<Size>,
    /// Where it is bound.
    pub span: Span,
}

/// What is known of a linear variable.
#[derive(Clone, PartialEq, Debug)]
pub struct LinVarData {
    /// The name as printed, primes included; unique among the linear names in scope.
    pub name: Name,
    /// Its type (a type that is its own tangent type).
    pub ty: Type,
    /// Where it is bound.
    pub span: Span,
}

/// What is known of a capability.
#[derive(Clone, PartialEq, Debug)]
pub struct CapData {
    /// The name as printed; unique among the non-linear and capability names in scope.
    pub name: Name,
    /// What may be done with it.
    pub mode: Mode,
    /// Whether additions into it go by lanes, a fixed order that vectors can keep; only for scalars of mode `wr`, `acc`.
    pub lanes: bool,
    /// The type of what it gives access to.
    pub ty: Type,
    /// Where it is bound.
    pub span: Span,
}

/// The mode of a capability.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Read part of a linear value, as often as one likes.
    Rd,
    /// Add into part of a linear value, as often as one likes.
    Wr,
    /// The non-linear twin of `wr`: an accumulator.
    Acc,
}

impl Mode {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Mode::Rd => "rd",
            Mode::Wr => "wr",
            Mode::Acc => "acc",
        }
    }
}

/// A non-linear operand: a name or a literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A name.
    Var(NVar),
    /// A literal.
    Lit(Literal),
}

impl Atom {
    /// The name, if it is one.
    pub fn var(self) -> Option<NVar> {
        match self {
            Atom::Var(v) => Some(v),
            Atom::Lit(_) => None,
        }
    }

    /// The integer that it is, if that is written down.
    pub fn integer(self) -> Option<i64> {
        match self {
            Atom::Lit(Literal::I64(k)) => Some(k),
            _ => None,
        }
    }
}

impl Rhs {
    /// Whether it is a primitive that cannot fail on its operands.
    pub fn is_total_prim(&self) -> bool {
        match self {
            Rhs::Prim(prim, args) => !prim.can_fail_by(args.last().and_then(|a| a.integer())),
            _ => false,
        }
    }
}

impl From<NVar> for Atom {
    fn from(v: NVar) -> Atom {
        Atom::Var(v)
    }
}

/// An operand of an operation that works on either side (`+=`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// Non-linear.
    N(Atom),
    /// Linear; the operation consumes it.
    L(LVar),
}

/// One step of a path into an array or tuple.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// `[i]`, or `[!i]` when the index is proved.
    Index {
        /// The index.
        index: Atom,
        /// Printed with `!`: made by a pass out of an access that is checked elsewhere. What is read from
        /// text is never marked: there `!` asks for a check where the range rule does not cover.
        proved: bool,
    },
    /// `[lo ..+ len]`.
    Slice {
        /// First element.
        lo: Atom,
        /// Number of elements.
        len: Atom,
        /// Written with `!`.
        proved: bool,
    },
    /// `.k` of a tuple: in places, and in the paths of updates behind an index.
    Field(u32),
}

/// A place: a capability and a path into what it gives access to. O(1), never a copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The capability.
    pub root: Cap,
    /// The path, outermost step first.
    pub path: Vec<Step>,
}

impl Place {
    /// The whole of a capability.
    pub fn root(root: Cap) -> Place {
        Place { root, path: Vec::new() }
    }

    /// This place, one step further in.
    pub fn then(&self, step: Step) -> Place {
        let mut path = self.path.clone();
        path.push(step);
        Place { root: self.root, path }
    }
}

/// Statements, and the results of the block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// The statements in order.
    pub stmts: Vec<Stmt>,
    /// Non-linear results.
    pub nl: Vec<Atom>,
    /// Linear results; each is consumed.
    pub lin: Vec<LVar>,
}

/// A pattern and one operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// Non-linear variables bound.
    pub nl: Vec<NVar>,
    /// Linear variables bound.
    pub lin: Vec<LVar>,
    /// The operation.
    pub rhs: Rhs,
    /// Whether the pattern is printed with types, which then bind sizes: a `case`
    /// whose arms compute them.
    pub annotated: bool,
    /// Span and origin.
    pub loc: Loc,
}

/// The right-hand side of a statement. Comments give pattern and text.
#[derive(Clone, PartialEq, Debug)]
pub enum Rhs {
    // ---- non-linear leaves
    /// `y = a`.
    Atom(Atom),
    /// `y = p(a, ..)`.
    Prim(Prim, Vec<Atom>),
    /// `y = matmul(a, ..)`: a structured primitive, its arrays, and its sizes, which are polynomials
    /// like those in types.
    Structured(Structured, Vec<Atom>, Vec<Size>),
    /// `y = #(a, ..)`.
    Tuple(Vec<Atom>),
    /// `#(a, ..) = y`; binds one name per component.
    Untuple(NVar),
    /// `y = x.k`: a tuple component or a field (by position) of a one-constructor type.
    Proj(NVar, u32),
    /// `y = K(a, ..)`.
    Con(ConRef, Vec<Atom>),
    /// `K(p, ..) = x` for a one-constructor type. One entry per field: `None` binds the next name
    /// of the pattern, `Some(n)` is `=n`: stated to be equal.
    Open {
        /// The constructor.
        con: ConRef,
        /// The value opened.
        value: NVar,
        /// Fields: bound, or stated to be equal.
        eqs: Vec<Option<Atom>>,
        /// What is stated is not tested by compiled code: made by a pass.
        proved: bool,
    },
    /// `y = [a, ..]`.
    ArrayLit(Vec<Atom>),
    /// `n = size(x, k)`.
    Size(NVar, u32),
    /// `y = x[i, ..]`: element, row (a view) or slice (a view). Only index and slice steps.
    Index(NVar, Vec<Step>),
    /// `y = x with [i, ..] = v`: x with another part, in place where nobody needs x any more, else a copy.
    /// `x with [i].k[j] = v` is a part of a tuple that is an element, and leaves its other components where they are.
    Update {
        /// The array.
        array: NVar,
        /// Where the part is: an index or a slice first.
        path: Vec<Step>,
        /// The part.
        value: Atom,
    },
    /// `y = cast x : t`; `proved cast` only from passes.
    Cast {
        /// The value.
        value: NVar,
        /// The new type: the same up to sizes.
        ty: Type,
        /// Not tested by compiled code.
        proved: bool,
    },
    /// `check ..`; binds nothing.
    Check(Check),

    // ---- linear leaves: a closed list
    /// `y' = x'`.
    LCopy(LVar),
    /// `y' = a' + b'`.
    LAdd(LVar, LVar),
    /// `y' = -x'`.
    LNeg(LVar),
    /// `y' = c * x'`.
    LScale(Atom, LVar),
    /// `y' = select(b, x', z')`.
    LSelect(Atom, LVar, LVar),
    /// `z' = zero t`.
    LZero(Type),
    /// `(; a', b') = dup x'`.
    Dup(LVar),
    /// `drop x'`; binds nothing.
    Drop(LVar),
    /// `t' = #(a', ..)`.
    LTuple(Vec<LVar>),
    /// `#(a', ..) = t'`.
    LUntuple(LVar),
    /// `z' = K.tan(n, a')`: a tangent of a value that K made ([`crate::tangent`]).
    LCon {
        /// The constructor, of a data type that is a tangent type.
        con: ConRef,
        /// The values of its i64 fields, in order.
        sizes: Vec<Atom>,
        /// Those of the others.
        fields: Vec<LVar>,
    },
    /// `K.tan(=n, a') = z'`: the fields of such a tangent, zeros if it is another one. Binds one linear name per
    /// field that is no size; the sizes are tested.
    LOpen {
        /// The constructor.
        con: ConRef,
        /// What its i64 fields are stated to be, in order.
        sizes: Vec<Atom>,
        /// The tangent opened.
        value: LVar,
    },
    /// `y' = matmul(a, x')`: a structured primitive, linear in one operand.
    LApply {
        /// The primitive.
        op: Structured,
        /// The position of the linear operand.
        operand: usize,
        /// The other arrays, in order.
        args: Vec<Atom>,
        /// The sizes.
        sizes: Vec<Size>,
        /// The linear operand.
        x: LVar,
    },
    /// `y' = cast x' : t`.
    LCast {
        /// The value.
        value: LVar,
        /// The new type: the same up to sizes.
        ty: Type,
        /// Not tested by compiled code.
        proved: bool,
    },
    /// `y' = x' with [i, ..] = v'`: x' with another part. T makes [`Rhs::LTake`] of it.
    LUpdate {
        /// The array.
        x: LVar,
        /// Where the part is, as in [`Rhs::Update`].
        path: Vec<Step>,
        /// The part.
        value: LVar,
    },
    /// `(; y', v') = take x'[i, ..]`: x' with zero in the place of a part, and the part that was there.
    LTake {
        /// The array.
        x: LVar,
        /// Where the part is.
        path: Vec<Step>,
    },
    /// `a' = rd p`.
    Rd(Place),
    /// `p += x'` on `wr`, `p += a` on `acc`; binds nothing.
    Inc(Place, Operand),

    // ---- control
    /// `rd r = x' { .. }`, `lend r = x' { .. }`, `wr r: t { .. }`, `acc r: t { .. }`.
    Region(Box<Region>),
    /// `(..; ..) = scan d (i < n) ..`.
    Scan(Box<Scan>),
    /// `(..; ..) = case v { .. }`.
    Case(Box<Case>),
    /// `(..; ..) = f(..; ..; ..)`.
    Call(Box<Call>),
}

/// The linear operations without blocks, as a pattern for an [`Rhs`]: the closed list of them. `+=` is one where it adds a linear
/// name, and a region, loop, `case` or call where something linear occurs in it.
#[macro_export]
macro_rules! linear_operation {
    () => {
        $crate::Rhs::LCopy(..)
            | $crate::Rhs::LAdd(..)
            | $crate::Rhs::LNeg(..)
            | $crate::Rhs::LScale(..)
            | $crate::Rhs::LSelect(..)
            | $crate::Rhs::LZero(..)
            | $crate::Rhs::Dup(..)
            | $crate::Rhs::Drop(..)
            | $crate::Rhs::LTuple(..)
            | $crate::Rhs::LUntuple(..)
            | $crate::Rhs::LCon { .. }
            | $crate::Rhs::LOpen { .. }
            | $crate::Rhs::LApply { .. }
            | $crate::Rhs::LCast { .. }
            | $crate::Rhs::LUpdate { .. }
            | $crate::Rhs::LTake { .. }
            | $crate::Rhs::Rd(..)
    };
}

/// A block with a capability for one value. What the value is at the start comes from outside, what it is at
/// the end goes there; `rd` need not give it back, `wr` and `acc` may start from zero. T exchanges `rd` and
/// `wr`, start and end:
///
/// ```text
/// (y; y')     = rd r = x' { .. }         start          ⟷   (y; y', x')  = wr r: t { .. }        end
/// (y; y', x1') = lend r = x' { .. }       start and end  ⟷   (y; y', x1') = wr r: t = x' { .. }   start and end
/// ```
///
/// Results: those of the body, then the value at the end: linear, and non-linear for `acc`.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// What may be done with the value.
    pub mode: Mode,
    /// The capability, bound in the body; its type is the type of the value.
    pub cap: Cap,
    /// The value at the start, consumed if it is linear; `None` is zero.
    pub start: Option<Operand>,
    /// Whether the value at the end is a result.
    pub end: bool,
    /// The body.
    pub body: Block,
}

impl Region {
    /// `rd cap = x { body }`.
    pub fn read(cap: Cap, x: LVar, body: Block) -> Rhs {
        let start = Some(Operand::L(x));
        Rhs::Region(Box::new(Region { mode: Mode::Rd, cap, start, end: false, body }))
    }

    /// `wr cap: t { body }` or `acc cap: t { body }`: a sum that starts from zero.
    pub fn sum(mode: Mode, cap: Cap, body: Block) -> Rhs {
        Rhs::Region(Box::new(Region { mode, cap, start: None, end: true, body }))
    }

    /// Whether it is a statement of linear code, whatever its body holds.
    pub fn is_linear(&self) -> bool {
        self.mode != Mode::Acc
    }

    /// How many results are not the body's: non-linear, linear.
    pub fn own_results(&self) -> (usize, usize) {
        match self.mode {
            Mode::Acc => (self.end.into(), 0),
            Mode::Rd | Mode::Wr => (0, self.end.into()),
        }
    }
}

/// The direction of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    /// Indices 0, 1, ..
    Up,
    /// Indices n-1, n-2, ..
    Down,
    /// No carry; iterations communicate only through sums.
    Par,
    /// Indices 0, 1, .. as long as the first carry, a truth value, is true. It slices nothing, and its first
    /// result is the number of iterations, in place of the final truth value: the length of what is stacked.
    /// T never sees one with linear carries: U makes the residual a loop of so many iterations.
    While,
}

impl Dir {
    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Dir::Up => "up",
            Dir::Down => "down",
            Dir::Par => "par",
            Dir::While => "while",
        }
    }

    /// The direction of the transposed loop. A loop that may end early has none.
    pub fn reversed(self) -> Option<Dir> {
        match self {
            Dir::Up => Some(Dir::Down),
            Dir::Down => Some(Dir::Up),
            Dir::Par => Some(Dir::Par),
            Dir::While => None,
        }
    }
}

/// The one loop form. Results in each section: final carries, then stacked results.
/// The body may use no linear variable but its linear carries and slices.
/// A loop [`Dir::While`] gives the number of its iterations in place of its first carry.
#[derive(Clone, PartialEq, Debug)]
pub struct Scan {
    /// Direction.
    pub dir: Dir,
    /// The loop index, 0 <= index < bound.
    pub index: NVar,
    /// Trip count, or the limit of [`Dir::While`]; negative counts run zero times.
    pub bound: Atom,
    /// Non-linear carries: name in the body, initial value.
    pub carry: Vec<(NVar, Atom)>,
    /// Linear carries: name in the body, initial value (consumed).
    pub lin_carry: Vec<(LVar, LVar)>,
    /// Non-linear slices: element name, array.
    pub slices: Vec<(NVar, NVar)>,
    /// Linear slices: element name, array (consumed).
    pub lin_slices: Vec<(LVar, LVar)>,
    /// Capability slices: element capability, place; the root is hidden in the body.
    pub cap_slices: Vec<(Cap, Place)>,
    /// The body; its first results are the next carries.
    pub body: Block,
}

impl Scan {
    /// A loop that carries nothing and goes along no array.
    pub fn new(dir: Dir, index: NVar, bound: Atom, body: Block) -> Scan {
        Scan {
            dir,
            index,
            bound,
            carry: Vec::new(),
            lin_carry: Vec::new(),
            slices: Vec::new(),
            lin_slices: Vec::new(),
            cap_slices: Vec::new(),
            body,
        }
    }

    /// Whether its iterations can be run again from what it carries, under this policy: it carries something. A loop that may
    /// end early is for `@online` alone.
    pub fn has_schedule(&self, tape: TapePolicy) -> bool {
        let fits = match self.dir {
            Dir::Up | Dir::Down => true,
            Dir::While => matches!(tape, TapePolicy::Online(_)),
            Dir::Par => false,
        };
        fits && tape.is_schedule() && self.carry.len() + self.lin_carry.len() > 0
    }
}

impl Rhs {
    /// The name among those bound that is how often a loop ran which may end early: not negative, and the
    /// size of what the loop stacks.
    pub fn trips(&self, bound: &[NVar]) -> Option<NVar> {
        match self {
            Rhs::Scan(scan) if scan.dir == Dir::While => bound.first().copied(),
            _ => None,
        }
    }
}

/// A branch on a bool or a data value.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The value that decides: a bool or of a data type.
    pub scrutinee: Atom,
    /// One arm per constructor, in the order written.
    pub arms: Vec<Arm>,
}

/// One arm of a `case`.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// Which value it is for.
    pub pattern: ArmPattern,
    /// One entry per field of the constructor.
    pub fields: Vec<FieldPattern>,
    /// What fields are stated to be equal to is not tested by compiled code: made by a pass.
    pub proved: bool,
    /// The body; all arms see the same linear variables and consume the same ones.
    pub body: Block,
}

impl Arm {
    /// The arm for a truth value.
    pub fn of_bool(value: bool, body: Block) -> Arm {
        Arm { pattern: ArmPattern::Bool(value), fields: Vec::new(), proved: true, body }
    }

    /// Whether it can end in an error by itself: some field is stated to equal a number, and that is
    /// tested.
    pub fn is_tested(&self) -> bool {
        !self.proved && self.fields.iter().any(|f| matches!(f, FieldPattern::Eq(_)))
    }
}

/// What an arm is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArmPattern {
    /// `true` or `false`.
    Bool(bool),
    /// A constructor.
    Con(ConRef),
}

/// A field in the pattern of an arm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FieldPattern {
    /// A name is bound to the field.
    Bind(NVar),
    /// `=n`: the i64 field is stated to equal n.
    Eq(Atom),
}

/// A call of a definition.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The function.
    pub func: FuncId,
    /// Non-linear arguments, sizes included.
    pub args: Vec<Atom>,
    /// Linear arguments (consumed).
    pub lin_args: Vec<LVar>,
    /// Places, `None` for `null`.
    pub places: Vec<Option<Place>>,
}

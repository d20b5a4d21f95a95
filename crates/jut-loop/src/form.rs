//! The data structure of the loop form.

use crate::kernel::Kernel;
pub use crate::kind::{Cell, Kind, Role};
use cranelift_entity::{PrimaryMap, entity_impl};
use jut_ir::Name;
use jut_ir::RuntimeErrorKind;
use jut_ir::Span;
use jut_ir::ir::Literal;
use jut_ir::prim::Prim;

/// The words of the text form that no value may be called.
pub const KEYWORDS: &[&str] = &[
    "alloc", "bool", "buffer", "call", "carry", "check", "copy", "def", "else", "f64", "fail",
    "false", "fill", "for", "i64", "if", "in", "inf", "inout", "kernel", "lanes", "loop", "mark",
    "nan", "out", "poll", "previous", "release", "shares", "tape", "true", "while", "word", "do",
];

/// A value of one loop function: a scalar or a buffer, assigned once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(u32);
entity_impl!(Value, "v");

/// A function of a loop program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopFuncId(u32);
entity_impl!(LoopFuncId, "lf");

/// A place in the user's text that can fail at run time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(u32);
entity_impl!(Site, "site");

/// A value or a literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A value.
    Value(Value),
    /// A literal scalar.
    Lit(Literal),
}

impl Atom {
    /// The integer that it is, if that is written down.
    pub fn integer(self) -> Option<i64> {
        match self {
            Atom::Lit(Literal::I64(k)) => Some(k),
            _ => None,
        }
    }

    /// What it is, among these values.
    pub fn kind(self, values: &PrimaryMap<Value, ValueData>) -> Kind {
        match self {
            Atom::Value(v) => values[v].kind,
            Atom::Lit(literal) => Kind::Scalar(literal.scalar()),
        }
    }
}

impl From<Value> for Atom {
    fn from(v: Value) -> Atom {
        Atom::Value(v)
    }
}

/// A loop program: functions that call only earlier ones, and the places that can fail.
#[derive(Clone, Debug, Default)]
pub struct LoopProgram {
    /// The functions; the last one is the entry.
    pub funcs: PrimaryMap<LoopFuncId, LoopFunction>,
    /// Failing places: kind of error and the user's text.
    pub sites: PrimaryMap<Site, (RuntimeErrorKind, Span)>,
    /// The functions of other languages that its kernel calls, by number, where they are known.
    pub foreign: Foreign,
}

/// Where the functions of other languages that a program calls are found.
#[derive(Clone, Debug, Default)]
pub enum Foreign {
    /// Whoever runs it says so ([`jut_runtime::foreign::with`]).
    #[default]
    OfThread,
    /// They are these.
    Functions(jut_runtime::foreign::Functions),
    /// They have these names for the linker: for code that is made ahead of time.
    Symbols(Vec<String>),
}

impl LoopProgram {
    /// The symbol in the place of the kernel [`crate::kernel::FOREIGN`], in code that is made ahead of time.
    pub fn symbol_of(&self, kernel: Kernel, args: &[Atom]) -> Option<&str> {
        let (Foreign::Symbols(names), true) = (&self.foreign, kernel == crate::kernel::FOREIGN)
        else {
            return None;
        };
        let number = args.last().and_then(|number| number.integer())?;
        names.get(usize::try_from(number).ok()?).map(String::as_str)
    }
}

/// A function. Parameters: scalars by value, input buffers, accumulated buffers (`inout`), output
/// buffers; every buffer that a function writes for its caller is a parameter, unless its size is
/// only known inside: then the function allocates it on the tape arena and returns it.
/// Every function also returns a status, which callers check on a cold path.
#[derive(Clone, Debug, Default)]
pub struct LoopFunction {
    /// Its name, that of the Linear A function.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The body; its results are the returned scalars and callee-allocated buffers.
    pub body: Block,
    /// All values.
    pub values: PrimaryMap<Value, ValueData>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// The value in the body.
    pub value: Value,
    /// What the function does with it.
    pub role: Role,
    /// Number of cells of a buffer, in terms of the function's i64 parameters: the name with number
    /// k is parameter k. For the reader and for the evaluator of the loop form.
    pub len: Option<jut_ir::Size>,
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its name, unique in the function.
    pub name: Name,
    /// Its kind.
    pub kind: Kind,
}

/// Statements and results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The statements in order.
    pub stmts: Vec<Stmt>,
    /// The results.
    pub results: Vec<Atom>,
}

/// Which arena an allocation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arena {
    /// For what ends with the surrounding function or loop body.
    Temp,
    /// For what is returned by pointer or pointed to by cells: it may outlive the function or loop
    /// body that allocates it.
    Tape,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `y = p(a, ..)`: a row of the primitive table, or a copy.
    Prim {
        /// The result.
        dst: Value,
        /// The primitive; integer divisions by what is not written down stand behind a `NonZero` check.
        prim: Prim,
        /// Operands.
        args: Vec<Atom>,
    },
    /// `y = a`.
    Copy {
        /// The result.
        dst: Value,
        /// The operand.
        src: Atom,
    },
    /// `y = previous x else -0.0`: what x was in the iteration before this one, and the number in the first. It stands in the body
    /// of a `lanes` loop, not in a block within it, behind x, which is an f64.
    Previous {
        /// The result.
        dst: Value,
        /// What is asked for.
        src: Atom,
        /// What there is in the first iteration.
        first: Literal,
    },
    /// `y = x[i]`.
    Load {
        /// The result; its kind says what is loaded.
        dst: Value,
        /// The buffer.
        buffer: Value,
        /// Cell number, in range.
        index: Atom,
    },
    /// `x[i] = a`.
    Store {
        /// The buffer.
        buffer: Value,
        /// Cell number, in range.
        index: Atom,
        /// What is stored.
        value: Atom,
    },
    /// `y = x + i`: the buffer that begins at cell i of x.
    Offset {
        /// The result.
        dst: Value,
        /// The buffer.
        buffer: Value,
        /// Cell number.
        index: Atom,
    },
    /// `y = alloc cell[n]`, 64-byte aligned, content undefined. A negative or zero n gives an
    /// empty buffer. Failing is error R06 at the site.
    Alloc {
        /// The result.
        dst: Value,
        /// What the cells are.
        cell: Cell,
        /// Number of cells.
        len: Atom,
        /// Which arena.
        arena: Arena,
        /// Where the memory limit error points to.
        site: Site,
    },
    /// `m = mark`, `m = mark tape`: remembers the top of an arena.
    Mark {
        /// The mark, an i64.
        dst: Value,
        /// Whose top.
        arena: Arena,
    },
    /// `release m`, `release tape m`: gives back every allocation of the arena since the mark.
    Release {
        /// The mark.
        mark: Value,
        /// That of the mark.
        arena: Arena,
    },
    /// `fill x[n] = a`.
    Fill {
        /// The buffer.
        buffer: Value,
        /// Number of cells; none if negative.
        len: Atom,
        /// What every cell becomes.
        value: Atom,
    },
    /// `copy x[n] = y`: buffers that do not overlap, or are the same.
    CopyCells {
        /// Written.
        dst: Value,
        /// Read.
        src: Value,
        /// Number of cells; none if negative.
        len: Atom,
        /// What the cells are.
        cell: Cell,
    },
    /// `(r, ..) = for d (i in low .. high) carry (a = a0, ..) { .. }`: the results are the final
    /// carries.
    For(Box<For>),
    /// `(r, ..) = lanes (i in low .. high) carry (s, ..) { .. }`: fixed-order sums.
    Lanes(Box<Lanes>),
    /// `(r, ..) = if c { .. } else { .. }`.
    If {
        /// The results.
        dst: Vec<Value>,
        /// The condition.
        cond: Atom,
        /// If true.
        then: Block,
        /// If false.
        other: Block,
    },
    /// `(r, ..) = call f(a, ..)`.
    Call {
        /// The results.
        dst: Vec<Value>,
        /// An earlier function.
        func: LoopFuncId,
        /// Arguments, one per parameter.
        args: Vec<Atom>,
        /// `call f(a, .., low, high) shares 16`: the last two arguments are a range, and if it is no shorter than
        /// this, the function may be called for parts of it instead, which together are the range, in any order and on
        /// any threads. Without results. See [`crate::opt::shares`].
        shares: Option<u32>,
    },
    /// `kernel matmul(c, a, ..)`: calls a function of the runtime that works on whole buffers. It
    /// cannot fail, has no results, and touches only its buffers: see [`crate::kernel`].
    Kernel {
        /// Which one.
        kernel: Kernel,
        /// One per parameter of its row.
        args: Vec<Atom>,
    },
    /// `poll`, `poll 4096`: fails with the error of the site if the call is cancelled. As the first
    /// statement of a loop it may look only once in so many iterations: [`crate::poll`] puts it
    /// there, and it looks between rounds of so many, never before the first.
    Poll {
        /// How many iterations there are in a round.
        every: u32,
        /// Kind of error and text.
        site: Site,
    },
    /// Fails with the error of the site unless the check holds.
    Check {
        /// What must hold.
        check: Check,
        /// Kind of error and text.
        site: Site,
    },
}

/// A check; its operands are what the error reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// 0 <= i < n.
    Below(Atom, Atom),
    /// 0 <= lo, 0 <= len, lo + len <= n.
    Within(Atom, Atom, Atom),
    /// 0 <= n.
    NonNegative(Atom),
    /// a = b.
    Equal(Atom, Atom),
    /// a is not 0.
    NonZero(Atom),
}

impl Check {
    /// The atoms, in the order in which the error reports them.
    pub fn atoms(self) -> Vec<Atom> {
        match self {
            Check::Below(a, b) | Check::Equal(a, b) => vec![a, b],
            Check::Within(a, b, c) => vec![a, b, c],
            Check::NonNegative(a) | Check::NonZero(a) => vec![a],
        }
    }

    /// Whether it holds for the values of its atoms.
    pub fn holds(self, value: impl Fn(Atom) -> i64) -> bool {
        match self {
            Check::Below(i, n) => 0 <= value(i) && value(i) < value(n),
            Check::Within(lo, len, n) => {
                let (lo, len, n) = (value(lo), value(len), value(n));
                0 <= lo && 0 <= len && lo.checked_add(len).is_some_and(|end| end <= n)
            }
            Check::NonNegative(n) => 0 <= value(n),
            Check::Equal(a, b) => value(a) == value(b),
            Check::NonZero(a) => value(a) != 0,
        }
    }

    /// The kind of error that the text of a check means when it says no other.
    pub fn usual_kind(self) -> RuntimeErrorKind {
        match self {
            Check::Below(..) => RuntimeErrorKind::Index,
            Check::Within(..) => RuntimeErrorKind::Slice,
            Check::NonNegative(_) => RuntimeErrorKind::NegativeSize,
            Check::Equal(..) => RuntimeErrorKind::SizeMismatch,
            Check::NonZero(_) => RuntimeErrorKind::DivisionByZero,
        }
    }
}

impl LoopFunction {
    /// Whether it is a piece of a longer function ([`crate::split`]): it writes to a frame of its caller.
    pub fn is_piece(&self) -> bool {
        self.params.last().is_some_and(|p| {
            p.role == Role::InOut && self.values[p.value].kind == Kind::Buffer(Cell::Word)
        })
    }

    /// Kinds of the results.
    pub fn result_kinds(&self) -> impl Iterator<Item = Kind> {
        self.body.results.iter().map(|atom| self.kind_of(*atom))
    }

    /// What an atom is.
    pub fn kind_of(&self, atom: Atom) -> Kind {
        atom.kind(&self.values)
    }
}

/// The order of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// low, low + 1, .., high - 1.
    Up,
    /// high - 1, .., low.
    Down,
    /// Any order, on any thread: every store goes to a cell that the iteration owns. No carries.
    Par,
    /// low, low + 1, .. as long as the first carry, a truth value, is true: it is looked at before every
    /// iteration.
    While,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 4] = [Order::Up, Order::Down, Order::Par, Order::While];

    /// The word for it in the text form.
    pub fn keyword(self) -> &'static str {
        match self {
            Order::Up => "up",
            Order::Down => "down",
            Order::Par => "par",
            Order::While => "while",
        }
    }
}

/// How several iterations of a loop are taken at once: statement by statement, each for all of them
/// ([`crate::opt::for_target`] decides it). Where a check does not hold for all, nothing of these
/// iterations has happened, and they and the rest of the loop, or of the block of a sum, are taken
/// one by one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Vector {
    /// How many: 2, 4 or [`LANES`], and [`LANES`] in a loop of sums.
    pub width: u32,
    /// Whether fewer than that at the end of the loop, or of a block, are taken at once too; otherwise
    /// one by one.
    pub masked: bool,
    /// Whether all stores may stand behind everything else.
    pub stores_last: bool,
}

/// A counted loop, or one that may end before it has counted to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// Final carries.
    pub dst: Vec<Value>,
    /// The order.
    pub order: Order,
    /// If several iterations are taken at once: without carries, or with
    /// [sums](crate::analysis::sums_in_order), whose terms are added one after the other, or with a
    /// [conjunction](crate::analysis::conjunction); up, down, or in any order.
    pub vector: Option<Vector>,
    /// The index.
    pub index: Value,
    /// First index.
    pub low: Atom,
    /// One past the last index; nothing runs unless low < high.
    pub high: Atom,
    /// Carried values: name in the body, initial value.
    pub carry: Vec<(Value, Atom)>,
    /// The body; its results are the next carries.
    pub body: Block,
}

impl For {
    /// Whether it is [`Order::While`]: a carry says after every iteration whether there is another.
    pub fn may_end_early(&self) -> bool {
        self.order == Order::While
    }
}

/// A loop of sums, in a fixed order.
///
/// Each sum starts at 0.0. The range is cut into blocks of [`BLOCK`] iterations. In a block every
/// sum has [`LANES`] lanes that start at 0.0; iteration i (counted from `low`) is given the current
/// value of lane i mod LANES as `carry` and returns its next value. At the end of a block lane k is
/// added to lane k + LANES/2, and so on down to one lane, which is added to the sum.
/// Iterations run in the order of the index, and may store to memory as in a `for up`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// The sums, f64.
    pub dst: Vec<Value>,
    /// If the iterations of all lanes are taken at once.
    pub vector: Option<Vector>,
    /// The index.
    pub index: Value,
    /// First index.
    pub low: Atom,
    /// One past the last index.
    pub high: Atom,
    /// One value per sum: the lane's current value in the body.
    pub carry: Vec<Value>,
    /// The body; its results are the lanes' next values.
    pub body: Block,
}

pub use jut_runtime::lanes::{BLOCK, LANES};

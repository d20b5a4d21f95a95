//! A function while it is translated: what is in scope, what is being written, and what has been learned.

use crate::names::Names;
use crate::signature::Signature;
use crate::template::{Hole, What, hole_of, length_of, mark};
use crate::types::Ty;
use crate::value::Value;
use proc_macro2::{Span, TokenStream};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use syn::{Expr, ExprClosure};

/// A name in scope.
#[derive(Clone)]
pub(crate) struct Local {
    pub name: String,
    pub ty: Ty,
    pub mutable: bool,
    /// Whether it is a `&mut T`: `*x` is what it refers to, whose place its name is.
    pub reference: bool,
    /// How deep in blocks of the text it is declared.
    pub depth: usize,
    /// An integer is at least this.
    pub least: i64,
    /// The closure that it is.
    pub closure: Option<Rc<Closure>>,
    /// The record that a list stands in: see `stacked`.
    pub stack: Option<String>,
    /// By what a list that was declared without a type is known: its name and place.
    pub untyped: Option<String>,
}

/// A loop that `break` and `continue` may be about.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub label: Option<String>,
    /// The number of the loop in the function.
    pub number: usize,
    /// How deep in blocks of the text it stands.
    pub depth: usize,
    /// The variable that says that the loop goes on.
    pub go: String,
    /// The variable that says that the iteration goes on.
    pub next: String,
}

/// What is learned in one pass over the body and used in the next.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Learned {
    /// What integers of unknown type turned out to be.
    pub integers: Vec<Option<Ty>>,
    /// What calls say of them: that counts where nothing else is known.
    pub given: BTreeMap<usize, Ty>,
    /// The integers that are taken for what calls say of them.
    pub closed: BTreeSet<usize>,
    /// Those of which the meaning of an operation depends on whether they are of 32 bits.
    pub ranged: BTreeSet<usize>,
    /// The same of floats.
    pub floats: Vec<Option<Ty>>,
    /// Whether some `return` stands where the rest of the function cannot be put into the other arm.
    pub flagged: bool,
    /// The loops of which the same is true of a `continue`.
    pub skipping: HashSet<usize>,
    /// The types of the values with which loops end.
    pub broken: HashMap<usize, Ty>,
    /// The functions of whose results a field or a method is asked for: these are structs.
    pub structs: BTreeSet<String>,
    /// The operators of what may be structs and of integers as they are written, by their numbers: they are those of integers.
    pub integral: BTreeSet<usize>,
    /// The types of the elements of lists that are declared without a type, and change their lengths in branches and loops,
    /// by the names and places of these.
    pub elements: BTreeMap<String, Found>,
    /// The types of variables that get their values behind their declarations.
    pub late: HashMap<usize, Ty>,
    /// The types of variables that begin with a `None` of which nothing is written, by their names and places, and what stands in these types.
    pub nones: BTreeMap<String, Found>,
}

/// A type as one pass found it, which the next one reads: holes and open numbers have other numbers there.
#[derive(Clone)]
pub(crate) struct Found {
    pub ty: Ty,
    pub holes: Vec<Hole>,
}

impl PartialEq for Found {
    fn eq(&self, other: &Found) -> bool {
        self.ty == other.ty
    }
}

impl Local {
    /// A name that nothing assigns.
    pub fn value(name: String, ty: Ty) -> Local {
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        Local {
            name,
            ty,
            mutable: false,
            reference: false,
            depth: 0,
            least,
            closure: None,
            stack: None,
            untyped: None,
        }
    }
}

/// A closure, and what is in scope where it is written.
pub(crate) struct Closure {
    pub expr: ExprClosure,
    pub scopes: Vec<HashMap<String, Local>>,
}

/// A list in a statement that makes it longer.
#[derive(Clone)]
pub(crate) struct Growing {
    /// How many elements there are so far: a variable.
    pub count: String,
    /// The list that is filled. There is none while elements are counted.
    pub list: Option<String>,
    /// The type of what is pushed.
    pub element: Option<Ty>,
    /// How deep its variables are declared.
    pub depth: usize,
}

/// What the end of a block is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Tail {
    /// Nothing.
    Unit,
    /// The end of an iteration.
    Loop,
    /// A value.
    Value,
    /// The end of the function.
    Function,
}

/// The lines of a block, and whether anything outside of it sees what they do: the language refuses
/// loops and branches of which that is not so.
#[derive(Default)]
pub(crate) struct Lines {
    pub lines: Vec<String>,
    pub effect: bool,
}

/// An arm of a branch: what it does, and its value.
pub(crate) type Arm = (Lines, Option<Value>);

/// Where a jump goes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Jump {
    Return,
    /// Out of a loop, by its place among those that are open.
    Break(usize),
    Continue(usize),
}

/// The function while it is translated.
pub(crate) struct Lowering<'a> {
    pub signature: &'a Signature,
    pub names: Names,
    pub scopes: Vec<HashMap<String, Local>>,
    /// The lines of the block that is being written.
    pub lines: Vec<String>,
    /// How deep that block is.
    pub depth: usize,
    /// The least depth of what was assigned or checked.
    pub reach: usize,
    /// The least depth of what was assigned.
    pub changed: usize,
    /// How many assignments there were so far.
    pub assigned: usize,
    pub parts: Parts,
    pub learned: Learned,
    pub open: Open,
    pub operators: Operators,
    pub loops: Loops,
    pub lists: Lists,
    pub expected: Expected,
    /// The variables that get their values behind their declarations, by name.
    pub late: HashMap<String, usize>,
    /// Those that begin with a `None` of which nothing is written: what they are called in the text, and in Rust, with the place.
    pub nones: HashMap<String, (String, Span)>,
    /// Whether this pass looks for the types of these only: statements that cannot be translated are left out.
    pub searching: bool,
    /// The holes of rows of different lengths, each with the type of its elements.
    pub rows: Vec<(usize, Ty)>,
    /// The holes of calls that may give such rows, each with its place.
    pub given: HashMap<usize, Span>,
    /// The holes of calls whose arguments may be such rows, as the program says that is put together.
    pub following: HashSet<usize>,
    /// The names that stand for lists of lists, as what is done with them shows.
    pub rowwise: Rc<HashSet<String>>,
    /// The holes of elements that nothing tells, each with that of the call that gives them.
    pub untold: HashMap<usize, usize>,
    /// The variables of the result and of whether the function goes on, if some `return` needs them.
    pub returned: (String, String),
}

/// What the text refers to.
#[derive(Default)]
pub(crate) struct Parts {
    pub holes: Vec<Hole>,
    pub marks: Vec<(Span, What)>,
    pub items: Vec<TokenStream>,
}

/// Numbers that are written without a type.
#[derive(Default)]
pub(crate) struct Open {
    /// The integers: what stands for their types, and where they are.
    pub numbers: Vec<(Ty, Span)>,
    /// Literals of functions within this one that are taken for `i32`.
    pub inner: Vec<Span>,
    /// The integers that are what a hole of this pass says, those of which a call of this pass says what they are, and the floats that
    /// are what a hole of this pass says.
    pub known: HashSet<usize>,
    pub given: HashSet<usize>,
    pub measured: HashSet<usize>,
    /// How many integers of unknown type there were so far in this pass.
    pub integers: usize,
    /// The same of floats.
    pub floats: usize,
}

/// Operators as they are written.
#[derive(Default)]
pub(crate) struct Operators {
    /// How many there were so far.
    pub count: usize,
    /// Whether they are those of numbers.
    pub plain: bool,
    /// Whether methods are those of lists: see `ambiguous`.
    pub lists: bool,
    /// The holes of those one of whose operands is a struct for certain.
    pub whole: HashSet<usize>,
    /// The holes of methods that own types and numbers have, and of operators of what methods give.
    pub numeric: HashSet<usize>,
}

/// The loops around what is being written.
#[derive(Default)]
pub(crate) struct Loops {
    /// How many there were so far.
    pub count: usize,
    pub frames: Vec<Frame>,
    /// The variables of the values with which loops end.
    pub broken: HashMap<usize, String>,
}

/// Lists that change their lengths.
#[derive(Default)]
pub(crate) struct Lists {
    /// What loops push to them, the inner loops last.
    pub pushes: Vec<HashMap<String, Option<Value>>>,
    /// Those that a loop fills which reads them: by their names in the text, the variable of how many elements there are so far.
    pub partial: HashMap<String, String>,
    /// Those that the statement that is being written makes longer.
    pub growing: HashMap<String, Growing>,
    /// The types of those that stand in records, as the text writes them.
    pub records: Vec<String>,
    /// The names in the text of those that were declared without elements.
    pub empty: HashSet<String>,
    /// Whether there is one of whose elements nothing is known yet.
    pub unknown: bool,
}

/// What is known of what is written next.
#[derive(Default)]
pub(crate) struct Expected {
    /// The type of the value, where it is known before.
    pub wanted: Option<Ty>,
    /// The type of the lists in the list that the call gives, where that is known: they may have lengths of their own.
    pub rows: Option<Ty>,
    /// The type of the lists that a chain collects, where it is written.
    pub lists: Option<Ty>,
    /// What arguments of the call refer to by `&mut`, if they do.
    pub targets: Vec<Option<String>>,
    /// Whether an error of the call is failure.
    pub sure: bool,
    /// Whether the method that is called is that of an `Option`, since one is expected.
    pub optional: bool,
    /// Whether the value of a `let` is a list that changes its length: see `taken`.
    pub grown: bool,
    /// What puts elements of own types back behind the assignment that is being written: see `indexed`.
    pub cells: Option<Vec<String>>,
    /// Whether the closures belong to a chain whose errors are failures.
    pub failing_closures: bool,
}

impl Learned {
    /// Two integers are of one type: what calls say of the first is said of the second.
    pub fn merge(&mut self, first: usize, second: usize) {
        if let Some(given) = self.given.get(&first).cloned() {
            self.given.entry(second).or_insert(given);
        }
        if self.ranged.contains(&first) {
            self.ranged.insert(second);
        }
    }

    /// Whether nothing is known of an integer, not even by a call: Rust takes it for an `i32`.
    pub fn is_open(&self, k: usize) -> bool {
        self.integers.get(k).is_none_or(Option::is_none) && !self.given.contains_key(&k)
    }

    /// What is still unknown is what Rust takes it for; whether anything was.
    pub fn close(&mut self) -> bool {
        let mut open = false;
        for (k, ty) in self.integers.iter_mut().enumerate().filter(|(_, ty)| ty.is_none()) {
            if self.given.contains_key(&k) {
                open |= self.closed.insert(k);
            } else {
                *ty = Some(Ty::I32);
                open = true;
            }
        }
        for ty in self.floats.iter_mut().filter(|ty| ty.is_none()) {
            *ty = Some(Ty::F64);
            open = true;
        }
        open
    }
}

/// Lines as the text of a block.
pub(crate) fn indented(lines: &[String]) -> String {
    let all = lines.iter().flat_map(|l| l.lines());
    all.map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n")
}

impl<'a> Lowering<'a> {
    pub fn new(signature: &'a Signature, learned: Learned) -> Self {
        Lowering {
            signature,
            names: Default::default(),
            scopes: vec![HashMap::new()],
            lines: Vec::new(),
            depth: 0,
            reach: usize::MAX,
            changed: usize::MAX,
            assigned: 0,
            parts: Parts { holes: signature.lengths.clone(), ..Default::default() },
            learned,
            open: Default::default(),
            operators: Default::default(),
            loops: Default::default(),
            lists: Default::default(),
            expected: Default::default(),
            late: HashMap::new(),
            nones: HashMap::new(),
            searching: false,
            rows: signature.rows.clone(),
            given: HashMap::new(),
            following: HashSet::new(),
            rowwise: Rc::default(),
            untold: HashMap::new(),
            returned: Default::default(),
        }
    }

    /// Makes a name known.
    pub fn declare(&mut self, rust: &str, local: Local) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(rust.to_string(), local);
        }
    }

    pub fn lookup(&self, rust: &str) -> Option<&Local> {
        self.scopes.iter().rev().find_map(|scope| scope.get(rust))
    }

    /// Text that comes from a place.
    pub fn at(&mut self, span: Span, what: What, text: &str) -> String {
        self.parts.marks.push((span, what));
        mark(self.parts.marks.len() - 1, text)
    }

    /// A check that something holds, which is a number that is not negative.
    pub fn check(&mut self, span: Span, what: What, check: &str) {
        let line = self.at(span, what, &format!("check {check}"));
        self.reach = 0;
        self.lines.push(line);
    }

    /// What fills a hole: its number.
    pub fn hole(&mut self, hole: Hole) -> usize {
        hole_of(hole, &mut self.parts.holes)
    }

    /// The text of a length in the body.
    pub fn length(&mut self, length: &Expr) -> String {
        length_of(length, &mut self.parts.holes)
    }
}

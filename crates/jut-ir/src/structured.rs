//! The table of structured primitives: functions of whole arrays that are linear in each array.
//!
//! `c = matmul(a, b)` is one statement, whatever the sizes, and so is its derivative
//!
//! ```text
//! u' = matmul(a', b)
//! v' = matmul(a, b')
//! c' = u' + v'
//! ```
//!
//! A structured primitive with one operand linear, the others fixed, is a *structured linear
//! operation*: `matmul(a, b')` is linear in b'. All of them together are one operation of the
//! calculus, and **closed under transposition**: a row names, for each of its array operands, the
//! row that is the transpose, so that T only looks it up. J emits one linear operation for each
//! operand with a tangent.
//!
//! Most rows are *contractions*, written by naming dimensions: `il, lj -> ij` is the product of
//! matrices, c\[i, j\] = the sum over l of a\[i, l\] b\[l, j\]. A name that is not in the result is
//! summed. Transposing with respect to an operand exchanges it with the result, so `il, lj -> ij`
//! becomes `ij, lj -> il`, which is the row `matmul_nt`. A test derives every transpose in this
//! way and compares.
//!
//! **Order of operations.** Part of the meaning, as everywhere: see [`Order`]. What is added to an
//! accumulator is computed first.
//!
//! **Sizes that follow.** Some dimensions follow from others: a vector of all cells of a matrix has as
//! many as the product says, and a window of s places fits into p of them at p - s + 1 positions. The
//! meaning of a row says which ([`Structured::product`], [`Structured::windows`]).
//!
//! **Work.** Twice the largest of the numbers of multiplications, cells of an operand and cells of
//! the result, less the cells of the result: `2nmk - nm` for a product of matrices. It is the one
//! choice for which an operation and its transpose satisfy `W[T e] + in = W[e] + out`.

use crate::prim::{self, Prim};
use crate::scalar::Width;
use crate::size::Size;
use crate::types::Type;

mod batched;
pub mod nest;
mod rows;
pub use batched::Batched;
pub use rows::*;

/// A structured primitive: an index into [`STRUCTURED`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Structured(pub(crate) u8);

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// An array of floats with the named dimensions, a float if there are none.
    Array(&'static str),
    /// The size of the named dimension.
    Size(char),
}

/// The order in which the terms of a cell are added, always from 0.0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Nothing is added: a cell is a copy or a product.
    None,
    /// By lanes, like a `sum` over one loop.
    Lanes,
    /// In the order of the summed index.
    Sequence,
    /// A chain of fused multiply-adds in the order of the summed index: `jut_runtime::matrix`.
    /// With three dimensions in the result the first is a batch: one product each.
    Chain,
}

/// Which of the three arrays of a convolution is the result: `y[o, i, j]`, `x[c, i + u, j + v]` or
/// `k[o, c, u, v]`. A cell is the sum of all products of one cell of each of the other two that
/// belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// y: a chain of fused multiply-adds over the channels c, then the window.
    Output,
    /// x: the same over the channels o, then the window, where y has a cell.
    Input,
    /// k: [eight chains](jut_runtime::lanes::LANES) over the rows of y, then its columns, column j
    /// in chain j mod 8; then the chains are added in pairs.
    Kernel,
}

/// What a row computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// For each cell of the result the sum, in an order, of the products of the operands' cells.
    Contraction(Order),
    /// One side of a convolution with channels. The dimensions have the names of [`Side`]; if there is
    /// only one besides the channels, p = q + s - 1 are those of x, y and k.
    Convolution(Side),
    /// All cells in the same order, as one vector. A view.
    Flatten,
    /// The vector as an array of the given sizes, whose product is its own. A view.
    Unflatten,
    /// Cell i is cell n - 1 - i.
    Reverse,
    /// Cell i is the sum of the cells up to i, in order.
    RunningSum,
    /// Cell i is the sum of the cells from i, in order from the last.
    RunningSumFromEnd,
    /// Loops over cells, and the dimensions of the loops that do most of it.
    Nested(&'static str, &'static [nest::Nest]),
    /// The number as one of another width, the nearest if there is none that is the same.
    Convert {
        /// The width of the operand.
        from: Width,
        /// That of the result.
        to: Width,
    },
}

/// The transpose of a structured linear operation: which primitive, and which of its operands is
/// the linear one. Its other arrays are those of the operation, in order; its sizes are those of
/// the operation's linear operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transpose {
    /// The primitive.
    pub op: Structured,
    /// The linear operand.
    pub operand: usize,
}

/// A kernel of the runtime that computes a row. Its buffers are the result, the operands and, if it needs one, scratch
/// memory; then come the sizes and the flags.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its name in the loop form.
    pub kernel: &'static str,
    /// The dimensions whose sizes it takes, `1` for one.
    pub sizes: &'static str,
    /// Its flags.
    pub flags: i64,
    /// What it works in.
    pub room: Room,
    /// The kernel itself where the interpreter calls it too: on the result, the operands, scratch memory, two sizes and the
    /// flags. It says whether the buffers were long enough. Of other rows the interpreter computes cell by cell.
    pub run: Option<Run>,
}

/// A kernel with scratch memory.
pub type Run = fn(&mut [f64], &[&[f64]], &mut [f64], [i64; 2], i64) -> bool;

impl Call {
    /// Whether the kernel can add to what is there.
    pub fn adds(self) -> bool {
        self.room != Room::Triangular
    }
}

/// The scratch memory of a kernel, which is that of its module in the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// None. Such a kernel can add to what is there.
    None,
    /// [`jut_runtime::matrix::scratch`] of the three sizes. Adds too.
    Product,
    /// [`jut_runtime::triangular::scratch`] of the two sizes.
    Triangular,
}

/// The derivative with respect to an array operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The operation is linear in it: the tangent is the operation of the tangent.
    Linear(Transpose),
    /// The tangent is the sum of these.
    Formulas(&'static [Chain]),
}

/// Linear operations of a tangent, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain {
    /// Whether what comes out is negated.
    pub negative: bool,
    /// The first one is of the tangent of the operand.
    pub steps: &'static [Step],
}

/// A structured linear operation in a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The primitive. It takes no sizes.
    pub op: Structured,
    /// Its linear operand.
    pub operand: usize,
    /// Its other arrays, in order.
    pub others: &'static [Formula],
}

/// A value in a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formula {
    /// The nth array operand of the primitive.
    Operand(usize),
    /// Its result.
    Result,
    /// Another primitive, which takes no sizes.
    Apply(Structured, &'static [Formula]),
}

/// Everything about one structured primitive.
#[derive(Debug)]
pub struct StructuredRow {
    /// Its name.
    pub name: &'static str,
    /// Its operands.
    pub params: &'static [Param],
    /// The dimensions of the result, a float if there are none.
    pub result: &'static str,
    /// What it computes.
    pub meaning: Meaning,
    /// The kernel that does.
    pub kernel: Option<Call>,
    /// The derivative with respect to each array operand, in the order of the operands.
    pub partials: &'static [Rule],
    /// What it computes, for the documentation.
    pub doc: &'static str,
}

/// Why operands do not fit a row.
#[derive(Clone, PartialEq, Debug)]
pub enum Misfit {
    /// There are too many or too few.
    Count,
    /// An operand has not so many dimensions, or is not of floats or, for a size, no i64.
    Kind(usize),
    /// A dimension of an operand has another size than the same dimension of an earlier one, or,
    /// if that is the operand itself, than the product of the sizes given.
    Size {
        /// The operand.
        operand: usize,
        /// The earlier one.
        earlier: usize,
        /// Their sizes.
        sizes: Box<[Size; 2]>,
    },
}

impl Param {
    /// What it looks like with floats of a width: `f64`, `[n]f64`, `[n, m]f64`, `i64`.
    pub fn text(self, width: Width) -> String {
        match self {
            Param::Size(_) => "i64".to_owned(),
            Param::Array("") => width.name().to_owned(),
            Param::Array(labels) => {
                let names: Vec<String> = labels.chars().map(String::from).collect();
                format!("[{}]{}", names.join(", "), width.name())
            }
        }
    }
}

impl Structured {
    /// The row.
    pub fn row(self) -> &'static StructuredRow {
        &STRUCTURED[usize::from(self.0)]
    }

    /// All structured primitives.
    pub fn all() -> impl Iterator<Item = Structured> {
        (0..STRUCTURED.len() as u8).map(Structured)
    }

    /// The one with a name.
    pub fn find(name: &str) -> Option<Structured> {
        Structured::all().find(|s| s.row().name == name)
    }

    /// The type of the result: every named dimension has one size. An operand is a type and, for an
    /// i64, its normal form.
    ///
    /// # Errors
    /// The first operand that does not fit.
    pub fn result_type(self, operands: &[(Type, Size)]) -> Result<Type, Misfit> {
        let row = self.row();
        if operands.len() != row.params.len() {
            return Err(Misfit::Count);
        }
        let mut known: Vec<(char, &Size, usize)> = Vec::new();
        let mut learn = |label: char, size, operand| {
            match known.iter().find(|(l, _, _)| *l == label) {
                Some((_, earlier, _)) if *earlier == size => {}
                Some((_, other, earlier)) => {
                    let sizes = Box::new([Size::clone(size), Size::clone(other)]);
                    return Err(Misfit::Size { operand, earlier: *earlier, sizes });
                }
                None => known.push((label, size, operand)),
            }
            Ok(())
        };
        for (operand, (param, (ty, form))) in row.params.iter().zip(operands).enumerate() {
            let wrong = || Misfit::Kind(operand);
            match param {
                Param::Size(label) => {
                    if *ty != Type::I64 {
                        return Err(wrong());
                    }
                    learn(*label, form, operand)?;
                }
                Param::Array(labels) => {
                    let mut ty = ty;
                    for label in labels.chars() {
                        let Type::Array(size, element) = ty else { return Err(wrong()) };
                        learn(label, size, operand)?;
                        ty = element;
                    }
                    if *ty != Type::Float(self.widths().0) {
                        return Err(wrong());
                    }
                }
            }
        }
        let find = |known: &[(char, &Size, usize)], label| {
            let found = known.iter().find(|(l, _, _)| *l == label);
            found.map(|(_, s, _)| Size::clone(s))
        };
        // What follows from the operands' dimensions; too large a polynomial does not fit.
        let mut follows: Vec<(char, Size)> = Vec::new();
        if let Some(parts) = self.product() {
            let parts = parts.chars().map(|part| find(&known, part));
            let one = Some(Size::constant(1));
            let cells =
                parts.fold(one, |all, part| all.zip(part).and_then(|(x, y)| x.checked_mul(&y)));
            let cells = cells.ok_or(Misfit::Kind(0))?;
            match find(&known, 'p') {
                Some(given) if given != cells => {
                    let sizes = Box::new([given, cells]);
                    return Err(Misfit::Size { operand: 0, earlier: 0, sizes });
                }
                _ => follows.push(('p', cells)),
            }
        }
        for labels in self.windows() {
            let one = Size::constant(1);
            let [whole, places, window] = labels.map(|l| find(&known, l));
            let (label, size) = match (whole, places, window) {
                (Some(whole), None, Some(window)) => {
                    (labels[1], whole.checked_sub(&window).and_then(|s| s.checked_add(&one)))
                }
                (Some(whole), Some(places), None) => {
                    (labels[2], whole.checked_sub(&places).and_then(|s| s.checked_add(&one)))
                }
                (None, Some(places), Some(window)) => {
                    (labels[0], places.checked_add(&window).and_then(|s| s.checked_sub(&one)))
                }
                _ => continue,
            };
            follows.push((label, size.ok_or(Misfit::Kind(0))?));
        }
        let size = |label| {
            let derived = || follows.iter().find(|(l, _)| *l == label).map(|(_, s)| s.clone());
            find(&known, label).or_else(derived)
        };
        let sizes = row.result.chars().rev().filter_map(size);
        Ok(sizes.fold(Type::Float(self.widths().1), |ty, size| Type::array(size, ty)))
    }

    /// The primitive of numbers that a conversion is the linear form of.
    pub fn primitive(self) -> Option<Prim> {
        match self.row().meaning {
            Meaning::Convert { to: Width::Single, .. } => Some(prim::SINGLE),
            Meaning::Convert { to: Width::Double, .. } => Some(prim::DOUBLE),
            _ => None,
        }
    }

    /// The widths of the floats in the operands and in the result.
    pub fn widths(self) -> (Width, Width) {
        match self.row().meaning {
            Meaning::Convert { from, to } => (from, to),
            _ => (Width::Double, Width::Double),
        }
    }

    /// The dimensions whose product is that of `p`, for a view.
    pub fn product(self) -> Option<&'static str> {
        let row = self.row();
        match (row.meaning, row.params) {
            (Meaning::Flatten, [Param::Array(parts), ..]) => Some(parts),
            (Meaning::Unflatten, _) => Some(row.result),
            _ => None,
        }
    }

    /// For a convolution, in each direction, the dimension of x, of y and of k: the first is the sum of
    /// the others, less 1.
    pub fn windows(self) -> &'static [[char; 3]] {
        match self.row().meaning {
            Meaning::Convolution(_) if self.has('s') => &[['p', 'q', 's']],
            Meaning::Convolution(_) => &[['h', 'i', 'u'], ['w', 'j', 'v']],
            _ => &[],
        }
    }

    fn has(self, label: char) -> bool {
        let row = self.row();
        let in_param = |p: &Param| matches!(p, Param::Array(names) if names.contains(label));
        row.result.contains(label) || row.params.iter().any(in_param)
    }

    /// Which dimensions of the result may be negative although those of the operands are not, so that
    /// a check stands in front of the operation: those that follow from a window.
    pub fn open_results(self) -> impl Iterator<Item = usize> {
        let result = self.row().result.chars().enumerate();
        let windows = self.windows();
        result.filter(|(_, l)| windows.iter().any(|w| w.contains(l))).map(|(k, _)| k)
    }

    /// Whether the result has a size of its own, which is the product of those of the operand: it may be any, however
    /// small these are.
    pub fn is_flattening(self) -> bool {
        self.row().meaning == Meaning::Flatten
    }

    /// Fills in the sizes that follow from others, in the order of [`Structured::labels`]. `None` if
    /// one is missing, negative, or is not what it has to be.
    pub fn complete(self, sizes: &[Option<u64>]) -> Option<Vec<u64>> {
        let labels = self.labels();
        let mut sizes = sizes.to_vec();
        let at = |label| labels.iter().position(|l| *l == label);
        for (k, label) in labels.iter().enumerate() {
            if let Some(first) = at(*label).filter(|first| *first != k) {
                let size = sizes.get(first).copied().flatten();
                let given = sizes.get_mut(k)?;
                if size.is_some() && given.is_some() && *given != size {
                    return None;
                }
                *given = size;
            }
        }
        let put = |sizes: &mut Vec<Option<u64>>, label, size: u64| {
            let place = sizes.get_mut(at(label)?)?;
            (*place.get_or_insert(size) == size).then_some(())
        };
        let get = |sizes: &[Option<u64>], label| sizes.get(at(label)?).copied().flatten();
        if let Some(parts) = self.product() {
            let mut parts = parts.chars().map(|part| get(&sizes, part));
            let cells = parts.try_fold(1u64, |all, part| all.checked_mul(part?))?;
            put(&mut sizes, 'p', cells)?;
        }
        for [whole, places, window] in self.windows().iter().copied() {
            let known = [whole, places, window].map(|l| get(&sizes, l));
            let less = |x: u64, y: u64| x.checked_add(1)?.checked_sub(y);
            match known {
                [Some(p), None, Some(s)] => put(&mut sizes, places, less(p, s)?)?,
                [Some(p), Some(q), None] => put(&mut sizes, window, less(p, q)?)?,
                [_, Some(q), Some(s)] => put(&mut sizes, whole, q.checked_add(s)?.checked_sub(1)?)?,
                _ => return None,
            }
        }
        sizes.into_iter().collect()
    }

    /// Whether the result is the operand's memory with another shape.
    pub fn is_view(self) -> bool {
        matches!(self.row().meaning, Meaning::Flatten | Meaning::Unflatten)
    }

    /// All operands in order: arrays and sizes, each in order. A missing one is left out.
    pub fn operands<T>(
        self,
        arrays: impl IntoIterator<Item = T>,
        sizes: impl IntoIterator<Item = T>,
    ) -> Vec<T> {
        let (mut arrays, mut sizes) = (arrays.into_iter(), sizes.into_iter());
        let params = self.row().params.iter();
        params
            .filter_map(|param| match param {
                Param::Array(_) => arrays.next(),
                Param::Size(_) => sizes.next(),
            })
            .collect()
    }

    /// All arrays, given the linear one of a linear operation.
    pub fn with_linear<T>(self, operand: usize, x: T, others: Vec<T>) -> Vec<T> {
        let nth = self.arrays().position(|k| k == operand).unwrap_or(0);
        let mut all = others;
        all.insert(nth.min(all.len()), x);
        all
    }

    /// The positions of the array operands.
    pub fn arrays(self) -> impl Iterator<Item = usize> {
        let params = self.row().params.iter().enumerate();
        params.filter_map(|(k, p)| matches!(p, Param::Array(_)).then_some(k))
    }

    /// The derivative with respect to the array operand at a position.
    pub fn partial(self, operand: usize) -> Option<Rule> {
        let nth = self.arrays().position(|k| k == operand)?;
        self.row().partials.get(nth).copied()
    }

    /// The transpose with respect to the operand at a position; `None` if the primitive is not linear in it.
    pub fn transpose(self, operand: usize) -> Option<Transpose> {
        match self.partial(operand)? {
            Rule::Linear(transpose) => Some(transpose),
            Rule::Formulas(_) => None,
        }
    }

    /// The positions of the array operands that it is linear in.
    pub fn linear_operands(self) -> impl Iterator<Item = usize> {
        self.arrays().filter(move |k| self.transpose(*k).is_some())
    }

    /// The position that J gives a linear operand. It is its own, but for a symmetric primitive,
    /// `dot`, always the first: so transposing twice gives the same operation.
    pub fn normal_operand(self, operand: usize) -> usize {
        let twice = self.transpose(operand).and_then(|t| t.op.transpose(t.operand));
        twice.filter(|t| t.op == self).map_or(operand, |t| t.operand)
    }

    /// All named dimensions: those of the result, then the summed one. Those of a square matrix have one name.
    pub fn labels(self) -> Vec<char> {
        let row = self.row();
        let mut labels: Vec<char> = row.result.chars().collect();
        for param in row.params {
            let names = match param {
                Param::Array(names) => names,
                Param::Size(_) => "",
            };
            for label in names.chars() {
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
        }
        labels
    }

    /// The dimensions of the loops that do most of the work.
    pub fn loops(self) -> String {
        if let Meaning::Nested(loops, _) = self.row().meaning {
            return loops.to_owned();
        }
        // What follows from other dimensions is no loop of its own.
        let follows = |l: &char| {
            (self.is_view() && *l == 'p') || self.windows().iter().any(|[whole, ..]| whole == l)
        };
        self.labels().into_iter().filter(|l| !follows(l)).collect()
    }

    /// The work, given the size of each of the [`labels`](Structured::labels).
    pub fn work(self, sizes: &[u64]) -> u64 {
        let labels = self.labels();
        let cells = |names: &str| {
            let size = |l| labels.iter().position(|x| *x == l).and_then(|k| sizes.get(k));
            names.chars().filter_map(size).fold(1u64, |n, size| n.saturating_mul(*size))
        };
        let row = self.row();
        let result = cells(row.result);
        let arrays = row.params.iter().filter_map(|p| match p {
            Param::Array(names) => Some(cells(names)),
            Param::Size(_) => None,
        });
        let all = cells(&self.loops());
        let largest = arrays.chain([result, all]).max().unwrap_or(0);
        largest.saturating_mul(2).saturating_sub(result)
    }
}

impl std::fmt::Debug for Structured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.row().name)
    }
}

/// The names of operands in the documentation.
const NAMES: [&str; 3] = ["x", "y", "z"];

impl Rule {
    /// The rule of the nth array operand as text.
    fn text(self, of: Structured, nth: usize) -> String {
        let chain = |chain: &Chain| {
            let operand = format!("{}'", NAMES.get(nth).unwrap_or(&"z"));
            let inner = chain.steps.iter().fold(operand, |x, step| {
                let mut args: Vec<String> = step.others.iter().map(|f| f.text()).collect();
                args.insert(step.operand.min(args.len()), x);
                format!("{}({})", step.op.row().name, args.join(", "))
            });
            format!("{}{inner}", if chain.negative { "- " } else { "" })
        };
        match self {
            Rule::Linear(t) => {
                let arrays = of.arrays().count();
                let mut others =
                    NAMES[..arrays.min(3)].iter().enumerate().filter(|(k, _)| *k != nth);
                let params = t.op.row().params.iter().enumerate();
                let args: Vec<&str> = params
                    .map(|(k, p)| match p {
                        _ if k == t.operand => "r''",
                        Param::Array(_) => others.next().map_or("z", |(_, name)| name),
                        Param::Size(_) => "n",
                    })
                    .collect();
                format!("`{}({})`", t.op.row().name, args.join(", "))
            }
            Rule::Formulas(chains) => {
                let chains: Vec<String> = chains.iter().map(chain).collect();
                format!("`{}`", chains.join(" + ").replace("+ - ", "- "))
            }
        }
    }
}

impl Formula {
    fn text(self) -> String {
        match self {
            Formula::Operand(k) => NAMES.get(k).unwrap_or(&"z").to_string(),
            Formula::Result => "r".to_owned(),
            Formula::Apply(op, args) => {
                let args: Vec<String> = args.iter().map(|f| f.text()).collect();
                format!("{}({})", op.row().name, args.join(", "))
            }
        }
    }
}

/// The table for the documentation.
pub fn structured_markdown() -> String {
    let mut out = String::from(
        "| name | operands | result | what | transposes, or derivatives |\n|---|---|---|---|---|\n",
    );
    for op in Structured::all() {
        let row = op.row();
        let (from, to) = op.widths();
        let params: Vec<String> = row.params.iter().map(|p| p.text(from)).collect();
        let result = Param::Array(row.result).text(to);
        let partials: Vec<String> =
            row.partials.iter().enumerate().map(|(nth, rule)| rule.text(op, nth)).collect();
        out += &format!(
            "| `{}` | {} | {result} | {} | {} |\n",
            row.name,
            params.join(", "),
            row.doc,
            partials.join("; "),
        );
    }
    out
}

//! From arguments to scalars and buffers: sizes are found, and everything is checked against the
//! declared types.
//!
//! An argument is first taken apart into leaves ([`crate::layout`]); then sizes are found; then every leaf is
//! held against its declared dimensions.
//!
//! Sizes in brackets, `def f[n, d](..)`, are not passed. They are the solution of the equations
//! "declared size = actual size": every array whose shape is known gives one equation per dimension,
//! and an equation with one unknown that occurs once is solved. A slice without a shape gives an
//! equation when all but one of its sizes are known.
//!
//! Binding allocates nothing once the lists it fills have grown to their size, but for arrays of sums:
//! their elements are copied into one array for each field ([`Columns`]).

mod sizes;

use crate::error::ArgumentError;
use crate::layout::{Columns, FLAT, Layout, Leaf, NoSize, peel};
use crate::ports::Input;
use crate::shown::show_type;
use crate::value::{Arg, MAX_DIMENSION, cells};
use jut_ir::{Function, NVar, Program, Size, Span, Type};

pub(crate) use sizes::Sizes;

/// A parameter of a function that is called from outside.
#[derive(Clone, Debug)]
struct Param {
    name: String,
    /// Its type as the user wrote it.
    shown: String,
    span: Span,
    var: NVar,
    ty: Type,
    layout: Layout,
    /// A size that the caller leaves out.
    hidden: bool,
}

/// The parameters of a function, and how to bind arguments to them.
#[derive(Clone, Debug)]
pub(crate) struct Binder {
    params: Vec<Param>,
    /// How many parameters the caller gives.
    visible: usize,
    /// Whether any of them is or has an array of a sum.
    lists: bool,
    /// The most cells that an array of a constructor has where a value has another one.
    absent: usize,
    /// Whether any of them is or has an array.
    arrays: bool,
    /// The names in the dimensions of arrays: once all have values, nothing is to be solved.
    names: Vec<NVar>,
}

impl Binder {
    /// For those parameters of a function that callers give, called and treated as `inputs` says.
    ///
    /// # Errors
    /// A parameter whose values cannot cross the border.
    pub fn new(
        program: &Program,
        func: &Function,
        params: &[NVar],
        inputs: &[Input],
    ) -> Result<Binder, ArgumentError> {
        let param = |(v, input): (&NVar, &Input)| {
            let ty = func.nvars[*v].ty.clone();
            let layout = Layout::of(program, &ty).map_err(|e| {
                let reason = format!("not built yet as an argument: {e}");
                ArgumentError::new("A06", input.name(), reason, FLAT).at(func.nvars[*v].span)
            })?;
            Ok(Param {
                name: input.name(),
                shown: show_type(program, func, &ty),
                span: func.nvars[*v].span,
                var: *v,
                ty,
                layout,
                hidden: input.hidden,
            })
        };
        let params: Vec<Param> = params.iter().zip(inputs).map(param).collect::<Result<_, _>>()?;
        let visible = params.iter().filter(|p| !p.hidden).count();
        let arrays = params.iter().flat_map(|p| &p.layout.leaves).any(|leaf| !leaf.dims.is_empty());
        let leaves =
            params.iter().flat_map(|p| &p.layout.leaves).filter(|leaf| leaf.fields.is_none());
        let terms = leaves.flat_map(|leaf| &leaf.dims).flat_map(|dim| dim.terms());
        let mut names: Vec<NVar> = terms.flat_map(|(names, _)| names.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        let lists = params.iter().any(|p| p.layout.has_list());
        let absent = params.iter().map(|p| p.layout.absent_cells()).max().unwrap_or(0);
        Ok(Binder { params, visible, lists, absent, arrays, names })
    }

    /// Where the leaves of the k-th parameter begin among those of all.
    pub fn start_of(&self, k: usize) -> usize {
        self.params.iter().take(k).map(|p| p.layout.leaves.len()).sum()
    }

    /// Types, and types in words, of the parameters that are not hidden.
    pub fn params(&self) -> impl Iterator<Item = (&Type, &str)> {
        self.visible().map(|p| (&p.ty, p.shown.as_str()))
    }

    /// Whether each parameter, hidden ones included, is one that the caller leaves out.
    pub fn hidden(&self) -> impl Iterator<Item = bool> {
        self.params.iter().map(|p| p.hidden)
    }

    /// The same of each leaf of each parameter.
    pub fn hidden_leaves(&self) -> impl Iterator<Item = bool> {
        self.params.iter().flat_map(|p| std::iter::repeat_n(p.hidden, p.layout.leaves.len()))
    }

    /// Whether each of these says the size of an argument, or is one of some names.
    pub fn say_sizes(&self, names: Vec<NVar>) -> impl Iterator<Item = bool> {
        self.params.iter().map(move |p| self.names.contains(&p.var) || names.contains(&p.var))
    }

    /// The first parameter that is not a number or an array of numbers.
    pub fn structured(&self) -> Option<usize> {
        self.visible().position(|p| !p.layout.is_leaf())
    }

    /// Where the k-th of these is declared.
    pub fn span_of(&self, k: usize) -> Span {
        self.visible().nth(k).map_or(Span::NONE, |p| p.span)
    }

    fn visible(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| !p.hidden)
    }

    /// Each parameter's type and layout, the leaves of its argument, and the shapes of these.
    pub fn typed_parts<'p>(
        &'p self,
        sizes: &'p Sizes,
        parts: &'p [Arg<'p>],
    ) -> impl Iterator<Item = (&'p Type, &'p Layout, &'p [Arg<'p>], Vec<Vec<usize>>)> {
        let mut start = 0;
        self.params.iter().map(move |param| {
            let own = parts.get(start..start + param.layout.leaves.len()).unwrap_or_default();
            start += param.layout.leaves.len();
            let field = |k: usize| integer(own, k);
            let shape = |leaf: &Leaf| {
                let size = |d| leaf.eval(d, &|v| sizes.get(v), &field).unwrap_or(0);
                leaf.dims.iter().map(|d| usize::try_from(size(d)).unwrap_or(0)).collect()
            };
            (&param.ty, &param.layout, own, param.layout.leaves.iter().map(shape).collect())
        })
    }

    /// The arrays of sums among the arguments, field by field, for [`Binder::bind`].
    pub fn columns(&self, args: &[Arg<'_>]) -> Columns {
        let mut all = Columns::with_absent(self.absent);
        if self.lists {
            for (param, arg) in self.visible().zip(args) {
                all.add(&param.layout, *arg);
            }
        }
        all
    }

    /// Takes the arguments apart into leaves (hidden sizes among them, as integers), finds all
    /// sizes, and checks everything. `kept` are the values of names that are known already.
    ///
    /// # Errors
    /// The number of arguments, a type, a rank or a size is wrong, or a size cannot be found.
    pub fn bind<'a>(
        &self,
        kept: impl Iterator<Item = (NVar, i64)>,
        args: &[Arg<'a>],
        columns: &'a Columns,
        sizes: &mut Sizes,
        out: &mut Vec<Arg<'a>>,
    ) -> Result<(), ArgumentError> {
        if args.len() != self.visible {
            return Err(self.wrong_count(args.len()));
        }
        sizes.reset();
        kept.for_each(|(name, value)| sizes.set(name, value));
        out.clear();
        let mut made = columns.made();
        let mut rest = args.iter();
        for param in &self.params {
            if param.hidden {
                out.push(Arg::I64(0));
                continue;
            }
            let Some(arg) = rest.next() else { continue };
            let start = out.len();
            if let Err(reason) = param.layout.take_apart(*arg, &mut made, out) {
                return Err(param.misfit("A02", *arg, &reason, how_to_give(&param.ty)));
            }
            for (leaf, part) in param.layout.leaves.iter().zip(&out[start..]) {
                if !fits(leaf, *part) {
                    let help = how_to_give(&param.ty);
                    return Err(param.misfit("A02", *arg, "the types differ", help));
                }
            }
            if let Arg::I64(value) = arg {
                sizes.set(param.var, *value);
            }
        }
        // Without arrays there is nothing to solve and nothing to hold against sizes.
        if self.arrays {
            self.infer(sizes, out);
        }
        let mut start = 0;
        for param in &self.params {
            if param.hidden {
                match sizes.get(param.var) {
                    Some(value) if value >= 0 => out[start] = Arg::I64(value),
                    Some(value) => {
                        let reason = format!("the sizes of the arguments would make it {value}");
                        let help = self.known(sizes);
                        let error = ArgumentError::new("A03", &param.name, reason, help);
                        return Err(error.at(param.span));
                    }
                    None => return Err(self.not_found(param, sizes)),
                }
            }
            start += param.layout.leaves.len();
        }
        if !self.arrays {
            return Ok(());
        }
        let (mut start, mut rest) = (0, args.iter());
        for param in &self.params {
            let parts = out.get(start..start + param.layout.leaves.len()).unwrap_or_default();
            start += param.layout.leaves.len();
            let Some(arg) = (if param.hidden { None } else { rest.next() }) else { continue };
            for (leaf, part) in param.layout.leaves.iter().zip(parts) {
                if let Err(reason) = check_sizes(leaf, *part, sizes, parts) {
                    return Err(param.misfit("A03", *arg, &reason, self.known(sizes)));
                }
            }
        }
        Ok(())
    }

    /// What is wrong with another number of arguments than there are parameters.
    pub fn wrong_count(&self, given: usize) -> ArgumentError {
        let names: Vec<&str> = self.visible().map(|p| p.name.as_str()).collect();
        let missing = names.get(given).copied().unwrap_or("(one too many)");
        let reason = format!(
            "{} arguments given, but the function takes {}: {}",
            given,
            names.len(),
            names.join(", ")
        );
        let shown = self.visible().map(|p| format!("{}: {}", p.name, p.shown));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let span = self.visible().nth(given).map_or(Span::NONE, |p| p.span);
        let help = format!("give ({shown}), in this order");
        ArgumentError::new("A01", missing, reason, help).at(span)
    }

    /// Solves for sizes until nothing more is found.
    fn infer(&self, sizes: &mut Sizes, parts: &[Arg<'_>]) {
        while self.names.iter().any(|name| sizes.get(*name).is_none()) {
            let mut progress = false;
            let leaves = self.params.iter().flat_map(|p| &p.layout.leaves);
            for (leaf, part) in leaves.zip(parts) {
                let Some((len, shape)) = part.extent() else { continue };
                if leaf.fields.is_some() {
                    continue;
                }
                match shape {
                    Some(shape) if shape.len() == leaf.dims.len() => {
                        for (dim, n) in leaf.dims.iter().zip(shape) {
                            progress |= sizes.solve(dim, as_i64(*n));
                        }
                    }
                    Some(_) => {}
                    None => progress |= sizes.solve_product(&leaf.dims, as_i64(len)),
                }
            }
            if !progress {
                return;
            }
        }
    }

    fn not_found(&self, size: &Param, sizes: &Sizes) -> ArgumentError {
        let fail = |advice: String, help: String| {
            let reason = format!("this size cannot be found: {advice}");
            ArgumentError::new("A04", &size.name, reason, help).at(size.span)
        };
        let names = |params: &[&Param]| {
            params.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>().join(" or ")
        };
        let mention: Vec<&Param> =
            self.params.iter().filter(|p| p.ty.size_names().contains(&size.var)).collect();
        // A shape tells the sizes that stand alone in a dimension, but for what is known.
        let tells = |dim: &Size| {
            let names = dim.terms().iter().flat_map(|(names, _)| names);
            names.filter(|name| sizes.get(**name).is_none()).eq([&size.var])
        };
        let by_shape = |p: &&Param| {
            p.layout
                .leaves
                .iter()
                .any(|l| l.fields.is_none() && l.dims.len() > 1 && l.dims.iter().any(tells))
        };
        let tellers: Vec<&Param> = mention.iter().copied().filter(by_shape).collect();
        if !tellers.is_empty() {
            let advice =
                format!("give the shape of {} together with its elements", names(&tellers));
            let help = "`(&x[..], &[rows, columns]).into()` is an array with its shape";
            return fail(advice, help.to_string());
        }
        let reason = match mention.is_empty() {
            true => "no argument's type tells it".to_string(),
            false => format!("the number of elements of {} does not tell it", names(&mention)),
        };
        let name = &size.name;
        fail(
            reason,
            format!(
                "make it a parameter: `{name}: i64` in the parentheses instead of `{name}` in the brackets"
            ),
        )
    }

    /// The sizes that were found, in words.
    fn known(&self, sizes: &Sizes) -> String {
        let mut known = Vec::new();
        for param in self.params.iter().filter(|p| p.ty == Type::I64) {
            known.extend(sizes.get(param.var).map(|n| format!("{} = {n}", param.name)));
        }
        match known.is_empty() {
            true => "arrays have the sizes that their types say, row by row".to_string(),
            false => format!("all arguments together make {}", known.join(", ")),
        }
    }
}

impl Param {
    fn misfit(
        &self,
        code: &'static str,
        arg: Arg<'_>,
        reason: &str,
        help: impl Into<String>,
    ) -> ArgumentError {
        let reason = format!("expected {}, got {}: {reason}", self.shown, arg.describe());
        ArgumentError::new(code, &self.name, reason, help).at(self.span)
    }
}

/// How a value of a type is given.
fn how_to_give(ty: &Type) -> &'static str {
    match ty {
        &Type::F32 => "give a float of 32 bits, `Arg::F32(1.0)`",
        Type::I32 => "give an integer of 32 bits, `Arg::I32(1)`",
        Type::Float(_) => "give a float, `1.0.into()`",
        Type::I64 => "give an integer, `1.into()`",
        Type::Bool => "give a truth value, `true.into()`",
        Type::Array(_, element) if matches!(peel(element).1, Type::Data(_)) => {
            "give `Arg::Tuple` of an array for each field of a record, `Arg::List` of the values of a sum"
        }
        Type::Array(..) if *peel(ty).1 == Type::F32 => "give `Arg::F32s` of a slice and its shape",
        Type::Array(..) if *peel(ty).1 == Type::I32 => "give `Arg::I32s` of a slice and its shape",
        Type::Array(..) => "give a slice, array or `Vec` of that type, `(&x).into()`",
        Type::Tuple(_) => "give `Arg::Tuple` of its components",
        Type::Data(_) => {
            "give `Arg::Tuple` of the fields of a record, `Arg::Data` for a constructor"
        }
    }
}

fn fits(leaf: &Leaf, part: Arg<'_>) -> bool {
    part.plain().is_some_and(|(scalar, extent)| {
        scalar == leaf.scalar && extent.is_none() == leaf.dims.is_empty()
    })
}

/// Compares the declared dimensions of a leaf with the actual ones.
fn check_sizes(leaf: &Leaf, part: Arg<'_>, sizes: &Sizes, parts: &[Arg<'_>]) -> Result<(), String> {
    let Some((len, shape)) = part.extent() else { return Ok(()) };
    if let Some(shape) = shape {
        if shape.len() != leaf.dims.len() {
            return Err(format!("{} dimensions are needed", leaf.dims.len()));
        }
        match cells(shape) {
            Some(count) if count == len => {}
            Some(_) => return Err(format!("it has {len} elements, which is not its shape")),
            None => return Err("no array has a shape as large".into()),
        }
    }
    let field = |k: usize| integer(parts, k);
    let mut needed_cells = Some(1i64);
    for (k, dim) in leaf.dims.iter().enumerate() {
        let needed = match leaf.eval(dim, &|v| sizes.get(v), &field) {
            Ok(needed) if needed >= MAX_DIMENSION as i64 => {
                return Err(format!(
                    "dimension {} would be {needed}, more than any array has",
                    k + 1
                ));
            }
            Ok(needed) if needed >= 0 => needed,
            // A field of a constructor that was not taken.
            Ok(_) if leaf.fields.is_some() && len == 0 && shape.is_none() => 0,
            Ok(needed) => return Err(format!("dimension {} would be {needed}", k + 1)),
            Err(NoSize::Unknown) => return Err("one of its sizes is not known".into()),
            Err(NoSize::TooLarge) => {
                return Err(format!("dimension {} would be larger than any i64", k + 1));
            }
        };
        if shape.and_then(|s| s.get(k)).is_some_and(|n| as_i64(*n) != needed) {
            return Err(format!("dimension {} must be {needed}", k + 1));
        }
        needed_cells = needed_cells.and_then(|c| c.checked_mul(needed));
    }
    match needed_cells {
        Some(cells) if cells == as_i64(len) => Ok(()),
        Some(cells) => Err(format!("{cells} elements are needed, not {len}")),
        None => Err("more elements are needed than fit in memory".into()),
    }
}

/// The k-th leaf, if it is an integer.
fn integer(parts: &[Arg<'_>], k: usize) -> Option<i64> {
    match parts.get(k) {
        Some(Arg::I64(value)) => Some(*value),
        _ => None,
    }
}

fn as_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use jut_ir::build::FunctionBuilder;
    use jut_ir::entity::EntityRef;
    use jut_ir::{Data, DataId, Field, Span};

    /// `def f[n, d](w: [d]f64, b: f64, x: [n, d]f64, k: i64, z: [n - 1]bool)`.
    fn function() -> Function {
        let mut b = FunctionBuilder::default();
        let n = b.nvar("n", Type::I64, Span::NONE);
        let d = b.nvar("d", Type::I64, Span::NONE);
        let row = Type::array(Size::var(d), Type::F64);
        let w = b.nvar("w", row.clone(), Span::NONE);
        let bias = b.nvar("b", Type::F64, Span::NONE);
        let x = b.nvar("x", Type::array(Size::var(n), row), Span::NONE);
        let k = b.nvar("k", Type::I64, Span::NONE);
        let less = Size::var(n) - Size::constant(1);
        let z = b.nvar("z", Type::array(less, Type::Bool), Span::NONE);
        b.func.params = vec![n, d, w, bias, x, k, z];
        b.func.size_params = 2;
        b.func
    }

    fn inputs(func: &Function) -> Vec<Input> {
        let input = |(k, v): (usize, &NVar)| Input {
            of: crate::ports::Name::plain(&func.nvars[*v].name),
            what: jut_ad::compose::Parameter::Argument(k),
            hidden: k < func.size_params,
            labels: Default::default(),
        };
        func.params.iter().enumerate().map(input).collect()
    }

    fn bind(func: &Function, args: &[Arg<'_>]) -> Result<(Vec<i64>, usize), ArgumentError> {
        let program = Program::default();
        let binder = Binder::new(&program, func, &func.params, &inputs(func))?;
        let (mut sizes, mut leaves) = (Sizes::default(), Vec::new());
        let columns = binder.columns(args);
        binder.bind(std::iter::empty(), args, &columns, &mut sizes, &mut leaves)?;
        let known =
            func.params.iter().take(func.size_params).filter_map(|p| sizes.get(*p)).collect();
        Ok((known, leaves.len()))
    }

    #[test]
    fn sizes_are_found_from_shapes_and_from_lengths() {
        let f = function();
        let (w, x, z) = ([1.0; 3], [0.0; 12], [true; 3]);
        let with_shape = [(&w).into(), 0.5.into(), (&x[..], &[4, 3]).into(), 7.into(), (&z).into()];
        assert_eq!(bind(&f, &with_shape), Ok((vec![4, 3], 7)));
        let without = [(&w).into(), 0.5.into(), (&x).into(), 7.into(), (&z).into()];
        assert_eq!(bind(&f, &without), Ok((vec![4, 3], 7)));
    }

    #[test]
    fn empty_arrays_bind_when_their_shape_is_given() {
        let f = function();
        let w = [1.0; 3];
        let one_row: [Arg<'_>; 5] =
            [(&w).into(), 0.5.into(), (&w[..], &[1, 3]).into(), 7.into(), (&[] as &[bool]).into()];
        assert_eq!(bind(&f, &one_row), Ok((vec![1, 3], 7)));
        let mut g = f.clone();
        g.params.pop();
        let empty: [Arg<'_>; 4] =
            [(&w).into(), 0.5.into(), (&[0.0; 0][..], &[0, 3]).into(), 7.into()];
        assert_eq!(bind(&g, &empty), Ok((vec![0, 3], 6)));
    }

    #[test]
    fn no_dimension_is_larger_than_memory_also_of_an_array_without_elements() {
        let mut b = FunctionBuilder::default();
        let [n, m] = ["n", "m"].map(|name| b.nvar(name, Type::I64, Span::NONE));
        let row = Type::array(Size::var(m), Type::F64);
        let x = b.nvar("x", Type::array(Size::var(n), row), Span::NONE);
        b.func.params = vec![n, m, x];
        let f = b.func;
        let run = |n: i64, m: i64| bind(&f, &[n.into(), m.into(), (&[] as &[f64]).into()]);
        assert_eq!(run(0, (1 << 48) - 1), Ok((Vec::new(), 3)));
        for (n, m) in [(0, 1 << 48), (1 << 62, 0)] {
            let error = run(n, m).expect_err("no memory has so many rows");
            assert_eq!((error.code(), error.parameter()), ("A03", "x"), "{error}");
        }
        let none: &[f64] = &[];
        let shaped = [0.into(), (1i64 << 48).into(), (none, &[0, 1 << 48]).into()];
        assert_eq!(bind(&f, &shaped).expect_err("nor such a shape").code(), "A03");
    }

    #[test]
    fn every_misfit_names_its_parameter() {
        let f = function();
        let (w, x, z) = ([1.0; 3], [0.0; 12], [true; 3]);
        let good: [Arg<'_>; 5] =
            [(&w).into(), 0.5.into(), (&x[..], &[4, 3]).into(), 7.into(), (&z).into()];
        let cases: [(usize, Arg<'_>, &str, &str); 9] = [
            (0, 1.0.into(), "w", "expected [d]f64, got an f64"),
            (0, (&x).into(), "x", "dimension 2 must be 12"),
            (1, 1.into(), "b", "expected f64, got an i64"),
            (2, (&x[..], &[3, 4]).into(), "x", "dimension 2 must be 3"),
            (2, (&x[..], &[4, 3, 1]).into(), "x", "2 dimensions are needed"),
            (2, (&x[..9], &[4, 3]).into(), "x", "it has 9 elements, which is not its shape"),
            (2, (&[1i64; 12]).into(), "x", "expected [n, d]f64, got a slice of 12 i64"),
            (3, true.into(), "k", "expected i64"),
            (4, (&[true; 5]).into(), "z", "3 elements are needed, not 5"),
        ];
        for (k, wrong, parameter, reason) in cases {
            let mut args = good;
            args[k] = wrong;
            let error = bind(&f, &args).expect_err(reason);
            assert_eq!(error.parameter(), parameter, "{error}");
            assert!(error.reason().contains(reason), "{error}");
        }
        assert!(bind(&f, &good[..4]).is_err());
    }

    #[test]
    fn sizes_that_are_no_i64_are_refused_however_few_elements_are_given() {
        let mut b = FunctionBuilder::default();
        let n = b.nvar("n", Type::I64, Span::NONE);
        let m = b.nvar("m", Type::I64, Span::NONE);
        let cells = Type::array(Size::var(n) * Size::var(m), Type::F64);
        let x = b.nvar("x", cells, Span::NONE);
        b.func.params = vec![n, m, x];
        let f = b.func;
        let run = |n: i64, m: i64, x: &[f64]| bind(&f, &[n.into(), m.into(), x.into()]);
        assert!(run(2, 3, &[0.0; 6]).is_ok());
        assert!(run(0, i64::MAX, &[]).is_ok());
        // All of these wrap around to what is given.
        for (n, m, count) in [
            (1 << 32, 1 << 32, 0),
            ((1 << 32) + 1, 1 << 32, 0),
            (i64::MAX, 3, 5),
            (3, 6148914691236517207, 5),
            (i64::MIN, 2, 0),
        ] {
            let error = run(n, m, &[0.0; 5][..count]).expect_err("it does not fit");
            assert_eq!((error.code(), error.parameter()), ("A03", "x"), "{error}");
        }
        let error = run(1 << 32, 1 << 32, &[]).expect_err("2^64");
        assert!(error.reason().contains("larger than any i64"), "{error}");
        assert!(run(-1, 5, &[]).expect_err("-5").reason().contains("would be -5"));
        // Two negative sizes have a product of their own: no loop runs over them.
        assert!(run(-2, -3, &[0.0; 6]).is_ok());
    }

    #[test]
    fn a_size_that_nothing_tells_is_an_error_with_advice() {
        let mut f = function();
        f.params.truncate(5);
        f.params.remove(2);
        let x = [0.0; 12];
        let error = bind(&f, &[0.5.into(), (&x).into()]).expect_err("12 = n * d");
        assert!(error.to_string().contains("give the shape of `x`"), "{error}");
    }

    #[test]
    fn a_size_that_no_shape_tells_is_to_be_a_parameter() {
        let text = "def f[n, m](x: [n * m]f64) -> f64 = sum (i < n, j < m) { x[i * m + j] }";
        let f =
            crate::Model::from_text(text).and_then(|m| m.function("f")?.value()).expect("loads");
        let error = f.call(&[(&[1.0; 6]).into()]).expect_err("6 = n * m").to_string();
        assert!(error.contains("the number of elements of `x` does not tell it"), "{error}");
    }

    #[test]
    fn records_and_sums_flatten_field_by_field() {
        let mut program = Program::default();
        let bag = |name: &str| jut_ir::Constructor {
            name: name.into(),
            fields: vec![
                Field { name: "m".into(), ty: Type::I64 },
                Field { name: "w".into(), ty: Type::array(Size::var(NVar::new(0)), Type::F64) },
            ],
        };
        let data = |name: &str, constructors| Data {
            name: name.into(),
            constructors,
            tangent: None,
            record: None,
            doc: String::new(),
            span: Span::NONE,
        };
        let record: DataId = program.add_data(data("Bag", vec![bag("Bag")]));
        let sum = program.add_data(data("S", vec![bag("A"), bag("B")]));
        let mut b = FunctionBuilder::default();
        let r = b.nvar("r", Type::Data(record), Span::NONE);
        let s = b.nvar("s", Type::Data(sum), Span::NONE);
        b.func.params = vec![r, s];
        let binder =
            Binder::new(&program, &b.func, &b.func.params, &inputs(&b.func)).expect("flat");
        let floats = |n: usize| Value::F64s(crate::Array { shape: vec![n], data: vec![1.0; n] });
        let run = |m: i64, n: usize| {
            let record = Value::Tuple(vec![Value::I64(m), floats(n)]);
            let sum = Value::Data("B".into(), vec![Value::I64(2), floats(2)]);
            let (mut sizes, mut leaves) = (Sizes::default(), Vec::new());
            let args = [Arg::from(&record), Arg::from(&sum)];
            let columns = binder.columns(&args);
            binder
                .bind(std::iter::empty(), &args, &columns, &mut sizes, &mut leaves)
                .map(|()| format!("{leaves:?}"))
        };
        assert_eq!(
            run(3, 3).as_deref(),
            Ok(concat!(
                "[I64(3), F64s([1.0, 1.0, 1.0], Some([3])), I64(1), ",
                "I64(0), F64s([], None), I64(2), F64s([1.0, 1.0], Some([2]))]"
            ))
        );
        assert!(run(2, 3).is_err());
    }
}

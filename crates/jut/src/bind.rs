//! From arguments to scalars and buffers: sizes are found, everything is checked against the
//! declared types, and what remains is a flat list of *leaves*.
//!
//! A type is a tree; its leaves are scalars and rectangular arrays of scalars, in the order of
//! the fields:
//!
//! | type | leaves |
//! |---|---|
//! | `f64`, `i64`, `bool` | one scalar |
//! | `#(t, ..)`, a record | the leaves of its fields, in order |
//! | a sum | the number of the constructor, then the fields of every constructor; zero or empty for the absent ones |
//! | `[n]t` | the leaves of `t`, each with one more dimension |
//!
//! Sizes in brackets, `def f[n, d](..)`, are not passed. They are the solution of the equations
//! "declared size = actual size": every array whose shape is known gives one equation per dimension,
//! and an equation with one unknown that occurs once is solved. A slice without a shape gives an
//! equation when all but one of its sizes are known.
//!
//! Binding allocates nothing once the lists it fills have grown to their size.

use crate::error::ArgumentError;
use crate::value::{Arg, Value};
use jut_ir::entity::EntityRef;
use jut_ir::prim::Scalar;
use jut_ir::{Constructor, Function, NVar, Program, Size, Type};

/// A scalar or a flat array.
#[derive(Clone, Copy, Debug)]
pub enum Leaf<'a> {
    /// A float.
    F64(f64),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// Floats.
    F64s(&'a [f64]),
    /// Integers.
    I64s(&'a [i64]),
    /// Truth values.
    Bools(&'a [bool]),
}

/// The values of the i64 names of one call: sizes, integer parameters, integer results.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    values: Vec<Option<i64>>,
}

impl Sizes {
    fn reset(&mut self, func: &Function) {
        self.values.clear();
        self.values.resize(func.nvars.len(), None);
    }

    /// The value of a name, if it is known.
    pub fn get(&self, name: NVar) -> Option<i64> {
        self.values.get(name.index()).copied().flatten()
    }

    /// Sets the value of a name.
    pub fn set(&mut self, name: NVar, value: i64) {
        if let Some(slot) = self.values.get_mut(name.index()) {
            *slot = Some(value);
        }
    }

    /// The value of a size, if all its names are known.
    pub fn eval(&self, size: &Size) -> Option<i64> {
        let known =
            size.terms().iter().all(|(names, _)| names.iter().all(|v| self.get(*v).is_some()));
        known.then(|| size.eval(&mut |v| self.get(v).unwrap_or_default()))
    }

    /// Solves `size = value` if exactly one name is unknown and stands in one term, once.
    fn solve(&mut self, size: &Size, value: i64) -> bool {
        let mut unknown = None;
        let mut rest = 0i64;
        for (names, coefficient) in size.terms() {
            let mut factor = *coefficient;
            let mut missing = None;
            for name in names {
                match self.get(*name) {
                    Some(v) => factor = factor.wrapping_mul(v),
                    None if missing.is_none() => missing = Some(*name),
                    None => return false,
                }
            }
            match missing {
                None => rest = rest.wrapping_add(factor),
                Some(name) if unknown.is_none() => unknown = Some((name, factor)),
                Some(_) => return false,
            }
        }
        let Some((name, factor)) = unknown else { return false };
        let Some(remaining) = value.checked_sub(rest) else { return false };
        if factor == 0 || remaining.checked_rem(factor) != Some(0) {
            return false;
        }
        self.set(name, remaining / factor);
        true
    }
}

/// The dimensions of an array, innermost first: a list on the stack.
#[derive(Clone, Copy)]
struct Dims<'s> {
    size: &'s Size,
    outer: Option<&'s Dims<'s>>,
}

impl Dims<'_> {
    fn rank(&self) -> usize {
        let (mut rank, mut dim) = (1, self.outer);
        while let Some(d) = dim {
            (rank, dim) = (rank + 1, d.outer);
        }
        rank
    }
}

/// What the names in a size mean.
#[derive(Clone, Copy)]
enum Scope<'s> {
    /// Names of the function.
    Function,
    /// Earlier fields of a constructor, whose leaves begin at `start`.
    Fields { con: &'s Constructor, start: usize },
}

/// The parameters of a function, and how to bind arguments to them.
pub struct Binder<'p> {
    /// The program.
    pub program: &'p Program,
    /// The function that is called.
    pub func: &'p Function,
    /// How many of its first parameters are sizes that the caller leaves out.
    pub hidden: usize,
}

/// Where an error happened, for its message.
#[derive(Clone, Copy)]
struct At<'s> {
    param: &'s str,
    ty: &'s Type,
}

impl<'p> Binder<'p> {
    /// Finds all sizes and flattens the arguments (one per parameter that is not hidden) into
    /// leaves, hidden sizes first.
    ///
    /// # Errors
    /// The number of arguments, a type, a rank or a size is wrong, or a size cannot be found.
    pub fn bind<'a>(
        &self,
        args: &[Arg<'a>],
        sizes: &mut Sizes,
        leaves: &mut Vec<Leaf<'a>>,
    ) -> Result<(), ArgumentError> {
        let params = self.func.params.get(self.hidden..).unwrap_or_default();
        if args.len() != params.len() {
            let names: Vec<&str> = params.iter().map(|p| self.name(*p)).collect();
            return Err(ArgumentError::new(
                names.get(args.len()).copied().unwrap_or("(too many)"),
                format!(
                    "{} arguments given, but the function takes {}: {}",
                    args.len(),
                    params.len(),
                    names.join(", ")
                ),
            ));
        }
        sizes.reset(self.func);
        for (param, arg) in params.iter().zip(args) {
            if let Arg::I64(value) = arg {
                sizes.set(*param, *value);
            }
        }
        self.infer(params, args, sizes);
        leaves.clear();
        for hidden in self.func.params.iter().take(self.hidden) {
            let Some(value) = sizes.get(*hidden) else {
                return Err(self.not_found(*hidden, params));
            };
            if value < 0 {
                return Err(ArgumentError::new(
                    self.name(*hidden),
                    format!("the sizes of the arguments would make it {value}"),
                ));
            }
            leaves.push(Leaf::I64(value));
        }
        for (param, arg) in params.iter().zip(args) {
            let data = &self.func.nvars[*param];
            let at = At { param: &data.name, ty: &data.ty };
            self.flatten(&data.ty, None, Scope::Function, *arg, at, sizes, leaves)?;
        }
        Ok(())
    }

    fn name(&self, v: NVar) -> &'p str {
        &self.func.nvars[v].name
    }

    fn not_found(&self, size: NVar, params: &[NVar]) -> ArgumentError {
        // The arrays that could tell: those whose type mentions the size.
        let tellers: Vec<String> = params
            .iter()
            .filter(|p| self.func.nvars[**p].ty.size_names().contains(&size))
            .map(|p| format!("`{}`", self.name(*p)))
            .collect();
        let advice = if tellers.is_empty() {
            "no argument's type tells it".to_string()
        } else {
            format!("give the shape of {} together with its elements", tellers.join(" or "))
        };
        ArgumentError::new(self.name(size), format!("this size cannot be found: {advice}"))
    }

    /// Solves for sizes until nothing more is found.
    fn infer(&self, params: &[NVar], args: &[Arg<'_>], sizes: &mut Sizes) {
        loop {
            let mut progress = false;
            for (param, arg) in params.iter().zip(args) {
                let ty = &self.func.nvars[*param].ty;
                progress |= self.infer_one(ty, None, *arg, sizes);
            }
            if !progress {
                return;
            }
        }
    }

    fn infer_one(
        &self,
        ty: &Type,
        dims: Option<&Dims<'_>>,
        arg: Arg<'_>,
        sizes: &mut Sizes,
    ) -> bool {
        match ty {
            Type::Array(size, element) => {
                let inner = Dims { size, outer: dims };
                self.infer_one(element, Some(&inner), arg, sizes)
            }
            Type::Tuple(items) => {
                let mut progress = false;
                for (k, item) in items.iter().enumerate() {
                    if let Some(part) = component(arg, k) {
                        progress |= self.infer_one(item, dims, part, sizes);
                    }
                }
                progress
            }
            Type::Data(id) => {
                // Sizes inside a data type are its own; only the dimensions around it tell.
                let [con] = self.program.datas[*id].constructors.as_slice() else {
                    if let (Some(dims), Arg::List(items)) = (dims, arg) {
                        return dims.outer.is_none()
                            && sizes.solve(dims.size, len_i64(items.len()));
                    }
                    return false;
                };
                let mut progress = false;
                for (k, field) in con.fields.iter().enumerate() {
                    if field.ty.size_names().is_empty()
                        && let Some(part) = component(arg, k)
                    {
                        progress |= self.infer_one(&field.ty, dims, part, sizes);
                    }
                }
                progress
            }
            Type::F64 | Type::I64 | Type::Bool => {
                let (Some(dims), Some((len, shape))) = (dims, extent(arg)) else { return false };
                match shape {
                    Some(shape) => {
                        let mut progress = false;
                        let mut dim = Some(dims);
                        for n in shape.iter().rev() {
                            let Some(d) = dim else { return progress };
                            progress |= sizes.solve(d.size, len_i64(*n));
                            dim = d.outer;
                        }
                        progress
                    }
                    None => infer_from_length(dims, len_i64(len), sizes),
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // one walk over type and argument, with its surroundings
    fn flatten<'a>(
        &self,
        ty: &Type,
        dims: Option<&Dims<'_>>,
        scope: Scope<'_>,
        arg: Arg<'a>,
        at: At<'_>,
        sizes: &Sizes,
        leaves: &mut Vec<Leaf<'a>>,
    ) -> Result<(), ArgumentError> {
        match ty {
            Type::Array(size, element) => {
                let inner = Dims { size, outer: dims };
                self.flatten(element, Some(&inner), scope, arg, at, sizes, leaves)
            }
            Type::Tuple(items) => {
                self.expect_components(arg, items.len(), at)?;
                for (k, item) in items.iter().enumerate() {
                    if let Some(part) = component(arg, k) {
                        self.flatten(item, dims, scope, part, at, sizes, leaves)?;
                    }
                }
                Ok(())
            }
            Type::Data(id) => {
                let data = &self.program.datas[*id];
                if let [con] = data.constructors.as_slice() {
                    self.expect_components(arg, con.fields.len(), at)?;
                    let start = leaves.len();
                    for (k, field) in con.fields.iter().enumerate() {
                        if dims.is_some() && !field.ty.size_names().is_empty() {
                            return Err(self.wrong(arg, at, "an array of records whose fields have sizes of their own cannot be an argument yet"));
                        }
                        let inner =
                            if dims.is_some() { scope } else { Scope::Fields { con, start } };
                        if let Some(part) = component(arg, k) {
                            self.flatten(&field.ty, dims, inner, part, at, sizes, leaves)?;
                        }
                    }
                    return Ok(());
                }
                if dims.is_some() {
                    return Err(self.wrong(
                        arg,
                        at,
                        "an array of a type with several constructors cannot be an argument yet",
                    ));
                }
                let Arg::Data(name, fields) = arg else {
                    return Err(self.wrong(arg, at, "give the constructor and its fields"));
                };
                let Some(chosen) = data.constructors.iter().position(|c| c.name == name) else {
                    let names: Vec<&str> =
                        data.constructors.iter().map(|c| c.name.as_str()).collect();
                    let reason = format!("the constructors are {}", names.join(", "));
                    return Err(self.wrong(arg, at, &reason));
                };
                leaves.push(Leaf::I64(len_i64(chosen)));
                for (number, con) in data.constructors.iter().enumerate() {
                    if number != chosen {
                        con.fields.iter().for_each(|f| self.absent(&f.ty, leaves));
                        continue;
                    }
                    self.expect_components(arg, con.fields.len(), at)?;
                    let start = leaves.len();
                    for (field, part) in con.fields.iter().zip(fields) {
                        let inner = Scope::Fields { con, start };
                        self.flatten(&field.ty, None, inner, part.into(), at, sizes, leaves)?;
                    }
                }
                Ok(())
            }
            Type::F64 | Type::I64 | Type::Bool => {
                let leaf = match (arg, Scalar::of(ty), dims) {
                    (Arg::F64(x), Some(Scalar::F64), None) => Leaf::F64(x),
                    (Arg::I64(x), Some(Scalar::I64), None) => Leaf::I64(x),
                    (Arg::Bool(x), Some(Scalar::Bool), None) => Leaf::Bool(x),
                    (Arg::F64s(x, _), Some(Scalar::F64), Some(_)) => Leaf::F64s(x),
                    (Arg::I64s(x, _), Some(Scalar::I64), Some(_)) => Leaf::I64s(x),
                    (Arg::Bools(x, _), Some(Scalar::Bool), Some(_)) => Leaf::Bools(x),
                    _ => return Err(self.wrong(arg, at, "the types differ")),
                };
                if let Some(dims) = dims {
                    self.check_sizes(dims, scope, arg, at, sizes, leaves)?;
                }
                leaves.push(leaf);
                Ok(())
            }
        }
    }

    /// The leaves of a field that is not there.
    fn absent(&self, ty: &Type, leaves: &mut Vec<Leaf<'_>>) {
        match ty {
            Type::F64 => leaves.push(Leaf::F64(0.0)),
            Type::I64 => leaves.push(Leaf::I64(0)),
            Type::Bool => leaves.push(Leaf::Bool(false)),
            Type::Tuple(items) => items.iter().for_each(|t| self.absent(t, leaves)),
            Type::Array(_, element) => {
                let start = leaves.len();
                self.absent(element, leaves);
                for leaf in leaves.iter_mut().skip(start) {
                    *leaf = match leaf {
                        Leaf::F64(_) | Leaf::F64s(_) => Leaf::F64s(&[]),
                        Leaf::I64(_) | Leaf::I64s(_) => Leaf::I64s(&[]),
                        Leaf::Bool(_) | Leaf::Bools(_) => Leaf::Bools(&[]),
                    };
                }
            }
            Type::Data(id) => {
                let data = &self.program.datas[*id];
                if data.constructors.len() != 1 {
                    leaves.push(Leaf::I64(0));
                }
                for con in &data.constructors {
                    con.fields.iter().for_each(|f| self.absent(&f.ty, leaves));
                }
            }
        }
    }

    fn expect_components(
        &self,
        arg: Arg<'_>,
        count: usize,
        at: At<'_>,
    ) -> Result<(), ArgumentError> {
        match arg {
            Arg::Tuple(items) if items.len() == count => Ok(()),
            Arg::Values(items) | Arg::Data(_, items) if items.len() == count => Ok(()),
            _ => Err(self.wrong(arg, at, &format!("give its {count} components in order"))),
        }
    }

    /// Compares the declared dimensions with the actual ones.
    fn check_sizes(
        &self,
        dims: &Dims<'_>,
        scope: Scope<'_>,
        arg: Arg<'_>,
        at: At<'_>,
        sizes: &Sizes,
        leaves: &[Leaf<'_>],
    ) -> Result<(), ArgumentError> {
        let Some((len, shape)) = extent(arg) else { return Ok(()) };
        let value = |size: &Size| match scope {
            Scope::Function => sizes.eval(size),
            Scope::Fields { con, start } => Some(size.eval(&mut |field| {
                let before: usize =
                    con.fields.iter().take(field.index()).map(|f| self.leaf_count(&f.ty)).sum();
                match leaves.get(start + before) {
                    Some(Leaf::I64(v)) => *v,
                    _ => 0,
                }
            })),
        };
        let rank = dims.rank();
        if let Some(shape) = shape
            && shape.len() != rank
        {
            return Err(self.wrong(arg, at, &format!("{rank} dimensions are needed")));
        }
        let mut cells = Some(1i64);
        let mut dim = Some(dims);
        for number in (1..=rank).rev() {
            let Some(d) = dim else { break };
            let Some(want) = value(d.size) else {
                return Err(self.wrong(arg, at, "one of its sizes is not known"));
            };
            if let Some(shape) = shape
                && shape.get(number - 1).is_some_and(|have| len_i64(*have) != want)
            {
                return Err(self.wrong(arg, at, &format!("dimension {number} must be {want}")));
            }
            cells = cells.and_then(|c| c.checked_mul(want));
            dim = d.outer;
        }
        let cells = cells.filter(|c| *c >= 0);
        let given = match shape {
            // A shape must also fit the number of elements that come with it.
            Some(shape) => shape.iter().try_fold(1usize, |p, n| p.checked_mul(*n)),
            None => Some(len),
        };
        if given != Some(len) || cells != Some(len_i64(len)) {
            let want = cells.map_or("more than fit in memory".to_string(), |c| c.to_string());
            return Err(self.wrong(arg, at, &format!("{want} elements are needed, not {len}")));
        }
        Ok(())
    }

    /// How many leaves a type has.
    pub fn leaf_count(&self, ty: &Type) -> usize {
        match ty {
            Type::F64 | Type::I64 | Type::Bool => 1,
            Type::Array(_, element) => self.leaf_count(element),
            Type::Tuple(items) => items.iter().map(|t| self.leaf_count(t)).sum(),
            Type::Data(id) => {
                let cons = &self.program.datas[*id].constructors;
                let fields = cons.iter().flat_map(|c| &c.fields);
                let tag = usize::from(cons.len() != 1);
                tag + fields.map(|f| self.leaf_count(&f.ty)).sum::<usize>()
            }
        }
    }

    fn wrong(&self, arg: Arg<'_>, at: At<'_>, reason: &str) -> ArgumentError {
        ArgumentError::new(
            at.param,
            format!("expected {}, got {}: {reason}", self.show(at.ty), arg.describe()),
        )
    }

    /// A type as the user wrote it.
    pub fn show(&self, ty: &Type) -> String {
        show_type(self.program, self.func, ty)
    }
}

/// A type in the words of a function.
pub fn show_type(program: &Program, func: &Function, ty: &Type) -> String {
    match ty {
        Type::F64 => "f64".into(),
        Type::I64 => "i64".into(),
        Type::Bool => "bool".into(),
        Type::Data(id) => program.datas[*id].name.clone(),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|t| show_type(program, func, t)).collect();
            format!("#({})", items.join(", "))
        }
        Type::Array(..) => {
            let mut sizes = Vec::new();
            let mut inner = ty;
            while let Type::Array(size, element) = inner {
                sizes.push(show_size(func, size));
                inner = element;
            }
            format!("[{}]{}", sizes.join(", "), show_type(program, func, inner))
        }
    }
}

fn show_size(func: &Function, size: &Size) -> String {
    let mut text = String::new();
    for (names, c) in size.terms() {
        let names: Vec<&str> = names.iter().map(|v| func.nvars[*v].name.as_str()).collect();
        let sign = match (text.is_empty(), *c < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text.push_str(sign);
        let magnitude = c.unsigned_abs();
        if magnitude != 1 || names.is_empty() {
            text.push_str(&magnitude.to_string());
            text.push_str(if names.is_empty() { "" } else { " * " });
        }
        text.push_str(&names.join(" * "));
    }
    if text.is_empty() { "0".into() } else { text }
}

/// The equation "product of the sizes = number of elements", if one size is not known.
fn infer_from_length(dims: &Dims<'_>, len: i64, sizes: &mut Sizes) -> bool {
    let mut known = 1i64;
    let mut unknown = None;
    let mut dim = Some(dims);
    while let Some(d) = dim {
        match sizes.eval(d.size) {
            Some(v) => known = known.wrapping_mul(v),
            None if unknown.is_none() => unknown = Some(d.size),
            None => return false,
        }
        dim = d.outer;
    }
    match unknown {
        Some(size) if known > 0 && len % known == 0 => sizes.solve(size, len / known),
        _ => false,
    }
}

fn component(arg: Arg<'_>, k: usize) -> Option<Arg<'_>> {
    match arg {
        Arg::Tuple(items) => items.get(k).copied(),
        Arg::Values(items) | Arg::Data(_, items) => items.get(k).map(Arg::from),
        _ => None,
    }
}

/// Number of elements, and the shape if it is given.
fn extent(arg: Arg<'_>) -> Option<(usize, Option<&[usize]>)> {
    match arg {
        Arg::F64s(data, shape) => Some((data.len(), shape)),
        Arg::I64s(data, shape) => Some((data.len(), shape)),
        Arg::Bools(data, shape) => Some((data.len(), shape)),
        _ => None,
    }
}

fn len_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Puts results back together: the leaves of a type, each an owned value of rank zero or with its
/// shape, become one value of the type.
///
/// `next` gives the leaf values in order.
pub fn rebuild(
    program: &Program,
    ty: &Type,
    next: &mut dyn FnMut() -> Option<Value>,
) -> Option<Value> {
    match ty {
        Type::F64 | Type::I64 | Type::Bool => next(),
        Type::Array(_, element) => rebuild(program, element, next),
        Type::Tuple(items) => {
            items.iter().map(|t| rebuild(program, t, next)).collect::<Option<_>>().map(Value::Tuple)
        }
        Type::Data(id) => {
            let data = &program.datas[*id];
            if let [con] = data.constructors.as_slice() {
                let fields = con.fields.iter().map(|f| rebuild(program, &f.ty, next));
                return fields.collect::<Option<_>>().map(Value::Tuple);
            }
            let Some(Value::I64(tag)) = next() else { return None };
            let mut chosen = None;
            for (number, con) in data.constructors.iter().enumerate() {
                let fields: Option<Vec<Value>> =
                    con.fields.iter().map(|f| rebuild(program, &f.ty, next)).collect();
                if len_i64(number) == tag {
                    chosen = Some(Value::Data(con.name.clone(), fields?));
                }
            }
            chosen
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_ir::build::FunctionBuilder;
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

    fn bind(func: &Function, args: &[Arg<'_>]) -> Result<(Vec<i64>, usize), ArgumentError> {
        let binder = Binder { program: &Program::default(), func, hidden: func.size_params };
        let (mut sizes, mut leaves) = (Sizes::default(), Vec::new());
        binder.bind(args, &mut sizes, &mut leaves)?;
        let known = func.params.iter().take(binder.hidden).filter_map(|p| sizes.get(*p)).collect();
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
            (2, (&x[..9], &[4, 3]).into(), "x", "12 elements are needed, not 9"),
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
    fn a_size_that_nothing_tells_is_an_error_with_advice() {
        let mut f = function();
        f.params.truncate(5);
        f.params.remove(2);
        let x = [0.0; 12];
        let error = bind(&f, &[0.5.into(), (&x).into()]).expect_err("12 = n * d");
        assert!(error.to_string().contains("give the shape of `x`"), "{error}");
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
            doc: String::new(),
            span: Span::NONE,
        };
        let record: DataId = program.add_data(data("Bag", vec![bag("Bag")]));
        let sum = program.add_data(data("S", vec![bag("A"), bag("B")]));
        let mut b = FunctionBuilder::default();
        let r = b.nvar("r", Type::Data(record), Span::NONE);
        let s = b.nvar("s", Type::Data(sum), Span::NONE);
        b.func.params = vec![r, s];
        let binder = Binder { program: &program, func: &b.func, hidden: 0 };
        let floats = |n: usize| Value::F64s(crate::Array { shape: vec![n], data: vec![1.0; n] });
        let run = |m: i64, n: usize| {
            let record = Value::Tuple(vec![Value::I64(m), floats(n)]);
            let sum = Value::Data("B".into(), vec![Value::I64(2), floats(2)]);
            let (mut sizes, mut leaves) = (Sizes::default(), Vec::new());
            let args = [Arg::from(&record), Arg::from(&sum)];
            binder.bind(&args, &mut sizes, &mut leaves).map(|()| format!("{leaves:?}"))
        };
        assert_eq!(
            run(3, 3).as_deref(),
            Ok(
                "[I64(3), F64s([1.0, 1.0, 1.0]), I64(1), I64(0), F64s([]), I64(2), F64s([1.0, 1.0])]"
            )
        );
        assert!(run(2, 3).is_err());
    }
}

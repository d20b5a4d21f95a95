//! Functions of other languages that programs call (`extern def`), given by the host.
//!
//! A program declares what such a function takes and gives, that it is linear, and which function is its transpose; the host gives
//! the functions, as Rust that may call anything:
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let text = "
//! extern def shift(n: i64, by: i64; x': [n]f64) -> (; [n]f64) transpose shift_back
//! extern def shift_back(n: i64, by: i64; x': [n]f64) -> (; [n]f64) transpose shift
//!
//! def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i] * shift(n, 1, x)[i] }
//! ";
//! let model = jut::Model::from_text(text)?
//!     .with_extern("shift", |given, results| {
//!         let (by, x, y) = (given.integer(1) as usize, given.floats(2), &mut results[0]);
//!         (0..x.len()).for_each(|i| y[(i + by) % x.len()] = x[i]);
//!         Ok(())
//!     })?
//!     .with_extern("shift_back", |given, results| {
//!         let (by, y, x) = (given.integer(1) as usize, given.floats(2), &mut results[0]);
//!         (0..y.len()).for_each(|i| x[i] = y[(i + by) % y.len()]);
//!         Ok(())
//!     })?;
//! let gradient = model.function("f")?.value_and_gradient()?;
//! let results = gradient.call(&[(&[1.0, 2.0, 4.0]).into()])?;
//! assert_eq!(results[0].floats(), [1.0 * 4.0 + 2.0 * 1.0 + 4.0 * 2.0]);
//! assert_eq!(results[1].floats(), [2.0 + 4.0, 1.0 + 4.0, 1.0 + 2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! That each is linear and the transposes are transposes is what the program says of them; nobody checks it. What is to hold of a function: the
//! same arguments give the same results, whichever thread calls it, with 128 KiB of stack. A call is not made where nobody needs its results.
//!
//! On the command line, `--library` names a shared library of C functions.
//!
//! An `Err` and a panic end the call of the program with the error `R09`, which has the name and the reason.

use crate::error::{Error, Result};
use crate::model::Model;
use jut_ir::calls::callees_first;
use jut_ir::foreign::Numbers;
use jut_ir::{FuncId, NVar, Program, Size, Type};
use jut_runtime::foreign::Functions;

pub use jut_native::library::Library;
pub use jut_runtime::foreign::{Function, Symbol};

/// What a function of another language is given: the values of all its parameters in order, sizes in brackets first, those behind the
/// `;` last. What is asked for by a number that no parameter of the kind has is empty, or 0.
#[derive(Debug)]
pub struct Given<'a> {
    values: Vec<Part<'a>>,
}

/// The numbers of one parameter.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Integers(&'a [i64]),
    Floats(&'a [f64]),
}

impl<'a> Given<'a> {
    /// The integers of the parameter with a number, row by row.
    pub fn integers(&self, parameter: usize) -> &'a [i64] {
        match self.values.get(parameter) {
            Some(Part::Integers(numbers)) => numbers,
            _ => &[],
        }
    }

    /// The floats of the parameter with a number, row by row.
    pub fn floats(&self, parameter: usize) -> &'a [f64] {
        match self.values.get(parameter) {
            Some(Part::Floats(numbers)) => numbers,
            _ => &[],
        }
    }

    /// The integer that the parameter with a number is.
    pub fn integer(&self, parameter: usize) -> i64 {
        self.integers(parameter).first().copied().unwrap_or_default()
    }

    /// The float that the parameter with a number is.
    pub fn float(&self, parameter: usize) -> f64 {
        self.floats(parameter).first().copied().unwrap_or_default()
    }
}

/// What a declaration says of the numbers that cross.
struct Shapes {
    params: Vec<Shape>,
    results: Vec<Vec<Size>>,
}

/// A parameter: its numbers, the dimensions if it is an array, and the name that sizes have for it.
struct Shape {
    numbers: Numbers,
    dims: Vec<Size>,
    name: Option<NVar>,
}

impl Shapes {
    fn of(program: &Program, func: FuncId) -> Shapes {
        let f = &program.funcs[func];
        let shape = |ty: &Type, name: Option<NVar>| {
            let numbers = Numbers::of(ty)?;
            Some(Shape { numbers, dims: ty.dimensions(), name })
        };
        let params = f.params.iter().filter_map(|v| {
            let ty = &f.nvars[*v].ty;
            shape(ty, Some(*v).filter(|_| *ty == Type::I64))
        });
        let linear = f.lin_params.iter().filter_map(|x| shape(&f.lvars[*x].ty, None));
        Shapes {
            params: params.chain(linear).collect(),
            results: f.lin_results.iter().map(|r| r.ty.dimensions()).collect(),
        }
    }

    /// The numbers of each parameter and of each result, of all of them.
    fn apart<'a, 'r>(
        &self,
        mut integers: &'a [i64],
        mut floats: &'a [f64],
        mut results: &'r mut [f64],
    ) -> std::result::Result<(Given<'a>, Vec<&'r mut [f64]>), String> {
        let lost = || "the numbers are not those of its declaration".to_string();
        let mut sizes: Vec<(NVar, i64)> = Vec::new();
        let cells = |dims: &[Size], sizes: &[(NVar, i64)]| {
            let value = |v: NVar| sizes.iter().find(|(name, _)| *name == v).map_or(0, |(_, n)| *n);
            let mut each =
                dims.iter().map(|size| usize::try_from(size.eval(&mut |v| value(v))).ok());
            each.try_fold(1usize, |cells, n| cells.checked_mul(n?)).ok_or_else(lost)
        };
        let mut values = Vec::with_capacity(self.params.len());
        for param in &self.params {
            let count = cells(&param.dims, &sizes)?;
            values.push(match param.numbers {
                Numbers::Integers => {
                    let (own, rest) = integers.split_at_checked(count).ok_or_else(lost)?;
                    integers = rest;
                    sizes.extend(param.name.zip(own.first().copied()));
                    Part::Integers(own)
                }
                Numbers::Floats => {
                    let (own, rest) = floats.split_at_checked(count).ok_or_else(lost)?;
                    floats = rest;
                    Part::Floats(own)
                }
            });
        }
        let mut parts = Vec::with_capacity(self.results.len());
        for dims in &self.results {
            let count = cells(dims, &sizes)?;
            let (own, rest) = results.split_at_mut_checked(count).ok_or_else(lost)?;
            results = rest;
            parts.push(own);
        }
        Ok((Given { values }, parts))
    }
}

impl Model {
    /// The same program with a function for one of its declarations `extern def`: it is given the values of the parameters and writes the
    /// results, which have their sizes and are zeros before. See [`crate::foreign`].
    ///
    /// # Errors
    /// [`Error::Request`] if the program declares no `extern` of this name; the message lists those that it does.
    pub fn with_extern(
        self,
        name: &str,
        run: impl Fn(&Given<'_>, &mut [&mut [f64]]) -> std::result::Result<(), String>
        + Send
        + Sync
        + 'static,
    ) -> Result<Model> {
        let shapes = Shapes::of(self.program(), self.declared(name)?);
        self.with_whole_extern(Function::new(name, move |integers, floats, results| {
            let (given, mut results) = shapes.apart(integers, floats, results)?;
            run(&given, &mut results)
        }))
    }

    /// The same with a function that takes all integers, all floats and all results as they cross, each as one list. So does a C function
    /// with a symbol ([`Function::of_symbol`]).
    ///
    /// # Errors
    /// As [`Model::with_extern`].
    pub fn with_whole_extern(self, function: Function) -> Result<Model> {
        self.declared(function.name())?;
        Ok(self.with_function(function))
    }

    /// The same with those functions that a shared library has: C functions, as a header made ahead of time declares them. The symbol
    /// of `fft.forward` is `fft_forward`. Libraries may be named one after the other; the last one that has a function counts.
    ///
    /// # Errors
    /// [`Error::Request`] if it has none of the functions.
    pub fn with_library(self, library: &Library) -> Result<Model> {
        let names: Vec<(String, String)> =
            self.externs().map(|name| (name.to_string(), symbol(name))).collect();
        let found = names.iter().filter_map(|(name, symbol)| library.function(name, symbol));
        let found: Vec<Function> = found.collect();
        if found.is_empty() {
            let symbols: Vec<&str> = names.iter().map(|(_, symbol)| symbol.as_str()).collect();
            let what = match symbols.is_empty() {
                true => "the program declares no `extern`".to_string(),
                false => format!("the library has none of {}", symbols.join(", ")),
            };
            return Err(Error::Request(format!("{}: {what}", library.path().display())));
        }
        Ok(found.into_iter().fold(self, Model::with_function))
    }

    /// The names of the functions of other languages that the program declares.
    pub fn externs(&self) -> impl Iterator<Item = &str> {
        let linear = self.program().funcs.values().filter(|f| f.is_foreign_linear());
        linear.map(|f| f.name.as_str())
    }

    fn declared(&self, name: &str) -> Result<FuncId> {
        let program = self.program();
        let found = program.find_func(name).filter(|id| program.funcs[*id].is_foreign_linear());
        found.ok_or_else(|| {
            let names: Vec<&str> = self.externs().collect();
            let others = match names.is_empty() {
                true => "the program declares none".to_string(),
                false => format!("there is {}", names.join(", ")),
            };
            Error::Request(format!("no `extern` is called `{name}`; {others}"))
        })
    }
}

/// The C name of a function of another language: its own, with `_` for what C does not have in names.
pub(crate) fn symbol(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(allowed).collect()
}

/// The functions of other languages that some functions of a program call, by number.
///
/// # Errors
/// [`Error::Request`] if one was not given.
pub(crate) fn functions(
    model: &Model,
    program: &Program,
    roots: &[FuncId],
) -> Result<Option<Functions>> {
    let called = callees_first(program, roots.iter().copied());
    let called: Vec<u32> =
        called.iter().filter_map(|id| Some(program.funcs[*id].foreign?.number)).collect();
    if called.is_empty() {
        return Ok(None);
    }
    let given = model.given();
    let mut functions = Vec::new();
    for (number, name) in (0..).zip(program.foreign_names()) {
        functions.push(match given.get(&name) {
            Some(function) => function.clone(),
            None if called.contains(&number) => {
                return Err(Error::Request(format!(
                    "the program calls `{name}`, an `extern` for which no function was given: give it one by \
                     `Model::with_extern`, or on the command line by `--library`"
                )));
            }
            None => Function::new(&name, |_, _, _| Err("no function was given for it".into())),
        });
    }
    Ok(Some(functions.into_iter().collect()))
}

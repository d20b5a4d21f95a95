//! Functions of other languages, which programs call and the host gives.
//!
//! What crosses is whole: all integers of a call as one list, all floats as another, in the order of the parameters, and all floats of the
//! results, which are zeros before. A function of the host is safe Rust, and says why it failed; a panic in it ends the call, not
//! the process. Compiled code and the interpreter hand on the number of the function among those of the program; which ones these
//! are is known to the thread while a call runs ([`with`]).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// A function of the host: integers, floats, and results to be written.
type Run = dyn Fn(&[i64], &[f64], &mut [f64]) -> Result<(), String> + Send + Sync;

/// A C function of another language: results, floats, integers, a cell that is set to 1 to fail, how many results, floats and integers there
/// are, and a number that says nothing here.
pub type Symbol =
    unsafe extern "C" fn(*mut f64, *const f64, *const i64, *mut f64, i64, i64, i64, i64);

/// The functions of the host that a program calls, by number.
#[derive(Clone, Default)]
pub struct Functions(Arc<[Function]>);

/// A function of the host, and what it is called.
#[derive(Clone)]
pub struct Function {
    name: Arc<str>,
    run: Arc<Run>,
}

impl Function {
    /// One that calls a function.
    pub fn new(
        name: &str,
        run: impl Fn(&[i64], &[f64], &mut [f64]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Function {
        Function { name: name.into(), run: Arc::new(run) }
    }

    /// One that calls a C function.
    ///
    /// # Safety
    /// The function reads as many integers and floats as there are, writes no more than as many results as there are and the cell
    /// `failed`, may be called by several threads at once, and stays where it is as long as this or a program that was given it does.
    pub unsafe fn of_symbol(
        name: &str,
        symbol: Symbol,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Function {
        let count = |numbers: usize| i64::try_from(numbers).unwrap_or(i64::MAX);
        Function::new(name, move |integers, floats, results| {
            let _stays = &owner;
            let mut failed = 0.0;
            let counts = [results.len(), floats.len(), integers.len()].map(count);
            // SAFETY: the buffers have as many cells as is said, and the rest is required of the caller.
            unsafe {
                symbol(
                    results.as_mut_ptr(),
                    floats.as_ptr(),
                    integers.as_ptr(),
                    &raw mut failed,
                    counts[0],
                    counts[1],
                    counts[2],
                    0,
                );
            }
            if failed == 0.0 { Ok(()) } else { Err("the C function says so".into()) }
        })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls it.
    ///
    /// # Errors
    /// What it says, or that it panicked.
    pub fn call(
        &self,
        integers: &[i64],
        floats: &[f64],
        results: &mut [f64],
    ) -> Result<(), String> {
        let run = AssertUnwindSafe(|| (self.run)(integers, floats, results));
        catch_unwind(run).unwrap_or_else(|panic| Err(format!("it panicked: {}", said(&*panic))))
    }
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(Function::name)).finish()
    }
}

impl FromIterator<Function> for Functions {
    fn from_iter<T: IntoIterator<Item = Function>>(functions: T) -> Functions {
        Functions(functions.into_iter().collect())
    }
}

impl Functions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The functions that calls of a thread find, for threads that go on with its work.
#[derive(Clone)]
pub struct Current {
    functions: Functions,
    failure: Arc<Mutex<Option<String>>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
    static FAILURE: Cell<Option<String>> = const { Cell::new(None) };
}

/// Runs a call on this thread that finds these functions. Why one of them failed, if one has, is told by [`failure`] afterwards.
///
/// ```
/// use jut_runtime::foreign::{self, Function, Functions};
/// let twice = Function::new("twice", |_, x, y| {
///     y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x);
///     Ok(())
/// });
/// let functions: Functions = [twice].into_iter().collect();
/// let mut y = [0.0];
/// assert!(foreign::with(&functions, || foreign::call(0, &[], &[1.5], &mut y)));
/// assert_eq!(y, [3.0]);
/// assert!(!foreign::with(&functions, || foreign::call(1, &[], &[1.5], &mut y)));
/// assert!(foreign::failure().unwrap().contains("no function was given"));
/// ```
pub fn with<T>(functions: &Functions, work: impl FnOnce() -> T) -> T {
    let current = Current { functions: functions.clone(), failure: Arc::default() };
    let failure = current.failure.clone();
    let result = going_on(Some(current), work);
    FAILURE.set(failure.lock().ok().and_then(|mut failure| failure.take()));
    result
}

/// Goes on with the work of another thread.
pub fn going_on<T>(current: Option<Current>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was there before, also on the way out of a panic.
    struct Before(Option<Current>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.replace(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(current));
    work()
}

/// What calls of this thread find.
pub fn current() -> Option<Current> {
    CURRENT.with_borrow(Clone::clone)
}

/// Why a function failed in the last call of this thread, told once.
pub fn failure() -> Option<String> {
    FAILURE.take()
}

/// Calls the function with a number; whether it succeeded.
pub fn call(number: i64, integers: &[i64], floats: &[f64], results: &mut [f64]) -> bool {
    let current = current();
    let functions = current.as_ref().map_or(&[][..], |current| &current.functions.0);
    let found = usize::try_from(number).ok().and_then(|number| functions.get(number));
    let reason = match found {
        None => "no function was given for an `extern` of this program".to_string(),
        Some(function) => match function.call(integers, floats, results) {
            Ok(()) => return true,
            Err(reason) => format!("`{}` failed: {reason}", function.name),
        },
    };
    if let Some(mut failure) = current.as_ref().and_then(|current| current.failure.lock().ok()) {
        failure.get_or_insert(reason);
    }
    false
}

/// So many cells of memory.
///
/// # Safety
/// They are there, unless there are none.
unsafe fn cells<'a, T>(from: *const T, count: i64) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: as required of the caller.
        Ok(count @ 1..) => unsafe { std::slice::from_raw_parts(from, count) },
        _ => &[],
    }
}

/// Calls a function of the host from compiled code; the cell `failed` is set to 1 if it does not succeed.
///
/// # Safety
/// The buffers have as many cells as is said, `failed` has one, and nothing else refers to the results and to it.
pub unsafe extern "C" fn jut_foreign(
    results: *mut f64,
    floats: *const f64,
    integers: *const i64,
    failed: *mut f64,
    result_count: i64,
    float_count: i64,
    integer_count: i64,
    number: i64,
) {
    // SAFETY: as required of the caller.
    let (floats, integers) =
        unsafe { (cells(floats, float_count), cells(integers, integer_count)) };
    let results = match usize::try_from(result_count) {
        // SAFETY: as required of the caller.
        Ok(count @ 1..) => unsafe { std::slice::from_raw_parts_mut(results, count) },
        _ => &mut [],
    };
    let succeeded = call(number, integers, floats, results);
    // SAFETY: as required of the caller.
    unsafe { failed.write(if succeeded { 0.0 } else { 1.0 }) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_once_and_a_panic_is_one() {
        let fails = Function::new("fails", |_, _, _| Err("no".into()));
        let panics = Function::new("panics", |_, x, _| panic!("at {}", x[0]));
        let functions: Functions = [fails, panics].into_iter().collect();
        for (number, expected) in
            [(0, "`fails` failed: no"), (1, "`panics` failed: it panicked: at 2")]
        {
            assert!(!with(&functions, || call(number, &[], &[2.0], &mut [])));
            assert_eq!(failure().as_deref(), Some(expected));
            assert_eq!(failure(), None);
        }
        assert!(current().is_none());
    }

    #[test]
    fn compiled_code_hands_on_what_is_there() {
        let sum = Function::new("sum", |k, x, y| {
            y[0] = x.iter().sum::<f64>() + k.iter().sum::<i64>() as f64;
            Ok(())
        });
        let functions: Functions = [sum].into_iter().collect();
        let (mut y, x, k, mut failed) = ([0.0], [0.5, 0.25], [2, 3], 7.0);
        with(&functions, || {
            // SAFETY: the buffers have these lengths.
            unsafe {
                jut_foreign(y.as_mut_ptr(), x.as_ptr(), k.as_ptr(), &raw mut failed, 1, 2, 2, 0);
            }
        });
        assert_eq!((y, failed), ([5.75], 0.0));
    }
}

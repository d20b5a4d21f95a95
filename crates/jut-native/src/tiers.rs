//! Code that is replaced by better code while it is in use.
//!
//! One backend makes code at once, and another one takes longer to make code that runs faster. A program
//! that was compiled [for both](crate::Backend::then) begins with the code of the first. Calls are counted, and those
//! whose number is a power of two are timed; once the program is estimated to have run for [`WORTH`], a thread in the background asks
//! the second backend. The next call finds its code in a slot and enters that one instead. All backends give the same bits and the
//! same errors, so only the clock can tell.
//!
//! *Requires*: both make code of one loop program, whose entry and tapes are laid out as that program says, and not by what a
//! backend's passes do to it. *Ensures*: a call runs one code from beginning to end, and never waits for the
//! other. What the second backend refuses, or is too [large](LARGEST) for it, stays with the first. A program that is called
//! once is compiled once. No compilation is running when the process ends: the one that has begun is waited for. *Cost*: until the
//! second code is asked for, an atomic addition for each call; from then on, one load.

use crate::code::Code;
use jut_loop::form::LoopProgram;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak};
use std::time::Instant;

/// How long a program must have run before the second backend is asked, in nanoseconds: a share of the time
/// that it takes.
const WORTH: u64 = 50_000_000;

/// The most statements of a program that is compiled in the background. The end of the process may have to wait
/// for that.
const LARGEST: usize = 20_000;

/// The stack of the thread in the background. Only what is used of it is memory.
const STACK: usize = 64 << 20;

/// A program with something of everything.
const SMALL: &str = "
loop def f(n: i64, x: in f64[n], y: out f64[n]) -> (f64) = {
  (s) = for up (i in 0 .. n) carry (a = 0.0) {
    u = x[i]
    v = exp(u)
    b = a + v
    y[i] = b
    (b)
  }
  (s)
}
";

/// The code that takes over, when it is there.
pub(crate) struct Later {
    /// Calls of the first code.
    calls: AtomicU64,
    /// The nanoseconds that these took, as estimated.
    spent: AtomicU64,
    /// What is to be compiled, until somebody does it.
    job: Mutex<Option<Job>>,
    /// The code; `None` in it if there will be none.
    code: OnceLock<Option<Code>>,
}

/// What is to be compiled.
struct Job {
    program: LoopProgram,
    compile: Box<Compile>,
}

/// What makes the code of a program, if it can.
type Compile = dyn Fn(&LoopProgram) -> Option<Code> + Send + Sync;

impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Later").field("code", &self.code).finish_non_exhaustive()
    }
}

impl Later {
    /// What a second backend compiles, which is not asked yet.
    pub(crate) fn new(program: &LoopProgram, compile: Box<Compile>) -> Arc<Later> {
        let small = program.size() <= LARGEST;
        let job = small.then(|| Job { program: program.clone(), compile });
        let code = if small { OnceLock::new() } else { OnceLock::from(None) };
        let (calls, spent) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Later { calls, spent, job: Mutex::new(job), code })
    }

    /// The code, if it is there.
    #[inline]
    pub(crate) fn code(&self) -> Option<&Code> {
        self.code.get()?.as_ref()
    }

    /// Runs a call of the first code, takes note of what it takes, and asks for the second if that is due.
    pub(crate) fn note<T>(self: &Arc<Later>, run: impl FnOnce() -> T) -> T {
        // Nothing is counted once that is settled.
        let spent = self.spent.load(Ordering::Relaxed);
        if spent == u64::MAX {
            return run();
        }
        // Not at the end of a call: the one that is due begins with this one.
        if spent >= WORTH && self.spent.swap(u64::MAX, Ordering::Relaxed) != u64::MAX {
            self.ask();
            return run();
        }
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if !calls.is_power_of_two() {
            return run();
        }
        let start = Instant::now();
        let done = run();
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(WORTH);
        // As if all calls before had taken as long. That it was settled in between stays so.
        self.spent.fetch_max(nanos.saturating_mul(calls).min(u64::MAX - 1), Ordering::Relaxed);
        done
    }

    /// Asks the thread in the background, if there is one.
    #[cold]
    fn ask(self: &Arc<Later>) {
        // On this thread, which may be the one that ends the process next.
        static FIRST: Once = Once::new();
        FIRST.call_once(|| self.set_up());
        static QUEUE: LazyLock<Option<Mutex<Sender<Weak<Later>>>>> = LazyLock::new(|| {
            let (queue, asked) = mpsc::channel::<Weak<Later>>();
            let work = move || asked.iter().for_each(|later| compile_in_background(&later));
            let thread = std::thread::Builder::new().name("jut-tiers".into()).stack_size(STACK);
            thread.spawn(work).is_ok().then_some(Mutex::new(queue))
        });
        let sent =
            QUEUE.as_ref().is_some_and(|queue| lock(queue).send(Arc::downgrade(self)).is_ok());
        if !sent {
            // Without a thread the first code is as good as it gets.
            lock(&self.job).take();
            let _ = self.code.set(None);
        }
    }

    /// Lets the backend set up what it keeps for the process, by a program that takes it some milliseconds: what is set up
    /// later than the end of the process is waited for would be taken down before.
    fn set_up(&self) {
        if let Some(job) = &*lock(&self.job)
            && let Ok(program) = jut_loop::read::read_program(0, SMALL)
        {
            let _ = (job.compile)(&program);
        }
        wait_at_exit();
    }

    /// Waits for the code, and makes it on this thread if nobody has begun to.
    pub(crate) fn finish(&self) -> Option<&Code> {
        self.spent.store(u64::MAX, Ordering::Relaxed);
        let job = lock(&self.job).take();
        if let Some(job) = job {
            let _ = self.code.set(job.run());
        }
        self.code.wait().as_ref()
    }
}

impl Job {
    /// The code, if the backend can make it. Nobody shall wait for it for ever, whatever happens there.
    fn run(&self) -> Option<Code> {
        let compile = AssertUnwindSafe(|| (self.compile)(&self.program));
        std::panic::catch_unwind(compile).unwrap_or(None)
    }
}

/// Compiles for whoever asked, if it is there still.
fn compile_in_background(asked: &Weak<Later>) {
    // What has the lock is compiling, or has ended the process.
    let running = lock(&RUNNING);
    let taken = asked.upgrade().and_then(|later| lock(&later.job).take());
    let Some(job) = taken else { return };
    let code = job.run();
    // What the backend has set up by now is taken down before what was registered earlier.
    static AFTER: Once = Once::new();
    AFTER.call_once(wait_at_exit);
    drop(running);
    if let Some(later) = asked.upgrade() {
        let _ = later.code.set(code);
    }
}

/// Held while the thread in the background compiles, and for ever by what ends the process.
static RUNNING: Mutex<()> = Mutex::new(());

/// Lets the end of the process wait for the compilation that is running, and keeps others from beginning: a
/// backend must not be at work while the system takes down what it stands on.
fn wait_at_exit() {
    // SAFETY: the C library's function, with its signature.
    unsafe extern "C" {
        safe fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
    }
    extern "C" fn end() {
        // It is registered twice, and must not wait for itself.
        static ENDED: AtomicBool = AtomicBool::new(false);
        if !ENDED.swap(true, Ordering::Relaxed) {
            std::mem::forget(lock(&RUNNING));
        }
    }
    // If there is no room for one more, the process ends as one does that compiles on several threads.
    let _ = atexit(end);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Entry, Footprint};
    use crate::{Backend, CompileError, Compiled, Text};
    use jut_loop::target::Target;
    use jut_runtime::Workspace;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    /// A program of one result.
    fn program() -> LoopProgram {
        let text = "loop def f() -> (i64) = {\n  (0)\n}\n";
        jut_loop::read::read_program(0, text).expect("a program")
    }

    /// What stands for a backend's code of it.
    fn code(program: &LoopProgram, entry: Entry) -> Result<Code, CompileError> {
        // SAFETY: the entry writes one result.
        unsafe { Code::new(program, entry, Footprint { stack: 0, bytes: 0 }, Box::new(())) }
    }

    unsafe extern "C" fn slowly_one(_: *mut Workspace, _: *const u64, to: *mut u64) -> u32 {
        std::thread::sleep(Duration::from_nanos(WORTH + 1));
        // SAFETY: there is room for one result.
        unsafe { *to = 1 };
        0
    }

    unsafe extern "C" fn two(_: *mut Workspace, _: *const u64, to: *mut u64) -> u32 {
        // SAFETY: there is room for one result.
        unsafe { *to = 2 };
        0
    }

    const fn backend(compile: fn(&LoopProgram) -> Result<Code, CompileError>) -> Backend {
        let print: fn(&LoopProgram) -> Result<String, CompileError> = |_| Ok(String::new());
        Backend {
            name: "test",
            about: "",
            version: || Some(String::new()),
            requirement: None,
            target: Target::default,
            compile,
            kept: |_| None,
            text: Text { stage: "", about: "", target: Target::default, print },
            assembly: print,
            object: None,
            then: None,
        }
    }

    /// The code of a backend, and that of another one for later.
    fn tiered(then: &'static Backend) -> Compiled {
        Backend { then: Some(then), ..backend(|p| code(p, slowly_one)) }
            .compile(&program())
            .expect("code")
    }

    fn call(compiled: &Compiled) -> u64 {
        let mut results = [0];
        // SAFETY: the entry takes no arguments and writes one result.
        let done = unsafe { compiled.call_words(&mut Workspace::new(), &[], &mut results) };
        done.map(|()| results[0]).expect("a result")
    }

    #[test]
    fn code_that_runs_long_is_replaced_but_for_the_first_call() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        static THEN: Backend = backend(|program| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            code(program, two)
        });
        let compiled = tiered(&THEN);
        assert_eq!((call(&compiled), ASKED.load(Ordering::Relaxed)), (1, 0));
        assert!(!compiled.is_replaced());
        // The second call asks.
        call(&compiled);
        while !compiled.is_replaced() {
            std::thread::yield_now();
        }
        assert_eq!((call(&compiled), ASKED.load(Ordering::Relaxed)), (2, 1));
        assert!(compiled.prewarm());
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn one_that_waits_for_it_has_it_at_once() {
        static THEN: Backend = backend(|program| code(program, two));
        let compiled = tiered(&THEN);
        assert!(compiled.prewarm());
        assert_eq!(call(&compiled), 2);
    }

    #[test]
    fn what_the_second_backend_refuses_stays_with_the_first() {
        static REFUSES: Backend = backend(|_| Err(CompileError::Host(String::new())));
        static STOPS: Backend = backend(|_| std::panic::panic_any("a mistake in a backend"));
        for then in [&REFUSES, &STOPS] {
            let compiled = tiered(then);
            assert!(!compiled.prewarm() && !compiled.is_replaced());
            assert_eq!(call(&compiled), 1);
            // In the background, too, which goes on with others.
            let compiled = tiered(then);
            (0..3).for_each(|_| assert_eq!(call(&compiled), 1));
            assert!(!compiled.prewarm());
        }
    }

    #[test]
    fn threads_that_call_while_it_changes_get_the_one_or_the_other() {
        static THEN: Backend = backend(|program| {
            std::thread::sleep(Duration::from_millis(30));
            code(program, two)
        });
        let compiled = tiered(&THEN);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut last = 1;
                    while last == 1 {
                        last = call(&compiled);
                    }
                    (0..100).for_each(|_| assert_eq!(call(&compiled), 2));
                });
            }
        });
    }

    #[test]
    fn code_may_be_dropped_while_it_is_compiled_or_waits_for_that() {
        static THEN: Backend = backend(|program| {
            std::thread::sleep(Duration::from_millis(5));
            code(program, two)
        });
        let all: Vec<Compiled> = (0..4).map(|_| tiered(&THEN)).collect();
        for compiled in &all {
            call(compiled);
            call(compiled);
        }
        drop(all);
        let compiled = tiered(&THEN);
        while call(&compiled) == 1 {}
    }
}

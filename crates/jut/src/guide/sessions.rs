//! 9. Sessions: threads, memory, speed.
//!
//! A [`Compiled`](crate::Compiled) is code: cheap to clone, shared by all threads, given back to the
//! system with its last user. A [`Session`](crate::Session) is what one thread needs to call it: memory
//! for the tape and for temporary arrays, and the results of the last call. Make one per thread and
//! keep it. After the first calls have shown how much memory is needed, calls of the same sizes
//! allocate nothing.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f[n](x: [n]f64) -> f64 = sum (v <- x) { exp(sin(v)) }")?;
//! let gradient = model.function("f")?.gradient()?;
//! let points: Vec<Vec<f64>> = (0..4).map(|k| vec![k as f64; 100]).collect();
//! let slopes: Vec<f64> = std::thread::scope(|scope| {
//!     let work = |x| {
//!         let mut session = gradient.session();
//!         scope.spawn(move || Ok(session.call(&[Arg::from(x)])?.f64s("x")?[0]))
//!     };
//!     let threads: Vec<_> = points.iter().map(work).collect();
//!     threads.into_iter().filter_map(|t| t.join().ok()).collect::<jut::Result<_>>()
//! })?;
//! assert_eq!(slopes[0], 1.0);
//! # Ok(())
//! # }
//! # use jut::Arg;
//! ```
//!
//! [`Session::call`](crate::Session::call) keeps the results in the session, where they are read by name
//! without a copy until the next call. [`Session::call_into`](crate::Session::call_into) writes them into
//! memory of the caller; `Compiled::call` is for once and away.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f[n](x: [n]f64) -> f64 = sum (v <- x) { v * v }")?;
//! let mut session = model.function("f")?.value_and_gradient()?.session();
//! let (mut value, mut dx) = (0.0, [0.0; 2]);
//! session.call_into(&[(&[3.0, 4.0]).into()], &mut [(&mut value).into(), (&mut dx).into()])?;
//! assert_eq!((value, dx), (25.0, [6.0, 8.0]));
//! # Ok(())
//! # }
//! ```
//!
//! **Bound calls.** A session finds the sizes of its arguments at every call. Where they are always the
//! same, [`Compiled::bind`](crate::Compiled::bind) does it once: a [`BoundCall`](crate::BoundCall) takes
//! numbers and slices of exactly these lengths, writes into numbers and slices, and costs some
//! nanoseconds more than the arithmetic. It is what to use in the inner loop of an optimiser or a
//! simulation, where a function of a few numbers is called millions of times.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text("def f(x: f64, a: f64) -> f64 = exp(x) - a")?;
//! let mut f = model.function("f")?.wrt(&["x"])?.value_and_gradient()?.bind(&[0.0.into(), 0.0.into()])?;
//! let (mut x, mut value, mut slope) = (1.0, 0.0, 0.0);
//! for _ in 0..20 {
//!     f.call(&[x.into(), 3.0.into()], &mut [(&mut value).into(), (&mut slope).into()])?;
//!     x -= value / slope;
//! }
//! assert!((x - 3.0_f64.ln()).abs() < 1e-15);
//! # Ok(())
//! # }
//! ```
//!
//! **Linear maps.** A [`Linearized`](crate::Linearized) and a [`LinearSession`](crate::LinearSession) are
//! to tapes what these two are to calls: any number of threads may read one tape, each with a session of
//! its own.
//!
//! **A limit on memory.** [`Function::memory_limit`](crate::Function::memory_limit) bounds what a call
//! may take: its results, its tape and its temporary arrays together. Reaching it is the error `R06`,
//! and the session works on. Without it, the limit is what the process may have: the least of the
//! machine's memory and the limits of its control groups, address space and data.
//!
//! **Cancelling.** [`Session::cancellation`](crate::Session::cancellation) gives a handle with which any
//! thread ends the session's calls: the error `R07`, within a tenth of a second, whatever the engine. It
//! stays cancelled until it is [`reset`](crate::Cancellation::reset). Tapes and sessions of linear maps
//! have the same, and one handle may serve any number of them.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! use jut::Cancellation;
//! let model = jut::Model::from_text(
//!     "def f(x: f64, n: i64) -> f64 = for (i < n) carry (y = x) { sin(y) + 0.1 }",
//! )?;
//! let value = model.function("f")?.value()?;
//! let shutdown = Cancellation::new();
//! let codes = std::thread::scope(|scope| {
//!     let threads = [0.1, 0.2].map(|x| {
//!         let mut session = value.session();
//!         session.set_cancellation(&shutdown);
//!         scope.spawn(move || session.call(&[x.into(), i64::MAX.into()]).err()?.code())
//!     });
//!     shutdown.cancel();
//!     threads.map(|thread| thread.join().ok().flatten())
//! });
//! assert_eq!(codes, [Some("R07"), Some("R07")]);
//! # Ok(())
//! # }
//! ```
//!
//! **Threads with small stacks** may make calls too: what does not fit there runs on a stack of its own,
//! which takes some microseconds.
//!
//! ```
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def f(x: f64, n: i64) -> f64 = for (i < n) carry (y = x) { sin(y) }",
//! )?;
//! let mut session = model.function("f")?.memory_limit(1 << 20).gradient()?.session();
//! let error = session.call(&[0.5.into(), 10_000_000.into()]).err().and_then(|e| e.code());
//! assert_eq!(error, Some("R06"));
//! assert!(session.call(&[0.5.into(), 1000.into()]).is_ok());
//! # Ok(())
//! # }
//! ```
//!
//! **Cores.** A loop whose iterations do not meet, such as a sum over samples or particles, runs on several threads if its
//! iterations take long enough: those of the `rayon` pool that the caller is in, or of the global one, as many as
//! `RAYON_NUM_THREADS` says or there are cores. [`Function::parallel`](crate::Function::parallel) leaves all loops on the
//! thread of the call. Many small calls go over all cores by [`Compiled::call_batch`](crate::Compiled::call_batch),
//! again and again best by [`Compiled::call_batch_into`](crate::Compiled::call_batch_into), with memory of the caller.
//!
//! **Two compilers.** Where LLVM is built in, a function begins with Cranelift's code, which is there within milliseconds, and
//! goes on with LLVM's, which runs faster, once a thread in the background has made it: that begins when the function has run for a twentieth
//! of a second, and no call waits for it. [`Compiled::prewarm`](crate::Compiled::prewarm) does wait (of a typed function, `f::compiled(request)?.prewarm()`);
//! [`Engine`](crate::Engine) says how to have the one or the other alone.
//!
//! **The same bits.** The order of floating-point operations belongs to the language. Whichever thread
//! or engine runs a program, on whatever day, the results are the same to the last bit.
//!
//! **Arrays of other libraries** are arguments and results with the features `ndarray`, `nalgebra` and
//! `faer`: see [`crate::views`].

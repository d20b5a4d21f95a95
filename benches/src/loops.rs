//! Loops over arrays: jut's engines against a C compiler on the same loop.
//!
//! `c/loops.c` is compiled by clang when the benchmark runs (`CLANG`, or `clang-22`, or `clang`), with
//! `-O3 -march=native` twice: with `-ffp-contract=off`, which computes jut's bits, and with
//! contraction. The results are compared before anything is measured; comparing them alone needs no
//! clang, any C compiler will do.

use crate::measure::{Way, in_turns};
use jut::{Arg, Engine, Model, Session};
use libloading::Library;
use serde::Serialize;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A loop in both languages.
struct Loop {
    /// The C function.
    name: &'static str,
    /// The program, whose function is called `f`.
    text: &'static str,
    /// Whether it gives a number; otherwise an array.
    sum: bool,
    /// Whether it takes a second array.
    second: bool,
    /// Whether C computes the same bits: not if it calls a function of the C library.
    exact: bool,
}

const LOOPS: &[Loop] = &[
    Loop {
        name: "scale_add",
        text: "def f[n](x: [n]f64, y: [n]f64) -> [n]f64 = for (i < n) { 2.5 * x[i] + y[i] }",
        sum: false,
        second: true,
        exact: true,
    },
    Loop {
        name: "polynomial",
        text: "def f[n](x: [n]f64) -> [n]f64 =
            for (i < n) { ((x[i] * 0.1 + 0.2) * x[i] + 0.3) * x[i] + 0.4 }",
        sum: false,
        second: false,
        exact: true,
    },
    Loop {
        name: "three_points",
        text: "def f[n](x: [n]f64) -> [n - 2]f64 =
            for (i < n - 2) { 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2] }",
        sum: false,
        second: false,
        exact: true,
    },
    Loop {
        name: "choose",
        text: "def f[n](x: [n]f64, y: [n]f64) -> [n]f64 =
            for (i < n) { if x[i] > y[i] { x[i] - y[i] } else { x[i] * y[i] } }",
        sum: false,
        second: true,
        exact: true,
    },
    Loop {
        name: "dot",
        text: "def f[n](x: [n]f64, y: [n]f64) -> f64 = sum (i < n) { x[i] * y[i] }",
        sum: true,
        second: true,
        exact: true,
    },
    Loop {
        name: "distance",
        text: "def f[n](x: [n]f64, y: [n]f64) -> f64 = sum (i < n) { (x[i] - y[i])^2 }",
        sum: true,
        second: true,
        exact: true,
    },
    Loop {
        name: "rosenbrock",
        text: "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) {
            100.0 * (x[i + 1] - x[i]^2)^2 + (1.0 - x[i])^2
        }",
        sum: true,
        second: false,
        exact: true,
    },
    // In the order of execution, which leaves the compiler nothing to do at once.
    Loop {
        name: "plain",
        text: "def f[n](x: [n]f64, y: [n]f64) -> f64 =
            for (i < n) carry (s = 0.0) { s + x[i] * y[i] }",
        sum: true,
        second: true,
        exact: true,
    },
    Loop {
        name: "exp_map",
        text: "def f[n](x: [n]f64) -> [n]f64 = for (i < n) { exp(x[i]) + 1.0 }",
        sum: false,
        second: false,
        exact: false,
    },
];

impl Loop {
    fn args<'x>(&self, x: &'x Vec<f64>, y: &'x Vec<f64>) -> Vec<Arg<'x>> {
        match self.second {
            true => vec![x.into(), y.into()],
            false => vec![x.into()],
        }
    }

    /// Whether a number is the one that C gives.
    fn agrees(&self, ours: f64, c: f64) -> bool {
        match self.exact {
            true => ours.to_bits() == c.to_bits(),
            // Both functions are good to about one unit in the last place.
            false => (ours - c).abs() <= 4.0 * f64::EPSILON * c.abs(),
        }
    }
}

/// Seconds per call of one loop at one size.
#[derive(Clone, Debug, Serialize)]
pub struct LoopRow {
    /// The loop.
    pub name: &'static str,
    /// The length of the arrays.
    pub size: usize,
    /// clang without contraction.
    pub clang: f64,
    /// clang with contraction.
    pub contracted: f64,
    /// Each engine that is built in.
    pub engines: Vec<(&'static str, f64)>,
}

type Map = unsafe extern "C" fn(i64, *const f64, *const f64, *mut f64);
type Sum = unsafe extern "C" fn(i64, *const f64, *const f64) -> f64;

/// The engines that make machine code and are built in, by name.
pub fn engines() -> Vec<(&'static str, Engine)> {
    let all = jut::BACKENDS.iter().map(|(engine, _)| *engine);
    all.filter(|engine| engine.is_built_in()).map(|engine| (engine.name(), engine)).collect()
}

/// clang, if it is there.
pub fn clang() -> Option<String> {
    let given = std::env::var("CLANG").ok();
    let mut names = given.into_iter().chain(["clang-22".to_owned(), "clang".to_owned()]);
    names.find(|name| runs(name))
}

fn runs(compiler: &str) -> bool {
    let output = Command::new(compiler).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// A folder that is gone when this is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> std::io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("jut-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is the system's to remove: it is its folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compares the results of every loop with those of C at every size, by all engines, and gives the
/// number of comparisons. The C compiler is clang or else that of the system.
///
/// # Errors
/// No C compiler, or a result that differs from that of C.
pub fn compare(sizes: &[usize]) -> Result<usize> {
    let compiler = clang().or_else(|| Some("cc".to_owned()).filter(|name| runs(name)));
    let compiler = compiler.ok_or("there is no C compiler")?;
    let folder = Folder::new("compared")?;
    let exact = compile(&compiler, "-ffp-contract=off", &folder.0.join("exact.so"))?;
    let contracted = compile(&compiler, "-ffp-contract=fast", &folder.0.join("contracted.so"))?;
    let mut count = 0;
    for which in LOOPS {
        for size in sizes {
            count += Prepared::new(which, *size, [&exact, &contracted])?.sessions.len();
        }
    }
    Ok(count)
}

fn compile(clang: &str, contract: &str, to: &Path) -> Result<Library> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/loops.c");
    let status = Command::new(clang)
        .args(["-O3", "-march=native", "-fPIC", "-shared", contract])
        .arg(source)
        .arg("-o")
        .arg(to)
        .arg("-lm")
        .status()?;
    if !status.success() {
        return Err(format!("{clang} does not compile the loops").into());
    }
    // SAFETY: the library is the one just made; it has nothing that runs when it is loaded.
    #[allow(unsafe_code)]
    Ok(unsafe { Library::new(to) }?)
}

/// The C function of a loop.
#[derive(Clone, Copy)]
enum Function {
    Map(Map),
    Sum(Sum),
}

impl Function {
    /// Looks it up: once, because that takes as long as a short loop.
    fn of(library: &Library, which: &Loop) -> Result<Function> {
        // SAFETY: the functions have these types.
        #[allow(unsafe_code)]
        unsafe {
            Ok(match which.sum {
                true => Function::Sum(*library.get::<Sum>(which.name.as_bytes())?),
                false => Function::Map(*library.get::<Map>(which.name.as_bytes())?),
            })
        }
    }

    /// The number it gives, if it is a sum.
    ///
    /// # Safety
    /// The library is still there.
    #[allow(unsafe_code)]
    unsafe fn call(self, x: &[f64], y: &[f64], z: &mut [f64]) -> f64 {
        let n = x.len().min(y.len()).min(z.len()) as i64;
        // SAFETY: the functions read `n` cells of the first two arrays and write at most `n` of the third.
        unsafe {
            match self {
                Function::Sum(function) => function(n, x.as_ptr(), y.as_ptr()),
                Function::Map(function) => {
                    function(n, x.as_ptr(), y.as_ptr(), z.as_mut_ptr());
                    0.0
                }
            }
        }
    }
}

/// Measures every loop whose name contains `only`, at every size.
///
/// # Errors
/// No C compiler, or a result that differs in a bit from that of C without contraction.
pub fn measure(only: &str, sizes: &[usize], budget: Duration) -> Result<Vec<LoopRow>> {
    let clang = clang().ok_or("there is no clang: install clang-22, or set CLANG")?;
    let folder = Folder::new("loops")?;
    let exact = compile(&clang, "-ffp-contract=off", &folder.0.join("exact.so"))?;
    let contracted = compile(&clang, "-ffp-contract=fast", &folder.0.join("contracted.so"))?;
    let mut rows = Vec::new();
    for which in LOOPS.iter().filter(|which| which.name.contains(only)) {
        for size in sizes {
            rows.push(Prepared::new(which, *size, [&exact, &contracted])?.measure(budget));
        }
    }
    Ok(rows)
}

/// A loop at one size whose results have been compared.
struct Prepared<'a> {
    which: &'a Loop,
    /// In C, without contraction and with it.
    functions: [Function; 2],
    /// Where they are.
    _libraries: [&'a Library; 2],
    x: Vec<f64>,
    y: Vec<f64>,
    /// For the results of C, without contraction and with it.
    z: [Vec<f64>; 2],
    sessions: Vec<(&'static str, Session)>,
}

impl<'a> Prepared<'a> {
    /// Calls every engine and C once, and compares.
    fn new(which: &'a Loop, size: usize, libraries: [&'a Library; 2]) -> Result<Prepared<'a>> {
        let x: Vec<f64> = (0..size).map(|i| (i as f64 * 0.37).sin()).collect();
        let y: Vec<f64> = (0..size).map(|i| (i as f64 * 0.11).cos()).collect();
        let mut z = vec![0.0; size];
        let functions = [Function::of(libraries[0], which)?, Function::of(libraries[1], which)?];
        // SAFETY: the caller has the library.
        #[allow(unsafe_code)]
        let want = unsafe { functions[0].call(&x, &y, &mut z) };
        let model = Model::from_text(which.text)?;
        let mut sessions = Vec::new();
        for (name, engine) in engines() {
            let mut session =
                model.function("f")?.engine(engine).parallel(false).value()?.session();
            let results = session.call(&which.args(&x, &y))?;
            let same = match which.sum {
                true => which.agrees(results.f64("value")?, want),
                false => {
                    let ours = results.f64s("value")?;
                    ours.iter().zip(&z).all(|(ours, c)| which.agrees(*ours, *c))
                }
            };
            if !same {
                return Err(format!("{} of {size}: {name} and C differ", which.name).into());
            }
            sessions.push((name, session));
        }
        let z = [z.clone(), z];
        Ok(Prepared { which, functions, _libraries: libraries, x, y, z, sessions })
    }

    fn measure(mut self, budget: Duration) -> LoopRow {
        let (which, x, y) = (self.which, &self.x, &self.y);
        let args = which.args(x, y);
        let args = &args;
        let mut ways: Vec<Way<'_>> = Vec::new();
        for (function, z) in self.functions.into_iter().zip(&mut self.z) {
            ways.push(Box::new(move || {
                // SAFETY: the libraries are there as long as `self`.
                #[allow(unsafe_code)]
                black_box(unsafe { function.call(black_box(x), y, z) });
            }));
        }
        let names: Vec<&'static str> = self.sessions.iter().map(|(name, _)| *name).collect();
        for (_, session) in &mut self.sessions {
            ways.push(Box::new(move || {
                let _ = black_box(session.call(black_box(args)).is_ok());
            }));
        }
        let times = in_turns(&mut ways, budget);
        drop(ways);
        LoopRow {
            name: which.name,
            size: x.len(),
            clang: times.first().copied().unwrap_or_default(),
            contracted: times.get(1).copied().unwrap_or_default(),
            engines: names.into_iter().zip(times.into_iter().skip(2)).collect(),
        }
    }
}

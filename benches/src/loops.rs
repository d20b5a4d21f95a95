//! Loops over arrays: jut's engines against a C compiler on the same loop.
//!
//! `c/loops.c` is compiled by clang when the benchmark runs (`CLANG`, or `clang-22`, or `clang`), with
//! `-O3 -march=native` twice: with `-ffp-contract=off`, which computes jut's bits, and with
//! contraction. The results are compared before anything is measured.

use crate::measure::{Way, in_turns};
use jut::{Arg, Engine, Model};
use libloading::Library;
use serde::Serialize;
use std::hint::black_box;
use std::path::Path;
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
}

const LOOPS: &[Loop] = &[
    Loop {
        name: "scale_add",
        text: "def f[n](x: [n]f64, y: [n]f64) -> [n]f64 = for (i < n) { 2.5 * x[i] + y[i] }",
        sum: false,
        second: true,
    },
    Loop {
        name: "polynomial",
        text: "def f[n](x: [n]f64) -> [n]f64 =
            for (i < n) { ((x[i] * 0.1 + 0.2) * x[i] + 0.3) * x[i] + 0.4 }",
        sum: false,
        second: false,
    },
    Loop {
        name: "three_points",
        text: "def f[n](x: [n]f64) -> [n - 2]f64 =
            for (i < n - 2) { 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2] }",
        sum: false,
        second: false,
    },
    Loop {
        name: "choose",
        text: "def f[n](x: [n]f64, y: [n]f64) -> [n]f64 =
            for (i < n) { if x[i] > y[i] { x[i] - y[i] } else { x[i] * y[i] } }",
        sum: false,
        second: true,
    },
    Loop {
        name: "dot",
        text: "def f[n](x: [n]f64, y: [n]f64) -> f64 = sum (i < n) { x[i] * y[i] }",
        sum: true,
        second: true,
    },
    Loop {
        name: "distance",
        text: "def f[n](x: [n]f64, y: [n]f64) -> f64 = sum (i < n) { (x[i] - y[i])^2 }",
        sum: true,
        second: true,
    },
    Loop {
        name: "rosenbrock",
        text: "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) {
            100.0 * (x[i + 1] - x[i]^2)^2 + (1.0 - x[i])^2
        }",
        sum: true,
        second: false,
    },
];

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
    let all = [("cranelift", Engine::Cranelift), ("llvm", Engine::Llvm), ("mlir", Engine::Mlir)];
    let there = jut::backends();
    let built_in =
        |name: &str| there.iter().any(|backend| backend.name == name && backend.version.is_some());
    all.into_iter().filter(|(name, _)| built_in(name)).collect()
}

/// The C compiler, if there is one.
pub fn clang() -> Option<String> {
    let given = std::env::var("CLANG").ok();
    let names = given.into_iter().chain(["clang-22".to_owned(), "clang".to_owned()]);
    let mut runs = names.filter(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    runs.next()
}

fn compile(clang: &str, contract: &str, to: &Path) -> Result<Library> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/loops.c");
    let status = Command::new(clang)
        .args(["-O3", "-march=native", "-fPIC", "-shared", contract])
        .arg(source)
        .arg("-o")
        .arg(to)
        .status()?;
    if !status.success() {
        return Err(format!("{clang} does not compile the loops").into());
    }
    // SAFETY: the library is the one just made; it has nothing that runs when it is loaded.
    #[allow(unsafe_code)]
    Ok(unsafe { Library::new(to) }?)
}

/// Calls the C function of a loop; the number it gives, if it is a sum.
fn call(library: &Library, which: &Loop, x: &[f64], y: &[f64], z: &mut [f64]) -> Result<f64> {
    let n = x.len().min(y.len()).min(z.len()) as i64;
    // SAFETY: the functions have these types, read `n` cells of the first two arrays and write at
    // most `n` of the third.
    #[allow(unsafe_code)]
    unsafe {
        if which.sum {
            let function = library.get::<Sum>(which.name.as_bytes())?;
            return Ok(function(n, x.as_ptr(), y.as_ptr()));
        }
        let function = library.get::<Map>(which.name.as_bytes())?;
        function(n, x.as_ptr(), y.as_ptr(), z.as_mut_ptr());
    }
    Ok(0.0)
}

/// Measures every loop whose name contains `only`, at every size.
///
/// # Errors
/// No C compiler, or a result that differs in a bit from that of C without contraction.
pub fn measure(only: &str, sizes: &[usize], budget: Duration) -> Result<Vec<LoopRow>> {
    let clang = clang().ok_or("there is no clang: install clang-22, or set CLANG")?;
    let folder = std::env::temp_dir().join(format!("jut-loops-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let exact = compile(&clang, "-ffp-contract=off", &folder.join("exact.so"))?;
    let contracted = compile(&clang, "-ffp-contract=fast", &folder.join("contracted.so"))?;
    let mut rows = Vec::new();
    for which in LOOPS.iter().filter(|which| which.name.contains(only)) {
        for size in sizes {
            rows.push(row(which, *size, [&exact, &contracted], budget)?);
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn row(which: &Loop, size: usize, libraries: [&Library; 2], budget: Duration) -> Result<LoopRow> {
    let x: Vec<f64> = (0..size).map(|i| (i as f64 * 0.37).sin()).collect();
    let y: Vec<f64> = (0..size).map(|i| (i as f64 * 0.11).cos()).collect();
    let mut z = vec![0.0; size];
    let want = call(libraries[0], which, &x, &y, &mut z)?;
    let (mut z1, mut z2) = (z.clone(), z.clone());
    let model = Model::from_text(which.text)?;
    let mut sessions = Vec::new();
    for (name, engine) in engines() {
        sessions.push((name, model.function("f")?.engine(engine).value()?.session()));
    }
    let args: Vec<Arg<'_>> = match which.second {
        true => vec![(&x).into(), (&y).into()],
        false => vec![(&x).into()],
    };
    for (name, session) in &mut sessions {
        let results = session.call(&args)?;
        let same = match which.sum {
            true => results.f64("value")?.to_bits() == want.to_bits(),
            false => results.f64s("value")?.iter().zip(&z).all(|(a, b)| a.to_bits() == b.to_bits()),
        };
        if !same {
            return Err(format!("{}: {name} and C differ", which.name).into());
        }
    }
    let mut ways: Vec<Way<'_>> = Vec::new();
    ways.push(Box::new(|| {
        let _ = black_box(call(libraries[0], which, black_box(&x), &y, &mut z1));
    }));
    ways.push(Box::new(|| {
        let _ = black_box(call(libraries[1], which, black_box(&x), &y, &mut z2));
    }));
    let names: Vec<&'static str> = sessions.iter().map(|(name, _)| *name).collect();
    for (_, session) in &mut sessions {
        let args = &args;
        ways.push(Box::new(move || {
            let _ = black_box(session.call(black_box(args)).is_ok());
        }));
    }
    let times = in_turns(&mut ways, budget);
    drop(ways);
    Ok(LoopRow {
        name: which.name,
        size,
        clang: times.first().copied().unwrap_or_default(),
        contracted: times.get(1).copied().unwrap_or_default(),
        engines: names.into_iter().zip(times.into_iter().skip(2)).collect(),
    })
}

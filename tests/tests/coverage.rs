//! The random programs reach every rule of every pass.

use jut_ad::{Derivatives, Mask, Policy, compose, forward, transpose, unzip};
use jut_eval::Interpreter;
use jut_ir::prim::TABLE;
use jut_ir::structured::{Meaning, STRUCTURED};
use jut_tests::coverage::{Counts, add, merge};
use jut_tests::generate::CONSTRUCTS;
use jut_tests::in_parallel;
use jut_tests::laws::load;
use jut_tests::random::Subject;

/// Kinds of statement that every pass must have been given.
const ANYWHERE: &[&str] = &[
    "scan par with places",
    "scan par",
    "scan up",
    "scan down",
    "call",
    "case of bool",
    "case of data",
    "cast",
    "index",
    "open",
    "prim",
    "proj",
    "+=",
];

/// Updates: of values, which T never meets, and of tangents.
const UPDATES: &[&str] = &["update"];
const LINEAR_UPDATES: &[&str] = &["update'"];
/// What T makes of them, and hand-written code has.
const TAKEN: &[&str] = &["take'"];

/// Those of non-linear code that T never meets: its input has no sums and no data of its own.
const VALUES: &[&str] = &[
    "structured",
    "acc region",
    "array literal",
    "check",
    "con",
    "scan while",
    "tuple",
    "untuple",
];

/// Those of linear code, which J never meets.
const LINEAR: &[&str] = &[
    "structured'",
    "add'",
    "cast'",
    "drop'",
    "dup'",
    "neg'",
    "scale'",
    "select'",
    "tuple'",
    "untuple'",
    "zero'",
    "rd",
    "rd region",
    "wr region",
];

/// What each pass must have been given.
const RULES: &[(&str, &[&[&str]])] = &[
    ("J", &[ANYWHERE, VALUES, UPDATES]),
    ("U", &[ANYWHERE, VALUES, LINEAR, UPDATES, LINEAR_UPDATES, TAKEN]),
    ("T", &[ANYWHERE, LINEAR, LINEAR_UPDATES, TAKEN]),
    ("L", &[ANYWHERE, VALUES, LINEAR, UPDATES, LINEAR_UPDATES, TAKEN]),
];

/// How many programs of each kind a run of the tests has.
const PROGRAMS: u64 = 1500;

fn counts(subject: Subject) -> Result<Counts, String> {
    let generated = subject.generate();
    let named = |e: String| format!("{subject:?}: {e}");
    let program = load(&generated.text).map_err(named)?;
    let func = program.find_func(generated.func).ok_or("no definition")?;
    let mask = Mask::full(&program, func);
    let nonlinear = program.funcs[func].is_nonlinear();
    let mut d = Derivatives::new(program);
    let say = |e: jut_ir::Diagnostic| named(e.to_string());
    let jvp = if nonlinear { forward::forward(&mut d, func, &mask).map_err(say)? } else { func };
    let halves = unzip::unzip(&mut d, jvp, Policy::Default).map_err(say)?;
    transpose::transpose(&mut d, halves.lin).map_err(say)?;
    let mut counts = Counts::new();
    add(&d.program, &mut counts);
    for construct in generated.constructs {
        *counts.entry(("construct", construct)).or_default() += 1;
    }
    Ok(counts)
}

/// The work of a program, and of its gradient if it has one. What fails does none.
fn work(subject: Subject) -> Result<u64, String> {
    let generated = subject.generate();
    let named = |e: String| format!("{subject:?}: {e}\n{}", generated.text);
    let program = load(&generated.text).map_err(named)?;
    let func = program.find_func(generated.func).ok_or("no definition")?;
    let say = |e: jut_ir::Diagnostic| named(e.to_string());
    let mask = Mask::full(&program, func);
    let nonlinear = program.funcs[func].is_nonlinear();
    let mut d = Derivatives::new(program);
    let mut all = vec![func];
    if nonlinear {
        all.push(compose::value_and_grad(&mut d, func, &mask, Policy::Default).map_err(say)?);
    }
    let interpreter = Interpreter::new(&d.program);
    let args = interpreter.with_sizes(func, &generated.arguments());
    let args = args.map_err(|e| named(e.to_string()))?;
    let mut rng = fastrand::Rng::with_seed(subject.seed);
    let (linear, caps) = interpreter.linear_inputs(func, &args, &mut rng).unwrap_or_default();
    let counted =
        |f: &_| interpreter.call(*f, &args, &linear, &caps).map_or(0, |o| o.counters.work);
    let work = all.iter().map(counted).max().unwrap_or(0);
    if work <= 2_000_000 { Ok(work) } else { Err(named(format!("its work is {work}"))) }
}

#[test]
fn no_random_program_takes_long() {
    let subjects: Vec<Subject> =
        (0..PROGRAMS).flat_map(|seed| [Subject::main(seed), Subject::slope(seed)]).collect();
    let all = in_parallel(&subjects, |s| work(*s)).unwrap_or_else(|e| panic!("{e}"));
    println!("the most work is {:?}", all.iter().max());
    // Few fail.
    assert!(all.iter().filter(|work| **work > 0).count() > 1000);
}

#[test]
fn every_rule_of_every_pass_is_used_a_hundred_times_by_the_random_programs() {
    let subjects: Vec<Subject> =
        (0..PROGRAMS).flat_map(|seed| [Subject::main(seed), Subject::slope(seed)]).collect();
    let mut total = Counts::new();
    for one in in_parallel(&subjects, |s| counts(*s)).unwrap_or_else(|e| panic!("{e}")) {
        merge(&mut total, one);
    }
    // `cargo test -p jut-tests coverage:: -- --nocapture` shows the table.
    for ((pass, kind), n) in &total {
        println!("{pass:<15} {kind:<50} {n:>8}");
    }
    let rules = RULES
        .iter()
        .flat_map(|(pass, kinds)| kinds.iter().copied().flatten().map(|kind| (*pass, *kind)));
    let rows = TABLE.iter().map(|row| ("J of primitive", row.id));
    let constructs = CONSTRUCTS.iter().map(|construct| ("construct", *construct));
    let mut rare = Vec::new();
    for rule in rules.chain(rows).chain(constructs) {
        let n = total.get(&rule).copied().unwrap_or(0);
        if n < 100 {
            rare.push(format!("{} of {}: {n}", rule.0, rule.1));
        }
    }
    // Rows of the second table: all of them, though orders of four dimensions are many.
    // Conversions are primitives of numbers, of which J makes the linear ones.
    for row in STRUCTURED.iter().filter(|row| !matches!(row.meaning, Meaning::Convert { .. })) {
        let n = total.get(&("J of structured primitive", row.name)).copied().unwrap_or(0);
        let enough = if row.name.starts_with("permute_") { 1 } else { 5 };
        if n < enough {
            rare.push(format!("J of structured primitive {}: {n}", row.name));
        }
    }
    let known: Vec<_> = CONSTRUCTS.iter().collect();
    for (_, name) in total.keys().filter(|(what, _)| *what == "construct") {
        assert!(known.contains(&name), "{name} is not in the list");
    }
    assert!(rare.is_empty(), "{}", rare.join("\n"));
}

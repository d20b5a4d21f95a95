//! What is asked of each random program.

use crate::engines::{Run, agree_optimised};
use crate::generate::{Extent, Generated, generate_linear_of, generate_of};
use crate::laws::{self, Options, load};
use crate::products::products;
use jut_ad::{Derivatives, Mask, Policy, erase};
use jut_eval::{Interpreter, Value};
use jut_ir::{FuncId, Mode, Program};

const BOTH: [Policy; 2] = [Policy::StoreAll, Policy::Default];

/// A random program: its number, how large it is, and whether it is about linear code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// The number; the same one gives the same program.
    pub seed: u64,
    /// How large.
    pub extent: Extent,
    /// Linear code written by hand.
    pub linear: bool,
}

impl Subject {
    /// A program of the usual size with a non-linear `main`.
    pub fn main(seed: u64) -> Subject {
        Subject { seed, extent: Extent::DEFAULT, linear: false }
    }

    /// A program of the usual size about linear code.
    pub fn slope(seed: u64) -> Subject {
        Subject { linear: true, ..Subject::main(seed) }
    }

    /// Makes it.
    pub fn generate(self) -> Generated {
        let make = if self.linear { generate_linear_of } else { generate_of };
        make(self.seed, self.extent)
    }

    fn name(self, generated: &Generated, error: String) -> String {
        let kind = if self.linear { "linear program" } else { "program" };
        format!("{kind} {}: {error}\n{}", self.seed, generated.text)
    }
}

/// All laws of [`crate::laws`] for a random program.
///
/// # Errors
/// What does not hold, and the program.
pub fn laws(subject: Subject) -> Result<(), String> {
    let generated = subject.generate();
    let Generated { text, func, .. } = &generated;
    laws::verify(text, func, &generated.arguments(), Options::default())
        .map_err(|e| subject.name(&generated, e))
        .map(drop)
}

/// P16 for everything that is made of a random program. Gives the number of runs.
///
/// # Errors
/// What does not hold, and the program.
pub fn engines(subject: Subject) -> Result<usize, String> {
    let generated = subject.generate();
    let Generated { text, func, .. } = &generated;
    engines_of(text, func, &generated.arguments(), subject.seed)
        .map_err(|e| subject.name(&generated, e))
}

/// P16 for everything that is made of a definition; its linear arguments are random.
///
/// # Errors
/// What does not hold.
pub fn engines_of(text: &str, func: &str, args: &[Value], seed: u64) -> Result<usize, String> {
    let program = load(text)?;
    let func = program.find_func(func).ok_or("no such definition")?;
    let interpreter = Interpreter::new(&program);
    let args = interpreter.with_sizes(func, args).map_err(|e| e.to_string())?;
    let function = &program.funcs[func];
    if function.is_nonlinear() {
        return all_products(&program, func, &args, &Mask::full(&program, func));
    }
    if function.cap_params.iter().any(|c| function.caps[*c].mode != Mode::Rd) {
        // What adds to its caller's accumulators is compiled with its caller only.
        return Ok(0);
    }
    // Its erasure is ordinary code, with its linear parameters among the others.
    let mut rng = fastrand::Rng::with_seed(seed);
    let (linear, caps) =
        interpreter.linear_inputs(func, &args, &mut rng).map_err(|e| e.to_string())?;
    let modes = function.cap_params.iter().map(|c| function.caps[*c].mode);
    let read = modes.zip(caps).filter(|(mode, _)| *mode == Mode::Rd).map(|(_, value)| value);
    let args: Vec<Value> = args.iter().cloned().chain(linear).chain(read).collect();
    let mut d = Derivatives::new(program);
    let erased = erase::erase(&mut d, func).map_err(|e| e.to_string())?;
    let mask = Mask::full(&d.program, erased);
    all_products(&d.program, erased, &args, &mask)
}

/// Every product of a function, optimised and not, in every engine (P16); optimising changes no bits
/// and no error (P15). Gives the number of runs.
///
/// # Errors
/// What does not hold.
pub fn all_products(
    program: &Program,
    func: FuncId,
    args: &[Value],
    mask: &Mask,
) -> Result<usize, String> {
    let products = products(program, func, args, mask, &BOTH)?;
    for product in &products {
        // All engines may agree on an error as well.
        let _: Run = agree_optimised(product)?;
    }
    Ok(2 * products.len())
}

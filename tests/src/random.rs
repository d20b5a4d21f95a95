//! What is asked of each random program.

use crate::engines::{Run, agree_optimised};
use crate::generate::generate;
use crate::laws::{self, Options, load};
use crate::products::products;
use jut_ad::{Mask, Policy};
use jut_eval::{Interpreter, Value};
use jut_ir::{FuncId, Program};

const BOTH: [Policy; 2] = [Policy::StoreAll, Policy::Default];

/// All laws of [`crate::laws`] for the program with this number.
///
/// # Errors
/// What does not hold, and the program.
pub fn laws(seed: u64) -> Result<(), String> {
    let generated = generate(seed);
    laws::verify(&generated.text, "main", &generated.arguments(), Options::default())
        .map_err(|e| format!("program {seed}: {e}\n{}", generated.text))
        .map(drop)
}

/// P16 for everything that is made of the program with this number. Gives the number of runs.
///
/// # Errors
/// What does not hold, and the program.
pub fn engines(seed: u64) -> Result<(), String> {
    let generated = generate(seed);
    let named = |e: String| format!("program {seed}: {e}\n{}", generated.text);
    let program = load(&generated.text).map_err(named)?;
    let func = program.find_func("main").ok_or_else(|| named("no main".into()))?;
    let args = Interpreter::new(&program).with_sizes(func, &generated.arguments());
    let args = args.map_err(|e| named(e.to_string()))?;
    all_products(&program, func, &args, &Mask::full(&program, func)).map_err(named).map(drop)
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

//! Everything that the passes make of one function under one policy, and the laws of its form: P1,
//! P5 (size), P7, P11 (form), P17.
//!
//! ```text
//! f  --J-->  f.jvp  --U-->  f.nonlin, f.lin  --T-->  f.linT  --T-->  f.linTT
//!              |
//!              +--L-->  f.jvp.erased
//! ```
//!
//! A function with linear parameters takes the place of `f.jvp` itself.

use super::{Fault, Pass, check};
use crate::programs::statements;
use jut_ad::{Derivatives, Mask, Policy, Unzipped, compose, erase, forward, transpose, unzip};
use jut_ir::check::{check_forward_domain, check_linear_b, check_transpose_domain};
use jut_ir::normal::normal_text;
use jut_ir::prim;
use jut_ir::{Block, Diagnostic, FuncId, Program, Rhs};

/// All stages of one function.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The program with all of them.
    pub derivatives: Derivatives,
    /// The policy.
    pub policy: Policy,
    /// The function.
    pub func: FuncId,
    /// Its parameters with a float.
    pub mask: Mask,
    /// J of the function; the function itself if it has linear parameters.
    pub jvp: FuncId,
    /// U of that.
    pub halves: Unzipped,
    /// T of the linear half.
    pub transposed: FuncId,
    /// T of that.
    pub twice: FuncId,
    /// L of `jvp`.
    pub erased: FuncId,
    /// Value and gradient, if the function is non-linear and has exactly one f64 result.
    pub gradient: Option<FuncId>,
    /// Statements of everything derived, relative to those of the source.
    pub growth: f64,
}

/// How much larger than its source everything derived may be, in statements (P17).
pub const GROWTH: f64 = 60.0;

impl Stages {
    /// Derives everything; every stage is checked before the next pass is given it.
    ///
    /// # Errors
    /// What a pass or the checker refuses, or a law of form that does not hold.
    pub fn new(
        program: &Program,
        func: FuncId,
        policy: Policy,
        fault: Fault<'_>,
    ) -> Result<Stages, String> {
        let say = |d: Diagnostic| d.to_string();
        let source = size(program);
        let mut d = Derivatives::new(program.clone());
        let mask = Mask::full(program, func);
        let apply = |d: &mut Derivatives, pass, func| {
            fault(pass, &mut d.program, func);
            check(&d.program)
        };
        let is_nonlinear = program.funcs[func].is_nonlinear();
        let jvp = if is_nonlinear {
            let jvp = forward::forward(&mut d, func, &mask).map_err(say)?;
            apply(&mut d, Pass::Forward, jvp)?;
            jvp
        } else {
            func
        };
        let halves = unzip::unzip(&mut d, jvp, policy).map_err(say)?;
        apply(&mut d, Pass::NonLinear, halves.nonlin)?;
        apply(&mut d, Pass::Linear, halves.lin)?;
        let transposed = transpose::transpose(&mut d, halves.lin).map_err(say)?;
        apply(&mut d, Pass::Transpose, transposed)?;
        let growth = (size(&d.program) - source) as f64 / source.max(1) as f64;
        let twice = transpose::transpose(&mut d, transposed).map_err(say)?;
        apply(&mut d, Pass::Twice, twice)?;
        let erased = erase::erase(&mut d, jvp).map_err(say)?;
        apply(&mut d, Pass::Erase, erased)?;
        let floats = program.funcs[func].results.iter().filter(|r| r.ty.is_float()).count();
        let gradient = match is_nonlinear && floats == 1 && !mask.is_empty() {
            true => Some(compose::value_and_grad(&mut d, func, &mask, policy).map_err(say)?),
            false => None,
        };
        Ok(Stages {
            derivatives: d,
            policy,
            func,
            mask,
            jvp,
            halves,
            transposed,
            twice,
            erased,
            gradient,
            growth,
        })
    }

    /// The program with all stages.
    pub fn program(&self) -> &Program {
        &self.derivatives.program
    }

    /// Whether the function has no linear parameters.
    pub fn is_nonlinear(&self) -> bool {
        self.jvp != self.func
    }

    /// Whether `stop` cuts a derivative off, or a rule states another, so that differences do not agree with it.
    pub fn stops(&self) -> bool {
        fn in_block(block: &Block) -> bool {
            block.stmts.iter().any(|stmt| {
                matches!(stmt.rhs, Rhs::Prim(prim::STOP, _))
                    || stmt.rhs.blocks().into_iter().any(in_block)
            })
        }
        let program = self.program();
        let states_another = |f: FuncId| program.funcs[f].name == crate::generate::OTHER_DERIVATIVE;
        program.rules().any(|(f, _)| states_another(f))
            || program.funcs.values().any(|f| in_block(&f.body))
    }

    /// The laws of form: P7, P12 (domain), P17.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn form(&self) -> Result<(), String> {
        let program = self.program();
        let refused = |law: &str, what: &str, all: Vec<Diagnostic>| {
            let all: Vec<String> = all.iter().map(|d| d.to_string()).collect();
            format!("{law}: {what}: {}", all.join("; "))
        };
        check_forward_domain(program, self.halves.nonlin)
            .map_err(|e| refused("P7", "f.nonlin is not purely non-linear", e))?;
        for linear in [self.halves.lin, self.transposed, self.twice] {
            check_linear_b(program, linear).map_err(|e| refused("P7", "not Linear B", e))?;
            check_transpose_domain(program, linear)
                .map_err(|e| refused("P7", "not in T's domain", e))?;
        }
        if self.policy == Policy::StoreAll
            && let Some(name) = float_primitive(program, self.halves.lin)
        {
            return Err(format!("P7: under store_all f.lin computes `{name}`"));
        }
        check_forward_domain(program, self.erased)
            .map_err(|e| refused("P12", "not in J's domain", e))?;
        if self.growth > GROWTH {
            return Err(format!("P17: derived code is {:.1} times its source", self.growth));
        }
        Ok(())
    }

    /// P11: T (T e) is e up to names and order, in every function that was transposed twice.
    ///
    /// # Errors
    /// The two texts.
    pub fn twice_is_once(&self) -> Result<(), String> {
        let program = self.program();
        let plain = |name: &str| name.replace(".linTT", ".lin");
        for (id, func) in program.funcs.iter() {
            let once = plain(&func.name);
            if once == func.name {
                continue;
            }
            let Some(once) = program.find_func(&once) else { continue };
            let (a, b) = (normal_text(program, once, &plain), normal_text(program, id, &plain));
            if a != b {
                return Err(format!("P11: {} transposed twice is\n{b}\nit was\n{a}", func.name));
            }
        }
        Ok(())
    }
}

/// Statements of all functions.
fn size(program: &Program) -> usize {
    program.funcs.values().map(|f| 1 + statements(&f.body)).sum()
}

/// A float that a linear function, or one that it calls, computes by a primitive.
fn float_primitive(program: &Program, func: FuncId) -> Option<&'static str> {
    fn in_block(block: &Block, calls: &mut Vec<FuncId>) -> Option<&'static str> {
        for stmt in &block.stmts {
            match &stmt.rhs {
                Rhs::Prim(prim, _) if prim.row().result.is_float() => {
                    return Some(prim.row().id);
                }
                Rhs::Call(call) => calls.push(call.func),
                _ => {}
            }
            let inner = stmt.rhs.blocks().into_iter().find_map(|b| in_block(b, calls));
            if inner.is_some() {
                return inner;
            }
        }
        None
    }
    let (mut seen, mut work) = (std::collections::HashSet::new(), vec![func]);
    while let Some(func) = work.pop() {
        if seen.insert(func)
            && let Some(name) = in_block(&program.funcs[func].body, &mut work)
        {
            return Some(name);
        }
    }
    None
}

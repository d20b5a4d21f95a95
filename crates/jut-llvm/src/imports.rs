//! What the functions of a program need beside them, and how the text declares it.

use crate::mathematics::function_of_eight;
use crate::text::{Scalar, scalar};
use jut_ir::prim::Opcode;
use jut_loop::kernel::{FOREIGN, Kernel};
use jut_native::object::{MathLibrary, system_name};
use jut_runtime::arena::ALIGN;
use jut_runtime::symbols::{self, Math};
use jut_runtime::wide::{self, Form};
use jut_runtime::workspace::layout;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What the functions of a program need beside them.
#[derive(Default)]
pub(crate) struct Imports {
    mathematics: BTreeSet<&'static str>,
    kernels: BTreeSet<Kernel>,
    /// Functions of other languages that the linker finds.
    foreign: BTreeSet<String>,
    wide: BTreeMap<&'static str, &'static Form>,
    metadata: Vec<String>,
    /// Whether a sine and a cosine are computed by one call.
    sine_and_cosine: bool,
    /// Whether some of eight neighbours are loaded or stored in pieces.
    pub(crate) pieces: bool,
    /// Where functions of the runtime come from; what the system's library has not, the module has itself: see `system.ll`.
    pub(crate) math: MathLibrary,
    pub(crate) instructions: Instructions,
}

impl Imports {
    pub(crate) fn of(math: MathLibrary, instructions: Instructions) -> Imports {
        Imports { math, instructions, ..Imports::default() }
    }

    /// Notes that a mathematical function of the runtime is called.
    pub(crate) fn mathematics(&mut self, symbol: &'static str) {
        self.mathematics.insert(symbol);
    }

    /// Notes that a sine and a cosine are computed by one call.
    pub(crate) fn sine_and_cosine(&mut self) {
        self.sine_and_cosine = true;
    }

    /// The function of eight arguments that goes with a mathematical function, if there is one; it
    /// is noted that it is called.
    pub(crate) fn wide(&mut self, symbol: &str) -> Option<&'static Form> {
        let form = wide::form(symbol).filter(|_| self.math == MathLibrary::Jut)?;
        self.wide.insert(form.scalar, form);
        Some(form)
    }

    /// The function for an operation that the machine has no instruction for.
    pub(crate) fn called(&self, op: Opcode) -> Option<&'static str> {
        rounding(op).filter(|_| !self.instructions.rounding)
    }

    /// Notes that a kernel of the runtime is called.
    pub(crate) fn kernel(&mut self, kernel: Kernel) {
        self.kernels.insert(kernel);
    }

    /// Notes that a function of another language is called, by the name that the linker finds.
    pub(crate) fn foreign(&mut self, symbol: &str) {
        self.foreign.insert(symbol.to_owned());
    }

    /// The number that the next node of metadata will have; number 0 is in the support text.
    pub(crate) fn next_metadata(&self) -> u32 {
        self.metadata.len() as u32 + 1
    }

    /// A node of metadata; gives its number.
    pub(crate) fn metadata(&mut self, node: &str) -> u32 {
        let number = self.next_metadata();
        self.metadata.push(node.to_owned());
        number
    }

    /// Writes what was noted.
    pub(crate) fn write(&self, text: &mut String) -> Result<(), String> {
        match self.math {
            MathLibrary::Jut => self.write_for_runtime(text)?,
            MathLibrary::System => self.write_for_system(text)?,
        }
        if self.pieces {
            text.push_str(include_str!("pieces.ll"));
        }
        let params = listed(&params_of_kernel(FOREIGN));
        for symbol in &self.foreign {
            let _ = writeln!(text, "declare void @{symbol}({params}) #5");
        }
        for (k, node) in self.metadata.iter().enumerate() {
            let _ = writeln!(text, "!{} = {node}", k + 1);
        }
        Ok(())
    }

    /// For the system's library: its functions under their names, the others written out.
    fn write_for_system(&self, text: &mut String) -> Result<(), String> {
        let written = include_str!("system.ll");
        let mut declared = BTreeSet::new();
        for symbol in &self.mathematics {
            match system_name(symbol) {
                Some(system) => {
                    declared.insert((*symbol, system));
                }
                None if written.contains(&format!("@{symbol}(")) => {}
                None => {
                    return Err(format!("no C library has `{symbol}`; jut's runtime has it"));
                }
            }
        }
        if let Some(kernel) = self.kernels.first() {
            let name = kernel.row().name;
            return Err(format!("no C library has the kernel `{name}`; jut's runtime has it"));
        }
        text.push_str(&filled(written));
        declared.extend(["jut_exp", "jut_log1p"].map(|name| (name, &name["jut_".len()..])));
        for (symbol, system) in declared {
            let params = listed(params_of(symbol)?);
            let args = params_of(symbol)?.iter().enumerate();
            let args = args.map(|(k, scalar)| format!("{} %a{k}", scalar.one()));
            let args = args.collect::<Vec<_>>().join(", ");
            let _ = write!(
                text,
                "declare double @{system}({params}) #1\n\
                 define internal double @{symbol}({args}) #1 {{\n  \
                 %y = call double @{system}({args})\n  ret double %y\n}}\n"
            );
        }
        Ok(())
    }

    fn write_for_runtime(&self, text: &mut String) -> Result<(), String> {
        text.push_str(include_str!("runtime.ll"));
        for symbol in &self.mathematics {
            let params = listed(params_of(symbol)?);
            let _ = writeln!(text, "declare double @{symbol}({params}) #1");
        }
        if self.sine_and_cosine {
            text.push_str("declare double @jut_sin_cos(double, ptr) #6\n");
        }
        for kernel in &self.kernels {
            let row = kernel.row();
            let attributes = if kernel.reaches_outside() { "#5" } else { "#6" };
            let params = listed(&params_of_kernel(*kernel));
            let _ = writeln!(text, "declare void @{}({params}) {attributes}", row.symbol);
        }
        for form in self.wide.values() {
            function_of_eight(text, form);
        }
        Ok(())
    }
}

/// Types of parameters.
fn listed(scalars: &[Scalar]) -> String {
    let types: Vec<String> = scalars.iter().map(|scalar| scalar.one().to_string()).collect();
    types.join(", ")
}

fn params_of_kernel(kernel: Kernel) -> Vec<Scalar> {
    kernel.row().params.iter().map(|p| scalar(p.kind)).collect()
}

/// What a mathematical function of the runtime takes.
pub(crate) fn params_of(symbol: &str) -> Result<&'static [Scalar], String> {
    Ok(match symbols::math(symbol) {
        Some(Math::Unary(_)) => &[Scalar::F64],
        Some(Math::Binary(_)) => &[Scalar::F64, Scalar::F64],
        Some(Math::Ternary(_)) => &[Scalar::F64, Scalar::F64, Scalar::F64],
        Some(Math::Integer(_)) => &[Scalar::F64, Scalar::I64],
        Some(Math::Order(_)) => &[Scalar::I64, Scalar::F64],
        None => return Err(format!("the runtime has no function `{symbol}`")),
    })
}

/// The function for an operation that not every machine has an instruction for.
pub(crate) fn rounding(op: Opcode) -> Option<&'static str> {
    match op {
        Opcode::FFloor => Some("jut_floor"),
        Opcode::FCeil => Some("jut_ceil"),
        Opcode::FTrunc | Opcode::FRound => Some("jut_trunc"),
        _ => None,
    }
}

/// What the machine has instructions for that not every machine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Instructions {
    /// Rounding floats to integers; otherwise functions do it.
    pub rounding: bool,
    /// Loading and storing some of several cells. LLVM would spell it out, cell by cell.
    pub masks: bool,
    /// Whether storing some of several cells takes far longer than storing all of them.
    pub slow_masks: bool,
}

impl Instructions {
    pub(crate) const ALL: Instructions =
        Instructions { rounding: true, masks: true, slow_masks: false };
}

/// Text with the numbers of this build filled in.
pub(crate) fn filled(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, offset) in [
        ("TEMP_BASE", layout::TEMP_BASE),
        ("TEMP_TOP", layout::TEMP_TOP),
        ("TEMP_END", layout::TEMP_END),
        ("TAPE_BASE", layout::TAPE_BASE),
        ("TAPE_TOP", layout::TAPE_TOP),
        ("TAPE_END", layout::TAPE_END),
        ("FAILURE_SITE", layout::FAILURE_SITE),
        ("FAILURE_KIND", layout::FAILURE_KIND),
        ("FAILURE_OPERANDS", layout::FAILURE_OPERANDS),
    ] {
        text = text.replace(&format!("{{{name}}}"), &(offset / 8).to_string());
    }
    text.replace("{ALIGN}", &ALIGN.to_string()).replace("{MOST}", &(ALIGN - 1).to_string())
}

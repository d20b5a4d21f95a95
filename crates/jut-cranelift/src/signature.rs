//! What functions take and give: those of a program, and those of the runtime.
//!
//! A function takes the workspace, then its parameters (floats in float registers,
//! integers and pointers in integer registers, bools as bytes), and returns a status and its results;
//! results that registers cannot take go to memory, whose address is one more parameter, and so do the
//! parameters of a function that has very many. Status 0 is success;
//! another status is the number of the [kind of error](jut_ir::RuntimeErrorKind), and the workspace
//! says where.

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, LibCall, MemFlagsData, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use jut_loop::form::{Kind, LoopFunction, Param};
use jut_loop::kernel::Kernel;
use jut_native::object::{MathLibrary, system_name};
use jut_runtime::symbols::{self, Math};
use std::collections::HashMap;

/// The machine type of a kind.
pub(crate) fn cranelift_type(kind: Kind) -> ir::Type {
    match kind {
        Kind::F64 => types::F64,
        Kind::F32 => types::F32,
        Kind::I32 => types::I32,
        Kind::I64 | Kind::Buffer(_) => types::I64,
        Kind::BOOL => types::I8,
    }
}

/// Place of a word in a list of words.
pub(crate) fn word_offset(k: usize) -> Result<i32, String> {
    i32::try_from(k * 8).map_err(|_| "too many parameters or results".to_owned())
}

/// The first parameters of a function, out of a list of words.
pub(crate) fn load_words(
    builder: &mut FunctionBuilder<'_>,
    words: ir::Value,
    function: &LoopFunction,
    count: usize,
) -> Result<Vec<ir::Value>, String> {
    let params = function.params.iter().take(count).enumerate();
    let load = |(k, param): (usize, &Param)| {
        let ty = cranelift_type(function.values[param.value].kind);
        let offset = word_offset(k)?;
        Ok(builder.ins().load(ty, MemFlagsData::trusted(), words, offset))
    };
    params.map(load).collect()
}

/// Functions of the runtime, declared when first used.
#[derive(Default)]
pub(crate) struct Imports {
    known: HashMap<&'static str, FuncId>,
    /// Where they come from. What the system's library has not, the module has itself: see `substitute` in `aot`.
    pub math: MathLibrary,
}

impl Imports {
    pub(crate) fn from(math: MathLibrary) -> Imports {
        Imports { math, ..Imports::default() }
    }

    /// What was asked for, in a fixed order.
    pub(crate) fn used(&self) -> Vec<(&'static str, FuncId)> {
        let mut used: Vec<_> = self.known.iter().map(|(symbol, id)| (*symbol, *id)).collect();
        used.sort_unstable();
        used
    }

    pub(crate) fn get(
        &mut self,
        module: &mut dyn Module,
        symbol: &'static str,
    ) -> Result<FuncId, String> {
        if let Some(id) = self.known.get(symbol) {
            return Ok(*id);
        }
        let (params, returns) = runtime_signature(symbol)
            .ok_or_else(|| format!("the runtime has no function `{symbol}`"))?;
        let signature = signature(module.isa().default_call_conv(), &params, &returns);
        let (name, linkage) = match self.math {
            MathLibrary::Jut => (symbol, Linkage::Import),
            MathLibrary::System => match system_name(symbol) {
                Some(name) => (name, Linkage::Import),
                None => (symbol, Linkage::Local),
            },
        };
        let id = module.declare_function(name, linkage, &signature).map_err(|e| e.to_string())?;
        self.known.insert(symbol, id);
        Ok(id)
    }
}

/// A function of another language that the linker finds, whose arguments are pointers and integers.
pub(crate) fn foreign(
    module: &mut dyn Module,
    symbol: &str,
    params: usize,
) -> Result<FuncId, String> {
    let params = vec![types::I64; params];
    let signature = signature(module.isa().default_call_conv(), &params, &[]);
    module.declare_function(symbol, Linkage::Import, &signature).map_err(|e| e.to_string())
}

pub(crate) fn runtime_signature(symbol: &str) -> Option<(Vec<ir::Type>, Vec<ir::Type>)> {
    let (f, i, h, b) = (types::F64, types::I64, types::I32, types::I8);
    Some(match symbol {
        "jut_alloc_temp" | "jut_alloc_tape" => (vec![i, i], vec![i]),
        "jut_release" | "jut_release_tape" => (vec![i, i], vec![]),
        "jut_fill_words" => (vec![i, i, i], vec![]),
        "jut_fill_halves" => (vec![i, i, h], vec![]),
        "jut_fill_bytes" => (vec![i, i, b], vec![]),
        "jut_copy" => (vec![i, i, i], vec![]),
        "jut_sin_cos" => (vec![f, i], vec![f]),
        "jut_shares" => (vec![i; 6], vec![h]),
        "jut_workspace_begin" => (vec![i, i], vec![]),
        _ if let Some(kernel) = Kernel::all().find(|k| k.row().symbol == symbol) => {
            // Pointers and integers, all of 64 bits.
            (vec![i; kernel.row().params.len()], vec![])
        }
        _ => match symbols::math(symbol)? {
            Math::Unary(_) => (vec![f], vec![f]),
            Math::Binary(_) => (vec![f, f], vec![f]),
            Math::Ternary(_) => (vec![f, f, f], vec![f]),
            Math::Integer(_) => (vec![f, i], vec![f]),
            Math::Order(_) => (vec![i, f], vec![f]),
        },
    })
}

/// What code calls where the machine has no instruction: the runtime, if it has the function.
pub(crate) fn names_of_calls(call: LibCall) -> String {
    match call {
        LibCall::FloorF64 => "jut_floor".to_owned(),
        LibCall::CeilF64 => "jut_ceil".to_owned(),
        LibCall::TruncF64 => "jut_trunc".to_owned(),
        other => default_libcall_names()(other),
    }
}

pub(crate) fn signature(
    convention: CallConv,
    params: &[ir::Type],
    returns: &[ir::Type],
) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
    signature.returns.extend(returns.iter().map(|ty| AbiParam::new(*ty)));
    signature
}

/// How the results of a function are returned: the first ones of each class in registers, the
/// others through memory; and which parameters come through memory.
pub(crate) struct Returns {
    /// Type and whether it is in a register, for each result.
    pub results: Vec<(ir::Type, bool)>,
    /// How many parameters come by themselves.
    pub direct: usize,
    /// How many parameters there are.
    params: usize,
}

/// Integers and floats that are returned in registers.
const RETURNED_IN_REGISTERS: usize = 6;

/// Parameters that come by themselves. A return pops those on the stack, and can pop 64 KiB.
const DIRECT_PARAMS: usize = 1024;

impl Returns {
    pub(crate) fn of(function: &LoopFunction) -> Returns {
        let (mut floats, mut ints) = (0, 0);
        let place = |kind: Kind| {
            let ty = cranelift_type(kind);
            let count = if ty.is_float() { &mut floats } else { &mut ints };
            *count += 1;
            (ty, *count <= RETURNED_IN_REGISTERS)
        };
        Returns {
            results: function.result_kinds().map(place).collect(),
            direct: function.params.len().min(DIRECT_PARAMS),
            params: function.params.len(),
        }
    }

    /// Whether the function takes a pointer to memory for results; result k goes to word k.
    pub(crate) fn through_memory(&self) -> bool {
        self.results.iter().any(|(_, register)| !register)
    }

    /// Whether the function takes a pointer to memory for parameters; parameter k is in word k.
    pub(crate) fn params_through_memory(&self) -> bool {
        self.direct < self.params
    }

    /// Bytes of memory that serve for either.
    pub(crate) fn bytes(&self) -> usize {
        8 * if self.params_through_memory() {
            self.results.len().max(self.params)
        } else {
            self.results.len()
        }
    }
}

pub(crate) fn function_signature(function: &LoopFunction) -> Signature {
    let results = Returns::of(function);
    let mut params = vec![types::I64];
    if results.through_memory() {
        params.push(types::I64);
    }
    if results.params_through_memory() {
        params.push(types::I64);
    }
    let direct = function.params.iter().take(results.direct);
    params.extend(direct.map(|p| cranelift_type(function.values[p.value].kind)));
    let mut returns = vec![types::I32];
    returns.extend(results.results.iter().filter(|(_, register)| *register).map(|(ty, _)| *ty));
    signature(CallConv::Tail, &params, &returns)
}

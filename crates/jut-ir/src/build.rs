//! Making functions: variables with fresh names.

use crate::entity::{Cap, LVar, NVar};
use crate::hash::{HashMap, HashSet};
use crate::ir::{CapData, Function, LinVarData, Mode, VarData};
use crate::names::Name;
use crate::size::Size;
use crate::span::Span;
use crate::types::Type;
use std::hash::BuildHasher;

/// The keywords that come of putting `d` before a name, as J does for capabilities.
const KEYWORDS: [&str; 6] = ["data", "def", "do", "down", "drop", "dup"];

/// Hands out names that no variable of a function has yet.
///
/// A name is a base and perhaps a number: the first `t` is `t`, the next `t_1`, `t_2`, .. Linear
/// names keep their primes at the end: `t_1'`.
///
/// It remembers names by their hashes alone: two names of one hash cost a number that was not needed,
/// and long functions have many names.
#[derive(Clone, Debug, Default)]
pub struct Namer {
    used: HashSet<u64>,
    next: HashMap<u64, u32>,
}

fn hash(name: &str) -> u64 {
    rustc_hash::FxBuildHasher.hash_one(name)
}

impl Namer {
    /// A namer that knows all names of a function.
    pub fn of(func: &Function) -> Namer {
        let mut namer = Namer::default();
        for (_, v) in func.nvars.iter() {
            namer.reserve(&v.name);
        }
        for (_, v) in func.lvars.iter() {
            namer.reserve(&v.name);
        }
        for (_, c) in func.caps.iter() {
            namer.reserve(&c.name);
        }
        namer
    }

    /// Marks a name as taken.
    pub fn reserve(&mut self, name: &str) {
        self.used.insert(hash(name));
    }

    /// Whether a name is taken.
    pub fn is_used(&self, name: &str) -> bool {
        self.used.contains(&hash(name))
    }

    /// A name like `hint` that is not taken yet, and now is. Primes at the end of the hint stay at
    /// the end; a number at the end (`t_3`) is replaced.
    pub fn fresh(&mut self, hint: &str) -> Name {
        let stem = hint.trim_end_matches('\'');
        let primes = &hint[stem.len()..];
        if !KEYWORDS.contains(&hint) && self.used.insert(hash(hint)) {
            return hint.into();
        }
        let base = match stem.rsplit_once('_') {
            Some((base, number))
                if !base.is_empty()
                    && !number.is_empty()
                    && number.bytes().all(|b| b.is_ascii_digit()) =>
            {
                base
            }
            _ => stem,
        };
        let next = self.next.entry(hash(base) ^ primes.len() as u64).or_insert(1);
        loop {
            let name = ecow::eco_format!("{base}_{next}{primes}");
            *next += 1;
            if self.used.insert(hash(&name)) {
                return name;
            }
        }
    }
}

/// A function under construction, with a namer.
#[derive(Clone, Debug, Default)]
pub struct FunctionBuilder {
    /// The function so far.
    pub func: Function,
    /// The names in use.
    pub namer: Namer,
}

impl FunctionBuilder {
    /// Goes on with an existing function.
    pub fn from_function(func: Function) -> FunctionBuilder {
        let namer = Namer::of(&func);
        FunctionBuilder { func, namer }
    }

    /// A new non-linear variable with a fresh name.
    pub fn nvar(&mut self, hint: &str, ty: Type, span: Span) -> NVar {
        let name = self.namer.fresh(hint);
        self.func.nvars.push(VarData { name, ty, def: None, span })
    }

    /// A new transparent i64 variable: `def` is its definition in normal form.
    pub fn size_var(&mut self, hint: &str, def: Size, span: Span) -> NVar {
        let name = self.namer.fresh(hint);
        self.func.nvars.push(VarData { name, ty: Type::I64, def: Some(def), span })
    }

    /// A new linear variable with a fresh name. The hint is a name with or without primes; at
    /// least one prime is added.
    pub fn lvar(&mut self, hint: &str, ty: Type, span: Span) -> LVar {
        let hint = if hint.ends_with('\'') { hint.to_string() } else { format!("{hint}'") };
        let name = self.namer.fresh(&hint);
        self.func.lvars.push(LinVarData { name, ty, span })
    }

    /// A new capability with a fresh name.
    pub fn cap(&mut self, hint: &str, mode: Mode, lanes: bool, ty: Type, span: Span) -> Cap {
        let name = self.namer.fresh(hint);
        self.func.caps.push(CapData { name, mode, lanes, ty, span })
    }
}

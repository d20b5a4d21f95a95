//! Texts are read: lexer, parser, elaboration and checker, on a stack of the compiler's own.
//!
//! *Requires*: a text, and where its modules are ([`crate::files`]). *Ensures*: a checked program, or what is wrong with
//! the texts, with places in them. *Cost*: linear in the texts.

use crate::error::{Error, Result};
use crate::files::Files;
use crate::source::{Diagnostics, Source, Sources};
use crate::watch::{Pass, PassTime, Watch, statements};
use jut_ir::{FuncId, Program};
use jut_text::ModuleSource;
use std::sync::Arc;

/// A program that was read and checked.
pub(crate) struct Loaded {
    pub program: Program,
    pub sources: Arc<Sources>,
    pub warnings: Diagnostics,
    /// How long it took.
    pub times: Vec<PassTime>,
}

/// Reads and checks a program of one or more texts.
pub(crate) fn load(mut sources: Sources, files: &mut (dyn Files + Send)) -> Result<Loaded> {
    with_large_stack(|| {
        let text = sources.main().text.clone();
        let mut watch = Watch::start();
        let elaborated = jut_text::elaborate_with(&text, 0, &mut |name| {
            let Some(source) = files.module(name)? else { return Ok(None) };
            let text = source.text.clone();
            Ok(Some(ModuleSource { text, file: sources.push(source) }))
        });
        let sources = Arc::new(sources);
        let all = |program: &Program| {
            let funcs: Vec<FuncId> = program.funcs.keys().collect();
            statements(program, &funcs)
        };
        watch.end(Pass::Elaborate, || all(elaborated.program()));
        let loaded = elaborated.check();
        watch.end(Pass::Check, || loaded.program.as_ref().map_or(0, all));
        match loaded.program {
            Some(program) => {
                let warnings = Diagnostics::new(sources.clone(), loaded.diagnostics);
                Ok(Loaded { program, sources, warnings, times: watch.times() })
            }
            None => Err(Diagnostics::new(sources, loaded.diagnostics).into()),
        }
    })
}

/// Formats a text; see [`crate::format`].
pub(crate) fn format(source: Source) -> Result<String> {
    with_large_stack(|| {
        let refused = |list| {
            let sources = Sources::new(source.clone());
            Diagnostics::new(Arc::new(sources), list).into()
        };
        jut_text::format(&source.text).map_err(refused)
    })
}

/// Runs a part of the compiler on a thread with a large stack.
///
/// Passes recurse as deeply as the program is nested, which is limited, but a caller's own stack may
/// be small. A panic in a pass, which would be a mistake in jut, becomes an error.
pub(crate) fn with_large_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("jut".into()).stack_size(STACK);
        let internal = |what: &str| Error::Backend(format!("internal error: {what}"));
        match builder.spawn_scoped(scope, work) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| {
                let what = panic.downcast_ref::<String>().map(String::as_str);
                let what = what.or_else(|| panic.downcast_ref::<&str>().copied());
                Err(internal(what.unwrap_or("the compiler stopped")))
            }),
            Err(error) => Err(internal(&format!("no thread: {error}"))),
        }
    })
}

/// Address space for the compiler's stack; only what is used of it is memory.
const STACK: usize = 64 << 20;

//! Functions of other languages as the interpreter sees them: what it asks of the host, and what comes back.

use jut_ir::entity::FuncId;
use jut_ir::ir::Program;
use jut_ir::span::Span;
use jut_ir::types::Type;

/// A function of another language.
#[derive(Debug)]
pub(crate) struct ForeignCode {
    /// Which function of the host.
    pub number: i64,
    /// How many parameters it is not linear in.
    pub before: usize,
    /// Whether its values are linear.
    pub linear: bool,
    pub results: Vec<Type>,
    /// Its declaration.
    pub span: Span,
}

impl ForeignCode {
    /// That of a function, if it is one of another language.
    pub(crate) fn of(program: &Program, id: FuncId) -> Option<ForeignCode> {
        let func = &program.funcs[id];
        let declared = program.declared(id)?;
        let results = func.results.iter().map(|r| &r.ty);
        Some(ForeignCode {
            number: i64::from(func.foreign?.number),
            before: program.funcs[declared.linear].params.len(),
            linear: declared.linear == id,
            results: results.chain(func.lin_results.iter().map(|r| &r.ty)).cloned().collect(),
            span: func.span,
        })
    }
}

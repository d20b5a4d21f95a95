//! Which statements are linear, and which linear names a nested block takes from outside.
//!
//! A statement is *linear* if it reads or binds a linear name, touches a linear capability, calls
//! a function that does, or nests a block with such a statement. All others are ordinary
//! non-linear code: U moves them whole, T leaves them alone.
//!
//! One bottom-up walk answers both questions for a whole body; the answer is a tree of the shape
//! of the nesting. *Cost*: linear in the text plus the lists of free names. (A region that T turns
//! round returns its free names, so those lists are text of T's result.)

use jut_ir::entity::SecondaryMap;
use jut_ir::visit::Use;
use jut_ir::*;

/// What is known of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockInfo {
    /// Linear names bound outside, in order of first use.
    pub free: Vec<LVar>,
    /// The statements that have nested blocks, in order.
    pub nested: Vec<StmtInfo>,
}

/// What is known of a statement with nested blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct StmtInfo {
    /// Whether it is linear.
    pub linear: bool,
    /// Its blocks, in order.
    pub blocks: Vec<BlockInfo>,
}

impl StmtInfo {
    /// What is known of the only block.
    ///
    /// # Errors
    /// J999 if there is none.
    pub fn into_only(self, span: Span) -> Result<BlockInfo, Diagnostic> {
        self.blocks.into_iter().next().ok_or_else(|| unknown(span))
    }

    /// The same, to be read.
    ///
    /// # Errors
    /// J999 if there is none.
    pub fn only(&self, span: Span) -> Result<&BlockInfo, Diagnostic> {
        self.blocks.first().ok_or_else(|| unknown(span))
    }
}

/// A statement with blocks of which nothing is known.
pub(crate) fn unknown(span: Span) -> Diagnostic {
    crate::internal(span, "it is not known whether a statement with blocks is linear")
}

/// Looks at the body of a function.
pub(crate) fn of_body(program: &Program, func: &Function) -> BlockInfo {
    let mut walk = Walk { program, func, home: SecondaryMap::new(), blocks: 0 };
    walk.block(&func.body).0
}

/// Whether a statement without nested blocks is linear.
pub(crate) fn is_linear_leaf(program: &Program, func: &Function, stmt: &Stmt) -> bool {
    if !stmt.lin.is_empty() {
        return true;
    }
    let on_linear = |place: &Place| func.caps[place.root].mode != Mode::Acc;
    match &stmt.rhs {
        Rhs::Drop(_) | Rhs::LUntuple(_) => true,
        Rhs::Inc(place, operand) => matches!(operand, Operand::L(_)) || on_linear(place),
        Rhs::Call(call) => {
            !call.lin_args.is_empty()
                || !program.funcs[call.func].is_nonlinear()
                || call.places.iter().flatten().any(on_linear)
        }
        _ => false,
    }
}

struct Walk<'a> {
    program: &'a Program,
    func: &'a Function,
    /// The number of the block that a linear name was bound in last.
    home: SecondaryMap<LVar, u32>,
    blocks: u32,
}

impl Walk<'_> {
    /// Also returns whether anything in the block is linear.
    fn block(&mut self, block: &Block) -> (BlockInfo, bool) {
        self.blocks += 1;
        let number = self.blocks;
        let mut info = BlockInfo::default();
        let mut linear = !block.lin.is_empty();
        for stmt in &block.stmts {
            let stmt_is_linear = self.stmt(stmt, number, &mut info);
            linear |= stmt_is_linear;
            stmt.lin.iter().for_each(|x| self.home[*x] = number);
        }
        for x in &block.lin {
            self.used(*x, number, &mut info);
        }
        (info, linear)
    }

    fn used(&self, x: LVar, number: u32, info: &mut BlockInfo) {
        if self.home[x] != number {
            info.free.push(x);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, number: u32, info: &mut BlockInfo) -> bool {
        stmt.rhs.for_each_own_use(&mut |name| {
            if let Use::L(x) = name {
                self.used(x, number, info);
            }
        });
        let blocks = stmt.rhs.blocks();
        if blocks.is_empty() {
            return is_linear_leaf(self.program, self.func, stmt);
        }
        let mut linear =
            !stmt.lin.is_empty() || matches!(&stmt.rhs, Rhs::Region(region) if region.is_linear());
        let body_number = self.blocks + 1;
        if let Rhs::Scan(scan) = &stmt.rhs {
            // The body may use no linear names but these.
            linear |= !scan.lin_carry.is_empty() || !scan.lin_slices.is_empty();
            scan.lin_carry.iter().for_each(|(x, _)| self.home[*x] = body_number);
            scan.lin_slices.iter().for_each(|(x, _)| self.home[*x] = body_number);
        }
        let mut nested = StmtInfo::default();
        for block in blocks {
            let (inner, inner_is_linear) = self.block(block);
            linear |= inner_is_linear;
            nested.blocks.push(inner);
        }
        // Arms use the same linear names: the first speaks for all.
        for x in nested.blocks.first().map(|b| b.free.as_slice()).unwrap_or_default() {
            self.used(*x, number, info);
        }
        nested.linear = linear;
        info.nested.push(nested);
        linear
    }
}

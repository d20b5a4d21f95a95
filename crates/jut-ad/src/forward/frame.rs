//! What J keeps of each block that it writes: a [`Frame`], with the regions that are open in it
//! ([`super::regions`]), and of each live variable a [`Handle`].

use super::needs::BlockNeeds;
use jut_ir::visit::Use;
use jut_ir::{Block, Cap, Function, LVar, Loc, NVar, Place, Rhs, Size, Step, Stmt};
use std::collections::HashMap;

/// How the tangent of a variable is reached.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    /// A linear variable; [`jut_ir::repair`] makes copies of it.
    Val(LVar),
    /// A place of mode `rd`.
    At(Place),
}

/// A block being written.
#[derive(Default)]
pub(super) struct Frame {
    pub out: Vec<Stmt>,
    pub regions: Vec<Region>,
    /// Variables whose linear tangents are to become places.
    pub opening: Vec<(NVar, Loc)>,
    /// How many open regions there must be before closing some is tried.
    pub patience: usize,
    /// Variables bound so far, in order.
    pub bound: Vec<NVar>,
    /// The last statement that uses a variable; found when first needed.
    pub last_use: Option<LastUses>,
    /// What is still needed.
    pub needs: BlockNeeds,
}

/// How many regions are closed together before the end of a block.
pub(super) const CLOSED_AT_ONCE: usize = 8;

/// A region that is open in a frame.
pub(super) struct Region {
    /// Whose tangent it is.
    pub var: NVar,
    pub cap: Cap,
    pub init: LVar,
    /// The statements before the region.
    pub before: Vec<Stmt>,
    /// The clock when it was opened.
    pub opened: u32,
    pub loc: Loc,
}

/// The last statement of a block that uses each name, in types too, and each index of an access.
pub(super) struct LastUses {
    pub names: HashMap<NVar, usize>,
    pub indices: HashMap<Size, usize>,
}

impl LastUses {
    pub fn of(block: &Block, func: &Function) -> LastUses {
        let (mut names, mut indices) = (HashMap::new(), HashMap::new());
        for (k, stmt) in block.stmts.iter().enumerate() {
            let mut visit = |name| {
                if let Use::N(v) = name {
                    names.insert(v, k);
                }
            };
            stmt.for_each_use(func, &mut visit);
            for v in &stmt.nl {
                func.nvars[*v].ty.size_names().into_iter().for_each(|n| visit(Use::N(n)));
            }
            each_access(&stmt.rhs, &mut |path| {
                for step in path {
                    if let Step::Index { index: at, .. } | Step::Slice { lo: at, .. } = step {
                        indices.insert(func.size_of(*at), k);
                    }
                }
            });
        }
        block.nl.iter().filter_map(|a| a.var()).for_each(|v| {
            names.insert(v, usize::MAX);
        });
        LastUses { names, indices }
    }
}

/// The paths of all accesses in an operation, nested blocks included.
fn each_access(rhs: &Rhs, visit: &mut dyn FnMut(&[Step])) {
    match rhs {
        Rhs::Index(_, path) | Rhs::Update { path, .. } => visit(path),
        Rhs::Inc(place, _) => visit(&place.path),
        Rhs::Call(call) => call.places.iter().flatten().for_each(|place| visit(&place.path)),
        Rhs::Scan(scan) => scan.cap_slices.iter().for_each(|(_, place)| visit(&place.path)),
        _ => {}
    }
    for block in rhs.blocks() {
        block.stmts.iter().for_each(|stmt| each_access(&stmt.rhs, visit));
    }
}

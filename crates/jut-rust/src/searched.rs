//! What a variable is none of that begins with a `None`, where reading it comes before what says so:
//!
//! ```text
//! let mut last = None;
//! for p in points {
//!     if let Some(q) = last { s += p.x - q.x; }        what is `q`?
//!     last = Some(*p);                                 a point
//! }
//! ```
//!
//! A pass that is refused is followed by one that looks for these types only: a statement that cannot be translated is left out, and what it
//! assigns to such a variable is looked at by itself. Nothing of that pass counts but the types.

use crate::Refusal;
use crate::lowering::{Lowering, Tail};
use crate::value::Value;
use crate::visited::{Node, each};
use syn::{Expr, Stmt};

impl Lowering<'_> {
    /// Statements of which those that cannot be translated are left out.
    pub fn searched(&mut self, statements: &[Stmt], tail: Tail) -> Result<Option<Value>, Refusal> {
        // What a statement needs that could not be translated is not known in the next one either; but that one may be the one looked for.
        let mut next = 0;
        while next < statements.len() {
            let (lines, depth) = (self.lines.clone(), self.depth);
            let (scopes, frames, pushes) =
                (self.scopes.len(), self.loops.frames.len(), self.lists.pushes.len());
            let mut reached = 0;
            let found = self.statements_from(&statements[next..], tail, &mut reached);
            if found.is_ok() {
                return found;
            }
            (self.lines, self.depth) = (lines, depth);
            self.scopes.truncate(scopes);
            self.loops.frames.truncate(frames);
            self.lists.pushes.truncate(pushes);
            let failed = next + reached;
            if let Some(statement) = statements.get(failed) {
                self.search_in(statement);
            }
            next = failed + 1;
        }
        Ok(None)
    }

    /// Looks into a statement that cannot be translated for what it assigns to variables that begin with a `None`.
    fn search_in(&mut self, statement: &Stmt) {
        let mut assigned = Vec::new();
        each(statement, &mut |node| match node {
            Node::Expr(Expr::Assign(assign)) => {
                assigned.push(assign);
                false
            }
            Node::Expr(Expr::Closure(_)) => false,
            _ => true,
        });
        for assign in assigned {
            let local = match &*assign.left {
                Expr::Path(path) => path.path.get_ident().and_then(|i| self.lookup(&i.to_string())),
                _ => None,
            };
            let Some(name) = local.map(|local| local.name.clone()) else { continue };
            if self.nones.contains_key(&name) {
                let (lines, depth, scopes) = (self.lines.clone(), self.depth, self.scopes.len());
                if let Ok(value) = self.optional(&assign.right) {
                    self.assigned_to_none(&name, &value.ty);
                }
                (self.lines, self.depth) = (lines, depth);
                self.scopes.truncate(scopes);
            }
        }
    }
}

//! The parts of a text, one after the other.
//!
//! A question about a text ("does it assign?", "which names does it bind?") is a closure that is shown each [`Node`], whole before
//! parts, and that says whether to look into it. So all questions share one visitor: each visitor of its own would be all of
//! `syn`'s functions for visitors, compiled once more.

use syn::visit::{self, Visit};
use syn::{Block, Expr, Item, Local, Macro, Pat, Path, Stmt, Type};

/// A part of a text that questions are about. Others are passed through.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Block(&'a Block),
    Expr(&'a Expr),
    Item(&'a Item),
    Local(&'a Local),
    Macro(&'a Macro),
    Pat(&'a Pat),
    Path(&'a Path),
    Stmt(&'a Stmt),
    Type(&'a Type),
}

/// What is shown the parts: whether it wants to see what is in this one.
pub(crate) type See<'f, 'a> = &'f mut (dyn FnMut(Node<'a>) -> bool + 'f);

/// Shows a text and what is in it, in the order in which it is written.
pub(crate) fn each<'a>(whole: impl Into<Node<'a>>, see: See<'_, 'a>) {
    Shown(see).whole(whole.into());
}

/// Shows statements one after the other.
pub(crate) fn all<'a>(statements: &'a [Stmt], see: See<'_, 'a>) {
    let mut shown = Shown(see);
    statements.iter().for_each(|statement| shown.visit_stmt(statement));
}

/// Shows what is in an expression, and not itself.
pub(crate) fn inside<'a>(whole: &'a Expr, see: See<'_, 'a>) {
    visit::visit_expr(&mut Shown(see), whole);
}

struct Shown<'f, 'a>(See<'f, 'a>);

macro_rules! shown {
    ($($name:ident: $node:ident),*) => {
        impl<'a> Visit<'a> for Shown<'_, 'a> {
            $(fn $name(&mut self, part: &'a $node) {
                if (self.0)(Node::$node(part)) {
                    visit::$name(self, part);
                }
            })*
        }

        impl<'a> Shown<'_, 'a> {
            fn whole(&mut self, node: Node<'a>) {
                match node {
                    $(Node::$node(part) => self.$name(part)),*
                }
            }
        }

        $(impl<'a> From<&'a $node> for Node<'a> {
            fn from(part: &'a $node) -> Self {
                Node::$node(part)
            }
        })*
    };
}

shown! {
    visit_block: Block,
    visit_expr: Expr,
    visit_item: Item,
    visit_local: Local,
    visit_macro: Macro,
    visit_pat: Pat,
    visit_path: Path,
    visit_stmt: Stmt,
    visit_type: Type
}

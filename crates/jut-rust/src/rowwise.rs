//! Which names of a function stand for lists of lists, as far as what is done with them shows it: `rows[i][j]`, `for row in &rows { row.len() }`,
//! `rows.iter().map(|row| row[0])`.
//!
//! What a method gives may be such a list, which rustc alone knows. Where its rows may have lengths of their own the call has another text, which costs a
//! look of its own: so it is asked for only where the name of the list is one of these.

use crate::syntax::{bound, unwrapped};
use crate::visited::{Node, each};
use std::collections::HashSet;
use syn::{Block, Expr, Pat};

/// Methods that only lists have of what a function goes over.
const OF_LISTS: &[&str] = &["iter", "len", "first", "last", "windows", "chunks_exact", "to_vec"];

/// The names of lists whose elements are gone over, indexed or asked for their length.
pub(crate) fn names(block: &Block) -> HashSet<String> {
    let (mut lists, mut rows, mut gone_over) = (HashSet::new(), HashSet::new(), Vec::new());
    each(block, &mut |node| {
        match node {
            Node::Expr(Expr::Index(index)) => {
                listed(&index.expr, &mut lists, &mut rows);
            }
            Node::Expr(Expr::MethodCall(call)) => {
                if OF_LISTS.iter().any(|name| call.method == name) {
                    listed(&call.receiver, &mut lists, &mut rows);
                }
                let root = root(&call.receiver);
                for argument in &call.args {
                    if let (Some(root), Expr::Closure(closure)) = (&root, unwrapped(argument)) {
                        gone_over
                            .push((root.clone(), closure.inputs.iter().collect::<Vec<&Pat>>()));
                    }
                }
            }
            Node::Expr(Expr::ForLoop(l)) => {
                if let Some(root) = root(&l.expr) {
                    gone_over.push((root, vec![&*l.pat]));
                }
                if let Expr::Reference(list) = unwrapped(&l.expr) {
                    listed(&list.expr, &mut lists, &mut rows);
                }
            }
            _ => {}
        }
        true
    });
    for (root, patterns) in gone_over {
        if patterns.into_iter().flat_map(bound).any(|name| lists.contains(&name)) {
            rows.insert(root);
        }
    }
    rows
}

/// A list that has a name, or an element of one.
fn listed(list: &Expr, lists: &mut HashSet<String>, rows: &mut HashSet<String>) {
    match unwrapped(list) {
        Expr::Path(path) => lists.extend(path.path.get_ident().map(|name| name.to_string())),
        Expr::Index(index) => {
            if let Expr::Path(path) = unwrapped(&index.expr) {
                rows.extend(path.path.get_ident().map(|name| name.to_string()));
            }
        }
        _ => {}
    }
}

/// The name that a chain begins with.
fn root(chain: &Expr) -> Option<String> {
    match unwrapped(chain) {
        Expr::Path(path) => path.path.get_ident().map(|name| name.to_string()),
        Expr::MethodCall(call) => root(&call.receiver),
        Expr::Reference(inner) => root(&inner.expr),
        _ => None,
    }
}

//! Arms of several cases that bind names, as an arm for each:
//!
//! ```text
//! match (s, k) {                                   match (s, k) {
//!     (Round(r) | Ring(r, _), 0) => r,                 (Round(r), 0) => r,
//!     ..                                               (Ring(r, _), 0) => r,
//! }                                                    ..
//!                                                  }
//! ```
//!
//! Ensures: the first case that fits is taken, of several places in a pattern those of the first place last, as in Rust; a guard is asked for each
//! that fits. Cost: the arm's text for each case, of which there are at most [`MOST`]: with more the pattern is refused.

use crate::syntax::binds;
use syn::{Arm, ExprMatch, Pat};

/// How many arms one becomes.
const MOST: usize = 32;

/// Such a `match`; nothing of one without such an arm.
pub(crate) fn told(m: &ExprMatch) -> Option<ExprMatch> {
    let all: Vec<Vec<Pat>> = m.arms.iter().map(|arm| each(&arm.pat)).collect();
    if all.iter().all(|cases| cases.len() == 1) {
        return None;
    }
    let mut arms = Vec::new();
    for (arm, cases) in m.arms.iter().zip(all) {
        match cases.len() {
            1 => arms.push(arm.clone()),
            2..=MOST => arms.extend(cases.into_iter().map(|pat| {
                let comma = arm.comma.or_else(|| Some(Default::default()));
                Arm { pat, comma, ..arm.clone() }
            })),
            // It is refused where the name stands.
            _ => arms.push(arm.clone()),
        }
    }
    Some(ExprMatch { arms, ..m.clone() })
}

/// The cases of a pattern that bind names, each as a pattern; the pattern itself where none does.
fn each(pattern: &Pat) -> Vec<Pat> {
    match pattern {
        _ if binds(pattern).is_none() => vec![pattern.clone()],
        Pat::Paren(inner) => each(&inner.pat),
        Pat::Or(or) => or.cases.iter().flat_map(each).collect(),
        Pat::Reference(own) => {
            let within = each(&own.pat).into_iter();
            within
                .map(|pat| Pat::Reference(syn::PatReference { pat: Box::new(pat), ..own.clone() }))
                .collect()
        }
        Pat::Tuple(own) => {
            let within = product(own.elems.iter()).into_iter();
            within
                .map(|parts| {
                    Pat::Tuple(syn::PatTuple { elems: parts.into_iter().collect(), ..own.clone() })
                })
                .collect()
        }
        Pat::TupleStruct(own) => {
            let within = product(own.elems.iter()).into_iter();
            within
                .map(|parts| {
                    let elems = parts.into_iter().collect();
                    Pat::TupleStruct(syn::PatTupleStruct { elems, ..own.clone() })
                })
                .collect()
        }
        Pat::Struct(own) => {
            let within = product(own.fields.iter().map(|field| &*field.pat)).into_iter();
            within
                .map(|parts| {
                    let mut own = own.clone();
                    for (field, part) in own.fields.iter_mut().zip(parts) {
                        *field.pat = part;
                    }
                    Pat::Struct(own)
                })
                .collect()
        }
        other => vec![other.clone()],
    }
}

/// Each choice of a case for each part, no more than are taken.
fn product<'p>(parts: impl Iterator<Item = &'p Pat>) -> Vec<Vec<Pat>> {
    parts.map(each).fold(vec![Vec::new()], |before, cases| {
        let longer = before.iter().flat_map(|one| {
            cases.iter().map(move |case| [one.as_slice(), std::slice::from_ref(case)].concat())
        });
        longer.take(MOST + 1).collect()
    })
}

//! Hash tables for the compiler's own keys: indices, names, small expressions.
//!
//! The standard library's default hash resists keys that an adversary has chosen, at several times the
//! cost; a compiler that looks up every operand of long programs cannot afford that. Nothing depends on
//! the order of a table.

use rustc_hash::FxBuildHasher;

/// A hash map with a fast hash; made by `HashMap::default()`.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;

/// A hash set with a fast hash; made by `HashSet::default()`.
pub type HashSet<K> = std::collections::HashSet<K, FxBuildHasher>;

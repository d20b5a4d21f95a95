//! Compositions of the passes.

//! The text language: constructs, diagnostics, formatting, modules, the standard library.

mod constructs;
mod diagnostics;
mod elaboration;
mod formatting;
mod meaning;
mod modules;
mod robustness;
mod standard;
mod support;
mod wrong;

//! Machine code by LLVM: the text it is given, the store of objects.

mod cache;
mod support;
mod text;

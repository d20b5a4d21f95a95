//! jut-cranelift

//! The guide: differentiation as jut does it, in the order in which it is made.
//!
//! Reverse mode is usually one large step. In "You Only Linearize Once: Tangents Transpose to
//! Gradients" (Radul, Paszke, Frostig, Johnson, Maclaurin, POPL 2023) it is three small ones, each of
//! which makes a program: *forward* differentiation (J), *unzipping* (U), *transposition* (T). jut is
//! these three steps for a language with arrays, loops and branches, and a compiler behind them. Each
//! page of the guide is one notion, with programs that are run when jut is tested.
//!
//! 1. [`tangent`]: what a derivative is a function of, and what has none
//! 2. [`forward`]: J, values and tangents side by side
//! 3. [`unzip`]: U, values apart from tangents, and the tape between them
//! 4. [`transpose`]: T, the linear part turned round
//! 5. [`gradient`]: the three together
//! 6. [`hessian`]: derivatives of derivatives
//! 7. [`linearize`]: a derivative that is kept; Jacobians
//! 8. [`errors`]: what can go wrong, and how it is said
//! 9. [`sessions`]: threads, memory, speed
//!
//! Who only wants a gradient may begin with [`gradient`] and read the others when a message or a
//! question leads there. Who knows the paper will find its names: J, U, T and L (which forgets
//! linearity), `dup` and `drop`, tapes; a tangent is written `x'`, a cotangent `x''`, and a semicolon
//! parts non-linear values from linear ones.

pub mod errors;
pub mod forward;
pub mod gradient;
pub mod hessian;
pub mod linearize;
pub mod sessions;
pub mod tangent;
pub mod transpose;
pub mod unzip;

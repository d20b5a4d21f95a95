//! The benchmark harness: gradients by jut, by hand and by other means, of the same programs, in
//! one run, as ratios.
//!
//! | module | what |
//! |---|---|
//! | [`cases`] | the programs and their inputs |
//! | [`hand`], [`dual`] | the same gradients by hand, and by forward mode |
//! | [`measure`] | measuring several ways in turns |
//! | [`run`] | what is measured of a program |
//! | [`calls`] | what a call costs |
//! | [`compile`] | compile times against the length of a program and the size of its data |
//! | [`loops`] | loops over arrays against a C compiler |
//! | [`threads`] | loops and batches on several threads |
//! | [`tape`] | bytes of tape |
//! | [`report`] | everything as a table, as JSON, as a page |
//! | [`machine`] | what needs the machine itself |

pub mod calls;
pub mod cases;
pub mod compile;
pub mod dual;
pub mod hand;
pub mod loops;
pub mod machine;
pub mod measure;
pub mod report;
pub mod run;
pub mod tape;
pub mod threads;

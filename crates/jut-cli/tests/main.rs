//! The command `jut`, as it is called.

mod build;
mod checks;
mod commands;
mod doctor;
mod expand;
mod explain;
mod externs;
mod interrupt;
mod limits;
mod manual;
mod messages;
mod modules;
mod npy;
mod passes;
mod products;
mod support;

//! jut-opt

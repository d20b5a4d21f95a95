//! jut-eval

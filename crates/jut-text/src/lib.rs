//! jut-text

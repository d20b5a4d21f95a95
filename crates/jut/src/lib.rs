//! jut

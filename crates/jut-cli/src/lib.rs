//! jut-cli

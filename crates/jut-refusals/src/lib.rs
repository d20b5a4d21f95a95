//! What rustc says of programs that the macros of jut refuse: all of it is in the tests.

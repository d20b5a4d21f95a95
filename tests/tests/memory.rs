//! Programs that are compiled and dropped leave nothing behind. This test is alone in its process,
//! because it looks at the memory of the whole process. `--example churn` does the same for as many
//! programs as one likes.
#![cfg(target_os = "linux")]

use jut_tests::churn::{compile_and_drop, returned};
use jut_tests::engines::backends;

#[test]
fn dropped_programs_give_their_memory_back() {
    for (name, backend) in backends() {
        let count = 150;
        let memory = compile_and_drop(backend, count).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(returned(memory, count), "{name}: {count} programs: {memory:?}");
    }
}

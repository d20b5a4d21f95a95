//! Running the command.
use assert_cmd::Command;
use std::path::{Path, PathBuf};

/// Exit code, standard output, standard error; in the directory of the examples.
pub fn jut(args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("jut").expect("the binary");
    command.current_dir(examples()).env("NO_COLOR", "1").args(args);
    let output = command.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Where the example programs are.
pub fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../jut/examples")
}

/// A new, empty directory for the files of one test.
pub fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("made");
    path
}

/// Writes a file; gives its path as text.
pub fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().expect("in a directory")).expect("made");
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

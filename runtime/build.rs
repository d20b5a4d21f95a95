//! Tells the build script of `jut-static`, which compiles the runtime once more, where it is: in the
//! repository, or unpacked from its package.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=folder={}", std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
}

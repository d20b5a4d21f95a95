use jut_build::{Build, Request};

fn main() {
    Build::new("src/valley.jut")
        .function("height", &[], &[Request::ValueAndGradient, Request::HessianProduct])
        .write();
}

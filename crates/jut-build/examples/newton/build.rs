use jut_build::{Build, Product};

fn main() {
    Build::new("src/valley.jut")
        .function("height", &[], &[Product::ValueAndGradient, Product::HessianProduct])
        .write();
}

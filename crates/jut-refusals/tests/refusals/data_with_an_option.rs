use jut::Data;

#[derive(Data)]
struct S {
    x: Option<Vec<f64>>,
}

fn main() {}

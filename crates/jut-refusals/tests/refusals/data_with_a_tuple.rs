use jut::Data;

#[derive(Data)]
struct S {
    x: (f64, usize),
}

fn main() {}

use jut::Data;

#[derive(Data)]
struct S<'a> {
    x: &'a [f64],
}

fn main() {}

use jut::Data;

#[derive(Data)]
struct List(f64, Option<Box<List>>);

fn main() {}

use jut::Data;

#[derive(Data)]
struct S;

fn main() {}

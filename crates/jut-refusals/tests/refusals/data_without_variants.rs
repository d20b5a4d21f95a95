use jut::Data;

#[derive(Data)]
enum E {}

fn main() {}

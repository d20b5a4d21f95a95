use jut::Data;
use std::rc::Rc;

#[derive(Data)]
struct S {
    x: Rc<f64>,
}

fn main() {}

use jut::{Data, differentiable};
use std::ops::{Index, IndexMut};

#[derive(Data, Clone)]
struct Table {
    values: Vec<f64>,
}

#[differentiable]
impl Index<usize> for Table {
    type Output = f64;
    fn index(&self, k: usize) -> &f64 {
        &self.values[k]
    }
}

#[differentiable]
impl IndexMut<usize> for Table {
    fn index_mut(&mut self, k: usize) -> &mut f64 {
        self.values.get_mut(k).unwrap()
    }
}

fn main() {}

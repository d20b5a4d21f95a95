//! The loop form: what lowering writes, what each pass does to it, what its checker refuses.

mod agree;
mod boxes;
mod calm;
mod faults;
mod features;
mod fresh;
mod gather;
mod home;
mod in_order;
mod interchange;
mod need;
mod optimise;
mod planes;
mod poll;
mod products;
mod random;
mod shares;
mod sizes;
mod split;
mod strip_mine;
mod structured;
mod support;
mod swap;
mod updates;
mod vector;
mod wrong;

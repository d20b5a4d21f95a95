//! What passes and backends ask about the loop form.
//!
//! | module | the question |
//! |---|---|
//! | [`effects`] | what a statement does to memory and to the run |
//! | [`Roots`] | which buffers may share memory |
//! | [`Classes`] | what a value is to neighbouring iterations |
//! | [`sums_in_order`] | what a loop only adds to |
//! | [`conjunction`] | whether a loop only asks if something holds in all iterations |
//! | [`shown_by`] | where it shows that a product of derivatives is NaN |
//! | [`Pending`], [`Step`] | which of them, and of what is computed from them, have not been looked at, and when that is to be done |
//! | [`OwnRows`] | which cells an iteration has for itself |
//! | [`linear`] | which integers are the same sum of others, or apart by a constant |
//! | [`Distances`] | how far apart two cells are that a loop accesses, and which rows of an array it cannot reach both |
//! | [`Zeros`] | which floats are no negative zero |
//! | [`Spot`] | where in an array of rows the iterations of two loops meet |
//! | [`sine_and_cosine`] | which sines and cosines are of the same number |
//! | [`Beside`] | what a load finds that several iterations have stored just before, a few cells beside |
//! | [`JustStored`] | which sums load what the statements round them have just stored |
//!
//! An analysis looks and does not change anything; what is done about its answer is a pass's matter.

mod beside;
mod distances;
pub mod effects;
mod just_stored;
mod lanes;
pub mod linear;
pub mod own_rows;
mod partners;
mod pending;
mod planes;
mod products;
mod roots;
mod spots;
mod sums;
mod zeros;

pub use beside::Beside;
pub use distances::{Distance, Distances, Reached};
pub use just_stored::JustStored;
pub use lanes::{Class, Classes};
pub use own_rows::OwnRows;
pub use partners::sine_and_cosine;
pub use pending::{Look, Pending, Step};
pub use products::{is_product, shown_by};
pub use roots::Roots;
pub use spots::Spot;
pub use sums::{Sum, conjunction, sums_in_order, sums_of};
pub use zeros::{Zeros, added_to_zero};

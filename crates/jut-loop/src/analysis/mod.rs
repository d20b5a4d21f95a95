//! What passes and backends ask about the loop form.
//!
//! | module | the question |
//! |---|---|
//! | [`effects`] | what a statement does to memory and to the run |
//!
//! An analysis looks and does not change anything; what is done about its answer is a pass's matter.

pub mod effects;

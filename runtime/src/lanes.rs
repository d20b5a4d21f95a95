//! The fixed order of a blocked sum: shared by the interpreter and every engine.
//!
//! A sum by *lanes* over iterations 0, 1, .. adds iteration i into lane i mod [`LANES`]. The
//! iterations are cut into blocks of [`BLOCK`]; at the end of each block, also of a last short one,
//! the lanes are added by [`fold`], the result is added to the total, and the lanes start again at
//! zero. The order is a function of the number of iterations alone, so the bits of the sum do not
//! depend on the engine or the number of threads, and eight partial sums keep a vector unit busy.

/// Number of lanes of a fixed-order sum.
pub const LANES: usize = 8;

/// Iterations per block of a fixed-order sum: a multiple of [`LANES`].
pub const BLOCK: i64 = 1024;

/// Adds the lanes pairwise: lane k + LANES/2 is added to lane k, and so on down to one lane.
pub fn fold(mut lanes: [f64; LANES]) -> f64 {
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] += lanes[k + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_added_as_a_balanced_tree_of_halves() {
        let lanes = [1e16, 1.0, 3.0, -7.0, -1e16, 2.0, 0.5, 0.25];
        let expected = ((1e16 + -1e16) + (3.0 + 0.5)) + ((1.0 + 2.0) + (-7.0 + 0.25));
        assert_eq!(fold(lanes).to_bits(), f64::to_bits(expected));
    }

    #[test]
    fn a_block_is_a_whole_number_of_lane_groups() {
        assert_eq!(BLOCK % LANES as i64, 0);
        assert!(LANES.is_power_of_two());
    }
}

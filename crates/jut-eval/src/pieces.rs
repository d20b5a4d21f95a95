//! Work on many cells that a cancelled call ends in the middle: it goes by pieces and asks between
//! them, so short arrays never ask. What is ended so gives `None`, and the execution says why
//! ([`crate::execution::Execution::cause`]).

use jut_runtime::cancel;
use std::ops::Range;

/// Cells of a piece.
pub(crate) const PIECE: usize = 1 << 16;

/// Does something for all numbers below a count.
pub(crate) fn in_pieces(count: usize, mut work: impl FnMut(Range<usize>)) -> Option<()> {
    let mut at = 0;
    while count - at > PIECE {
        work(at..at + PIECE);
        at += PIECE;
        if cancel::is_requested() {
            return None;
        }
    }
    work(at..count);
    Some(())
}

/// A copy.
pub(crate) fn copy<T: Clone>(cells: &[T]) -> Option<Vec<T>> {
    let mut copied = Vec::with_capacity(cells.len());
    append(&mut copied, cells)?;
    Some(copied)
}

/// Cells behind others.
pub(crate) fn append<T: Clone>(to: &mut Vec<T>, cells: &[T]) -> Option<()> {
    in_pieces(cells.len(), |range| to.extend_from_slice(&cells[range]))
}

/// So many equal cells behind others.
pub(crate) fn fill<T: Clone>(to: &mut Vec<T>, count: usize, cell: T) -> Option<()> {
    in_pieces(count, |range| to.resize(to.len() + range.len(), cell.clone()))
}

/// Combines each cell with one of another list of the same length.
pub(crate) fn zip<T, U>(to: &mut [T], from: &[U], mut one: impl FnMut(&mut T, &U)) -> Option<()> {
    in_pieces(to.len(), |range| {
        to[range.clone()].iter_mut().zip(&from[range]).for_each(|(to, from)| one(to, from));
    })
}

/// The cells in the opposite order.
pub(crate) fn reverse<T>(cells: &mut [T]) -> Option<()> {
    let (front, back) = cells.split_at_mut(cells.len() / 2);
    let last = back.len();
    in_pieces(front.len(), |range| {
        let back = back[last - range.end..last - range.start].iter_mut().rev();
        front[range].iter_mut().zip(back).for_each(|(a, b)| std::mem::swap(a, b));
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_runtime::Cancellation;

    #[test]
    fn pieces_are_the_whole() {
        for n in [0, 1, 2, 7, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5] {
            let cells: Vec<usize> = (0..n).collect();
            assert_eq!(copy(&cells), Some(cells.clone()));
            let mut turned = cells.clone();
            assert_eq!(reverse(&mut turned), Some(()));
            assert!(turned.iter().rev().eq(&cells), "{n}");
            let mut filled = vec![1];
            assert_eq!(fill(&mut filled, n, 7), Some(()));
            assert_eq!((filled.len(), filled.iter().sum::<usize>()), (n + 1, 7 * n + 1));
            let mut sums = cells.clone();
            assert_eq!(zip(&mut sums, &cells, |a, b| *a += b), Some(()));
            assert!(sums.iter().zip(&cells).all(|(a, b)| *a == 2 * b));
        }
    }

    #[test]
    fn what_is_cancelled_stops_after_a_piece() {
        let cancelled = Cancellation::new();
        cancelled.cancel();
        cancel::during(&cancelled, || {
            let mut done = 0;
            assert_eq!(in_pieces(1 << 40, |range| done += range.len()), None);
            assert_eq!(done, PIECE);
            assert_eq!(in_pieces(PIECE, |range| done += range.len()), Some(()), "short: not asked");
        });
    }
}

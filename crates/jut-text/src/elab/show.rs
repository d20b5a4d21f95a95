//! The name that was probably meant.

/// The candidate that is closest to a name, if one is close enough to be a slip.
pub(crate) fn nearest<C: AsRef<str> + Ord>(
    name: &str,
    candidates: impl Iterator<Item = C>,
) -> Option<C> {
    let limit = (name.len() / 3).clamp(1, 3);
    let close = candidates.filter_map(|candidate| {
        let c = candidate.as_ref();
        if c.len().abs_diff(name.len()) > limit || c.is_empty() {
            return None;
        }
        let d = distance(name, c);
        let common = name.bytes().zip(c.bytes()).take_while(|(a, b)| a == b).count();
        let close = d <= limit && d < c.len().max(name.len());
        close.then_some((d, name.len() - common, candidate))
    });
    close.min().map(|(_, _, candidate)| candidate)
}

/// The number of letters to change, insert, leave out or swap.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

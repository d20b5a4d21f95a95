//! Work that several threads share: those of the `rayon` pool that the caller is in, or of its global one, and the caller's.

/// Does work on this thread, and other work on all but one of so many, at once; each takes from what there is to do until
/// nothing is left. The others may come when that has happened, which is waited for.
///
/// The thread of the call works from the beginning, also if it is none of the pool: to wake another one takes as long as a short
/// loop does.
pub fn together(threads: usize, here: impl FnOnce(), there: impl Fn() + Sync) {
    let there = &there;
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(move |_| there());
        }
        here();
    });
}

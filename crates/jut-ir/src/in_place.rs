//! Rewriting a long list without a second one.
//!
//! A pass reads statements one by one and writes others. With a new list for each block, every pass over
//! a long function would take as much fresh memory as the function has, and give back the old: the
//! system would have to find and clear it each time.

use std::collections::VecDeque;

/// A list that is read from the front while what replaces it is written to its beginning.
///
/// Items that are not read yet and stand in the way are set aside, so more may be written than was read.
#[derive(Debug)]
pub struct InPlace<T> {
    items: Vec<T>,
    /// What has been written ends here; what has not been read begins at `read`, after `aside`.
    written: usize,
    read: usize,
    aside: VecDeque<T>,
    /// Fills the place of an item that was read.
    filler: fn() -> T,
}

impl<T> InPlace<T> {
    /// Starts with a list to be read. `filler` makes something that costs nothing.
    pub fn new(items: Vec<T>, filler: fn() -> T) -> InPlace<T> {
        InPlace { items, written: 0, read: 0, aside: VecDeque::new(), filler }
    }

    /// The next item.
    pub fn take_next(&mut self) -> Option<T> {
        if let Some(item) = self.aside.pop_front() {
            return Some(item);
        }
        let place = self.items.get_mut(self.read)?;
        self.read += 1;
        Some(std::mem::replace(place, (self.filler)()))
    }

    /// How many items have been written.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Writes an item.
    pub fn push(&mut self, item: T) {
        match self.items.get_mut(self.written) {
            None => {
                self.items.push(item);
                self.read += 1;
            }
            Some(place) => {
                let old = std::mem::replace(place, item);
                if self.written == self.read {
                    self.aside.push_back(old);
                    self.read += 1;
                }
            }
        }
        self.written += 1;
    }

    /// What was written; what was not read is forgotten.
    pub fn finish(mut self) -> Vec<T> {
        self.items.truncate(self.written);
        self.items
    }
}

impl<T> Extend<T> for InPlace<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

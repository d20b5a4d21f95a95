//! The memory limit: how many bytes of arrays a call may have alive at once.
//!
//! Every block made by a call holds a [`Charge`] against the call's [`Meter`]; dropping the block
//! gives it back. Values that the caller passes in are not charged.

use crate::pieces;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes alive and the limit.
#[derive(Debug)]
pub(crate) struct Meter {
    alive: AtomicU64,
    limit: u64,
}

/// A number of bytes that are alive as long as this is.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    meter: Option<Arc<Meter>>,
    bytes: u64,
}

impl Meter {
    pub(crate) fn new(limit: u64) -> Arc<Meter> {
        Arc::new(Meter { alive: AtomicU64::new(0), limit })
    }

    /// Takes `bytes` from the limit; `None` if that is more than is left.
    pub(crate) fn charge(self: &Arc<Meter>, bytes: u64) -> Option<Charge> {
        let take = |alive: u64| alive.checked_add(bytes).filter(|total| *total <= self.limit);
        self.alive.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Charge { meter: Some(self.clone()), bytes })
    }
}

impl Charge {
    /// Takes `bytes` more; `None` if that is more than is left.
    pub(crate) fn grow(&mut self, bytes: u64) -> Option<()> {
        let mut more = self.meter.as_ref()?.charge(bytes)?;
        self.bytes += std::mem::take(&mut more.bytes);
        Some(())
    }
}

/// So many equal cells; `None` if there is no memory for them, or the call is cancelled.
pub(crate) fn cells<T: Clone>(count: usize, cell: T) -> Option<Vec<T>> {
    let mut cells = Vec::new();
    cells.try_reserve_exact(count).ok()?;
    pieces::fill(&mut cells, count, cell)?;
    Some(cells)
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(meter) = &self.meter {
            meter.alive.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// Whether there is memory for so many cells.
pub(crate) fn has_room(count: usize) -> bool {
    Vec::<u64>::new().try_reserve_exact(count).is_ok()
}

//! Memory that the process has, as the system tells (`/proc`).

/// Kilobytes that the process has at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In main memory.
    pub resident: u64,
    /// Of address space.
    pub mapped: u64,
}

impl Memory {
    /// What the process has now; `None` where the system does not say.
    pub fn now() -> Option<Memory> {
        let text = std::fs::read_to_string("/proc/self/status").ok()?;
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        Some(Memory { resident: number("VmRSS:")?, mapped: number("VmSize:")? })
    }
}

/// The most kilobytes that the process has had in main memory since [`forget_peak`]; `None` where the
/// system does not say.
pub fn peak() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Lets [`peak`] start from what the process has now; whether the system can do that.
pub fn forget_peak() -> bool {
    // Linux: 5 resets the peak, and nothing else.
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

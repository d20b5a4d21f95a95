//! How much memory the process may have: the least of what the machine has and of what limits the
//! process, less what the process holds already.
//!
//! | limit | where it stands | what counts against it |
//! |---|---|---|
//! | the machine's memory | `/proc/meminfo` | resident memory |
//! | control groups, versions 1 and 2, with all groups around | `memory.max`, `memory.limit_in_bytes` | resident memory |
//! | address space (`ulimit -v`) | `/proc/self/limits` | address space |
//! | data (`ulimit -d`) | `/proc/self/limits` | data |
//!
//! A process that takes more than the first two is killed, without an error that it could see. So a
//! sixteenth of what is left is for others: code, page tables, and what the caller allocates later.
//! Systems without these files have no limit here.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Bytes that the process may still take, where the system says so.
pub fn memory() -> Option<usize> {
    memory_below(Path::new("/"))
}

/// The same, of a system whose files stand below a directory.
fn memory_below(root: &Path) -> Option<usize> {
    let proc = |name: &str| read_to_string(root.join("proc").join(name)).unwrap_or_default();
    let (status, limits) = (proc("self/status"), proc("self/limits"));
    let held = |name: &str| kilobytes(&status, name).unwrap_or(0);
    let left = |limit: Option<usize>, held: usize| limit.map(|n| n.saturating_sub(held));
    let groups = groups(root, &proc("self/cgroup"), &proc("self/mountinfo"));
    [
        left(kilobytes(&proc("meminfo"), "MemTotal:"), held("VmRSS:")),
        left(groups, held("VmRSS:")),
        left(soft_limit(&limits, "Max address space"), held("VmSize:")),
        left(soft_limit(&limits, "Max data size"), held("VmData:")),
    ]
    .into_iter()
    .flatten()
    .min()
    .map(|least| least - least / 16)
}

/// The number behind a name, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// A limit of the process, if there is one: the first number behind its name.
fn soft_limit(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The least limit of the process's control groups.
fn groups(root: &Path, groups: &str, mounts: &str) -> Option<usize> {
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::of_memory).collect();
    let mut least = None;
    for line in groups.lines() {
        // Number, controllers, path; version 2 has the number 0 and names no controllers.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let file = match controllers {
            "" => "memory.max",
            all if all.split(',').any(|name| name == "memory") => "memory.limit_in_bytes",
            _ => continue,
        };
        for mount in mounts.iter().filter(|mount| mount.file == file) {
            // Without the common part the process sees the mount as the root of its groups.
            let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
            for group in below.ancestors() {
                let file = root.join(&mount.point).join(group).join(file);
                let limit = read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
                least = [least, limit].into_iter().flatten().min();
            }
        }
    }
    least
}

/// Where control groups with memory limits stand.
struct Mount {
    /// The group that is mounted.
    root: PathBuf,
    /// Where, relative to the root directory.
    point: PathBuf,
    /// The file with the limit of a group.
    file: &'static str,
}

impl Mount {
    /// A line of `mountinfo`: .. .. .. root point .. - type source options.
    fn of_memory(line: &str) -> Option<Mount> {
        let (place, what) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut what = what.split(' ');
        let file = match (what.next()?, what.nth(1)) {
            ("cgroup2", _) => "memory.max",
            ("cgroup", Some(options)) if options.split(',').any(|name| name == "memory") => {
                "memory.limit_in_bytes"
            }
            _ => return None,
        };
        let (root, point) = (place.next()?, place.next()?);
        Some(Mount { root: root.into(), point: point.trim_start_matches('/').into(), file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A system made of files: path and content.
    struct System(PathBuf);

    impl System {
        fn new(name: &str, files: &[(&str, &str)]) -> System {
            let directory = format!("jut-limits-{}-{name}", std::process::id());
            let system = System(std::env::temp_dir().join(directory));
            for (path, content) in files {
                let path = system.0.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            system
        }

        fn memory(&self) -> Option<usize> {
            memory_below(&self.0)
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
    const KB: usize = 1024;

    /// What is left when a sixteenth is not.
    fn most(bytes: usize) -> Option<usize> {
        Some(bytes - bytes / 16)
    }

    #[test]
    fn a_system_that_says_nothing_has_no_limit() {
        assert_eq!(System::new("nothing", &[]).memory(), None);
    }

    #[test]
    fn without_other_limits_it_is_the_machines_memory_less_what_is_held() {
        let status = ("proc/self/status", "Name:\tx\nVmRSS:\t    384 kB\n");
        assert_eq!(System::new("machine", &[MACHINE, status]).memory(), most(16000 * KB));
    }

    #[test]
    fn the_limits_of_the_process_count() {
        let limits = |space: &str, data: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max data size             {data}            unlimited            bytes\n\
                 Max address space         {space}            unlimited            bytes\n"
            )
        };
        let status = ("proc/self/status", "VmSize:\t 100 kB\nVmRSS:\t 1 kB\nVmData:\t 50 kB\n");
        let of = |name: &str, space: &str, data: &str| {
            let limits = limits(space, data);
            System::new(name, &[MACHINE, status, ("proc/self/limits", &limits)]).memory()
        };
        assert_eq!(of("none", "unlimited", "unlimited"), most(16383 * KB));
        assert_eq!(of("space", "1024000", "unlimited"), most(900 * KB));
        assert_eq!(of("data", "1024000", "102400"), most(50 * KB));
        assert_eq!(of("less", "1024", "102400"), most(0));
    }

    #[test]
    fn the_least_group_around_the_process_counts() {
        let cgroup = ("proc/self/cgroup", "0::/outer/inner\n");
        let mounts = "25 1 0:23 / / rw shared:1 - ext4 /dev/sda rw\n\
                      31 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        let files = [
            MACHINE,
            cgroup,
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/outer/memory.max", "1048576\n"),
        ];
        assert_eq!(System::new("two", &files).memory(), most(1024 * KB));
    }

    #[test]
    fn groups_of_version_1_are_found_in_a_container_too() {
        let cgroup = "9:name=systemd:/\n4:cpu,memory:/docker/abc\n0::/\n";
        let mounts = "40 31 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
                      41 31 0:31 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
        let files = [
            MACHINE,
            ("proc/self/cgroup", cgroup),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2097152\n"),
            ("sys/fs/cgroup/cpu/memory.limit_in_bytes", "1\n"),
        ];
        assert_eq!(System::new("one", &files).memory(), most(2048 * KB));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_says_how_much_it_is() {
        assert!(memory().is_some_and(|bytes| bytes > 0));
    }
}

//! Code that is kept on disk from one process to the next.
//!
//! A backend that takes long to make code asks here first: the [`Key`] says all that the code depends on, and what was made for the
//! same key before is in a file of that name. Where no folder is in use, nothing is read or written.
//!
//! ```text
//! <folder>/<key>.code      "jut code 1\n", the key (32 bytes), SHA-256 of what follows (32 bytes), what the backend keeps
//! ```
//!
//! *Requires*: that nobody but jut writes to the folder: what is in it is run as machine code. On Unix a folder that is
//! not the user's own, or that others may write to, is refused. *Ensures*: a file that is damaged, cut off or of another key is as good as
//! none. A file has its name only when it is complete, so processes may share a folder. No error of reading or writing is one of compiling: the code is made
//! then. Files that were not used for longest go when all are larger than [`LIMIT`]. *Cost*: a hash of the key's parts and of the file.

use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};
use std::time::SystemTime;

/// The environment variable that names a folder, for whoever starts a process to set.
pub const VARIABLE: &str = "JUT_CACHE";

/// Bytes of all files of a folder, at most.
pub const LIMIT: u64 = 1 << 28;

const MAGIC: &[u8] = b"jut code 1\n";

/// How a file of code ends.
const SUFFIX: &str = "code";

/// The folder that is in use: at first that of the environment, if it names one that can be used.
static FOLDER: LazyLock<RwLock<Option<PathBuf>>> = LazyLock::new(|| {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    RwLock::new(named.filter(|folder| prepare(folder).is_ok()))
});

static READ: AtomicU64 = AtomicU64::new(0);
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Keeps the code of this process's programs in a folder, which is made if it is not there, and takes what is there from
/// earlier ones. That of Cranelift, which is made in some milliseconds, is not kept.
///
/// ```no_run
/// // SAFETY: the folder is this user's own, and nothing else is put there.
/// unsafe { jut_native::cache::use_folder("/home/me/.cache/my-program") }?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// A folder that cannot be made or written to; on Unix also one that is not the user's own or that others may write to.
///
/// # Safety
/// What is in the folder is run. It must hold nothing but what jut has put there.
pub unsafe fn use_folder(folder: impl AsRef<Path>) -> io::Result<()> {
    prepare(folder.as_ref())?;
    *FOLDER.write().unwrap_or_else(PoisonError::into_inner) = Some(folder.as_ref().to_owned());
    Ok(())
}

/// Keeps no code any more, and takes none.
pub fn stop() {
    *FOLDER.write().unwrap_or_else(PoisonError::into_inner) = None;
}

/// The folder that is in use.
pub fn folder() -> Option<PathBuf> {
    FOLDER.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Why the folder that the environment names is not in use, if it names one.
pub fn refusal() -> Option<String> {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty())?;
    prepare(Path::new(&named)).err().map(|error| error.to_string())
}

/// How often this process has taken code from a folder, and put some there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Programs whose code was there.
    pub read: u64,
    /// Programs whose code was put there.
    pub written: u64,
}

/// What has been read and written so far.
pub fn counts() -> Counts {
    Counts { read: READ.load(Ordering::Relaxed), written: WRITTEN.load(Ordering::Relaxed) }
}

/// Sees to it that a folder is there, this user's own, and nobody else's to write to.
fn prepare(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let probe = Temporary::new(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        // Who makes a file owns it.
        let (own, other) = (fs::metadata(&probe.path)?, fs::metadata(folder)?);
        if own.uid() != other.uid() || other.mode() & 0o022 != 0 {
            let reason = format!(
                "{}: code is only kept in a folder of one's own that others cannot write to; \
                 `chmod go-w` makes it one",
                folder.display()
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
    }
    drop(probe);
    Ok(())
}

/// All that code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of code that depends on these parts, this version of jut, and what the runtime has.
    pub fn new<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Key {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            // The length, so that no two lists of parts look the same.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        jut_runtime::symbols::all().for_each(|(name, _)| add(name.as_bytes()));
        add(b"");
        parts.into_iter().for_each(add);
        Key(hash.finalize().into())
    }

    fn name(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What was stored with a key, if a folder is in use and has it.
pub fn load(key: &Key) -> Option<Vec<u8>> {
    let found = read(&path(&folder()?, key), key)?;
    READ.fetch_add(1, Ordering::Relaxed);
    Some(found)
}

/// Stores something with a key, if a folder is in use and it can be written.
pub fn store(key: &Key, contents: &[u8]) {
    let Some(folder) = folder() else { return };
    if write(&folder, key, contents).is_ok() {
        WRITTEN.fetch_add(1, Ordering::Relaxed);
        make_room(&folder, LIMIT);
    }
}

fn path(folder: &Path, key: &Key) -> PathBuf {
    folder.join(key.name()).with_extension(SUFFIX)
}

fn read(path: &Path, key: &Key) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let rest = bytes.strip_prefix(MAGIC)?;
    let (own, rest) = rest.split_at_checked(32)?;
    let (sum, contents) = rest.split_at_checked(32)?;
    let whole = own == key.0.as_slice() && sum == Sha256::digest(contents).as_slice();
    if !whole {
        return None;
    }
    // What is used stays; without the right to say so it is as old as it is.
    if let Ok(file) = OpenOptions::new().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
    Some(contents.to_vec())
}

fn write(folder: &Path, key: &Key, contents: &[u8]) -> io::Result<()> {
    let mut temporary = Temporary::new(folder)?;
    for part in [MAGIC, &key.0, &Sha256::digest(contents), contents] {
        temporary.file.write_all(part)?;
    }
    // If it cannot have its name it goes when it is dropped.
    fs::rename(&temporary.path, path(folder, key))
}

/// Removes what was not used for longest, until the rest is not larger than a limit.
fn make_room(folder: &Path, limit: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|suffix| suffix == SUFFIX))
        .filter_map(|entry| {
            let data = entry.metadata().ok()?;
            Some((data.modified().ok()?, data.len(), entry.path()))
        })
        .collect();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    files.sort();
    for (_, size, path) in files {
        if total <= limit {
            return;
        }
        if fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

/// A file that goes when it is dropped, if it still has its first name.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    fn new(folder: &Path) -> io::Result<Temporary> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}-{number}.part", std::process::id()));
        let mut options = OpenOptions::new();
        // What a process of the same number has left is nobody's any more.
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        Ok(Temporary { path, file })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new([name.as_bytes()])
    }

    #[test]
    fn what_is_stored_is_read_and_what_is_damaged_is_as_good_as_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let (folder, key) = (folder.path(), key("a"));
        let file = path(folder, &key);
        assert_eq!(read(&file, &key), None);
        write(folder, &key, b"some code").expect("a file");
        assert_eq!(read(&file, &key).as_deref(), Some(&b"some code"[..]));
        assert_eq!(fs::read_dir(folder).expect("files").count(), 1, "nothing else is left");
        // Under the name of another key.
        let other = self::key("b");
        fs::copy(&file, path(folder, &other)).expect("a copy");
        assert_eq!(read(&path(folder, &other), &other), None);
        let whole = fs::read(&file).expect("its bytes");
        for k in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[k] ^= 1;
            fs::write(&file, damaged).expect("written");
            assert_eq!(read(&file, &key), None, "{k}");
            fs::write(&file, &whole[..k]).expect("written");
            assert_eq!(read(&file, &key), None, "{k}");
        }
        write(folder, &key, b"").expect("a file");
        assert_eq!(read(&file, &key).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn keys_differ_where_parts_do_however_they_are_cut() {
        let keys = [
            Key::new([&b"ab"[..], b"c"]),
            Key::new([&b"a"[..], b"bc"]),
            Key::new([&b"abc"[..]]),
            Key::new([&b"abc"[..], b""]),
        ];
        for (k, key) in keys.iter().enumerate() {
            assert!(keys[..k].iter().all(|other| other != key));
        }
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let keys: Vec<Key> = ["a", "b", "c"].map(key).to_vec();
        for (k, key) in keys.iter().enumerate() {
            write(folder, key, &[0; 1000]).expect("a file");
            let file = OpenOptions::new().append(true).open(path(folder, key)).expect("the file");
            let then = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(k as u64);
            file.set_modified(then).expect("a time");
        }
        fs::write(folder.join("notes.txt"), [0; 5000]).expect("a file of somebody else");
        assert!(read(&path(folder, &keys[0]), &keys[0]).is_some(), "the oldest is used");
        make_room(folder, 2500);
        let there = keys.iter().map(|key| path(folder, key).exists()).collect::<Vec<_>>();
        assert_eq!(there, [true, false, true]);
        assert!(folder.join("notes.txt").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let above = tempfile::tempdir().expect("a folder");
        let folder = above.path().join("new/inner");
        prepare(&folder).expect("it is made");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o770)).expect("a mode");
        let refused = prepare(&folder).expect_err("others may write");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(refused.to_string().contains("chmod go-w"), "{refused}");
        assert!(prepare(&folder.join("a\0b")).is_err());
    }
}

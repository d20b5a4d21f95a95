//! The runtime of jut as an object file, for programs that are compiled ahead of time, and static
//! archives of objects.
//!
//! The object is compiled along with this crate from the sources of `jut-runtime`, with the
//! configuration `jut_freestanding`, so a program linked with it gives the same bits as one run in
//! memory. It has no state, needs no Rust on the other side, and asks the system for `malloc`,
//! `free` and `abort` only, and for `write` where a program prints.
//!
//! ```
//! let host = target_lexicon::Triple::host();
//! let object = jut_static::runtime(&host).unwrap();
//! let archive = jut_static::archive(&host, &[("jut_runtime.o", object)]).unwrap();
//! assert!(archive.starts_with(b"!<arch>\n"));
//! ```

use ar_archive_writer::{ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember};
use std::io::Cursor;
use target_lexicon::{BinaryFormat, Triple};

include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));

/// The runtime as an object file for a target.
///
/// # Errors
/// Why there is none, in words: it was not compiled along with jut.
pub fn runtime(target: &Triple) -> Result<&'static [u8], String> {
    let matches = |name: &str| {
        name.parse::<Triple>().is_ok_and(|known| {
            (known.architecture, known.operating_system, known.binary_format)
                == (target.architecture, target.operating_system, target.binary_format)
        })
    };
    match RUNTIMES.iter().find(|(name, _)| matches(name)) {
        Some((_, Ok(object))) => Ok(object),
        Some((name, Err(reason))) => {
            Err(format!("the runtime for {name} could not be compiled along with jut: {reason}"))
        }
        None => {
            let known: Vec<&str> = RUNTIMES.iter().map(|(name, _)| *name).collect();
            Err(format!(
                "this jut has the runtime for {} only; build jut with JUT_RUNTIME_TARGETS={target} \
                 and the Rust standard library for that target (`rustup target add {target}`), or \
                 use the mathematical functions of the system's library (--math libm)",
                known.join(", ")
            ))
        }
    }
}

/// A static archive of objects, with the index that linkers want.
///
/// # Errors
/// What is wrong with an object, in words.
pub fn archive(target: &Triple, members: &[(&str, &[u8])]) -> Result<Vec<u8>, String> {
    let kind = match target.binary_format {
        BinaryFormat::Macho => ArchiveKind::Darwin,
        BinaryFormat::Coff => ArchiveKind::Coff,
        _ => ArchiveKind::Gnu,
    };
    let members: Vec<NewArchiveMember<'_>> = members
        .iter()
        .map(|(name, bytes)| NewArchiveMember {
            buf: Box::new(*bytes),
            object_reader: &DEFAULT_OBJECT_READER,
            member_name: (*name).to_owned(),
            mtime: 0,
            uid: 0,
            gid: 0,
            perms: 0o644,
        })
        .collect();
    let mut bytes = Cursor::new(Vec::new());
    ar_archive_writer::write_archive_to_stream(&mut bytes, &members, kind, false, None)
        .map_err(|error| error.to_string())?;
    Ok(bytes.into_inner())
}

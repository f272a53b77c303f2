//! What the first bytes of a file say about how the kernel would run it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What the kernel reads to choose a format: `BINPRM_BUF_SIZE`, 256 bytes since Linux 5.1. Tried on 6.18: a name of
/// 253 bytes after `#!` runs, one of 254 doesn't.
const HEAD: usize = 256;
/// Bytes of program headers that the kernel accepts (`load_elf_phdrs`).
const MAX_PROGRAM_HEADERS: usize = 65_536;
/// Longest loader path (`PATH_MAX`).
const MAX_LOADER: usize = 4_096;

/// How a file would be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Format {
    Empty,
    /// `None`: the line names nothing usable.
    Script {
        interpreter: Option<PathBuf>,
    },
    Elf {
        loader: Option<PathBuf>,
        machine: Machine,
    },
    /// Nothing built in. Text has no NUL in its head.
    Unknown {
        text: bool,
    },
}

/// Whether this kernel runs the machine code itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    This,
    Another,
    /// This build has no list for its own architecture.
    Unlisted,
}

pub(super) fn of(file: &File) -> io::Result<Format> {
    let mut head = [0; HEAD];
    let length = read_up_to(file, &mut head, 0)?;
    let head = head.get(..length).unwrap_or_default();
    Ok(if head.is_empty() {
        Format::Empty
    } else if let Some(line) = head.strip_prefix(b"#!") {
        Format::Script { interpreter: interpreter(line, length == HEAD) }
    } else if head.starts_with(b"\x7fELF") {
        let (machine, loader) = Header::read(head)
            .map_or((Machine::Another, None), |header| (header.machine(), header.loader(file)));
        Format::Elf { loader, machine }
    } else {
        Format::Unknown { text: !head.contains(&0) }
    })
}

/// The interpreter as `fs/binfmt_script.c` reads it: after blanks, up to a blank, NUL or the line's end. A name
/// that runs past the kernel's buffer is no name.
fn interpreter(line: &[u8], cut: bool) -> Option<PathBuf> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (line, whole) = match line.iter().position(|byte| *byte == b'\n') {
        Some(end) => (line.get(..end)?, true),
        None => (line, !cut),
    };
    let name = line.get(line.iter().position(|byte| !is_blank(byte))?..)?;
    let name = match name.iter().position(|byte| is_blank(byte) || *byte == 0) {
        Some(end) => name.get(..end)?,
        None if whole => name,
        None => return None,
    };
    (!name.is_empty()).then(|| Path::new(OsStr::from_bytes(name)).to_owned())
}

/// The parts of an ELF header that lead to its loader (`elf(5)`). Every offset comes from the file and is checked.
struct Header<'h> {
    head: &'h [u8],
    wide: bool,
    big_endian: bool,
}

impl<'h> Header<'h> {
    fn read(head: &'h [u8]) -> Option<Self> {
        let wide = match head.get(4)? {
            1 => false,
            2 => true,
            _ => return None,
        };
        let big_endian = match head.get(5)? {
            1 => false,
            2 => true,
            _ => return None,
        };
        (head.len() >= if wide { 64 } else { 52 }).then_some(Self { head, wide, big_endian })
    }

    fn machine(&self) -> Machine {
        // EM_386 3, EM_ARM 40, EM_X86_64 62, EM_AARCH64 183: each 64-bit kernel may also run its 32-bit sibling.
        let native: &[u64] = if cfg!(target_arch = "x86_64") {
            &[62, 3]
        } else if cfg!(target_arch = "aarch64") {
            &[183, 40]
        } else {
            return Machine::Unlisted;
        };
        let machine = self.number(self.head, 18, 2);
        let same_order = self.big_endian == cfg!(target_endian = "big");
        if same_order && machine.is_some_and(|machine| native.contains(&machine)) {
            Machine::This
        } else {
            Machine::Another
        }
    }

    /// The path in `PT_INTERP`. `None` where there is none, or where the file is broken: the kernel will say so.
    fn loader(&self, file: &File) -> Option<PathBuf> {
        const PT_INTERP: u64 = 3;
        let (table, entry_size, entries) = if self.wide { (32, 54, 56) } else { (28, 42, 44) };
        let table = self.number(self.head, table, self.word())?;
        let entry_size = usize::try_from(self.number(self.head, entry_size, 2)?).ok()?;
        let entries = usize::try_from(self.number(self.head, entries, 2)?).ok()?;
        if entry_size != if self.wide { 56 } else { 32 } || entry_size * entries > MAX_PROGRAM_HEADERS {
            return None;
        }
        let mut headers = vec![0; entry_size * entries];
        file.read_exact_at(&mut headers, table).ok()?;
        let entry =
            headers.chunks_exact(entry_size).find(|entry| self.number(entry, 0, 4) == Some(PT_INTERP))?;
        let (offset, size) = if self.wide { (8, 32) } else { (4, 16) };
        let offset = self.number(entry, offset, self.word())?;
        let size = usize::try_from(self.number(entry, size, self.word())?).ok()?;
        if !(2..=MAX_LOADER).contains(&size) {
            return None;
        }
        let mut name = vec![0; size];
        file.read_exact_at(&mut name, offset).ok()?;
        let name = name.split(|byte| *byte == 0).next().filter(|name| !name.is_empty())?;
        Some(PathBuf::from(OsStr::from_bytes(name)))
    }

    fn word(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn number(&self, bytes: &[u8], at: usize, width: usize) -> Option<u64> {
        let bytes = bytes.get(at..at.checked_add(width)?)?;
        let join = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(if self.big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) })
    }
}

fn read_up_to(file: &File, buffer: &mut [u8], from: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, from + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether a format that isn't built in may have a handler (`binfmt_misc`). Entries answer for a whole kernel or
/// user namespace, also where their file system isn't mounted, as in most containers: then only `execve(2)` can
/// tell.
pub(super) fn handlers() -> Handlers {
    let Ok(entries) = std::fs::read_dir("/proc/sys/fs/binfmt_misc") else { return Handlers::Unknown };
    let (mut mounted, mut handlers) = (false, false);
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name == "register" || name == "status" {
            mounted = true;
        } else {
            handlers = true;
        }
    }
    match (mounted, handlers) {
        (false, _) => Handlers::Unknown,
        (true, false) => Handlers::None,
        (true, true) => Handlers::Some,
    }
}

/// What is known of the kernel's additional formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handlers {
    None,
    Some,
    Unknown,
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;

//! Which files the kernel opens for execution when one program is started: the file, its interpreters, its loader.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::format::{self, Format};
use super::search::SearchPath;

/// Scripts whose interpreter is a script: the kernel follows four (`BINPRM_MAX_RECURSION`, `execve(2)`).
const MAX_DEPTH: usize = 5;

/// What has to be executable for one program to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closure {
    /// Files and directories by their real paths, each once.
    pub paths: Vec<PathBuf>,
}

impl Closure {
    /// Adds what `path` needs. What can't be found or read adds nothing: it could not be started either.
    pub(super) fn add(&mut self, path: &Path, host_path: &SearchPath) {
        self.follow(path, host_path, 0);
    }

    fn follow(&mut self, path: &Path, host_path: &SearchPath, depth: usize) {
        let Ok(real) = std::fs::canonicalize(path) else { return };
        if depth > MAX_DEPTH || self.paths.contains(&real) {
            return;
        }
        self.paths.push(real.clone());
        if real.is_dir() {
            return;
        }
        self.own_programs(&real);
        let Ok(file) = File::open(&real) else { return };
        match format::of(&file) {
            Ok(Format::Script { interpreter: Some(interpreter) }) => {
                self.follow(&interpreter, host_path, depth + 1);
                if interpreter.file_name().is_some_and(|name| name == "env")
                    && let Some(program) = named_for_env(&file)
                    && let Ok(found) = host_path.find(&program)
                {
                    self.follow(&found, host_path, depth + 1);
                }
            }
            Ok(Format::Elf { loader: Some(loader), .. }) => self.follow(&loader, host_path, depth + 1),
            _ => {}
        }
    }

    /// git runs most of itself from a directory of its own (`git --exec-path`).
    fn own_programs(&mut self, real: &Path) {
        if real.file_name().is_none_or(|name| name != "git") {
            return;
        }
        let Some(prefix) = real.parent().and_then(Path::parent) else { return };
        for dir in ["libexec/git-core", "lib/git-core"] {
            if let Ok(dir) = std::fs::canonicalize(prefix.join(dir)) {
                self.paths.push(dir);
            }
        }
    }
}

/// The program in `#!/usr/bin/env program`, after options and assignments (`env(1)`).
fn named_for_env(file: &File) -> Option<String> {
    let mut head = [0; 256];
    let length = file.read_at(&mut head, 0).ok()?;
    let line = head.get(..length)?.split(|byte| *byte == b'\n').next()?;
    let line = std::ffi::OsStr::from_bytes(line).to_str()?;
    let mut words = line.trim_start_matches("#!").split_whitespace().skip(1);
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closure(path: &Path) -> Vec<PathBuf> {
        let mut closure = Closure::default();
        closure.add(path, &SearchPath::of(Some("/usr/bin:/bin")));
        closure.paths
    }

    fn real(path: &str) -> PathBuf {
        std::fs::canonicalize(path).unwrap()
    }

    #[test]
    fn a_binary_needs_its_loader_and_a_script_its_interpreter() {
        let sh = closure(Path::new("/bin/sh"));
        assert_eq!(sh[0], real("/bin/sh"));
        assert!(sh.len() <= 2, "{sh:?}");
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("tool");
        std::fs::write(&script, "#!/bin/sh -e\n").unwrap();
        let of_script = closure(&script);
        assert_eq!(of_script[0], std::fs::canonicalize(&script).unwrap());
        assert_eq!(of_script[1..], sh[..]);
    }

    #[test]
    fn a_script_by_env_needs_the_program_that_env_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("tool");
        std::fs::write(&script, "#!/usr/bin/env -S A=1 sh\n").unwrap();
        let paths = closure(&script);
        assert!(paths.contains(&real("/usr/bin/env")) && paths.contains(&real("/bin/sh")), "{paths:?}");
    }

    #[test]
    fn a_ring_of_interpreters_ends() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        std::fs::write(&one, format!("#!{}\n", two.display())).unwrap();
        std::fs::write(&two, format!("#!{}\n", one.display())).unwrap();
        assert_eq!(closure(&one).len(), 2);
        assert_eq!(closure(&dir.path().join("missing")), Vec::<PathBuf>::new());
    }
}

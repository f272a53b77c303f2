//! Which git runs.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::options::GitOptions;

/// The program: the one that the host named, else the first on `path` (the host's PATH).
///
/// Passed over are relative entries, entries inside the repository, and `node_modules/.bin`, which `npm run` puts
/// in front: whoever writes the checkout writes those.
pub(crate) fn find(options: &GitOptions, path: &OsStr) -> Result<PathBuf, GitError> {
    if let Some(named) = &options.git_executable {
        let problem = || format!("gitExecutable {} is not an executable file", named.display());
        return if is_program(named) {
            Ok(named.clone())
        } else {
            Err(GitError::NotFound { problem: problem() })
        };
    }
    let root = options.repo_root.canonicalize().ok();
    let trusted = |dir: &Path| {
        let real = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
        let inside = root.as_ref().is_some_and(|root| real.starts_with(root));
        dir.is_absolute() && !inside && !dir.ends_with("node_modules/.bin")
    };
    std::env::split_paths(path)
        .filter(|dir| trusted(dir))
        .map(|dir| dir.join("git"))
        .find(|program| program.to_str().is_some() && is_program(program))
        .ok_or_else(|| GitError::NotFound { problem: "it is in no absolute entry of PATH".into() })
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Value;

    #[test]
    fn a_git_that_the_checkout_could_hold_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let plant = |name: &str| {
            let bin = dir.path().join(name);
            std::fs::create_dir_all(&bin).unwrap();
            std::fs::write(bin.join("git"), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
            bin
        };
        let inside = plant("repo/bin");
        let module = plant("node_modules/.bin");
        let good = plant("good");
        let root = dir.path().join("repo").to_str().unwrap().to_owned();
        let options =
            GitOptions::parse(&Value::Record(vec![("repoRoot".into(), Value::Text(root))])).unwrap();
        let path = std::env::join_paths([Path::new("bin"), &inside, &module, &good]).unwrap();
        assert_eq!(find(&options, &path).unwrap(), good.join("git"));
        let path = std::env::join_paths([&inside, &module]).unwrap();
        assert_eq!(find(&options, &path).unwrap_err().code(), "ERR_GIT_NOT_FOUND");
    }
}

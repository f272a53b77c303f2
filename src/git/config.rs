//! From the repository's configuration to ours: a few keys that say how to read the repository, and nothing that
//! says what to run, where to look, or how to print.
//!
//! The source is a *copy* of the repository's file, listed by git without includes: git never opens the original.

use std::fmt::Write as _;

use super::error::GitError;

/// `core.*` that tells how the working tree relates to the index.
const CORE: [&str; 6] = ["filemode", "symlinks", "ignorecase", "precomposeunicode", "autocrlf", "eol"];
/// Extensions that change nothing of what is read here.
const HARMLESS: [&str; 6] =
    ["partialclone", "worktreeconfig", "preciousobjects", "noop", "noop-v1", "relativeworktrees"];

/// What was read of the repository's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `core.worktree`, which is never passed on.
    pub(crate) worktree: Option<String>,
    /// Whether references are kept in reftables.
    pub(crate) reftable: bool,
    /// Whether object ids are SHA-256.
    pub(crate) sha256: bool,
    core: Vec<(&'static str, String)>,
    sections: Vec<(String, String, String)>,
}

impl Settings {
    /// Reads the output of `git config --null --list`. The reason of a refusal comes as text; the caller knows the
    /// file.
    pub(crate) fn parse(listing: &[u8]) -> Result<Self, String> {
        let mut settings = Self::default();
        for entry in listing.split(|b| *b == 0).filter(|entry| !entry.is_empty()) {
            // What is not UTF-8 is none of the keys that are taken, or a value that can't be one of ours.
            let Ok(entry) = std::str::from_utf8(entry) else { continue };
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            settings.take(key, value)?;
        }
        Ok(settings)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), String> {
        let Some((section, rest)) = key.split_once('.') else { return Ok(()) };
        match section {
            "core" if rest == "worktree" => self.worktree = Some(value.to_owned()),
            "core" if rest == "repositoryformatversion" && !matches!(value, "0" | "1") => {
                return Err("it has an unknown format version".into());
            }
            "core" => {
                let word = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric());
                if let Some(name) = CORE.iter().find(|name| **name == rest && word) {
                    self.core.push((name, value.to_owned()));
                }
            }
            "extensions" => match (rest, value.to_ascii_lowercase().as_str()) {
                ("objectformat", "sha1") | ("refstorage", "files") => {}
                ("objectformat", "sha256") => self.sha256 = true,
                ("refstorage", "reftable") => self.reftable = true,
                (name, _) if HARMLESS.contains(&name) => {}
                _ => return Err("it uses an extension that is not known here".into()),
            },
            // Only for `@{upstream}`: which local name stands for a remote branch. URLs are never taken.
            "branch" | "remote" => {
                let Some((name, last)) = rest.rsplit_once('.') else { return Ok(()) };
                let wanted = matches!((section, last), ("branch", "remote" | "merge") | ("remote", "fetch"));
                if wanted && !(name.contains(char::is_control) || value.contains(char::is_control)) {
                    let header = format!("[{section} \"{}\"]", escaped(name));
                    self.sections.push((header, last.to_owned(), value.to_owned()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The shadow's own configuration.
    pub(crate) fn render(&self) -> String {
        let version = i32::from(self.sha256 || self.reftable);
        let mut out = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = false\n");
        for (name, value) in &self.core {
            let _ = writeln!(out, "\t{name} = {value}");
        }
        if version == 1 {
            out.push_str("[extensions]\n");
            if self.sha256 {
                out.push_str("\tobjectformat = sha256\n");
            }
            if self.reftable {
                out.push_str("\trefstorage = reftable\n");
            }
        }
        for (header, name, value) in &self.sections {
            let _ = writeln!(out, "{header}\n\t{name} = \"{}\"", escaped(value));
        }
        out
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The version in the answer of `git --version`.
pub(crate) fn version(answer: &[u8]) -> Option<(u32, u32, u32)> {
    let text = String::from_utf8_lossy(answer);
    let mut parts = text.strip_prefix("git version ")?.split(|c: char| !c.is_ascii_digit());
    let mut next = || parts.next().and_then(|part| part.parse().ok());
    Some((next()?, next()?, next().unwrap_or(0)))
}

/// Refuses a git that is older than what something needs.
pub(crate) fn require(
    program: &str,
    found: Option<(u32, u32, u32)>,
    least: (u32, u32, u32),
    purpose: &'static str,
) -> Result<(u32, u32, u32), GitError> {
    let text = |(major, minor, patch): (u32, u32, u32)| format!("{major}.{minor}.{patch}");
    found.filter(|found| *found >= least).ok_or_else(|| GitError::Version {
        program: program.to_owned(),
        found: found.map_or_else(|| "of an unknown version".into(), text),
        least: text(least),
        purpose,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_how_to_read_the_repository_is_taken() {
        let listing = b"core.repositoryformatversion\n1\0core.filemode\ntrue\0core.autocrlf\ninput\0\
            core.fsmonitor\n/tmp/evil\0core.worktree\n../../x\0core.hookspath\n/tmp\0core.eol\na b\0\
            filter.x.clean\nevil\0extensions.objectformat\nsha256\0remote.origin.url\next::evil\0\
            remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*\0branch.a\"b.c.merge\nrefs/heads/m\0\
            branch.x.remote\nori\ngin\0core.symlinks\0include.path\n/tmp/inc\0bad\xff.x\nv\0";
        let settings = Settings::parse(listing).unwrap();
        assert_eq!(settings.worktree.as_deref(), Some("../../x"));
        assert_eq!(
            settings.render(),
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfilemode = true\n\tautocrlf = input\n\
             \tsymlinks = true\n[extensions]\n\tobjectformat = sha256\n[remote \"origin\"]\n\
             \tfetch = \"+refs/heads/*:refs/remotes/origin/*\"\n[branch \"a\\\"b.c\"]\n\
             \tmerge = \"refs/heads/m\"\n"
        );
    }

    #[test]
    fn what_would_be_misread_is_refused() {
        for listing in [
            "core.repositoryformatversion\n2\0",
            "extensions.objectformat\nmd5\0",
            "extensions.refstorage\nother\0",
            "extensions.unheardof\ntrue\0",
        ] {
            assert!(Settings::parse(listing.as_bytes()).is_err(), "{listing}");
        }
    }

    #[test]
    fn versions_are_read_and_compared() {
        assert_eq!(version(b"git version 2.39.5\n"), Some((2, 39, 5)));
        assert_eq!(version(b"git version 2.39.5 (Apple Git-154)\n"), Some((2, 39, 5)));
        assert_eq!(version(b"git version 2.50.rc1\n"), Some((2, 50, 0)));
        assert_eq!(version(b"busybox\n"), None);
        assert!(require("git", Some((2, 39, 3)), (2, 39, 4), "argvault needs").is_err());
        assert!(require("git", None, (2, 39, 4), "argvault needs").is_err());
        assert!(require("git", Some((2, 40, 0)), (2, 39, 4), "argvault needs").is_ok());
    }
}

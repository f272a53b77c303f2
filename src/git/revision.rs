//! Revisions as a model gives them: what may be handed to `rev-parse` at all.
//!
//! This is no grammar of git's revisions: it refuses what names something other than one commit, what searches, and
//! what git would read as a flag. Whether the name exists is git's answer.

use super::error::GitError;
use crate::limits;

/// A name that is safe to resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Revision(String);

impl Revision {
    /// What a call without a revision means.
    pub(crate) fn head() -> Self {
        Self("HEAD".into())
    }

    /// Checks `text`, the parameter `name`.
    pub(crate) fn parse(name: &'static str, text: &str) -> Result<Self, GitError> {
        if text.starts_with('-') {
            return Err(GitError::BadValue {
                name,
                value: text.to_owned(),
                rule: "must not start with \"-\"",
            });
        }
        let searches = text.contains(':') || text.contains("^{/") || text.contains("..");
        let many = text.starts_with(['^', '.']) || ["^@", "^!", "^-"].iter().any(|mark| text.contains(mark));
        let odd = |c: char| c.is_control() || c.is_whitespace() || "?*[\\".contains(c);
        let too_long = text.len() > limits::GIT_MAX_REVISION_BYTES;
        if text.is_empty() || too_long || searches || many || text.contains(odd) || !selectors_are_plain(text)
        {
            return Err(Self::refusal(text));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it says where HEAD is, which names nothing before the first commit.
    pub(crate) fn is_head(&self) -> bool {
        matches!(self.0.as_str(), "HEAD" | "@")
    }

    /// The refusal of `text`.
    pub(crate) fn refusal(text: &str) -> GitError {
        GitError::BadRevision { value: text.to_owned() }
    }
}

/// Every `@{…}` is a reflog entry by number or the upstream. Dates answer with the nearest entry, however far off,
/// and git takes nine digits or more for a date.
fn selectors_are_plain(text: &str) -> bool {
    text.split("@{").skip(1).all(|rest| {
        let Some((selector, _)) = rest.split_once('}') else { return false };
        let number = (1..=6).contains(&selector.len()) && selector.bytes().all(|b| b.is_ascii_digit());
        number || matches!(selector, "u" | "upstream")
    })
}

/// One revision, or the two ends of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Range {
    /// A single one.
    One(Revision),
    /// `a..b`.
    Between(Revision, Revision),
    /// `a...b`.
    Symmetric(Revision, Revision),
}

impl Range {
    /// Checks `text`, the parameter `name`. An end that is left out is HEAD, as git has it.
    pub(crate) fn parse(name: &'static str, text: &str) -> Result<Self, GitError> {
        let end = |part: &str| match part {
            "" => Ok(Revision::head()),
            part => Revision::parse(name, part).map_err(|error| match error {
                GitError::BadRevision { .. } => Revision::refusal(text),
                other => other,
            }),
        };
        if let Some((from, to)) = text.split_once("...") {
            return Ok(Self::Symmetric(end(from)?, end(to)?));
        }
        match text.split_once("..") {
            Some((from, to)) => Ok(Self::Between(end(from)?, end(to)?)),
            None => Ok(Self::One(Revision::parse(name, text)?)),
        }
    }
}

/// The object id in `bytes`, if they are one and nothing else: what reaches a main command.
pub(crate) fn object_id(bytes: &[u8]) -> Option<String> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let hex = line.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    (hex && matches!(line.len(), 40 | 64)).then(|| String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_names_pass() {
        for text in [
            "HEAD",
            "@",
            "main",
            "origin/main",
            "v1.0",
            "HEAD~3",
            "HEAD^",
            "HEAD^2~1",
            "main@{u}",
            "@{upstream}",
            "HEAD@{2}",
            "v1.0^{commit}",
            "v1-2-gabc",
            "refs/heads/x",
            "feature/é",
        ] {
            assert!(Revision::parse("ref", text).is_ok(), "{text}");
        }
    }

    #[test]
    fn flags_searches_and_sets_are_refused() {
        for text in ["-", "--output=/tmp/x", "-O"] {
            let error = Revision::parse("ref", text).unwrap_err();
            assert!(error.to_string().contains("must not start with \"-\""), "{error}");
        }
        let long = "x".repeat(201);
        for text in [
            "",
            "^main",
            ":/fix",
            "HEAD:a",
            "HEAD^{/x}",
            "a..b",
            "HEAD^@",
            "HEAD^!",
            "HEAD^-1",
            "@{yesterday}",
            "HEAD@{999999999}",
            "@{-1}",
            "@{1",
            "@{}",
            "a b",
            "a\nb",
            "a\u{1b}",
            "a*",
            "[x]",
            "a\\b",
            &long,
        ] {
            let error = Revision::parse("ref", text).unwrap_err();
            assert!(error.to_string().contains("not a valid git revision"), "{text}: {error}");
        }
    }

    #[test]
    fn a_range_is_split_before_anything_is_resolved() {
        let rev = |text: &str| Revision(text.to_owned());
        assert_eq!(Range::parse("ref", "a..b").unwrap(), Range::Between(rev("a"), rev("b")));
        assert_eq!(Range::parse("ref", "a...b").unwrap(), Range::Symmetric(rev("a"), rev("b")));
        assert_eq!(Range::parse("ref", "..b").unwrap(), Range::Between(rev("HEAD"), rev("b")));
        for text in ["a..b..c", "a....b", "a..-b", "a..^b"] {
            assert!(Range::parse("ref", text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_whole_object_ids_are_taken() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(object_id(format!("{id}\n").as_bytes()).as_deref(), Some(id));
        for bad in
            ["", "0123", &format!("{id}\n\n"), &format!("{id} "), &id.to_uppercase(), &format!("^{id}")]
        {
            assert_eq!(object_id(bad.as_bytes()), None, "{bad}");
        }
    }
}

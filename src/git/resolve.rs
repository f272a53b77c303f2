//! Values to object ids: the runs that ask, and the reading of what they say.

use super::error::GitError;
use super::revision::{Revision, object_id};
use super::session::{Completed, Ending};
use super::tool::{Found, Need};

/// The command line that answers `need`.
pub(crate) fn arguments(need: &Need, found: &[Found]) -> Result<Vec<String>, GitError> {
    let id = |at: &usize| match found.get(*at) {
        Some(Found::Id(id)) => Ok(id.clone()),
        _ => Err(Revision::refusal("HEAD")),
    };
    let parse = |text: String| -> Vec<String> {
        ["rev-parse", "--verify", "--quiet", "--end-of-options", &text].map(str::to_owned).into()
    };
    Ok(match need {
        Need::Commit(revision) => parse(format!("{}^{{commit}}", revision.as_str())),
        Need::Object(revision) => parse(format!("{}^{{object}}", revision.as_str())),
        Need::Kind(of) => ["cat-file", "-t", &id(of)?].map(str::to_owned).into(),
        Need::MergeBase(a, b) => {
            ["merge-base", "--end-of-options", &id(a)?, &id(b)?].map(str::to_owned).into()
        }
        Need::Entry(of, _, path) => {
            ["ls-tree", "-z", "--full-tree", "--", &id(of)?, path].map(str::to_owned).into()
        }
    })
}

/// What a run said about `need`.
pub(crate) fn read(need: &Need, completed: &Completed, tool: &'static str) -> Result<Found, GitError> {
    let Ending::Exited(code) = completed.ending else {
        return Err(failed("resolve a value", completed.ending));
    };
    let missing = || GitError::MissingObject { tool };
    match need {
        Need::Commit(revision) | Need::Object(revision) => match object_id(&completed.stdout) {
            Some(id) if code == 0 => Ok(Found::Id(id)),
            _ if revision.is_head() => Ok(Found::Unborn),
            _ => Err(Revision::refusal(revision.as_str())),
        },
        Need::Kind(_) => match completed.stdout.trim_ascii_end() {
            kind @ (b"commit" | b"tree" | b"blob" | b"tag") if code == 0 => {
                Ok(Found::Kind(String::from_utf8_lossy(kind).into_owned()))
            }
            _ => Err(missing()),
        },
        Need::MergeBase(..) => match (code, completed.stdout.split_inclusive(|b| *b == b'\n').next()) {
            (0, Some(line)) => object_id(line).map(Found::Id).ok_or_else(missing),
            (1, None) => Ok(Found::Unrelated),
            _ => Err(missing()),
        },
        Need::Entry(_, revision, path) if code == 0 => entry(&completed.stdout, path).ok_or_else(|| {
            GitError::NoSuchPath { path: path.clone(), revision: revision.as_str().to_owned() }
        }),
        Need::Entry(..) => Err(missing()),
    }
}

/// `<mode> <kind> <id> TAB <path> NUL`, when it is of this very path.
fn entry(output: &[u8], path: &str) -> Option<Found> {
    let record = output.strip_suffix(b"\0")?;
    let tab = record.iter().position(|b| *b == b'\t')?;
    let (head, name) = (&record[..tab], &record[tab + 1..]);
    let mut parts = head.split(|b| *b == b' ').skip(1);
    let (kind, id) = (parts.next()?, object_id(parts.next()?)?);
    (name == path.as_bytes()).then(|| Found::Entry { kind: String::from_utf8_lossy(kind).into_owned(), id })
}

/// Whether git complained of an object that is not there. Its texts are those of the C locale.
pub(crate) fn lacks_object(stderr: &[u8]) -> bool {
    const SIGNS: [&str; 10] = [
        "unable to read",
        "cannot read",
        "could not read",
        "failed to read",
        "bad object",
        "bad file",
        "missing object",
        "missing blob",
        "lazy fetching disabled",
        // Of blame, which is only asked about paths that the commit's tree has: the file itself is missing.
        "no such path",
    ];
    let text = String::from_utf8_lossy(stderr).to_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// A preparing run that did not do what it was for.
pub(crate) fn failed(step: &'static str, ending: Ending) -> GitError {
    let how = match ending {
        Ending::Exited(code) => format!("exited with code {code}"),
        Ending::TimedOut => "exceeded its time budget".into(),
        Ending::OutputLimit => "wrote too much".into(),
        Ending::Killed => "was killed".into(),
    };
    GitError::Failed { step, how }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_only_for_the_path_that_was_asked() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let output = format!("100644 blob {id}\ta b\0");
        let found = Found::Entry { kind: "blob".into(), id: id.into() };
        assert_eq!(entry(output.as_bytes(), "a b"), Some(found));
        assert_eq!(entry(output.as_bytes(), "a"), None);
        assert_eq!(entry(b"", "a"), None);
    }
}

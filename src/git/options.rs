//! What the host sets once, at registration. Only the shape is checked here; what the machine lacks is reported by
//! the first call that needs it.

use std::path::PathBuf;

use super::error::GitError;
use crate::input::{Field, Fields, Value};
use crate::limits;

/// Tools and parameters beyond the six that every registration has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extra {
    /// `git_status`.
    Status,
    /// `git_grep`.
    Grep,
    /// `git_branches`.
    Branches,
    /// `git_file`.
    File,
    /// `author`, `pickaxe` and `follow` of `git_log`.
    Log,
}

const EXTRAS: [(&str, Extra); 5] = [
    ("git_status", Extra::Status),
    ("git_grep", Extra::Grep),
    ("git_branches", Extra::Branches),
    ("git_file", Extra::File),
    ("git_log", Extra::Log),
];

/// The options of `registerGitTools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitOptions {
    /// The checkout, absolute from the moment of registration.
    pub repo_root: PathBuf,
    /// Time budget of a call.
    pub timeout_ms: u64,
    /// Bytes kept of an answer.
    pub max_output_bytes: u64,
    /// UTF-16 units of a preview.
    pub preview_chars: u64,
    /// The git program; else it is looked for on the host's PATH.
    pub git_executable: Option<PathBuf>,
    /// What is switched on beyond the six tools.
    pub extra: Vec<Extra>,
    /// Object directories that the repository may borrow from.
    pub allow_alternates: Vec<PathBuf>,
    /// Answer also when the checkout belongs to another user.
    pub trust_owner: bool,
    /// `repoRoot` may be a bare repository.
    pub bare: bool,
}

impl GitOptions {
    /// Reads the options as they were given.
    pub fn parse(value: &Value) -> Result<Self, GitError> {
        let mut fields = Fields::of(value, "registerGitTools")?;
        let root = fields.field("repoRoot");
        let timeout = fields.field("timeoutMs");
        let output = fields.field("maxOutputBytes");
        let preview = fields.field("previewChars");
        let executable = fields.field("gitExecutable");
        let extra = fields.field("extra");
        let alternates = fields.field("allowAlternates");
        let trust = fields.field("trustOwner");
        let bare = fields.field("bare");
        fields.finish()?;
        let Some(repo_root) = root.text()?.filter(|text| !text.is_empty()) else {
            return Err(root.wrong("the path of a directory").into());
        };
        let preview_chars = preview.positive_integer()?.unwrap_or(limits::GIT_DEFAULT_PREVIEW_UNITS);
        if preview_chars > limits::GIT_MAX_PREVIEW_UNITS {
            let most = limits::GIT_MAX_PREVIEW_UNITS;
            return Err(preview.wrong(format!("a positive integer of at most {most}")).into());
        }
        Ok(Self {
            repo_root: std::path::absolute(repo_root).map_err(|_| root.wrong("the path of a directory"))?,
            timeout_ms: timeout.positive_integer()?.unwrap_or(limits::GIT_DEFAULT_TIMEOUT_MS),
            max_output_bytes: output.positive_integer()?.unwrap_or(limits::GIT_DEFAULT_MAX_OUTPUT_BYTES),
            preview_chars,
            git_executable: executable.text()?.map(|text| absolute(&executable, text)).transpose()?,
            extra: items(&extra, |item| item.word(&EXTRAS)?.ok_or_else(|| item.wrong("a string").into()))?,
            allow_alternates: items(&alternates, |item| match item.text()? {
                Some(text) => absolute(item, text),
                None => Err(item.wrong("an absolute path").into()),
            })?,
            trust_owner: trust.flag()?.unwrap_or(false),
            bare: bare.flag()?.unwrap_or(false),
        })
    }
}

fn absolute(field: &Field<'_>, text: &str) -> Result<PathBuf, GitError> {
    let path = PathBuf::from(text);
    if path.is_absolute() { Ok(path) } else { Err(field.wrong("an absolute path").into()) }
}

fn items<T>(field: &Field<'_>, read: impl Fn(&Field<'_>) -> Result<T, GitError>) -> Result<Vec<T>, GitError> {
    let list = field.list()?.unwrap_or_default();
    let each = list.iter().enumerate();
    each.map(|(at, item)| read(&Field::argument(format!("{}[{at}]", field.path()), item))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(entries: &[(&str, Value)]) -> Value {
        Value::Record(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    #[test]
    fn the_root_alone_gets_every_default() {
        let options = GitOptions::parse(&record(&[("repoRoot", Value::Text("/a b".into()))])).unwrap();
        assert_eq!(
            options,
            GitOptions {
                repo_root: "/a b".into(),
                timeout_ms: 60_000,
                max_output_bytes: 33_554_432,
                preview_chars: 2_000,
                git_executable: None,
                extra: vec![],
                allow_alternates: vec![],
                trust_owner: false,
                bare: false,
            }
        );
    }

    #[test]
    fn wrong_shapes_are_refused_by_name() {
        let root = ("repoRoot", Value::Text("/a".into()));
        let cases = [
            (record(&[]), "repoRoot"),
            (record(&[root.clone(), ("repoRot", Value::Absent)]), "repoRoot"),
            (record(&[root.clone(), ("gitExecutable", Value::Text("git".into()))]), "absolute"),
            (record(&[root.clone(), ("previewChars", Value::Number(4_001.0))]), "4000"),
            (record(&[root.clone(), ("timeoutMs", Value::Number(-1.0))]), "positive"),
            (record(&[root.clone(), ("trustOwner", Value::Text("yes".into()))]), "boolean"),
            (record(&[root.clone(), ("extra", Value::List(vec![Value::Text("x".into())]))]), "extra[0]"),
            (record(&[root, ("allowAlternates", Value::List(vec![Value::Text("../x".into())]))]), "absolute"),
        ];
        for (value, word) in cases {
            let error = GitOptions::parse(&value).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
            assert_eq!(error.code(), "ERR_BAD_OPTION");
        }
    }
}

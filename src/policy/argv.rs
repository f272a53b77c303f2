//! The shape of argv: an array of strings that a program can be given, the first one a name and not a command line.

use super::error::PolicyError;
use crate::input::{Value, quoted};
use crate::limits;

/// What a shell would act on. In argv[0] it shows that a command line was meant.
const SHELL_CHARACTERS: &[char] = &[';', '&', '|', '<', '>', '$', '`'];

/// argv as given, checked. It still borrows: nothing is copied for a start that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argv<'v> {
    entries: Vec<&'v str>,
}

impl<'v> Argv<'v> {
    /// Checks the shape, then argv[0].
    pub(super) fn read(value: &'v Value) -> Result<Self, PolicyError> {
        let items = match value {
            Value::List(items) => items,
            other => {
                let line = match other {
                    Value::Text(line) if line.len() <= limits::MAX_EXAMPLE_LINE => Some(line.clone()),
                    _ => None,
                };
                return Err(PolicyError::ArgvNotAnArray { got: other.describe(), line });
            }
        };
        let entries = items
            .iter()
            .enumerate()
            .map(|(index, item)| entry(index, item))
            .collect::<Result<Vec<_>, _>>()?;
        match entries.first() {
            None => return Err(PolicyError::ArgvEmpty),
            Some(&"") => return Err(PolicyError::ArgvNoName),
            Some(name) => {
                if let Some(character) = first_forbidden(name) {
                    return Err(PolicyError::NotAnExecutableName { name: (*name).to_owned(), character });
                }
            }
        }
        Ok(Self { entries })
    }

    /// argv[0].
    pub(super) fn name(&self) -> &'v str {
        self.entries.first().copied().unwrap_or_default()
    }

    pub(super) fn entries(&self) -> &[&'v str] {
        &self.entries
    }

    pub(super) fn to_owned_entries(&self) -> Vec<String> {
        self.entries.iter().map(|&entry| entry.to_owned()).collect()
    }

    /// argv for a message, bounded.
    pub(super) fn shown(&self) -> String {
        let mut parts: Vec<_> =
            self.entries.iter().take(limits::MAX_LISTED).map(|entry| quoted(entry)).collect();
        if self.entries.len() > limits::MAX_LISTED {
            parts.push(format!("… {} more", self.entries.len() - limits::MAX_LISTED));
        }
        format!("[{}]", parts.join(", "))
    }
}

/// The first character of `name` that no executable's name may hold: a shell's, or any white space, as JavaScript's
/// `\s` and as Unicode count it.
pub(super) fn first_forbidden(name: &str) -> Option<char> {
    name.chars().find(|c| SHELL_CHARACTERS.contains(c) || c.is_whitespace() || *c == '\u{feff}')
}

fn entry(index: usize, item: &Value) -> Result<&str, PolicyError> {
    match item {
        Value::Text(text) if text.contains('\0') => Err(PolicyError::ArgvNul { index }),
        Value::Text(text) if text.len() >= limits::MAX_ARG_STRLEN => {
            Err(PolicyError::ArgTooLong { index, bytes: text.len() + 1, limit: limits::MAX_ARG_STRLEN })
        }
        Value::Text(text) => Ok(text),
        Value::BrokenText => Err(PolicyError::ArgvLoneSurrogate { index }),
        other => Err(PolicyError::ArgvNotAString { index, got: other.describe() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{message, texts};
    use super::*;
    use crate::error::Code;

    fn refused(value: &Value) -> (Code, String) {
        message(&Argv::read(value).unwrap_err())
    }

    #[test]
    fn a_misshapen_argv_is_refused_and_the_reason_says_why() {
        let text = |text: &str| Value::Text(text.into());
        let list = |items: &[Value]| Value::List(items.to_vec());
        let cases: &[(Value, &[&str])] = &[
            (text("npm test"), &["argv", "array", "string", "NO shell", r#"["npm","test"]"#]),
            (text("cat x | sh"), &["argv", "NO shell", r#"["npm","run","test"]"#]),
            (Value::BrokenText, &["argv", "string", "NO shell"]),
            (Value::Absent, &["argv", "array", "undefined"]),
            (Value::Null, &["argv", "array", "null"]),
            (Value::Record(vec![]), &["argv", "array", "an object"]),
            (list(&[]), &["argv is empty"]),
            (list(&[text("")]), &["argv[0]", "empty string"]),
            (list(&[text("ls"), Value::Number(5.0)]), &["argv[1]", "string", "the number 5"]),
            (list(&[text("ls"), Value::Absent]), &["argv[1]", "undefined"]),
            (list(&[text("ls"), Value::Null]), &["argv[1]", "null"]),
            (list(&[text("ls"), list(&[])]), &["argv[1]", "an empty array"]),
            (list(&[text("ls"), Value::Bytes(vec![1])]), &["argv[1]", "string", "bytes"]),
            (list(&[text("ls"), text("a"), text("b\0c")]), &["argv[2]", "NUL"]),
            (list(&[text("l\0s")]), &["argv[0]", "NUL"]),
            (list(&[text("ls"), Value::BrokenText]), &["argv[1]", "lone surrogate"]),
        ];
        for (value, words) in cases {
            let (code, message) = refused(value);
            assert_eq!(code, Code::BadArgv, "{message}");
            for word in *words {
                assert!(message.contains(word), "{word}: {message}");
            }
        }
    }

    #[test]
    fn a_shell_character_or_any_white_space_in_the_name_is_refused_by_name() {
        let script = ";&|<>$`\n\r\t\u{b}\u{c} \u{a0}\u{1680}\u{2000}\u{2005}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}\u{85}";
        for character in script.chars() {
            for name in [format!("npm{character}test"), format!("{character}npm"), format!("npm{character}")]
            {
                let (code, message) = refused(&texts(&[&name]));
                assert_eq!(code, Code::NotAnExecutableName, "{character:?}: {message}");
                assert!(message.contains("NO shell"), "{message}");
            }
        }
        let (_, message) = refused(&texts(&["npm test"]));
        assert!(message.contains("a space") && message.contains(r#"["npm","test"]"#), "{message}");
        let (_, message) = refused(&texts(&["a\u{a0}b"]));
        assert!(message.contains("U+00A0"), "{message}");
        let (_, message) = refused(&texts(&["a;b"]));
        assert!(message.contains("\";\""), "{message}");
    }

    #[test]
    fn arguments_after_the_name_may_hold_anything_but_nul() {
        let argv = texts(&["echo", "a; rm -rf /", "$(x)", "`y`", "a\nb", "", "ünï\u{2028}"]);
        assert_eq!(
            Argv::read(&argv).unwrap().entries(),
            ["echo", "a; rm -rf /", "$(x)", "`y`", "a\nb", "", "ünï\u{2028}"]
        );
    }

    #[test]
    fn the_longest_argument_that_the_kernel_takes_passes_and_one_byte_more_is_refused() {
        let fits = "x".repeat(limits::MAX_ARG_STRLEN - 1);
        assert!(Argv::read(&texts(&["echo", &fits])).is_ok());
        let (code, message) = refused(&texts(&["echo", "a", &format!("{fits}x")]));
        assert_eq!(code, Code::ArgvTooLong);
        for word in ["argv[2]", "131073", "131072", "limit"] {
            assert!(message.contains(word), "{message}");
        }
        assert!(message.len() < 600, "a refusal does not repeat the argument");
    }

    proptest! {
        #[test]
        fn what_is_accepted_has_a_clean_name_and_is_unchanged(argv in prop::collection::vec("[ -~\u{0}\u{a0}\u{2028}ü;|$]{0,6}", 0..5)) {
            let borrowed: Vec<_> = argv.iter().map(String::as_str).collect();
            let value = texts(&borrowed);
            let clean = |c: char| !c.is_whitespace() && !";&|<>$`\u{feff}".contains(c);
            let expected = argv.iter().all(|entry| !entry.contains('\0'))
                && argv.first().is_some_and(|name| !name.is_empty() && name.chars().all(clean));
            match Argv::read(&value) {
                Ok(read) => {
                    prop_assert!(expected);
                    prop_assert_eq!(read.to_owned_entries(), argv);
                }
                Err(_) => prop_assert!(!expected),
            }
        }

        #[test]
        fn no_text_at_all_makes_the_reading_or_its_message_fail(name in any::<String>(), rest in any::<String>()) {
            if let Err(error) = Argv::read(&texts(&[&name, &rest])) {
                let (_, message) = message(&error);
                prop_assert!(message.ends_with('.') && !message.contains('\n'), "{}", message);
            }
        }
    }
}

//! What a pattern is, what it matches, and how it is shown.

use serde_json::{Value as Json, json};

use crate::input::quoted;
use crate::limits;

/// What one entry of argv must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) enum Position {
    /// This string.
    Literal(String),
    /// One of these strings.
    OneOf(Vec<String>),
}

impl Position {
    pub(super) fn takes(&self, entry: &str) -> bool {
        self.strings().iter().any(|string| string == entry)
    }

    /// Every string that may stand here.
    pub(super) fn strings(&self) -> &[String] {
        match self {
            Self::Literal(string) => std::slice::from_ref(string),
            Self::OneOf(strings) => strings,
        }
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Self::Literal(string) => quoted(string),
            Self::OneOf(strings) => {
                let mut parts: Vec<_> = strings.iter().take(limits::MAX_LISTED).map(|s| quoted(s)).collect();
                if strings.len() > limits::MAX_LISTED {
                    parts.push(format!("{} more", strings.len() - limits::MAX_LISTED));
                }
                parts.join(" | ")
            }
        }
    }
}

/// One pattern: fixed positions, and whether anything may follow them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct CommandPattern {
    pub(super) name: Option<String>,
    pub(super) positions: Vec<Position>,
    pub(super) rest: bool,
}

impl CommandPattern {
    /// Whether the whole of argv is what this pattern says.
    pub(in crate::policy) fn matches(&self, argv: &[&str]) -> bool {
        let long_enough =
            argv.len() == self.positions.len() || (self.rest && argv.len() > self.positions.len());
        long_enough && self.positions.iter().zip(argv).all(|(position, entry)| position.takes(entry))
    }

    /// Whether the pattern begins with `executable`.
    pub(in crate::policy) fn begins_with(&self, executable: &str) -> bool {
        self.positions.first().is_some_and(|first| first.takes(executable))
    }

    /// The name, or without one the pattern itself.
    pub(in crate::policy) fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.shown())
    }

    /// The pattern for a message, bounded.
    pub(super) fn shown(&self) -> String {
        let mut parts: Vec<_> = self.positions.iter().take(limits::MAX_LISTED).map(Position::shown).collect();
        if self.positions.len() > limits::MAX_LISTED {
            parts.push(format!("… {} more", self.positions.len() - limits::MAX_LISTED));
        }
        if self.rest {
            parts.push("…rest".into());
        }
        format!("[{}]", parts.join(", "))
    }

    /// The pattern as the policy gave it.
    pub(in crate::policy) fn to_wire(&self) -> Json {
        let mut argv: Vec<_> = self
            .positions
            .iter()
            .map(|position| match position {
                Position::Literal(string) => json!(string),
                Position::OneOf(strings) => json!({ "oneOf": strings }),
            })
            .collect();
        if self.rest {
            argv.push(json!({ "rest": true }));
        }
        match &self.name {
            None => json!(argv),
            Some(name) => json!({ "name": name, "argv": argv }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn literal(argv: &[String], rest: bool) -> CommandPattern {
        CommandPattern { name: None, positions: argv.iter().cloned().map(Position::Literal).collect(), rest }
    }

    fn borrowed(argv: &[String]) -> Vec<&str> {
        argv.iter().map(String::as_str).collect()
    }

    #[test]
    fn each_kind_of_element_takes_what_it_says() {
        let pattern = CommandPattern {
            name: None,
            positions: vec![
                Position::Literal("npm".into()),
                Position::OneOf(vec!["test".into(), "run".into()]),
            ],
            rest: true,
        };
        assert!(pattern.matches(&["npm", "test"]), "rest may be nothing");
        assert!(pattern.matches(&["npm", "run", "build", ""]));
        assert!(!pattern.matches(&["npm"]), "a position may not be nothing");
        assert!(!pattern.matches(&["npm", "install", "x"]));
        assert!(!pattern.matches(&["npm", "test "]), "no trimming");
        assert!(!pattern.matches(&["NPM", "test"]), "no folding of case");
        assert_eq!(pattern.shown(), r#"["npm", "test" | "run", …rest]"#);
    }

    #[test]
    fn an_empty_string_is_an_entry_like_any_other() {
        let pattern = literal(&["echo".into(), String::new()], false);
        assert!(pattern.matches(&["echo", ""]));
        assert!(!pattern.matches(&["echo"]));
    }

    #[test]
    fn a_huge_pattern_is_shown_in_part() {
        let many: Vec<_> = (0..500).map(|n| n.to_string()).collect();
        assert!(literal(&many, true).shown().len() < 200);
        let pattern = CommandPattern { name: None, positions: vec![Position::OneOf(many)], rest: false };
        assert!(pattern.shown().len() < 200);
    }

    proptest! {
        #[test]
        fn a_literal_pattern_matches_exactly_itself(
            argv in prop::collection::vec("[ab]{0,2}", 1..5),
            other in prop::collection::vec("[ab]{0,2}", 1..5),
        ) {
            let pattern = literal(&argv, false);
            prop_assert!(pattern.matches(&borrowed(&argv)));
            prop_assert_eq!(pattern.matches(&borrowed(&other)), argv == other);
        }

        #[test]
        fn rest_matches_any_suffix_and_nothing_shorter(
            argv in prop::collection::vec("[ab]{0,2}", 1..4),
            suffix in prop::collection::vec(any::<String>(), 0..4),
        ) {
            let pattern = literal(&argv, true);
            let whole: Vec<_> = argv.iter().chain(&suffix).cloned().collect();
            prop_assert!(pattern.matches(&borrowed(&whole)));
            prop_assert!(!pattern.matches(&borrowed(&argv[..argv.len() - 1])));
        }

        #[test]
        fn one_of_matches_each_of_its_strings_and_no_other(
            strings in prop::collection::vec("[abc]{1,2}", 1..4),
            entry in "[abc]{1,2}",
        ) {
            let pattern = CommandPattern { name: None, positions: vec![Position::OneOf(strings.clone())], rest: false };
            prop_assert_eq!(pattern.matches(&[&entry]), strings.contains(&entry));
        }
    }
}

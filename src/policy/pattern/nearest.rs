//! Which pattern an unmatched argv came nearest to, and where it departs from it.

use super::matching::CommandPattern;
use crate::input::quoted;

/// The pattern that came nearest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestPattern {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The pattern as messages show it.
    pub pattern: String,
    /// The first entry of argv, or the first missing one, that is not what the pattern says.
    pub index: usize,
    /// The departure in words.
    pub departure: String,
}

impl NearestPattern {
    /// The nearest of `patterns`: the one that agrees longest, then most often, then in length; of equals the first.
    pub(in crate::policy) fn find(patterns: &[CommandPattern], argv: &[&str]) -> Option<Self> {
        let rank = |pattern: &CommandPattern| {
            let agrees = pattern.positions.iter().zip(argv).map(|(position, entry)| position.takes(entry));
            let length = pattern.positions.len().abs_diff(argv.len());
            (agreeing(pattern, argv), agrees.filter(|agrees| *agrees).count(), std::cmp::Reverse(length))
        };
        let nearest = patterns.iter().rev().max_by_key(|pattern| rank(pattern))?;
        let index = agreeing(nearest, argv);
        Some(Self {
            name: nearest.name.clone(),
            pattern: nearest.shown(),
            index,
            departure: departure(nearest, argv, index),
        })
    }

    pub(in crate::policy) fn said(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("{}, ", quoted(name))).unwrap_or_default();
        format!(
            "it matches no pattern of allowedCommands. The nearest is {name}{}, but {}",
            self.pattern, self.departure
        )
    }
}

/// How many entries agree from the start.
fn agreeing(pattern: &CommandPattern, argv: &[&str]) -> usize {
    pattern.positions.iter().zip(argv).take_while(|(position, entry)| position.takes(entry)).count()
}

fn departure(pattern: &CommandPattern, argv: &[&str], index: usize) -> String {
    match (pattern.positions.get(index), argv.get(index)) {
        (Some(position), Some(entry)) => {
            format!("argv[{index}] is {} where it has {}", quoted(entry), position.shown())
        }
        (Some(position), None) => format!("argv ends where it goes on with {}", position.shown()),
        (None, Some(entry)) => format!("argv[{index}] is {} where it has ended", quoted(entry)),
        (None, None) => "argv is another".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::testing::patterns;
    use super::*;

    #[test]
    fn the_pattern_that_agrees_longest_is_the_nearest_and_the_departure_is_named() {
        let patterns = patterns(json!([
            ["git", "status"],
            { "name": "history", "argv": ["git", "log", { "oneOf": ["--oneline", "--stat"] }] },
            ["npm", "test", "--", { "rest": true }],
            ["npm", "ci"],
        ]));
        let cases: &[(&[&str], usize, &str)] = &[
            (&["git", "log", "-p"], 2, r#"argv[2] is "-p" where it has "--oneline" | "--stat""#),
            (&["git", "log"], 2, r#"argv ends where it goes on with "--oneline" | "--stat""#),
            (&["git", "status", "-s"], 2, r#"argv[2] is "-s" where it has ended"#),
            (&["npm", "test", "-w"], 2, r#"argv[2] is "-w" where it has "--""#),
            (&["npm", "install"], 1, r#"argv[1] is "install" where it has "ci""#),
            (&["git", "push"], 1, r#"argv[1] is "push" where it has "status""#),
        ];
        for (argv, index, departure) in cases {
            let nearest = NearestPattern::find(&patterns, argv).unwrap();
            assert_eq!((nearest.index, nearest.departure.as_str()), (*index, *departure), "{argv:?}");
        }
        let named = NearestPattern::find(&patterns, &["git", "log", "-p"]).unwrap();
        assert!(
            named.said().contains(r#""history", ["git", "log", "--oneline" | "--stat"]"#),
            "{}",
            named.said()
        );
    }

    #[test]
    fn without_patterns_none_is_nearest() {
        assert_eq!(NearestPattern::find(&[], &["git"]), None);
    }
}

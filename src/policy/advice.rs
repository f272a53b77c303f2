//! What a refused caller can do about it, and what the refusal is about, by name.

use serde_json::{Value as Json, json};

use super::error::PolicyError;
use super::executable::Kin;
use crate::input::{InputError, quoted, quoted_within};
use crate::limits;

impl PolicyError {
    /// The recovery step: one sentence or two, for the end of the message.
    pub fn recovery(&self) -> String {
        match self {
            Self::ArgvNotAnArray { line, .. } => as_words(line.as_deref().unwrap_or_default()),
            Self::NotAnExecutableName { name, .. } => as_words(name),
            Self::ArgvEmpty | Self::ArgvNoName => {
                "Put the executable's name first, for example [\"git\", \"status\"].".into()
            }
            Self::ArgvNotAString { .. } => "Turn it into a string, or leave the entry out.".into(),
            Self::ArgvNul { .. } | Self::CwdNul { .. } => "Remove the NUL character.".into(),
            Self::ArgvLoneSurrogate { .. } => {
                "Cut strings between whole characters, or repair it with String.prototype.toWellFormed()."
                    .into()
            }
            Self::ArgTooLong { .. } | Self::CommandLineTooLong { .. } => {
                "Write the data to a file and pass its path, pass it as options.input, or split the work."
                    .into()
            }
            Self::EnvEntryTooLong { .. } | Self::EnvNotAnObject { .. } | Self::EnvEntry { .. } => {
                self.env_recovery()
            }
            Self::ExecutableNotAllowed { kin, nearest, allowed, more, .. } => {
                executable_recovery(kin.as_ref(), nearest.as_deref(), allowed, *more)
            }
            Self::CommandNotAllowed { .. } => {
                "Change argv so that it matches a pattern, or have the host add one \
                to allowedCommands with setBackgroundCommandPolicy."
                    .into()
            }
            Self::BadOption(error) => option_recovery(error),
            Self::AboveCeiling { option, ceiling, ceiling_name, .. } => format!(
                "Ask for at most {ceiling}, leave {option} out, or have the host raise {ceiling_name} with \
                 setBackgroundCommandPolicy."
            ),
            Self::EntryNeverMatches { .. } => format!(
                "Allow the executable alone and say in allowedCommands which arguments it may get. {POLICY_KEPT}"
            ),
            Self::ExecutablesDisagree { .. } => format!("Keep one of the two entries. {POLICY_KEPT}"),
            Self::DefaultAboveCeiling { .. } => format!("Lower the one or raise the other. {POLICY_KEPT}"),
            Self::BadPattern { fault, .. } => format!("{} {POLICY_KEPT}", fault.remedy()),
            Self::WiderConfinement { key, .. } => format!(
                "Ask for less, leave confinement.{key} out, or have the host widen it with setBackgroundCommandPolicy."
            ),
            Self::BadPolicy(_) => {
                format!("Correct it and call setBackgroundCommandPolicy again. {POLICY_KEPT}")
            }
        }
    }

    /// What the refusal is about, for a program that reads it.
    pub fn details(&self) -> Json {
        match self {
            Self::ArgvNotAnArray { .. } | Self::ArgvEmpty => json!({}),
            Self::ArgvNotAString { index, .. }
            | Self::ArgvNul { index }
            | Self::ArgvLoneSurrogate { index } => json!({ "index": index }),
            Self::ArgvNoName => json!({ "index": 0 }),
            Self::NotAnExecutableName { name, character } => {
                json!({ "index": 0, "executable": cut(name), "character": character })
            }
            Self::ArgTooLong { index, bytes, limit } => {
                json!({ "index": index, "bytes": bytes, "limit": limit })
            }
            Self::EnvEntryTooLong { name, bytes, limit, .. } => {
                json!({ "variable": cut(name), "bytes": bytes, "limit": limit })
            }
            Self::CommandLineTooLong { argv_bytes, env_bytes, limit, largest, .. } => {
                json!({ "argvBytes": argv_bytes, "envBytes": env_bytes, "limit": limit, "largest": largest })
            }
            Self::ExecutableNotAllowed { executable, nearest, allowed, .. } => {
                json!({ "executable": cut(executable), "nearest": nearest, "allowed": allowed })
            }
            Self::CommandNotAllowed { nearest: None, .. } => json!({ "pattern": null }),
            Self::CommandNotAllowed { nearest: Some(near), .. } => {
                json!({ "pattern": near.pattern, "name": near.name, "index": near.index })
            }
            Self::BadOption(error) | Self::BadPolicy(error) => input_details(error),
            Self::CwdNul { .. } => json!({ "option": "options.cwd" }),
            Self::EnvNotAnObject { from, .. } => json!({ "option": from.name() }),
            Self::EnvEntry { name, from, .. } => json!({ "option": from.name(), "variable": cut(name) }),
            Self::AboveCeiling { option, asked, ceiling, ceiling_name } => {
                json!({ "option": format!("options.{option}"), "asked": asked, "limit": ceiling, "limitedBy": ceiling_name })
            }
            Self::EntryNeverMatches { path, name, .. } => json!({ "option": path, "executable": name }),
            Self::ExecutablesDisagree { name } => {
                json!({ "option": "policy.allowedExecutables", "executable": name })
            }
            Self::DefaultAboveCeiling { default, ceiling } => {
                json!({ "option": "policy.defaultTimeoutMs", "asked": default, "limit": ceiling })
            }
            Self::BadPattern { path, .. } => json!({ "option": path }),
            Self::WiderConfinement { key, asked, granted } => {
                json!({ "option": format!("options.confinement.{key}"), "asked": cut(asked), "granted": cut(granted) })
            }
        }
    }

    fn env_recovery(&self) -> String {
        let (Self::EnvEntryTooLong { from, .. }
        | Self::EnvNotAnObject { from, .. }
        | Self::EnvEntry { from, .. }) = self
        else {
            return String::new();
        };
        from.remedy().into()
    }
}

const POLICY_KEPT: &str = "The policy before stays in force.";

/// How a command line is said here: its own words where they can be told apart without a shell's rules.
fn as_words(line: &str) -> String {
    const PLAIN: &str = "-_./=:@,+% ";
    let words: Vec<_> = line.split_whitespace().collect();
    let plain = line.chars().all(|c| c.is_alphanumeric() || PLAIN.contains(c));
    let example = if plain && (2..=8).contains(&words.len()) && line.len() <= limits::MAX_EXAMPLE_LINE {
        json!(words)
    } else {
        json!(["npm", "run", "test"])
    };
    format!(
        "Pass each word as its own string of argv, for example {example}; pipes, redirections and variables need a \
         program that does them."
    )
}

fn executable_recovery(kin: Option<&Kin>, nearest: Option<&str>, allowed: &[String], more: usize) -> String {
    let shown = |name: &str| quoted_within(name, limits::MAX_PATH_SHOWN);
    let first = match (kin, nearest) {
        (Some(kin), _) => format!("Write argv[0] exactly as the policy does: {}. ", shown(kin.allowed())),
        (None, Some(name)) => format!("Did you mean {}? ", shown(name)),
        (None, None) => String::new(),
    };
    let names: Vec<_> = allowed.iter().map(|name| shown(name)).collect();
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(
        "{first}Allowed: {}{rest}. The host can allow others in allowedExecutables with \
         setBackgroundCommandPolicy.",
        names.join(", ")
    )
}

fn option_recovery(error: &InputError) -> String {
    match error {
        InputError::UnknownKey { key, .. } => format!("Correct or remove {}.", quoted(key)),
        InputError::Wrong { path, .. } => format!("Correct {path}, or leave it out."),
        InputError::Missing { path } => format!("Give {path}."),
        InputError::NotAnObject { what, .. } => format!("Pass {what} as a plain object, or leave it out."),
    }
}

/// A caller's own string, bounded: details go to logs.
fn cut(text: &str) -> String {
    text.chars().take(limits::MAX_PATH_SHOWN).collect()
}

fn input_details(error: &InputError) -> Json {
    match error {
        InputError::UnknownKey { what, key, nearest } => {
            json!({ "option": format!("{what}.{}", cut(key)), "nearest": nearest })
        }
        InputError::Wrong { path, expected, .. } => json!({ "option": path, "expected": expected }),
        InputError::Missing { path } => json!({ "option": path }),
        InputError::NotAnObject { what, .. } => json!({ "option": what }),
    }
}

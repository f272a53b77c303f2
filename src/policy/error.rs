//! Why a policy or a start is refused. The sentence is the `Display`; the recovery step is in `advice.rs`.

use super::environment::{EnvFault, EnvSource};
use super::executable::Kin;
use super::pattern::{NearestPattern, PatternFault};
use crate::input::{InputError, quoted, quoted_within};
use crate::limits;

/// A refusal by the pure rules. Each variant's doc names its code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// argv is no array: `ERR_BAD_ARGV`.
    #[error(
        "argv must be an array of strings, not {got}: there is NO shell here to take a command line apart."
    )]
    ArgvNotAnArray {
        /// What came.
        got: String,
        /// The command line, where it was a short string.
        line: Option<String>,
    },
    /// argv has no entry: `ERR_BAD_ARGV`.
    #[error("argv is empty: its first string names the executable.")]
    ArgvEmpty,
    /// An entry is no string: `ERR_BAD_ARGV`.
    #[error("argv[{index}] must be a string, not {got}.")]
    ArgvNotAString {
        /// Which entry.
        index: usize,
        /// What came.
        got: String,
    },
    /// An entry holds a NUL, where the kernel would end it: `ERR_BAD_ARGV`.
    #[error("argv[{index}] contains a NUL character: no program can be given one.")]
    ArgvNul {
        /// Which entry.
        index: usize,
    },
    /// An entry has no bytes that stand for it: `ERR_BAD_ARGV`.
    #[error("argv[{index}] is a string with a lone surrogate: no bytes stand for it.")]
    ArgvLoneSurrogate {
        /// Which entry.
        index: usize,
    },
    /// argv[0] is empty: `ERR_BAD_ARGV`.
    #[error("argv[0] is an empty string: it must name the executable.")]
    ArgvNoName,
    /// argv[0] is a command line: `ERR_NOT_AN_EXECUTABLE_NAME`.
    #[error("argv[0] {} contains {}: it must name one executable, and there is NO shell here to read more out of it.", quoted(name), spelled(*character))]
    NotAnExecutableName {
        /// argv[0].
        name: String,
        /// The first character that no executable's name may hold.
        character: char,
    },
    /// One argument is longer than the kernel takes: `ERR_ARGV_TOO_LONG`.
    #[error(
        "argv[{index}] has {bytes} bytes: the kernel's limit for one argument is {limit}, its final NUL included."
    )]
    ArgTooLong {
        /// Which entry.
        index: usize,
        /// Its bytes with the final NUL.
        bytes: usize,
        /// The most that the kernel takes.
        limit: usize,
    },
    /// One variable is longer than the kernel takes: `ERR_ARGV_TOO_LONG`.
    #[error("The variable {} of {source_name} has {bytes} bytes: the kernel's limit for one env entry is {limit}, its name and final NUL included.", quoted(name), source_name = from.name())]
    EnvEntryTooLong {
        /// The variable.
        name: String,
        /// Where it came from.
        from: EnvSource,
        /// Bytes of `NAME=VALUE` with the final NUL.
        bytes: usize,
        /// The most that the kernel takes.
        limit: usize,
    },
    /// argv and environment together are more than the kernel takes: `ERR_ARGV_TOO_LONG`.
    #[error(
        "argv ({argv_bytes} bytes) and env ({env_bytes} bytes) are above the kernel's limit of {limit} for both together; the largest entry is {largest} with {largest_bytes} bytes."
    )]
    CommandLineTooLong {
        /// What argv takes, pointers included.
        argv_bytes: usize,
        /// What the environment takes, pointers included.
        env_bytes: usize,
        /// The most that both may take.
        limit: usize,
        /// The largest entry, by index or name.
        largest: String,
        /// Its bytes.
        largest_bytes: usize,
    },
    /// argv[0] is not in `allowedExecutables`: `ERR_EXECUTABLE_NOT_ALLOWED`.
    #[error("Executable {} is not allowed{}.", quoted_within(executable, limits::MAX_PATH_SHOWN), kin.as_ref().map(Kin::said).unwrap_or_default())]
    ExecutableNotAllowed {
        /// argv[0].
        executable: String,
        /// An allowed executable of the same file name, and why it doesn't count.
        kin: Option<Kin>,
        /// The allowed name that is most like it, if one is.
        nearest: Option<String>,
        /// What is allowed, the first few.
        allowed: Vec<String>,
        /// How many are allowed beyond those.
        more: usize,
    },
    /// argv matches none of `allowedCommands`: `ERR_COMMAND_NOT_ALLOWED`.
    #[error("argv {argv} is not allowed: {}.", nearest.as_ref().map_or_else(|| "allowedCommands has no pattern".to_owned(), NearestPattern::said))]
    CommandNotAllowed {
        /// argv, as messages show it.
        argv: String,
        /// The pattern that came nearest, and where argv departs from it.
        nearest: Option<NearestPattern>,
    },
    /// An option of a start has the wrong shape: `ERR_BAD_OPTION`.
    #[error("{0}")]
    BadOption(InputError),
    /// `cwd` holds a NUL, where the kernel would end the path: `ERR_BAD_OPTION`.
    #[error("options.cwd {} contains a NUL character: no path can hold one.", quoted(cwd))]
    CwdNul {
        /// The working directory as given.
        cwd: String,
    },
    /// `env` is no object: `ERR_BAD_ENV`.
    #[error("{} must be an object of strings, not {got}.", from.name())]
    EnvNotAnObject {
        /// Where it came from.
        from: EnvSource,
        /// What came.
        got: String,
    },
    /// A variable can't be passed on: `ERR_BAD_ENV`.
    #[error("{}", fault.said(name, *from))]
    EnvEntry {
        /// The variable.
        name: String,
        /// Where it came from.
        from: EnvSource,
        /// What is wrong with it.
        fault: EnvFault,
    },
    /// A budget is above what the policy allows: `ERR_BUDGET`.
    #[error("options.{option} of {asked} is above the policy's {ceiling_name} of {ceiling}.")]
    AboveCeiling {
        /// The option.
        option: &'static str,
        /// What was asked for.
        asked: u64,
        /// The most that the policy allows.
        ceiling: u64,
        /// The policy's key that says so.
        ceiling_name: &'static str,
    },
    /// A key of the policy has the wrong shape: `ERR_BAD_POLICY`.
    #[error("{0}")]
    BadPolicy(InputError),
    /// An allowed executable that no argv[0] could ever equal: `ERR_BAD_POLICY`.
    #[error("{path} {} contains {}: an argv[0] with that is always refused, so this entry could never match.", quoted(name), spelled(*character))]
    EntryNeverMatches {
        /// The entry.
        path: String,
        /// Its name.
        name: String,
        /// The first character that no executable's name may hold.
        character: char,
    },
    /// The same executable is allowed on two terms: `ERR_BAD_POLICY`.
    #[error("policy.allowedExecutables has {} twice, and the two disagree about its sha256.", quoted(name))]
    ExecutablesDisagree {
        /// The executable.
        name: String,
    },
    /// The policy's default is above its own ceiling: `ERR_BAD_POLICY`.
    #[error("policy.defaultTimeoutMs of {default} is above policy.maxTimeoutMs of {ceiling}.")]
    DefaultAboveCeiling {
        /// `defaultTimeoutMs`.
        default: u64,
        /// `maxTimeoutMs`.
        ceiling: u64,
    },
    /// A pattern that could not mean what it says: `ERR_BAD_POLICY`.
    #[error("{path} {}.", fault.said())]
    BadPattern {
        /// The pattern.
        path: String,
        /// What is wrong with it.
        fault: PatternFault,
    },
    /// A start's `confinement` would let through more than the policy's: `ERR_BUDGET`.
    #[error(
        "options.confinement.{key} of {asked} is wider than the policy's {granted}: a start may only narrow it."
    )]
    WiderConfinement {
        /// The key.
        key: &'static str,
        /// What was asked for, as JSON.
        asked: String,
        /// What the policy gives, as JSON.
        granted: String,
    },
}

/// A character for a message: visible ones in quotes, others by name.
fn spelled(character: char) -> String {
    match character {
        ' ' => "a space".into(),
        '\t' => "a tab".into(),
        '\n' | '\r' => "a line break".into(),
        '\0' => "a NUL character".into(),
        '"' | '\'' => format!("the quote {character}"),
        c if c.is_whitespace() || c == '\u{feff}' => format!("white space (U+{:04X})", u32::from(c)),
        c => format!("the shell character \"{c}\""),
    }
}

//! What the kernel takes of argv and environment together: a start above it is refused, not tried.

use super::argv::Argv;
use super::environment::Environment;
use super::error::PolicyError;
use crate::input::quoted;
use crate::limits::{ARG_PATH_ROOM, ARG_POINTER, MAX_ARG_TOTAL};

/// The most that argv and environment may take together.
const LIMIT: usize = MAX_ARG_TOTAL - ARG_PATH_ROOM;

/// Counts as the kernel does: bytes, final NUL and a pointer for each string.
pub(super) fn check(argv: &Argv<'_>, environment: &Environment<'_>) -> Result<(), PolicyError> {
    const BESIDE: usize = 1 + ARG_POINTER;
    let variable = |(name, value): &(&str, &str)| name.len() + 1 + value.len();
    let argv_bytes: usize = argv.entries().iter().map(|entry| entry.len() + BESIDE).sum();
    let env_bytes: usize = environment.variables().iter().map(|entry| variable(entry) + BESIDE).sum();
    if argv_bytes + env_bytes <= LIMIT {
        return Ok(());
    }
    let argument = argv.entries().iter().enumerate().max_by_key(|(_, entry)| entry.len());
    let longest = environment.variables().iter().max_by_key(|entry| variable(entry));
    let (argument_bytes, longest_bytes) =
        (argument.map_or(0, |(_, entry)| entry.len()), longest.map_or(0, variable));
    let (largest, largest_bytes) = match (argument, longest) {
        (_, Some((name, _))) if longest_bytes > argument_bytes => {
            (format!("the variable {}", quoted(name)), longest_bytes)
        }
        (index, _) => (format!("argv[{}]", index.map_or(0, |(index, _)| index)), argument_bytes),
    };
    Err(PolicyError::CommandLineTooLong { argv_bytes, env_bytes, limit: LIMIT, largest, largest_bytes })
}

#[cfg(test)]
mod tests {
    use super::super::environment::InheritEnv;
    use super::super::testing::{message, record, text, texts};
    use super::*;
    use crate::error::Code;
    use crate::input::Value;

    fn total(argv: &[&str], env: &[(&str, &str)]) -> Result<(), (Code, String)> {
        let argv = texts(argv);
        let env = record(&env.iter().map(|(name, value)| (*name, text(value))).collect::<Vec<_>>());
        let environment = Environment::resolve(&env, &InheritEnv::All, &Value::Absent).unwrap();
        check(&Argv::read(&argv).unwrap(), &environment).map_err(|e| message(&e))
    }

    #[test]
    fn the_total_is_held_to_the_byte_and_its_refusal_names_both_parts_and_the_largest_entry() {
        let block = "x".repeat(100_000);
        let mut argv = vec!["a"];
        argv.extend(std::iter::repeat_n(block.as_str(), 20));
        let used = 2 + 8 + 20 * 100_009;
        let filler = "y".repeat(LIMIT - used - 9);
        let mut full = argv.clone();
        full.push(&filler);
        assert_eq!(total(&full, &[]), Ok(()));

        let (code, text) = total(&full, &[("A", "")]).unwrap_err();
        assert_eq!(code, Code::ArgvTooLong);
        for word in ["argv (", "env (11 bytes)", "limit", "argv[", "100000 bytes"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let big = "z".repeat(120_000);
        let (_, text) = total(&full, &[("BIG", &big)]).unwrap_err();
        assert!(text.contains("the variable \"BIG\" with 120004 bytes"), "{text}");
    }

    #[test]
    fn many_empty_strings_count_by_their_pointers() {
        let mut argv = vec!["a"];
        argv.extend(std::iter::repeat_n("", 300_000));
        assert!(total(&argv, &[]).is_err());
    }
}

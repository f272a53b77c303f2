use serde_json::json;

use super::super::testing::{message, value};
use super::*;
use crate::error::Code;

fn read(json: serde_json::Value) -> Result<Executables, (Code, String)> {
    let value = value(json);
    Executables::read(&Field::argument("policy.allowedExecutables", &value)).map_err(|e| message(&e))
}

#[test]
fn names_are_matched_exactly() {
    let all = read(json!(["git", "/usr/bin/node", "./gradlew", "git"])).unwrap();
    assert_eq!(all.all().len(), 3, "the same entry twice is one");
    assert_eq!(all.find("./gradlew"), Some(2));
    for other in ["Git", "git ", "node", "/usr/bin/../bin/node", "gradlew", "", "/usr/bin/git"] {
        assert_eq!(all.find(other), None, "{other}");
    }
}

#[test]
fn an_executable_outside_the_allowlist_is_refused_by_name() {
    let all = read(json!(["git", "/usr/bin/node", "pnpm"])).unwrap();
    let cases: &[(&str, &[&str])] = &[
        ("rm", &[r#"Executable "rm" is not allowed."#, "setBackgroundCommandPolicy", r#"Allowed: "git""#]),
        ("npm", &[r#"Did you mean "pnpm"?"#]),
        (
            "node",
            &["a basename does not stand in for a path", r#"exactly as the policy does: "/usr/bin/node""#],
        ),
        ("/usr/bin/git", &["a path does not stand in for a bare name", r#"does: "git""#]),
        ("/opt/node", &["a path does not stand in for another"]),
    ];
    for (name, words) in cases {
        let (code, message) = message(&all.refusal(name));
        assert_eq!(code, Code::ExecutableNotAllowed);
        for word in *words {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}

#[test]
fn a_long_allowlist_is_listed_in_part() {
    let names: Vec<_> = (0..30).map(|n| format!("tool{n}")).collect();
    let (_, message) = message(&read(json!(names)).unwrap().refusal("rm"));
    assert!(message.contains("\"tool11\" and 18 more."), "{message}");
}

#[test]
fn a_pin_is_an_absolute_path_with_a_sha256_in_either_case() {
    let digest = "AB".repeat(32);
    let all = read(json!([{ "path": "/usr/bin/git", "sha256": digest }])).unwrap();
    assert_eq!(all.all()[0].sha256(), Some(&[0xab; 32]));
    assert_eq!(all.all()[0].sha256_hex(), Some("ab".repeat(32)));
}

#[test]
fn an_entry_that_could_never_hold_is_refused_when_the_policy_is_set() {
    let digest = "0".repeat(64);
    let cases = [
        (json!([]), "non-empty array"),
        (json!("git"), "array"),
        (json!(["git", ""]), "allowedExecutables[1]"),
        (json!(["git", 5]), "allowedExecutables[1]"),
        (json!(["g\u{0}t"]), "NUL"),
        (json!(["npm test"]), "allowedCommands"),
        (json!(["a|b"]), "could never match"),
        (json!([{ "path": "git", "sha256": digest }]), "absolute"),
        (json!([{ "path": "./git", "sha256": digest }]), "absolute"),
        (json!([{ "sha256": digest }]), "path"),
        (json!([{ "path": "/a" }]), "sha256"),
        (json!([{ "path": "/a", "sha256": "abc" }]), "64 hexadecimal"),
        (json!([{ "path": "/a", "sha256": "g".repeat(64) }]), "64 hexadecimal"),
        (json!([{ "path": "/a", "sha256": "é".repeat(32) }]), "64 hexadecimal"),
        (json!([{ "path": "/a", "sha265": digest }]), "Did you mean \"sha256\"?"),
        (json!([{ "path": "/a b", "sha256": digest }]), "a space"),
        (json!(["/a", { "path": "/a", "sha256": digest }]), "disagree"),
    ];
    for (entries, word) in cases {
        let (code, message) = read(entries.clone()).unwrap_err();
        assert_eq!(code, Code::BadPolicy, "{entries}");
        assert!(message.contains(word), "{entries}: {message}");
    }
}

#[test]
fn a_name_as_long_as_the_kernel_takes_is_refused_at_once_and_in_brief() {
    let long = "x".repeat(limits::MAX_ARG_STRLEN - 1);
    let all = read(json!(["git", format!("/{}", "y".repeat(200))])).unwrap();
    let error = all.refusal(&long);
    assert!(message(&error).1.len() < 1_500);
    assert!(error.details().to_string().len() < 1_500);
}

use proptest::prelude::*;
use serde_json::json;

use super::super::testing::{message, policy, texts, value, with};
use super::*;
use crate::error::Code;

fn rules() -> Policy {
    policy(json!({
        "allowedExecutables": ["git", "npm", "/usr/bin/node"],
        "cwdRoot": "/srv",
        "allowedCommands": [
            ["git", { "oneOf": ["status", "diff"] }],
            { "name": "one script", "argv": ["npm", "run", { "oneOf": ["build", "lint"] }, { "rest": true }] },
        ],
        "maxTimeoutMs": 60_000,
    }))
}

fn decide(policy: &Policy, argv: &[&str], options: serde_json::Value) -> Result<CandidateParts, PolicyError> {
    let (argv, options) = (texts(argv), value(options));
    let host = value(json!({ "PATH": "/bin" }));
    policy.decide(&StartRequest { argv: &argv, options: &options }, &host).map(Candidate::into_parts)
}

#[test]
fn what_is_let_through_is_exactly_what_was_asked_for() {
    let options =
        json!({ "cwd": "pkg", "timeoutMs": 5_000, "env": { "A": "1" }, "input": "in", "sessionId": "s" });
    let parts = decide(&rules(), &["npm", "run", "lint", "--", "a; b"], options).unwrap();
    let expected = CandidateParts {
        argv: ["npm", "run", "lint", "--", "a; b"].map(str::to_owned).to_vec(),
        executable: 1,
        cwd: Some("pkg".into()),
        env: vec!["A=1".into()],
        env_names: vec!["A".into()],
        budget: Budget {
            timeout_ms: 5_000,
            max_output_bytes: 10_485_760,
            max_total_output_bytes: None,
            kill_grace_ms: 5_000,
            stray_grace_ms: 1_000,
        },
        confinement: None,
        own_tmpdir: false,
        limits: ResourceLimits::default(),
        input: Some(b"in".to_vec()),
        label: "npm run".into(),
        session_id: Some("s".into()),
        standing: Standing::Allowed,
        pattern: Some("one script".into()),
    };
    assert_eq!(parts, expected);
}

#[test]
fn without_options_the_policy_and_the_host_say_everything() {
    let parts = decide(&rules(), &["git", "diff"], json!({})).unwrap();
    assert_eq!(parts.env, ["PATH=/bin"]);
    assert_eq!((parts.cwd, parts.input, parts.session_id), (None, None, None));
    assert_eq!(parts.budget.timeout_ms, 60_000);
    assert_eq!(parts.pattern.as_deref(), Some(r#"["git", "status" | "diff"]"#));
}

#[test]
fn a_shell_command_string_is_refused_and_the_reason_says_why() {
    let (argv, options) = (Value::Text("git status | cat".into()), Value::Absent);
    let error = rules().decide(&StartRequest { argv: &argv, options: &options }, &Value::Absent).unwrap_err();
    let (code, message) = message(&error);
    assert_eq!(code, Code::BadArgv);
    assert!(message.contains("argv") && message.contains("NO shell"), "{message}");
}

#[test]
fn a_basename_does_not_stand_in_for_an_allowlisted_absolute_path() {
    let (code, message) = message(&decide(&rules(), &["node", "x.js"], json!({})).unwrap_err());
    assert_eq!(code, Code::ExecutableNotAllowed);
    assert!(message.contains(r#"Executable "node" is not allowed"#), "{message}");
}

#[test]
fn the_checks_come_in_their_order() {
    let bad = json!({ "timeoutMs": 0 });
    let cases: &[(&[&str], &serde_json::Value, Code)] = &[
        (&["rm x\0"], &bad, Code::BadArgv),
        (&["rm x"], &bad, Code::NotAnExecutableName),
        (&["rm"], &bad, Code::ExecutableNotAllowed),
        (&["git", "push"], &bad, Code::BadOption),
        (&["git", "push"], &json!({ "timeoutMs": 60_001 }), Code::Budget),
        (&["git", "push"], &json!({ "env": { "A": null } }), Code::BadEnv),
        (&["git", "push"], &json!({ "cwd": "../.." }), Code::CommandNotAllowed),
    ];
    for (argv, options, expected) in cases {
        let (code, text) = message(&decide(&rules(), argv, (*options).clone()).unwrap_err());
        assert_eq!(code, *expected, "{text}");
    }
}

#[test]
fn an_unmatched_argv_is_refused_with_the_nearest_pattern() {
    let (code, message) = message(&decide(&rules(), &["npm", "run", "deploy"], json!({})).unwrap_err());
    assert_eq!(code, Code::CommandNotAllowed);
    for word in [
        r#"argv ["npm", "run", "deploy"] is not allowed"#,
        r#"The nearest is "one script", ["npm", "run", "build" | "lint", …rest]"#,
        r#"argv[2] is "deploy" where it has "build" | "lint""#,
        "setBackgroundCommandPolicy",
    ] {
        assert!(message.contains(word), "{word}: {message}");
    }
}

#[test]
fn who_must_be_asked_follows_from_patterns_and_approve() {
    let base = json!({ "allowedExecutables": ["git"], "cwdRoot": "/" });
    let patterns = value(json!([["git", "status"]]));
    let none = Value::List(vec![]);
    let cases = [
        (None, false, "push", Some(Standing::Allowed)),
        (None, true, "push", Some(Standing::NeedsApproval)),
        (Some(&patterns), false, "push", None),
        (Some(&patterns), true, "push", Some(Standing::NeedsApproval)),
        (Some(&patterns), true, "status", Some(Standing::Allowed)),
        (Some(&none), false, "status", None),
        (Some(&none), true, "status", Some(Standing::NeedsApproval)),
    ];
    for (patterns, approve, verb, expected) in cases {
        let mut given = value(base.clone());
        if let Some(patterns) = patterns {
            given = with(given, "allowedCommands", patterns.clone());
        }
        if approve {
            given = with(given, "approve", Value::Function);
        }
        let decided = decide(&Policy::parse(&given).unwrap(), &["git", verb], json!({}));
        assert_eq!(decided.ok().map(|parts| parts.standing), expected, "{patterns:?} {approve} {verb}");
    }
}

proptest! {
    #[test]
    fn nothing_passes_but_an_allowed_name_with_its_argv_unchanged(
        argv in prop::collection::vec("(git|npm|status|[ -~]{0,3})", 0..4),
    ) {
        let policy = policy(json!({ "allowedExecutables": ["git", "npm"], "cwdRoot": "/" }));
        let borrowed: Vec<_> = argv.iter().map(String::as_str).collect();
        match decide(&policy, &borrowed, json!({})) {
            Ok(parts) => {
                prop_assert_eq!(policy.executables()[parts.executable].name(), argv[0].as_str());
                prop_assert_eq!(parts.argv, argv);
            }
            Err(_) => prop_assert!(argv.first().is_none_or(|name| name != "git" && name != "npm")),
        }
    }
}

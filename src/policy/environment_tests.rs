use proptest::prelude::*;
use serde_json::json;

use super::super::testing::{message, record, text, value};
use super::*;
use crate::error::Code;

fn host() -> Value {
    let entries = [
        ("PATH", "/bin"),
        ("LC_ALL", "C"),
        ("LCX", "no"),
        ("HOME", "/root"),
        ("SECRET", "s"),
        ("path", "low"),
    ];
    record(&entries.map(|(name, value)| (name, text(value))))
}

fn inherit(json: serde_json::Value) -> Result<InheritEnv, String> {
    let value = value(json);
    InheritEnv::read(&Field::argument("policy.inheritEnv", &value)).map_err(|e| e.to_string())
}

#[test]
fn without_env_the_policy_says_what_is_inherited() {
    let all = ["PATH=/bin", "LC_ALL=C", "LCX=no", "HOME=/root", "SECRET=s", "path=low"];
    let cases = [
        (json!("all"), &all[..]),
        (json!("minimal"), &["PATH=/bin", "LC_ALL=C", "HOME=/root"][..]),
        (json!(["SECRET", "MISSING", "SECRET"]), &["SECRET=s"][..]),
        (json!([]), &[][..]),
    ];
    for (setting, expected) in cases {
        let (inherit, host) = (inherit(setting.clone()).unwrap(), host());
        let environment = Environment::resolve(&Value::Absent, &inherit, &host).unwrap();
        assert_eq!(environment.to_entries(), expected, "{setting}");
    }
    let absent = InheritEnv::read(&Field::argument("policy.inheritEnv", &Value::Absent));
    assert_eq!(absent, Ok(InheritEnv::All));
}

#[test]
fn env_replaces_and_an_empty_one_is_empty() {
    let host = host();
    let own = record(&[("A", text("1")), ("B", Value::Absent), ("C", text(""))]);
    let environment = Environment::resolve(&own, &InheritEnv::All, &host).unwrap();
    assert_eq!(environment.to_entries(), ["A=1", "C="], "undefined is left out, nothing is merged");
    assert_eq!(environment.names(), ["A", "C"]);
    let empty = record(&[]);
    assert_eq!(Environment::resolve(&empty, &InheritEnv::All, &host).unwrap().variables(), []);
}

#[test]
fn what_no_environment_can_hold_is_refused_by_name() {
    let cases: &[(Value, &[&str])] = &[
        (record(&[("B", Value::Null)]), &["\"B\"", "options.env", "string", "null"]),
        (record(&[("C", Value::Number(5.0))]), &["\"C\"", "the number 5"]),
        (record(&[("C", Value::Bool(true))]), &["\"C\"", "the boolean true"]),
        (record(&[("C", Value::Function)]), &["\"C\"", "a function"]),
        (record(&[("C", Value::BrokenText)]), &["\"C\"", "lone surrogate"]),
        (record(&[("", text("v"))]), &["empty name", "options.env"]),
        (record(&[("X=Y", text("z"))]), &["\"X=Y\"", "="]),
        (record(&[("X\0", text("z"))]), &["\"X\\u{0}\"", "NUL"]),
        (record(&[("X", text("a\0b"))]), &["\"X\"", "value", "NUL"]),
        (Value::Null, &["options.env must be an object", "null"]),
        (Value::List(vec![]), &["options.env must be an object", "array"]),
        (text("A=1"), &["options.env must be an object", "string"]),
    ];
    for (own, words) in cases {
        let error = Environment::resolve(own, &InheritEnv::All, &Value::Absent).unwrap_err();
        let (code, message) = message(&error);
        assert_eq!(code, Code::BadEnv, "{message}");
        for word in *words {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}

#[test]
fn an_inherited_variable_that_cannot_be_passed_is_refused_only_where_it_would_be() {
    let host = record(&[("PATH", text("/bin")), ("ODD", Value::BrokenText)]);
    let error = Environment::resolve(&Value::Absent, &InheritEnv::All, &host).unwrap_err();
    let (code, message) = message(&error);
    assert_eq!(code, Code::BadEnv);
    assert!(message.contains("\"ODD\" in process.env") && message.contains("inheritEnv"), "{message}");
    assert!(Environment::resolve(&Value::Absent, &InheritEnv::Minimal, &host).is_ok());
}

#[test]
fn the_longest_variable_passes_and_one_byte_more_is_refused_by_name() {
    let room = limits::MAX_ARG_STRLEN - "BIG=".len() - 1;
    let own = record(&[("BIG", text(&"x".repeat(room)))]);
    assert!(Environment::resolve(&own, &InheritEnv::All, &Value::Absent).is_ok());
    let own = record(&[("BIG", text(&"x".repeat(room + 1)))]);
    let (code, message) = message(&Environment::resolve(&own, &InheritEnv::All, &Value::Absent).unwrap_err());
    assert_eq!(code, Code::ArgvTooLong);
    for word in ["\"BIG\"", "131073", "131072", "limit", "env"] {
        assert!(message.contains(word), "{word}: {message}");
    }
}

#[test]
fn a_setting_of_another_shape_is_refused() {
    let cases = [
        (json!("some"), "\"all\", \"minimal\""),
        (json!(true), "\"all\", \"minimal\""),
        (json!(null), "\"all\", \"minimal\""),
        (json!(["A", 1]), "inheritEnv[1]"),
        (json!([""]), "non-empty"),
        (json!(["LC_*"]), "exact name"),
        (json!(["A=B"]), "exact name"),
    ];
    for (setting, word) in cases {
        let message = inherit(setting.clone()).unwrap_err();
        assert!(message.contains(word), "{setting}: {message}");
    }
}

proptest! {
    #[test]
    fn what_is_given_is_kept_and_nothing_else_appears(
        own in prop::collection::vec(("[A-C=]{0,2}", "[ -~ü\u{0}]{0,4}"), 0..6),
        host in prop::collection::vec(("[D-F]{1,2}", "[a-z]{0,4}"), 0..4),
    ) {
        let to_record = |entries: &[(String, String)]| {
            Value::Record(entries.iter().map(|(name, value)| (name.clone(), Value::Text(value.clone()))).collect())
        };
        let (own_value, host_value) = (to_record(&own), to_record(&host));
        let valid = own.iter().all(|(name, value)| !name.is_empty() && !name.contains('=') && !value.contains('\0'));
        match Environment::resolve(&own_value, &InheritEnv::All, &host_value) {
            Ok(environment) => {
                prop_assert!(valid);
                let expected: std::collections::HashMap<_, _> =
                    own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                prop_assert_eq!(environment.variables().len(), expected.len());
                for (name, value) in environment.variables() {
                    prop_assert_eq!(expected.get(name), Some(value));
                }
            }
            Err(_) => prop_assert!(!valid),
        }
    }
}

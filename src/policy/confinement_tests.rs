use serde_json::json;

use super::super::testing::{message, policy, value};
use super::super::{Policy, StartRequest};
use super::*;
use crate::error::Code;

fn shown(confinement: &Json) -> Json {
    policy(json!({ "allowedExecutables": ["git"], "cwdRoot": "/srv", "confinement": confinement })).to_wire()
        ["confinement"]
        .clone()
}

#[test]
fn a_preset_is_a_short_way_of_saying_an_object() {
    let closed = json!({ "level": "required", "write": [], "network": "none", "signals": "own-tree", "keepTmp": false });
    let with = |more: Json| {
        let mut whole = closed.clone();
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        whole
    };
    assert_eq!(shown(&json!("read-only")), closed);
    assert_eq!(shown(&json!("workspace")), with(json!({ "read": ["."], "write": ["."] })));
    assert_eq!(shown(&json!("git")), with(json!({ "execute": ["git"], "read": ["."] })));
    for preset in ["read-only", "workspace", "git"] {
        let written_out = shown(&json!(preset));
        assert_eq!(shown(&written_out), written_out, "{preset}");
    }
}

#[test]
fn the_form_is_one_whatever_was_written() {
    let given = json!({
        "level": "best-effort", "execute": "allowed", "read": ["/a//b/", "./"], "network": { "connectTcp": [443, 80, 443] },
    });
    let expected = json!({
        "level": "best-effort", "execute": "allowed", "read": ["/a/b", "."], "network": { "connectTcp": [80, 443] },
        "keepTmp": false,
    });
    assert_eq!(shown(&given), expected);
    let digest = |confinement: Json| {
        policy(json!({ "allowedExecutables": ["git"], "cwdRoot": "/srv", "confinement": confinement }))
            .digest()
            .to_owned()
    };
    assert_eq!(digest(given.clone()), digest(expected));
    assert_ne!(digest(given), digest(json!("workspace")));
}

#[test]
fn what_is_no_confinement_is_refused_by_name() {
    let cases = [
        (json!("wide"), "policy.confinement must be \"read-only\", \"workspace\", \"git\" or an object"),
        (json!({}), "policy.confinement.level must be \"required\" or \"best-effort\""),
        (json!({ "level": "strict" }), "policy.confinement.level must be"),
        (json!({ "level": "required", "execute": "any" }), "policy.confinement.execute must be \"allowed\""),
        (json!({ "level": "required", "execute": ["./x"] }), "policy.confinement.execute[0] must be a name"),
        (json!({ "level": "required", "read": "/" }), "policy.confinement.read must be an array"),
        (json!({ "level": "required", "write": ["/a/../b"] }), "policy.confinement.write[0] must be a path"),
        (json!({ "level": "required", "write": [""] }), "policy.confinement.write[0]"),
        (json!({ "level": "required", "network": "lan" }), "policy.confinement.network must be \"none\""),
        (json!({ "level": "required", "network": {} }), "network.connectTcp must be an array of ports"),
        (json!({ "level": "required", "network": { "connectTcp": [0] } }), "connectTcp[0] must be a port"),
        (
            json!({ "level": "required", "network": { "connectTcp": [65_536] } }),
            "connectTcp[0] must be a port",
        ),
        (json!({ "level": "required", "signals": true }), "policy.confinement.signals must be \"own-tree\""),
        (json!({ "level": "required", "keeptmp": true }), "Did you mean \"keepTmp\"?"),
        (json!(null), "policy.confinement must be"),
    ];
    for (confinement, word) in cases {
        let policy =
            json!({ "allowedExecutables": ["git"], "cwdRoot": "/", "confinement": confinement.clone() });
        let (code, text) = message(&Policy::parse(&value(policy)).unwrap_err());
        assert_eq!(code, Code::BadPolicy);
        assert!(text.contains(word), "{confinement}: {text}");
    }
}

fn start(base: Option<Json>, asked: Option<Json>) -> Result<Option<Json>, (Code, String)> {
    let mut given = json!({ "allowedExecutables": ["git", "/bin/ls"], "cwdRoot": "/srv" });
    if let Some(base) = base {
        given["confinement"] = base;
    }
    let mut options = json!({ "env": {} });
    if let Some(asked) = asked {
        options["confinement"] = asked;
    }
    let (argv, options) = (value(json!(["git"])), value(options));
    let decided = policy(given).decide(&StartRequest { argv: &argv, options: &options }, &Value::Absent);
    decided
        .map(|candidate| candidate.into_parts().confinement.as_ref().map(Confinement::to_wire))
        .map_err(|error| message(&error))
}

#[test]
fn a_start_may_narrow_what_the_policy_gives() {
    let base =
        json!({ "level": "best-effort", "read": ["/data", "."], "network": { "connectTcp": [80, 443] } });
    let narrowed = start(
        Some(base.clone()),
        Some(
            json!({ "level": "required", "read": ["/srv/a"], "write": [], "network": { "connectTcp": [443] }, "execute": ["git"] }),
        ),
    );
    let expected = json!({
        "level": "required", "execute": ["git"], "read": ["/srv/a"], "write": [], "network": { "connectTcp": [443] },
        "keepTmp": false,
    });
    assert_eq!(narrowed, Ok(Some(expected)));
    let unchanged = start(Some(base.clone()), None).unwrap().unwrap();
    assert_eq!(start(Some(base), Some(json!({}))), Ok(Some(unchanged)));
    assert_eq!(start(None, None), Ok(None));
    assert!(start(None, Some(json!("workspace"))).unwrap().is_some());
    let (code, text) = start(None, Some(json!({}))).unwrap_err();
    assert_eq!(code, Code::BadOption);
    assert!(text.contains("options.confinement.level"), "{text}");
}

#[test]
fn a_start_never_widens_what_the_policy_gives() {
    let base = json!({
        "level": "required", "execute": "allowed", "read": ["/data"], "write": [], "network": { "connectTcp": [443] },
    });
    let cases = [
        (json!({ "level": "best-effort" }), "confinement.level"),
        (json!({ "execute": ["/bin/sh"] }), "confinement.execute"),
        (json!({ "read": ["/"] }), "confinement.read"),
        (json!({ "read": ["/database"] }), "confinement.read"),
        (json!({ "write": ["/data"] }), "confinement.write"),
        (json!({ "network": "host" }), "confinement.network"),
        (json!({ "network": { "connectTcp": [22] } }), "confinement.network"),
        (json!("workspace"), "confinement."),
    ];
    for (asked, word) in cases {
        let (code, text) = start(Some(base.clone()), Some(asked.clone())).unwrap_err();
        assert_eq!(code, Code::Budget, "{text}");
        assert!(text.contains(word) && text.contains("wider"), "{asked}: {text}");
    }
    assert!(start(Some(base), Some(json!({ "execute": ["/bin/ls"], "network": "none" }))).is_ok());
}

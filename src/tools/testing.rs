//! Short ways to the values that the tests of this stage give.

use std::sync::Arc;

use crate::host::{CommandHost, Ended, Listener};
use crate::input::Value;
use crate::supervisor::launch::Supervisor;

pub(super) fn value(json: serde_json::Value) -> Value {
    json.into()
}

struct Deaf;

impl Listener for Deaf {
    fn settled(&self, _: Ended) {}
}

/// A host that has no warden: everything up to the hand-over works.
pub(super) fn host(vault: &std::path::Path, options: serde_json::Value) -> Arc<CommandHost> {
    let Value::Record(mut options) = value(options) else { panic!("no object") };
    options.push(("vaultDir".into(), Value::Text(vault.to_str().unwrap().into())));
    let supervisor = Arc::new(Supervisor::new(vault.join("no-warden")));
    CommandHost::new(&Value::Record(options), &Value::Absent, supervisor, Box::new(Deaf)).unwrap()
}

//! `limits`: what the kernel itself holds a command to.

use serde::Serialize;

use crate::input::{Field, InputError};

/// Limits of one command; what is absent is the host's own. Core files are always off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLimits {
    /// Processor time of one process, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
    /// Address space of one process, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_space_bytes: Option<u64>,
    /// Memory of the whole tree, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Descriptors of one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Size of one written file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size_bytes: Option<u64>,
}

impl ResourceLimits {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, InputError> {
        let mut fields = field.fields()?;
        let mut positive = |name| fields.field(name).positive_integer();
        let limits = Self {
            cpu_seconds: positive("cpuSeconds")?,
            address_space_bytes: positive("addressSpaceBytes")?,
            memory_bytes: positive("memoryBytes")?,
            processes: positive("processes")?,
            open_files: positive("openFiles")?,
            file_size_bytes: positive("fileSizeBytes")?,
        };
        fields.finish()?;
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::value;
    use super::*;

    fn read(json: serde_json::Value) -> Result<ResourceLimits, String> {
        let value = value(json);
        ResourceLimits::read(&Field::argument("policy.limits", &value)).map_err(|e| e.to_string())
    }

    #[test]
    fn each_limit_is_read_and_shown_under_its_name() {
        let all = json!({
            "cpuSeconds": 1, "addressSpaceBytes": 2, "memoryBytes": 3, "processes": 4, "openFiles": 5,
            "fileSizeBytes": 6_000_000_000_u64,
        });
        assert_eq!(serde_json::to_value(read(all.clone()).unwrap()).unwrap(), all);
        assert_eq!(read(json!({})), Ok(ResourceLimits::default()));
    }

    #[test]
    fn a_limit_that_is_none_is_refused_by_name() {
        let cases = [
            (json!({ "processes": 0 }), "policy.limits.processes must be a positive integer"),
            (json!({ "cpuSeconds": 0.5 }), "policy.limits.cpuSeconds must be a positive integer"),
            (json!({ "memoryByte": 1 }), "Did you mean \"memoryBytes\"?"),
            (json!({ "core": 0 }), "policy.limits has no option \"core\""),
            (json!(5), "policy.limits must be an object"),
            (json!(null), "policy.limits must be an object"),
        ];
        for (limits, word) in cases {
            let message = read(limits.clone()).unwrap_err();
            assert!(message.contains(word), "{limits}: {message}");
        }
    }
}

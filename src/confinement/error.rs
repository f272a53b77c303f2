//! Why a start that asks for confinement is refused by this stage.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

/// A refusal. Each variant's doc names its code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfinementError {
    /// The kernel can't enforce what is required: `ERR_CONFINEMENT_UNAVAILABLE`.
    #[error("confinement.{feature} is required and needs {needs}; this kernel ({release}) has {has}.")]
    Unavailable {
        /// The key.
        feature: &'static str,
        /// What would be needed, with the kernel that brought it.
        needs: String,
        /// What is there instead.
        has: String,
        /// The kernel's own version.
        release: String,
    },
    /// A path from `cwdRoot` leads out of it through a link: `ERR_CONFINEMENT_UNAVAILABLE`.
    #[error(
        "confinement.{key} has {given:?}, which leads to {resolved} by now, outside the permitted root {root}."
    )]
    OutsideRoot {
        /// The key.
        key: &'static str,
        /// As written.
        given: String,
        /// Where it leads.
        resolved: String,
        /// The root.
        root: String,
    },
    /// What a start's own path leads to lies outside of what the policy's lead to: `ERR_BUDGET`.
    #[error(
        "options.confinement.{key} has {given:?}, which leads to {resolved}: wider than what the policy gives."
    )]
    Wider {
        /// The key.
        key: &'static str,
        /// As written.
        given: String,
        /// Where it leads.
        resolved: String,
    },
    /// A path that can't be passed on: `ERR_CONFINEMENT_UNAVAILABLE`.
    #[error("confinement can't name {}: the path is not valid UTF-8.", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
}

impl ConfinementError {
    /// The recovery step.
    pub fn recovery(&self) -> String {
        match self {
            Self::Unavailable { .. } => {
                "Run on a newer kernel (`argvault doctor` shows what each gives), or set \
                 confinement.level to \"best-effort\" and read from the status what was enforced."
                    .into()
            }
            Self::OutsideRoot { .. } => "Remove the link, or name its target in the policy.".into(),
            Self::Wider { .. } => "Name a path within the policy's, or leave the key out.".into(),
            Self::NotText { .. } => "Rename it, or leave it out.".into(),
        }
    }

    /// What it is about, by name.
    pub fn details(&self) -> Json {
        match self {
            Self::Unavailable { feature, needs, has, release } => {
                json!({ "feature": feature, "needs": needs, "has": has, "kernel": release })
            }
            Self::OutsideRoot { key, resolved, root, .. } => {
                json!({ "option": format!("confinement.{key}"), "resolved": resolved, "root": root })
            }
            Self::Wider { key, resolved, .. } => {
                json!({ "option": format!("options.confinement.{key}"), "resolved": resolved })
            }
            Self::NotText { .. } => json!({}),
        }
    }
}

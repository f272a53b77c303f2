//! argvault runs commands for a model without a shell.
//!
//! A stage imports earlier stages only:
//!
//! | layer | what it owns |
//! |---|---|
//! | [`limits`], [`input`], [`os`] | defaults and ceilings; values as a caller gave them; the kernel seam |
//! | [`policy`] | pure decisions: argv, patterns, environment, budgets |
//! | [`sandbox`], [`program`] | proofs that hold descriptors: where it runs, what runs |
//! | [`confinement`] | what the kernel can hold a tree to, and the rules for it |
//! | [`vault`] | what was started, every byte, how it ended |
//! | [`warden`] | what runs outside the host: warden, keeper, capture, tree |
//! | [`supervisor`] | the host's side of the warden: live commands, kill, wait |
//! | [`host`] | the composition root: the only file that knows the whole order |
//! | [`git`] | values for git become hardened command lines, which the host has run |
//! | [`tools`] | what a model sees: schemas, and one way to execute a tool by name |
//! | `addon` | the only N-API code |

#[cfg(all(feature = "addon", not(test)))] // nothing loads an addon under `cargo test`
mod addon;
pub mod confinement;
pub mod error;
pub mod git;
pub mod host;
pub mod input;
pub mod limits;
pub mod os;
pub mod policy;
pub mod program;
pub mod sandbox;
pub mod supervisor;
pub mod tools;
pub mod vault;
pub mod warden;

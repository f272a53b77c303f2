//! What a model sees: tools with their schemas, and one way to execute any of them by name.
//!
//! The struct that an input is read into is the struct that its JSON Schema is made from ([`params`]), so the two can't
//! disagree; reading goes through [`reader`], which refuses in the words that all options are refused in. What a
//! model asks for passes the same checks as what a host asks for: nothing here widens a policy. A refusal is a value
//! (`{ isError, error, code }`), never a failure of the call.
//!
//! Tools of another kind plug in as a [`ToolFamily`]; which tools there are is a [`ToolSet`].

mod catalog;
mod decisions;
mod dispatch;
pub mod error;
mod git;
mod number;
mod outcome;
mod params;
mod reader;
mod run;
mod session;
#[cfg(test)]
mod testing;

pub use catalog::{Annotations, FamilyCall, FamilyFuture, ToolDefinition, ToolFamily, ToolSet, definition};
pub use dispatch::{Call, Tools};
pub use number::{Clamped, Positive};
pub use outcome::{Answer, Decided};
pub use reader::read;

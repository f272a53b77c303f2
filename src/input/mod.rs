//! Values as a caller gave them, and the one place where their shape is checked.
//!
//! The N-API edge turns what JavaScript passed into a [`Value`]; everything that takes options reads them through
//! [`Fields`], so that types, ranges and unknown names are refused everywhere in the same words. Nothing here
//! knows what an option means.

mod field;
mod fields;
mod value;

pub use field::{Field, nearest};
pub use fields::{Fields, InputError};
pub use value::{Value, quoted, quoted_within};

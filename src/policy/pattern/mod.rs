//! `allowedCommands`: patterns over the whole argv.

mod matching;
mod nearest;
mod read;

pub(super) use matching::CommandPattern;
pub use nearest::NearestPattern;
pub use read::PatternFault;
pub(super) use read::read_patterns;

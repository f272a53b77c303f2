//! The vault: what was started, every byte, how it ended. The only truth about output, for this process and later ones.

pub mod audit;
pub mod bank;
pub mod census;
pub mod cleanup;
pub mod error;
pub mod follow;
pub mod id;
pub mod layout;
mod next;
pub mod record;
pub mod store;
pub mod sweep;
pub mod text;
pub mod watch;

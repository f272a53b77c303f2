//! The host's side of the warden: its life, the handing over of commands, what is live, and whose turn it is.

pub mod error;
pub mod gate;
pub mod launch;
pub mod live;
mod outlook;
pub mod remote;
pub mod warden_link;

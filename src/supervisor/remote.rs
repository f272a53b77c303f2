//! Commands of other processes on the same vault, through the socket that their keeper listens on.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use tokio::net::UnixStream;

use super::live::KeeperLink;
use crate::vault::layout;

/// Connects to the keeper of the task in `folder`. An error when none listens: the command is over, or waits for
/// its turn in its own host.
pub async fn connect(folder: &OwnedFd) -> io::Result<KeeperLink> {
    // By the descriptor: the path itself may be longer than a socket's address can be (`unix(7)`).
    let path = format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), layout::CONTROL);
    Ok(KeeperLink::new(UnixStream::connect(path).await?))
}

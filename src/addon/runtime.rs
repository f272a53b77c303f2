//! What all environments of the process share: the async runtime and the supervisor with its warden.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};

use crate::os::image;
use crate::supervisor::launch::Supervisor;

/// The runtime, made when it is first needed and never dropped: an addon that nobody uses has no threads, and none
/// is joined while the process exits.
pub(super) fn runtime() -> Result<&'static Runtime, std::io::Error> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("argvault")
        .enable_io()
        .enable_time()
        .build()?;
    Ok(RUNTIME.get_or_init(|| made))
}

/// The supervisor of this process: one warden for all threads that loaded the addon.
pub(super) fn supervisor() -> Arc<Supervisor> {
    static SUPERVISOR: OnceLock<Arc<Supervisor>> = OnceLock::new();
    Arc::clone(SUPERVISOR.get_or_init(|| Arc::new(Supervisor::new(warden_path()))))
}

/// Beside the addon's own file, wherever a package manager has put it.
fn warden_path() -> PathBuf {
    const NAME: &str = "argvault-warden";
    let addon = image::path().and_then(|path| std::path::absolute(path).ok()).unwrap_or_default();
    addon.with_file_name(NAME)
}

//! Where this very code was loaded from.

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// The file that holds this function: the addon when it was loaded by Node, the executable otherwise
/// (`dladdr(3)`). Relative paths are as the loader was given them.
pub fn path() -> Option<PathBuf> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let own: fn() -> Option<PathBuf> = path;
    // SAFETY: `dladdr` only compares the address with the loaded objects and fills `info`, which outlives the call.
    #[expect(unsafe_code, reason = "dladdr has no safe wrapper")]
    let found = unsafe { libc::dladdr(own as *const c_void, info.as_mut_ptr()) };
    if found == 0 {
        return std::env::current_exe().ok();
    }
    // SAFETY: zeroed above, which is a valid `Dl_info`, and filled by the successful call. The name, when not null,
    // belongs to a loaded object: this one, which stays loaded while its code runs.
    #[expect(unsafe_code, reason = "reading what dladdr filled in")]
    let name = unsafe {
        let info = info.assume_init();
        if info.dli_fname.is_null() { None } else { Some(CStr::from_ptr(info.dli_fname).to_bytes().to_vec()) }
    };
    name.map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)))
}

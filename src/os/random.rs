//! Randomness from the kernel.

use std::io;

/// `N` random bytes (`getrandom(2)`, Linux 3.17). Blocks only before the pool is first initialised.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    const { assert!(N <= 256, "a longer read may be cut short by a signal (getrandom(2))") };
    let mut bytes = [0_u8; N];
    // SAFETY: the pointer and length describe `bytes`, which outlives the call.
    #[expect(unsafe_code, reason = "getrandom has no safe wrapper among our dependencies")]
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), N, 0) };
    if usize::try_from(got) == Ok(N) { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

//! This process's own memory.

/// Gives free memory back to the kernel (`malloc_trim(3)`); a C library without it keeps what it has.
pub fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes a number, and touches only what the allocator has free.
    #[expect(unsafe_code, reason = "malloc_trim(3)")]
    unsafe {
        libc::malloc_trim(0);
    }
}

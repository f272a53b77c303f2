//! What every start needs from the kernel, looked for once.

use std::sync::OnceLock;

/// A system call that is missing, or that a seccomp profile refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingCall {
    /// Its name.
    pub name: &'static str,
    /// The kernel that brought it.
    pub since: &'static str,
    /// What the kernel answered: `ENOSYS` or `EPERM`.
    pub errno: i32,
}

/// One call that must be there.
struct Need {
    name: &'static str,
    since: &'static str,
    /// Calls it with arguments that a kernel which has it refuses with anything but ENOSYS and EPERM.
    call: fn() -> libc::c_long,
}

const NEEDS: &[Need] = &[
    Need { name: "openat2", since: "5.6", call: || raw(libc::SYS_openat2, -1) },
    Need { name: "pidfd_open", since: "5.3", call: || raw(libc::SYS_pidfd_open, -1) },
    Need { name: "pidfd_send_signal", since: "5.1", call: || raw(libc::SYS_pidfd_send_signal, -1) },
    Need {
        name: "close_range",
        since: "5.9",
        call: || raw(libc::SYS_close_range, libc::c_long::from(u32::MAX)),
    },
];

/// A call with `first` and zeros: each of [`NEEDS`] refuses those before it does anything.
fn raw(number: libc::c_long, first: libc::c_long) -> libc::c_long {
    // SAFETY: the arguments are numbers and null pointers with zero lengths; every call here refuses them
    // (EBADF, EINVAL or EFAULT) without touching memory. close_range(MAX, 0) is refused because first > last.
    #[expect(unsafe_code, reason = "probing for system calls")]
    unsafe {
        libc::syscall(number, first, 0, 0, 0)
    }
}

/// The first call that every start needs and this system lacks, if any. Probed once per process.
pub fn missing_call() -> Option<MissingCall> {
    static FOUND: OnceLock<Option<MissingCall>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        first_missing(
            |need| {
                if (need.call)() < 0 { std::io::Error::last_os_error().raw_os_error() } else { None }
            },
        )
    })
}

/// The first need whose call ends with an errno that says "not here".
fn first_missing(errno_of: impl Fn(&Need) -> Option<i32>) -> Option<MissingCall> {
    NEEDS.iter().find_map(|need| {
        errno_of(need).filter(|errno| [libc::ENOSYS, libc::EPERM].contains(errno)).map(|errno| MissingCall {
            name: need.name,
            since: need.since,
            errno,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_what_is_needed() {
        assert_eq!(missing_call(), None);
    }

    #[test]
    fn each_call_that_a_kernel_or_a_seccomp_profile_refuses_is_named() {
        for name in ["openat2", "pidfd_open", "pidfd_send_signal", "close_range"] {
            for errno in [libc::ENOSYS, libc::EPERM] {
                let found =
                    first_missing(|need| if need.name == name { Some(errno) } else { Some(libc::EINVAL) });
                assert_eq!(found.map(|missing| (missing.name, missing.errno)), Some((name, errno)));
            }
        }
        assert_eq!(first_missing(|_| Some(libc::EBADF)), None);
    }
}

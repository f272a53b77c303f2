//! Which system calls a tree is refused. A list of what is refused, not of what is allowed: a build may need any call
//! that exists, and one that a future kernel brings is let through until it is on the list.

use super::filter_lists::{ATTRIBUTES, NOT_HERE, REFUSED};
use super::program::{Architecture, Call, Refusal, Test, compile};
use crate::confinement::{Net, Rules};

/// The program for `rules`.
pub(super) fn build(rules: &Rules) -> Vec<libc::sock_filter> {
    compile(refusals(rules), Architecture::HERE)
}

/// What `rules` refuse.
fn refusals(rules: &Rules) -> Vec<Refusal> {
    let mut refusals: Vec<_> = REFUSED.iter().map(|call| Refusal::always(*call, libc::EPERM)).collect();
    refusals.extend(NOT_HERE.iter().map(|call| Refusal::always(*call, libc::ENOSYS)));
    refusals.extend(namespaces());
    refusals.push(requests(rules));
    if rules.own_signals {
        // Another process's CPU limit ends it as a signal would.
        refusals.push(Refusal::when(call!(SYS_prlimit64), libc::EPERM, vec![vec![Test::differs(0, 0)]]));
    }
    if rules.attributes_kept {
        refusals.extend(ATTRIBUTES.iter().map(|call| Refusal::always(*call, libc::EPERM)));
    }
    if rules.execute.is_some() {
        // A memory file is in no directory that a rule could name, so Landlock lets it be executed. Without the execute
        // bit for good it can't be (`MFD_NOEXEC_SEAL`, Linux 6.3); callers that don't ask for that fall back on files.
        let executable = vec![vec![Test::none(1, MFD_NOEXEC_SEAL)]];
        refusals.push(Refusal::when(call!(SYS_memfd_create), libc::ENOSYS, executable));
        refusals.push(Refusal::always(call!(SYS_memfd_secret), libc::ENOSYS));
    }
    match &rules.network {
        Net::Host => {}
        Net::None => {
            refusals.push(Refusal::always(call!(SYS_socket), libc::EACCES));
            refusals.push(pairs_only());
        }
        Net::ConnectTcp(_) => {
            refusals.extend(tcp_only());
            refusals.push(pairs_only());
        }
    }
    refusals
}

/// New namespaces: in one of users this user would be root.
fn namespaces() -> [Refusal; 2] {
    const NEW: i32 = libc::CLONE_NEWNS
        | libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET;
    // In `clone(2)` this bit is part of the exit signal; only `unshare(2)` and `clone3(2)` take it.
    const NEWTIME: i32 = 0x80;
    let any = |call: Call, flags: i32| {
        Refusal::when(call, libc::EPERM, vec![vec![Test::any(0, flags.cast_unsigned())]])
    };
    [any(call!(SYS_clone), NEW), any(call!(SYS_unshare), NEW | NEWTIME)]
}

/// `ioctl(2)` requests that act beyond the descriptor they are given.
fn requests(rules: &Rules) -> Refusal {
    // Input for other terminals: `TIOCSTI`, `TIOCLINUX` (`ioctl_tty(2)`). `USERFAULTFD_IOC_NEW` of `/dev/userfaultfd`.
    // Numbers of x86-64 and aarch64.
    const ALWAYS: [u32; 3] = [0x5412, 0x541c, 0xaa00];
    // Attributes of a file that is open for reading only: `FS_IOC_SETFLAGS` (`ioctl_iflags(2)`), its extended form
    // `FS_IOC_FSSETXATTR`, `FS_IOC_SETVERSION`, `FS_IOC_ENABLE_VERITY`.
    const ATTRIBUTES: [u32; 4] = [0x4008_6602, 0x401c_5820, 0x4008_7602, 0x4080_6685];
    // What copies between two open files: `FICLONE`, `FICLONERANGE` (`ioctl_ficlone(2)`), `FIDEDUPERANGE`.
    const CLONES: [u32; 3] = [0x4004_9409, 0x4020_940d, 0xc018_9436];
    let attributes = if rules.attributes_kept { &ATTRIBUTES[..] } else { &[] };
    let mut cases: Vec<_> =
        ALWAYS.iter().chain(attributes).map(|request| vec![Test::equals(1, *request)]).collect();
    if rules.write.is_some() {
        // The rest of that family is Btrfs's: it makes and removes subvolumes below a directory that is open for reading,
        // which no hook of Landlock's sees.
        let of_btrfs = Test { argument: 1, mask: 0xff00, value: 0x9400, equal: true };
        let others = CLONES.iter().map(|clone| Test::differs(1, *clone));
        cases.push([of_btrfs].into_iter().chain(others).collect());
    }
    Refusal::when(call!(SYS_ioctl), libc::EPERM, cases)
}

/// Sockets for outgoing TCP alone: Landlock's rules about ports cover nothing else, neither MPTCP nor Fast Open, and
/// `listen(2)` without `bind(2)` takes a port by itself.
fn tcp_only() -> [Refusal; 6] {
    let [ip4, ip6, tcp, stream, fast_open] =
        [libc::AF_INET, libc::AF_INET6, libc::IPPROTO_TCP, libc::SOCK_STREAM, libc::MSG_FASTOPEN]
            .map(i32::cast_unsigned);
    let others = vec![
        vec![Test::differs(0, ip4), Test::differs(0, ip6)],
        vec![Test { argument: 1, mask: SOCK_TYPE_MASK, value: stream, equal: false }],
        vec![Test::differs(2, 0), Test::differs(2, tcp)],
    ];
    let opens =
        |call: Call, argument| Refusal::when(call, libc::EACCES, vec![vec![Test::any(argument, fast_open)]]);
    [
        Refusal::when(call!(SYS_socket), libc::EACCES, others),
        Refusal::always(call!(SYS_listen), libc::EACCES),
        // Another protocol in the socket's place, which a rule about TCP doesn't hold: `TCP_ULP` with "smc".
        Refusal::when(
            call!(SYS_setsockopt),
            libc::EACCES,
            vec![vec![Test::equals(1, tcp), Test::equals(2, libc::TCP_ULP.cast_unsigned())]],
        ),
        opens(call!(SYS_sendto), 3),
        opens(call!(SYS_sendmsg), 2),
        opens(call!(SYS_sendmmsg), 3),
    ]
}

/// Pairs of connected sockets, which pipes between processes are made of. A pair of datagram sockets is refused: each
/// may still be sent from to any name in the system (`unix(7)`).
fn pairs_only() -> Refusal {
    let kind =
        |kind: i32| Test { argument: 1, mask: SOCK_TYPE_MASK, value: kind.cast_unsigned(), equal: false };
    let others = vec![
        vec![Test::differs(0, libc::AF_UNIX.cast_unsigned())],
        vec![kind(libc::SOCK_STREAM), kind(libc::SOCK_SEQPACKET)],
    ];
    Refusal::when(call!(SYS_socketpair), libc::EACCES, others)
}

/// `SOCK_TYPE_MASK` of `include/linux/net.h`: the flags of `socket(2)` are above it.
const SOCK_TYPE_MASK: u32 = 0xf;
const MFD_NOEXEC_SEAL: u32 = 8;

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;

//! The seccomp filters. A list of what is refused, not of what is allowed: a build may need any call that exists, and
//! one that a future kernel brings is let through unless it is on the list.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::filter_lists::{ATTRIBUTES, NOT_HERE, REFUSED};
use crate::confinement::{Net, Rules};

type Table = BTreeMap<i64, Vec<SeccompRule>>;

/// Makes the filters for `rules`: one for each error number that they answer with.
pub(super) fn build(rules: &Rules) -> io::Result<Vec<Vec<libc::sock_filter>>> {
    let mut refused = Refusals::default();
    refused.add_all(REFUSED);
    privileges(&mut refused)?;
    if rules.own_signals {
        // Another process's CPU limit ends it as a signal would.
        refused.when(libc::SYS_prlimit64, vec![differs(0, 0)?])?;
    }
    if rules.attributes_kept {
        refused.add_all(ATTRIBUTES);
        for request in [FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR] {
            refused.when(libc::SYS_ioctl, vec![equals(1, request)?])?;
        }
    }
    let mut absent = Refusals::default();
    absent.add_all(NOT_HERE);
    if rules.execute.is_some() {
        // A memory file is in no directory that a rule could name, so Landlock lets it be executed. Without the execute
        // bit for good it can't be (`MFD_NOEXEC_SEAL`, Linux 6.3); libraries that don't ask for that fall back on files.
        absent.when(libc::SYS_memfd_create, vec![masked(1, MFD_NOEXEC_SEAL, 0)?])?;
        absent.always(libc::SYS_memfd_secret);
    }
    let mut sockets = Refusals::default();
    match &rules.network {
        Net::Host => {}
        Net::None => sockets.always(libc::SYS_socket),
        Net::ConnectTcp(_) => tcp_only(&mut sockets)?,
    }
    if rules.network != Net::Host {
        pairs_only(&mut sockets)?;
    }
    let tables = [(refused, libc::EPERM), (absent, libc::ENOSYS), (sockets, libc::EACCES)];
    tables
        .into_iter()
        .filter(|(refusals, _)| !refusals.0.is_empty())
        .map(|(refusals, errno)| refusals.compile(errno))
        .collect()
}

/// What would make a new user or mount namespace, in which this user would be root, and input for other terminals.
fn privileges(refused: &mut Refusals) -> io::Result<()> {
    const NAMESPACES: [libc::c_int; 7] = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    for flag in NAMESPACES {
        let flag = u64::from(flag.cast_unsigned());
        refused.when(libc::SYS_clone, vec![masked(0, flag, flag)?])?;
        refused.when(libc::SYS_unshare, vec![masked(0, flag, flag)?])?;
    }
    refused.when(libc::SYS_unshare, vec![masked(0, CLONE_NEWTIME, CLONE_NEWTIME)?])?;
    for request in [libc::TIOCSTI, libc::TIOCLINUX] {
        refused.when(libc::SYS_ioctl, vec![equals(1, request)?])?;
    }
    Ok(())
}

/// Sockets for outgoing TCP alone: Landlock's rules about ports cover nothing else, MPTCP and Fast Open not, and
/// `listen(2)` without `bind(2)` takes a port by itself.
fn tcp_only(sockets: &mut Refusals) -> io::Result<()> {
    let [ip4, ip6] = [libc::AF_INET, libc::AF_INET6].map(|family| u64::from(family.cast_unsigned()));
    sockets.when(libc::SYS_socket, vec![differs(0, ip4)?, differs(0, ip6)?])?;
    for kind in (0..=SOCK_TYPE_MASK).filter(|kind| *kind != u64::from(libc::SOCK_STREAM.cast_unsigned())) {
        sockets.when(libc::SYS_socket, vec![masked(1, SOCK_TYPE_MASK, kind)?])?;
    }
    let tcp = u64::from(libc::IPPROTO_TCP.cast_unsigned());
    sockets.when(libc::SYS_socket, vec![differs(2, 0)?, differs(2, tcp)?])?;
    sockets.always(libc::SYS_listen);
    let fast_open = u64::from(libc::MSG_FASTOPEN.cast_unsigned());
    for (call, argument) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        sockets.when(call, vec![masked(argument, fast_open, fast_open)?])?;
    }
    Ok(())
}

/// Pairs of connected sockets, which pipes between processes are made of. A pair of datagram sockets is refused: each
/// may still be sent from to any name in the system (`unix(7)`).
fn pairs_only(sockets: &mut Refusals) -> io::Result<()> {
    sockets.when(libc::SYS_socketpair, vec![differs(0, u64::from(libc::AF_UNIX.cast_unsigned()))?])?;
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| u64::from(kind.cast_unsigned()));
    for kind in (0..=SOCK_TYPE_MASK).filter(|kind| !connected.contains(kind)) {
        sockets.when(libc::SYS_socketpair, vec![masked(1, SOCK_TYPE_MASK, kind)?])?;
    }
    Ok(())
}

/// `SOCK_TYPE_MASK` of `include/linux/net.h`: the flags of `socket(2)` are above it.
const SOCK_TYPE_MASK: u64 = 0xf;
const MFD_NOEXEC_SEAL: u64 = 8;
/// In `clone(2)` this bit is part of the exit signal; only `unshare(2)` and `clone3(2)` take it.
const CLONE_NEWTIME: u64 = 0x80;
/// `ioctl_iflags(2)` and its extended form; numbers of x86-64 and aarch64.
const FS_IOC_SETFLAGS: libc::Ioctl = 0x4008_6602;
const FS_IOC_FSSETXATTR: libc::Ioctl = 0x401c_5820;

#[derive(Default)]
struct Refusals(Table);

impl Refusals {
    fn add_all(&mut self, calls: &[libc::c_long]) {
        for call in calls {
            self.always(*call);
        }
    }

    /// Refused whatever its arguments.
    #[expect(clippy::useless_conversion, reason = "`c_long` has another width elsewhere")]
    fn always(&mut self, call: libc::c_long) {
        self.0.insert(i64::from(call), Vec::new());
    }

    /// Refused when all conditions hold.
    #[expect(clippy::useless_conversion, reason = "`c_long` has another width elsewhere")]
    fn when(&mut self, call: libc::c_long, conditions: Vec<SeccompCondition>) -> io::Result<()> {
        let rule = SeccompRule::new(conditions).map_err(failed)?;
        match self.0.get_mut(&i64::from(call)) {
            Some(rules) if rules.is_empty() => {} // refused already, whatever the arguments
            Some(rules) => rules.push(rule),
            None => {
                self.0.insert(i64::from(call), vec![rule]);
            }
        }
        Ok(())
    }

    fn compile(self, errno: i32) -> io::Result<Vec<libc::sock_filter>> {
        let arch = std::env::consts::ARCH.try_into().map_err(failed)?;
        let refuse = SeccompAction::Errno(errno.cast_unsigned());
        let filter = SeccompFilter::new(self.0, SeccompAction::Allow, refuse, arch).map_err(failed)?;
        let program: BpfProgram = filter.try_into().map_err(failed)?;
        let own = program.iter().map(|step| libc::sock_filter {
            code: step.code,
            jt: step.jt,
            jf: step.jf,
            k: step.k,
        });
        Ok(no_x32().into_iter().chain(own).collect())
    }
}

/// On x86-64 a call has a second number, with bit 30 set, that reaches the same kernel (x32): refused as unknown, as a
/// kernel without x32 does.
fn no_x32() -> Vec<libc::sock_filter> {
    const X32: u32 = 0x4000_0000;
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: u16::try_from(code).unwrap_or(0), jt, jf, k };
    vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
    ]
}

fn equals(argument: u8, value: libc::Ioctl) -> io::Result<SeccompCondition> {
    // The kernel looks at the lower half of a request alone (`unsigned int cmd`).
    let value = u64::from(u32::try_from(value).map_err(io::Error::other)?);
    condition(argument, SeccompCmpOp::Eq, value)
}

fn differs(argument: u8, value: u64) -> io::Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::Ne, value)
}

/// The bits of `mask` in the argument are those of `value`.
fn masked(argument: u8, mask: u64, value: u64) -> io::Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

/// Each argument here is an `int` or an `unsigned int` to the kernel, which ignores the upper half.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> io::Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).map_err(failed)
}

fn failed(error: seccompiler::BackendError) -> io::Error {
    io::Error::other(format!("making a seccomp filter: {error}"))
}

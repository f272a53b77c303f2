//! Each preset's filter, run for both architectures whichever this one is.

use std::collections::HashMap;

use super::super::interpreter::{errno, run};
use super::*;

/// Every call of aarch64 by name, from libc's own lists for it and, for newer ones, the kernel's
/// (`include/uapi/asm-generic/unistd.h`).
const AARCH64: &str = include_str!("calls_aarch64.txt");

fn aarch64() -> HashMap<&'static str, u32> {
    let pairs = AARCH64.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(name, number)| (name, number.parse().unwrap())).collect()
}

fn rules(execute: bool, attributes_kept: bool, network: Net) -> Rules {
    Rules {
        execute: execute.then(Vec::new),
        write: attributes_kept.then(Vec::new),
        attributes_kept,
        network,
        ..Rules::of_nothing()
    }
}

fn short(call: Call) -> &'static str {
    call.name.strip_prefix("SYS_").unwrap_or(call.name)
}

/// The same refusals by aarch64's numbers; what it doesn't have is left out.
fn for_aarch64(rules: &Rules) -> Vec<libc::sock_filter> {
    let numbers = aarch64();
    let translated = refusals(rules).into_iter().filter_map(|refusal| {
        let number = *numbers.get(short(refusal.call))?;
        Some(Refusal { call: Call { number, ..refusal.call }, ..refusal })
    });
    compile(translated.collect(), Architecture::AARCH64)
}

const X32: u32 = 0x4000_0000;
const ANY: [u64; 6] = [u64::MAX; 6];

/// Name, number on x86-64, on aarch64, arguments, and the answer.
type Row = (&'static str, Option<u32>, Option<u32>, [u64; 6], Option<i32>);

/// The answers with everything refused that can be. Numbers as in
/// the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` and `scripts/syscall.tbl`.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("read",             Some(0),   Some(63),  ANY, None),
    ("write",            Some(1),   Some(64),  ANY, None),
    ("openat",           Some(257), Some(56),  ANY, None),
    ("mmap",             Some(9),   Some(222), ANY, None),
    ("execve",           Some(59),  Some(221), ANY, None),
    ("execveat",         Some(322), Some(281), ANY, None),
    ("exit_group",       Some(231), Some(94),  ANY, None),
    ("rt_sigreturn",     Some(15),  Some(139), ANY, None),
    ("futex",            Some(202), Some(98),  ANY, None),
    ("getpid",           Some(39),  Some(172), ANY, None),
    ("kill",             Some(62),  Some(129), ANY, None),
    ("ptrace",           Some(101), Some(117), [0; 6], Some(libc::EPERM)),
    ("process_vm_readv", Some(310), Some(270), [0; 6], Some(libc::EPERM)),
    ("process_vm_writev", Some(311), Some(271), [0; 6], Some(libc::EPERM)),
    ("pidfd_getfd",      Some(438), Some(438), [0; 6], Some(libc::EPERM)),
    ("mount",            Some(165), Some(40),  [0; 6], Some(libc::EPERM)),
    ("umount2",          Some(166), Some(39),  [0; 6], Some(libc::EPERM)),
    ("open_by_handle_at", Some(304), Some(265), [0; 6], Some(libc::EPERM)),
    ("bpf",              Some(321), Some(280), [0; 6], Some(libc::EPERM)),
    ("keyctl",           Some(250), Some(219), [0; 6], Some(libc::EPERM)),
    ("setns",            Some(308), Some(268), [0; 6], Some(libc::EPERM)),
    ("init_module",      Some(175), Some(105), [0; 6], Some(libc::EPERM)),
    ("kexec_file_load",  Some(320), Some(294), [0; 6], Some(libc::EPERM)),
    ("perf_event_open",  Some(298), Some(241), [0; 6], Some(libc::EPERM)),
    ("reboot",           Some(169), Some(142), [0; 6], Some(libc::EPERM)),
    ("iopl",             Some(172), None,      [0; 6], Some(libc::EPERM)),
    ("clone3",           Some(435), Some(435), [0; 6], Some(libc::ENOSYS)),
    ("io_uring_setup",   Some(425), Some(425), [0; 6], Some(libc::ENOSYS)),
    ("open_tree_attr",   Some(467), Some(467), [0; 6], Some(libc::EPERM)),
    // Threads and forks go on, also when the upper half of the flags is odd; new namespaces don't.
    ("clone",            Some(56),  Some(220), [0x003d_0f00, 0, 0, 0, 0, 0], None),
    ("clone",            Some(56),  Some(220), [0x1_0000_0011, 0, 0, 0, 0, 0], None),
    ("clone",            Some(56),  Some(220), [0x1000_0011, 0, 0, 0, 0, 0], Some(libc::EPERM)),
    ("clone",            Some(56),  Some(220), [0xffff_ffff_0002_0011, 0, 0, 0, 0, 0], Some(libc::EPERM)),
    ("unshare",          Some(272), Some(97),  [0x0000_0400, 0, 0, 0, 0, 0], None),
    ("unshare",          Some(272), Some(97),  [0x1000_0000, 0, 0, 0, 0, 0], Some(libc::EPERM)),
    ("unshare",          Some(272), Some(97),  [0x0000_0080, 0, 0, 0, 0, 0], Some(libc::EPERM)),
    ("ioctl",            Some(16),  Some(29),  [0, 0x5401, 0, 0, 0, 0], None),
    ("ioctl",            Some(16),  Some(29),  [0, 0x5412, 0, 0, 0, 0], Some(libc::EPERM)),
    ("ioctl",            Some(16),  Some(29),  [0, 0xdead_0000_5412, 0, 0, 0, 0], Some(libc::EPERM)),
    ("ioctl",            Some(16),  Some(29),  [0, 0x4008_6602, 0, 0, 0, 0], Some(libc::EPERM)),
    ("ioctl",            Some(16),  Some(29),  [0, 0x4080_6685, 0, 0, 0, 0], Some(libc::EPERM)),
    ("ioctl",            Some(16),  Some(29),  [0, 0xaa00, 0, 0, 0, 0], Some(libc::EPERM)),
    // BTRFS_IOC_SUBVOL_CREATE, BTRFS_IOC_SNAP_CREATE_V2; FICLONE.
    ("ioctl",            Some(16),  Some(29),  [0, 0x5000_940e, 0, 0, 0, 0], Some(libc::EPERM)),
    ("ioctl",            Some(16),  Some(29),  [0, 0x5000_9417, 0, 0, 0, 0], Some(libc::EPERM)),
    ("ioctl",            Some(16),  Some(29),  [0, 0x4004_9409, 0, 0, 0, 0], None),
    ("prlimit64",        Some(302), Some(261), [0, 7, 1, 1, 0, 0], None),
    ("prlimit64",        Some(302), Some(261), [1, 7, 1, 1, 0, 0], Some(libc::EPERM)),
    ("fchmod",           Some(91),  Some(52),  [0; 6], Some(libc::EPERM)),
    ("chmod",            Some(90),  None,      [0; 6], Some(libc::EPERM)),
    ("fchmodat",         Some(268), Some(53),  [0; 6], Some(libc::EPERM)),
    ("fchmodat2",        Some(452), Some(452), [0; 6], Some(libc::EPERM)),
    ("utimensat",        Some(280), Some(88),  [0; 6], Some(libc::EPERM)),
    ("setxattr",         Some(188), Some(5),   [0; 6], Some(libc::EPERM)),
    ("memfd_create",     Some(319), Some(279), [0, 1, 0, 0, 0, 0], Some(libc::ENOSYS)),
    ("memfd_create",     Some(319), Some(279), [0, 9, 0, 0, 0, 0], None),
    ("socket",           Some(41),  Some(198), [1, 1, 0, 0, 0, 0], Some(libc::EACCES)),
    ("socket",           Some(41),  Some(198), [16, 3, 0, 0, 0, 0], Some(libc::EACCES)),
    ("socketpair",       Some(53),  Some(199), [1, 0o2_000_001, 0, 0, 0, 0], None),
    ("socketpair",       Some(53),  Some(199), [1, 2, 0, 0, 0, 0], Some(libc::EACCES)),
    ("socketpair",       Some(53),  Some(199), [2, 1, 0, 0, 0, 0], Some(libc::EACCES)),
];

fn programs(rules: &Rules) -> Vec<(Architecture, Vec<libc::sock_filter>)> {
    let mut programs = vec![(Architecture::AARCH64, for_aarch64(rules))];
    // The calls that x86-64 alone has are in the lists only where that is the target.
    if cfg!(target_arch = "x86_64") {
        programs.push((Architecture::X86_64, build(rules)));
    }
    programs
}

#[test]
fn each_architecture_refuses_the_same_by_its_own_numbers() {
    for (architecture, program) in programs(&rules(true, true, Net::None)) {
        for (name, x86_64, aarch64, arguments, expected) in TABLE {
            let number = if architecture == Architecture::AARCH64 { aarch64 } else { x86_64 };
            let Some(number) = *number else { continue };
            let (answer, _) = run(&program, number, architecture.audit, *arguments);
            assert_eq!(errno(answer), *expected, "{name} of {architecture:?} with {arguments:x?}");
            let allowed = answer == libc::SECCOMP_RET_ALLOW;
            assert_eq!(allowed, expected.is_none(), "{name} of {architecture:?}");
            if architecture == Architecture::X86_64 {
                let second = run(&program, number | X32, architecture.audit, *arguments).0;
                assert_eq!(errno(second), Some(libc::ENOSYS), "{name} by its x32 number");
            }
            for foreign in [0x4000_0003, 0x4000_0028] {
                let foreign = run(&program, number, foreign, *arguments).0;
                assert_eq!(foreign, libc::SECCOMP_RET_KILL_PROCESS, "{name} of a 32-bit program");
            }
        }
    }
}

#[test]
fn nothing_but_what_is_listed_is_refused() {
    let rules = rules(true, true, Net::None);
    let listed: Vec<_> = refusals(&rules).into_iter().map(|refusal| short(refusal.call)).collect();
    let program = for_aarch64(&rules);
    for (name, number) in aarch64() {
        let (answer, _) = run(&program, number, Architecture::AARCH64.audit, ANY);
        assert!(answer == libc::SECCOMP_RET_ALLOW || listed.contains(&name), "{name}");
    }
}

#[test]
fn outgoing_tcp_is_all_that_is_left_of_a_network_of_ports() {
    let rules = rules(false, false, Net::ConnectTcp(vec![443]));
    let [stream, datagram, cloexec] = [1, 2, 0o2_000_000];
    for (architecture, program) in programs(&rules) {
        let aarch64 = architecture == Architecture::AARCH64;
        let numbers = if aarch64 { [198, 201, 206, 208] } else { [41, 50, 44, 54] };
        let [socket, listen, sendto, setsockopt] = numbers;
        let answer = |number, arguments| errno(run(&program, number, architecture.audit, arguments).0);
        let refused = Some(libc::EACCES);
        assert_eq!(answer(socket, [2, stream | cloexec, 6, 0, 0, 0]), None);
        assert_eq!(answer(socket, [10, stream, 0, 0, 0, 0]), None);
        assert_eq!(answer(socket, [2, datagram, 0, 0, 0, 0]), refused);
        assert_eq!(answer(socket, [2, stream, 262, 0, 0, 0]), refused, "MPTCP");
        assert_eq!(answer(socket, [1, stream, 0, 0, 0, 0]), refused, "AF_UNIX");
        assert_eq!(answer(socket, [40, stream, 0, 0, 0, 0]), refused, "AF_VSOCK");
        assert_eq!(answer(listen, [0; 6]), refused);
        assert_eq!(answer(sendto, [0, 0, 0, 0x2000_0000, 0, 0]), refused, "Fast Open");
        assert_eq!(answer(sendto, [0, 0, 0, 0x4000, 0, 0]), None);
        assert_eq!(answer(setsockopt, [3, 6, 31, 0, 0, 0]), refused, "TCP_ULP");
        assert_eq!(answer(setsockopt, [3, 6, 1, 0, 0, 0]), None, "TCP_NODELAY");
    }
}

#[test]
fn the_lists_number_calls_as_the_table_does() {
    let table = aarch64();
    assert!(table.len() > 300, "{}", table.len());
    let only_x86 = ["chmod", "chown", "futimesat", "ioperm", "iopl", "lchown", "uselib", "utime", "utimes"];
    for refusal in refusals(&rules(true, true, Net::ConnectTcp(vec![1]))) {
        let name = short(refusal.call);
        match table.get(name) {
            Some(number) if cfg!(target_arch = "aarch64") => {
                assert_eq!(refusal.call.number, *number, "{name}");
            }
            Some(_) => {}
            None => assert!(only_x86.contains(&name), "aarch64 has a {name} that is not in the table?"),
        }
    }
}

//! Other processes and the kernel itself.

use std::process::{Child, Command};

use serde_json::{Value as Json, json};

use crate::attempt::{Field, call, expected, perl, sh};

fn tree() -> Json {
    json!({ "level": "required", "signals": "own-tree" })
}

fn bare() -> Json {
    json!({ "level": "required" })
}

/// A process of this user outside of the tree.
struct Neighbour(Child);

impl Neighbour {
    fn new() -> Self {
        Self(Command::new("sleep").arg("300").env("SECRET", "escaped").spawn().unwrap())
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn signals_reach_the_own_tree_and_nobody_else() {
    if !expected(6) {
        return;
    }
    let field = Field::new();
    let host = std::process::id();
    field.is_stopped(tree(), perl(&format!("kill(0, {host}) and print 'escaped'"))).await;
    field.is_stopped_without_twin(tree(), sh("kill -9 $PPID && echo escaped")).await;
    let limit = call(libc::SYS_prlimit64, &format!("{host}, 7, 0, 0"));
    field.is_stopped(tree(), perl(&limit)).await;
    let own =
        sh("exec 2> /dev/null; sleep 60 & kill $!; wait $!; echo $?; ulimit -n > /dev/null && echo fine");
    assert_eq!(field.run(Some(&tree()), &own).await.1, "143\nfine\n");
}

#[tokio::test]
async fn another_process_is_neither_traced_nor_looked_into() {
    assert!(expected(2));
    let field = Field::new();
    let neighbour = Neighbour::new();
    let pid = neighbour.0.id();
    field.is_stopped(bare(), perl(&call(libc::SYS_ptrace, "0, 0, 0, 0"))).await;
    field.is_stopped_without_twin(bare(), perl(&call(libc::SYS_ptrace, &format!("16, {pid}, 0, 0")))).await;
    field.is_stopped(bare(), json!(["cat", format!("/proc/{pid}/environ")])).await;
    let memory = perl(&format!("open my $m, '+<', '/proc/{pid}/mem' or die $!; print 'escaped'"));
    let may_trace = nix::unistd::geteuid().is_root();
    if may_trace {
        field.is_stopped(bare(), memory).await;
    } else {
        field.is_stopped_without_twin(bare(), memory).await;
    }
}

#[tokio::test]
async fn what_no_build_needs_of_the_kernel_is_refused() {
    let field = Field::new();
    let refused = [
        (libc::SYS_io_uring_setup, "1, 0", libc::ENOSYS),
        (libc::SYS_clone3, "0, 0", libc::ENOSYS),
        (libc::SYS_bpf, "0, 0, 0", libc::EPERM),
        (libc::SYS_keyctl, "0, -3, 1", libc::EPERM),
        (libc::SYS_mount, "0, 0, 0, 0, 0", libc::EPERM),
        (libc::SYS_unshare, "0x10000000", libc::EPERM),
        (libc::SYS_unshare, "0x20000", libc::EPERM),
        (libc::SYS_clone, "0x10000011, 0, 0, 0, 0", libc::EPERM),
        (libc::SYS_setns, "0, 0", libc::EPERM),
        (libc::SYS_userfaultfd, "1", libc::EPERM),
        (libc::SYS_perf_event_open, "0, 0, 0, 0, 0", libc::EPERM),
        (libc::SYS_open_by_handle_at, "0, 0, 0", libc::EPERM),
        (libc::SYS_process_vm_readv, "1, 0, 0, 0, 0, 0", libc::EPERM),
        (libc::SYS_pidfd_getfd, "0, 0, 0", libc::EPERM),
        (libc::SYS_kexec_load, "0, 0, 0, 0", libc::EPERM),
        (libc::SYS_finit_module, "0, 0, 0", libc::EPERM),
        (libc::SYS_ioctl, "0, 0x5412, 0", libc::EPERM),
    ];
    for (number, arguments, errno) in refused {
        let (status, text) = field.run(Some(&bare()), &perl(&call(number, arguments))).await;
        assert_eq!(text, format!("errno {errno}"), "call {number}: {status:#}");
    }
    let keyring = call(libc::SYS_keyctl, "0, -3, 1");
    let (_, free) = field.run(None, &perl(&keyring)).await;
    assert!(free.contains("escaped"), "the twin: {free}");
}

/// x86-64 knows each call by a second number, with bit 30 set.
#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn the_other_numbers_of_the_calls_lead_nowhere() {
    let field = Field::new();
    for number in [0x4000_0000 + libc::SYS_unshare, 0x4000_0000 + 521, 0x4000_0000 + libc::SYS_getpid] {
        let (_, text) = field.run(Some(&bare()), &perl(&call(number, "0x10000000"))).await;
        assert_eq!(text, format!("errno {}", libc::ENOSYS));
    }
}

#[tokio::test]
async fn the_tree_does_not_leave_its_cgroup() {
    let field = Field::new();
    let argv = sh("echo $$ > /sys/fs/cgroup/cgroup.procs && echo escaped");
    let (_, free) = field.run(None, &argv).await;
    let confinement = json!("workspace");
    if free.contains("escaped") {
        field.is_stopped(confinement, argv).await;
    } else {
        field.is_stopped_without_twin(confinement, argv).await;
    }
}

#[tokio::test]
async fn no_program_gains_privileges() {
    let field = Field::new();
    let argv = sh("grep NoNewPrivs /proc/self/status");
    assert_eq!(field.run(None, &argv).await.1, "NoNewPrivs:\t0\n");
    assert_eq!(field.run(Some(&bare()), &argv).await.1, "NoNewPrivs:\t1\n");
}

//! Ways around the rules, under the presets as they are: each twin gets through without them.

use std::os::unix::net::UnixListener;
use std::process::{Child, Command};

use serde_json::{Value as Json, json};

use crate::attempt::{Field, call, expected, perl, sh};

fn presets() -> [Json; 2] {
    [json!("read-only"), json!("workspace")]
}

/// A process of this user outside of the tree, with a secret in what it has open.
struct Neighbour(Child);

impl Neighbour {
    fn new(field: &Field) -> Self {
        let secret = field.outside.join("secret");
        std::fs::write(&secret, "escaped").unwrap();
        let input = std::fs::File::open(secret).unwrap();
        Self(Command::new("sleep").arg("300").current_dir(&field.outside).stdin(input).spawn().unwrap())
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn no_way_through_proc_leads_outside() {
    assert!(expected(6));
    let field = Field::new();
    let neighbour = Neighbour::new(&field);
    let pid = neighbour.0.id();
    let secret = field.outside.join("secret");
    let ways = [
        format!("cat /proc/self/root{}", secret.display()),
        "cat /proc/self/cwd/../outside/secret".to_owned(),
        format!("cat /proc/{pid}/root{}", secret.display()),
        format!("cat /proc/{pid}/cwd/secret"),
        format!("cat /proc/{pid}/fd/0"),
        "cat /proc/$PPID/environ > /dev/null && echo escaped".to_owned(),
        "readlink /proc/$PPID/fd/0 > /dev/null && echo escaped".to_owned(),
    ];
    for way in ways {
        field.is_stopped(json!("workspace"), sh(&way)).await;
    }
    // `read-only` reads any file, but through no other process.
    for way in [format!("cat /proc/{pid}/cwd/secret"), format!("cat /proc/{pid}/fd/0")] {
        field.is_stopped(json!("read-only"), sh(&way)).await;
    }
}

#[tokio::test]
async fn a_path_that_was_only_looked_up_gives_no_right() {
    let field = Field::new();
    let victim = field.outside.join("victim");
    std::fs::write(&victim, "").unwrap();
    // O_PATH is not held by Landlock; what can be done with it is.
    let place = format!(
        "my $p = '{}'; my $fd = syscall({}, -100, $p, 0x200000);",
        victim.display(),
        libc::SYS_openat
    );
    let reopened = format!("{place} open(my $f, '>>', \"/proc/self/fd/$fd\") and print 'escaped'");
    // O_RDONLY with O_TRUNC empties a file that isn't opened for writing.
    let emptied = format!("sysopen(my $f, '{}', 01000) and print 'escaped'", victim.display());
    for preset in presets() {
        field.is_stopped(preset.clone(), perl(&reopened)).await;
        field.is_stopped(preset, perl(&emptied)).await;
    }
    let changes = [
        format!(
            "{place} my $e = ''; my $r = syscall(452, $fd, $e, 0777, 0x1000); print 'escaped' if $r == 0"
        ),
        format!("{place} chmod(0777, \"/proc/self/fd/$fd\") and print 'escaped'"),
        format!("{place} utime(1, 1, \"/proc/self/fd/$fd\") and print 'escaped'"),
        format!(
            "{place} my ($n, $v) = ('user.x', 'y'); my $q = \"/proc/self/fd/$fd\"; \
             my $r = syscall({}, $q, $n, $v, 1, 0); print 'escaped' if $r == 0",
            libc::SYS_setxattr
        ),
    ];
    for change in changes {
        field.is_stopped(json!("read-only"), perl(&change)).await;
    }
}

#[tokio::test]
async fn the_machine_is_not_written_through_its_file_systems() {
    let field = Field::new();
    let own = ["/dev/shm", "/tmp", "/var/tmp"].map(|dir| format!("{dir}/argvault-{}", std::process::id()));
    for preset in presets() {
        for path in &own {
            field
                .is_stopped(preset.clone(), sh(&format!("echo x > {path} && rm {path} && echo escaped")))
                .await;
        }
        for path in ["/proc/self/oom_score_adj", "/proc/$PPID/oom_score_adj"] {
            field.is_stopped(preset.clone(), written_as_it_is(path)).await;
        }
    }
}

/// Writes back what a file in `/proc` says, so that nothing changes. The shell's variable is the only other place that is
/// written.
fn written_as_it_is(path: &str) -> Json {
    sh(&format!("as_it_is=$(cat {path}); echo \"$as_it_is\" > {path} && echo escaped"))
}

#[tokio::test]
async fn the_kernels_settings_are_not_written_where_this_user_may_write_them() {
    const SETTING: &str = "/proc/sys/kernel/domainname";
    let field = Field::new();
    let mine = std::fs::File::options().write(true).open(SETTING).is_ok();
    let (_, free) = field.run(None, &written_as_it_is(SETTING)).await;
    assert_eq!(free.contains("escaped"), mine, "the twin does what this user may: {free}");
    for preset in presets() {
        field.is_stopped_without_twin(preset, written_as_it_is(SETTING)).await;
    }
}

#[tokio::test]
async fn no_signal_goes_out_through_a_descriptor() {
    if !expected(6) {
        return;
    }
    let field = Field::new();
    let neighbour = Neighbour::new(&field);
    let pid = neighbour.0.id();
    // F_SETOWN and F_SETSIG: the kernel itself sends the signal when the pipe has something.
    let script = format!(
        "use Fcntl; pipe(my $r, my $w); fcntl($r, 8, {pid}) or die $!; fcntl($r, 10, 9) or die $!; \
         fcntl($r, 4, 020000) or die $!; syswrite($w, 'x'); \
         for (1 .. 200) {{ (open my $s, '<', '/proc/{pid}/stat') or last; print('escaped'), exit if <$s> =~ /\\) Z /; \
         select undef, undef, undef, 0.01; }}"
    );
    for preset in presets() {
        field.is_stopped_without_twin(preset, perl(&script)).await;
    }
    assert!(field.run(None, &perl(&script)).await.1.contains("escaped"), "the twin");
}

#[tokio::test]
async fn no_namespace_is_made_in_which_this_user_would_be_root() {
    let field = Field::new();
    let user = 0x1000_0000;
    for preset in presets() {
        for flags in [user, user | 0x0002_0000, 0x0002_0000, 0x4000_0000] {
            field
                .is_stopped_without_twin(preset.clone(), perl(&call(libc::SYS_unshare, &flags.to_string())))
                .await;
        }
    }
    let (_, free) = field.run(None, &perl(&call(libc::SYS_unshare, &user.to_string()))).await;
    assert!(free.contains("escaped"), "the twin: {free}");
}

#[tokio::test]
async fn no_other_kind_of_socket_is_made() {
    let field = Field::new();
    // AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK; streams, datagrams and raw ones.
    for family in [1, 2, 10, 16, 17, 38, 40] {
        for kind in [1, 2, 3] {
            let argv = perl(&format!("socket(my $s, {family}, {kind}, 0) and print 'escaped'"));
            for preset in presets() {
                field.is_stopped_without_twin(preset, argv.clone()).await;
            }
        }
    }
    let (_, free) = field.run(None, &perl("socket(my $s, 2, 2, 0) and print 'escaped'")).await;
    assert!(free.contains("escaped"), "the twin");
    // Outside, even the name of one isn't made; a command of the workspace's may make it there.
    let made = format!("{}/made", field.outside.display());
    let named = format!(
        "use Socket; socketpair(my $a, my $b, PF_UNIX, SOCK_STREAM, 0) or die $!; \
         bind($a, pack_sockaddr_un('{made}')) and unlink('{made}') and print 'escaped'"
    );
    field.is_stopped(json!("workspace"), perl(&named)).await;
}

#[tokio::test]
async fn no_end_of_a_pair_listens_which_the_kernel_forbids_free_commands_too() {
    let field = Field::new();
    let pair = |number: u32| {
        let bound = field.rig.work().join(format!("made-{number}"));
        perl(&format!(
            "use Socket; socketpair(my $a, my $b, PF_UNIX, SOCK_STREAM, 0) or die $!; close $b; \
             bind($a, pack_sockaddr_un('{}')) or die $!; print listen($a, 1) ? 'escaped' : 'errno '.($!+0)",
            bound.display()
        ))
    };
    let forbidden = format!("errno {}", libc::EINVAL);
    assert_eq!(
        field.run(None, &pair(0)).await.1,
        forbidden,
        "a free command's pair listens: this needs a twin"
    );
    assert_eq!(field.run(Some(&json!("workspace")), &pair(1)).await.1, forbidden);
}

#[tokio::test]
async fn a_file_without_a_name_is_not_executed() {
    let field = Field::new();
    // O_TMPFILE, filled with a program.
    let script = format!(
        "use IO::Handle; my $d = '.'; my $fd = syscall({}, -100, $d, 020200000 | 2, 0700); die $! if $fd < 0; \
         open my $m, '+>&=', $fd; open my $i, '<', '/bin/echo'; {{ local $/; print {{$m}} <$i>; }} $m->flush; \
         $^F = 99; open my $again, '<', \"/proc/$$/fd/$fd\" or die $!; close $m; \
         exec '/proc/self/fd/'.fileno($again), 'escaped'",
        libc::SYS_openat
    );
    field.is_stopped(json!({ "level": "required", "execute": ["perl"] }), perl(&script)).await;
    field.is_stopped(json!({ "level": "required", "execute": ["perl"] }), perl(&memory_file(0))).await;
}

/// Fills a memory file, made with these flags, with a program, and executes it.
fn memory_file(flags: u32) -> String {
    format!(
        "use IO::Handle; my $n = 'x'; my $fd = syscall({}, $n, {flags}); die $! if $fd < 0; \
         chmod 0700, \"/proc/self/fd/$fd\"; open my $m, '+>&=', $fd; open my $i, '<', '/bin/echo'; \
         {{ local $/; print {{$m}} <$i>; }} $m->flush; $^F = 99; exec(\"/proc/$$/fd/$fd\", 'escaped') or print \"refused\"",
        libc::SYS_memfd_create
    )
}

#[tokio::test]
async fn a_sealed_memory_file_is_not_executed_which_the_kernel_forbids_free_commands_too() {
    const MFD_NOEXEC_SEAL: u32 = 8;
    let field = Field::new();
    let argv = perl(&memory_file(MFD_NOEXEC_SEAL));
    let (_, free) = field.run(None, &argv).await;
    assert_eq!(free, "refused", "a free command's sealed file is executed: this needs a twin");
    let (_, confined) = field.run(Some(&json!({ "level": "required", "execute": ["perl"] })), &argv).await;
    assert_eq!(confined, "refused");
}

#[tokio::test]
async fn a_hard_link_is_the_same_file_and_a_script_brings_no_other_interpreter() {
    let field = Field::new();
    let only = json!({ "level": "required", "execute": ["perl"] });
    let work = field.rig.work();
    std::fs::hard_link(crate::attempt::real("echo"), work.join("linked"))
        .or_else(|_| std::fs::copy("/bin/echo", work.join("linked")).map(drop))
        .unwrap();
    field.is_stopped(only.clone(), perl("exec './linked', 'escaped'")).await;
    std::fs::write(work.join("script"), "#!/bin/sh\necho escaped\n").unwrap();
    field.is_stopped(only, perl("chmod 0755, 'script'; exec './script'")).await;
}

#[tokio::test]
async fn neither_its_own_record_nor_another_commands_is_reached() {
    let field = Field::new();
    let vault = field.rig.vault();
    // With a temporary directory, and free otherwise.
    let bare = json!({ "level": "required" });
    field.rig.set_policy(json!({ "allowedExecutables": ["sh"], "confinement": bare }));
    let other = field.rig.start(sh("echo secret; sleep 60"), json!({})).await;
    let folder = vault.join(&other);
    crate::support::eventually("the output", || {
        std::fs::read(folder.join("stdout")).ok().filter(|text| !text.is_empty())
    })
    .await;
    // Its own folder: a free command, whose temporary directory is elsewhere, has it from its keeper.
    let own = "own=${TMPDIR%/tmp}; [ -e $own/command.json ] || { own=$(readlink /proc/$PPID/fd/* | grep '/record.pending$'); \
               own=${own%/*}; [ -d $own/tmp ] || mkdir $own/tmp; }";
    let away = |path: &str| format!("mv {path} {path}.away && mv {path}.away {path} && echo escaped");
    let attempts = [
        format!("cat {} && echo escaped", folder.join("stdout").display()),
        format!("cat {} && echo escaped", folder.join("command.json").display()),
        format!("echo x >> {} && echo escaped", folder.join("stdout").display()),
        away(folder.join("record.pending").to_str().unwrap()),
        format!("echo x > {}/x && echo escaped", folder.join("tmp").display()),
        format!("{own}; cat $own/command.json && echo escaped"),
        format!("{own}; echo x >> $own/stderr && echo escaped"),
        format!("{own}; {}", away("$own/tmp")),
        format!("{own}; ls $own {} && echo escaped", vault.display()),
    ];
    for attempt in attempts {
        let (status, free) = field.run(None, &sh(&attempt)).await;
        // Not where the command's text is shown.
        assert!(free.contains("escaped\n"), "the twin of {attempt}: {free}{status:#}");
        let (status, text) = field.run(Some(&json!("workspace")), &sh(&attempt)).await;
        assert_ne!(status["cause"], "start-failed", "{attempt} never ran: {status:#}");
        assert!(!text.contains("escaped"), "{attempt}: {text}{status:#}");
    }
    field.rig.host.kill(&other, argvault::os::signal::SignalNumber::KILL).await.unwrap();
}

#[tokio::test]
async fn another_commands_keeper_takes_no_orders_from_a_command_without_sockets() {
    let field = Field::new();
    let path = field.rig.work().join("control");
    let _listener = UnixListener::bind(&path).unwrap();
    let connect = perl(&format!(
        "use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die $!; \
         connect($s, pack_sockaddr_un('{}')) and print 'escaped'",
        path.display()
    ));
    for preset in presets() {
        field.is_stopped(preset, connect.clone()).await;
    }
}

#[tokio::test]
async fn a_sibling_of_the_same_host_is_neither_traced_nor_signalled() {
    let field = Field::new();
    field.rig.set_policy(json!({ "allowedExecutables": ["sh"], "confinement": "workspace" }));
    let sibling = field.rig.start(sh("echo $$ > pid; sleep 60"), json!({})).await;
    let pid: u32 = crate::support::eventually("its pid", || {
        std::fs::read_to_string(field.rig.work().join("pid")).ok()?.trim().parse().ok()
    })
    .await;
    let seize = call(libc::SYS_ptrace, &format!("0x4206, {pid}, 0, 0"));
    for argv in [
        perl(&seize),
        perl(&format!("open my $m, '+<', '/proc/{pid}/mem' and print 'escaped'")),
        perl(&format!("kill(9, {pid}) and print 'escaped'")),
    ] {
        field.is_stopped_without_twin(json!("workspace"), argv).await;
    }
    let status = field.rig.host.status(&sibling).unwrap();
    assert_eq!(serde_json::to_value(status).unwrap()["state"], "running");
    let (_, free) = field.run(None, &perl(&format!("kill(9, {pid}) and print 'escaped'"))).await;
    assert!(free.contains("escaped"), "the twin");
    field.rig.settled(&sibling).await;
}

#[tokio::test]
async fn what_came_from_outside_is_standard_input_and_output_alone() {
    let field = Field::new();
    let argv = sh("ls /proc/self/fd | tr '\\n' ' '");
    // The fourth is the listing's own.
    for confinement in [None, Some(json!("workspace"))] {
        assert_eq!(field.run(confinement.as_ref(), &argv).await.1, "0 1 2 3 ");
    }
}

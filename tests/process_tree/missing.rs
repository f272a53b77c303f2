//! What a start needs of the system and doesn't find: refused by name, from either side of the addon, and nothing is
//! started or left.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;

use argvault::os::process;
use argvault::os::spawn::{Confinement, Executable, Program, spawn};
use serde_json::{Value as Json, json};

use crate::hosted::{PART, ROLE, Setting};
use crate::rig::{Place, is_alive, is_root};

/// The calls by name and number. Each may be missing (`ENOSYS`, as under gVisor) or be refused (`EPERM`, as by an old
/// seccomp profile).
const CALLS: &[(&str, libc::c_long)] = &[
    ("openat2", libc::SYS_openat2),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("close_range", libc::SYS_close_range),
];
const ERRNOS: [i32; 2] = [libc::ENOSYS, libc::EPERM];

/// A filter under which one call ends with `errno` and all others are as they were (`seccomp(2)`).
fn refusing(call: libc::c_long, errno: i32) -> [libc::sock_filter; 4] {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
    [
        step(LOAD_WORD, 0, 0), // the call's number comes first in `struct seccomp_data`
        step(JUMP_IF_EQUAL, 1, u32::try_from(call).unwrap()),
        step(RETURN, 0, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Runs `line` to its end under a filter, and gives what it wrote.
fn run_refusing(
    place: &Place,
    call: libc::c_long,
    errno: i32,
    line: &[&str],
    env: &[(&str, &str)],
) -> String {
    let c = |text: String| CString::new(text).unwrap();
    let argv: Vec<CString> = line.iter().map(|word| c((*word).to_owned())).collect();
    let path = ("PATH", std::env::var("PATH").unwrap());
    let env: Vec<CString> = env
        .iter()
        .map(|(name, text)| c(format!("{name}={text}")))
        .chain([c(format!("{}={}", path.0, path.1))])
        .collect();
    let log = place.path().join("filtered.log");
    let (null, out) = (File::open("/dev/null").unwrap(), File::create(&log).unwrap());
    let cwd = File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    let filter = refusing(call, errno);
    let program = Program {
        executable: Executable::Path(&argv[0]),
        argv: &argv,
        env: &env,
        cwd: cwd.as_fd(),
        stdio: [null.as_fd(), out.as_fd(), out.as_fd()],
        limits: &[],
        umask: 0o022,
        cgroup: None,
        confinement: Some(Confinement { ruleset: None, filter: Some(&filter) }),
    };
    let pid = spawn(&program).unwrap();
    place.until("the end of what runs under a filter", || !is_alive(pid));
    process::reap(pid).unwrap();
    std::fs::read_to_string(log).unwrap()
}

fn assert_refused(result: &Json, words: &[&str]) {
    assert_eq!(result["code"], "ERR_PLATFORM", "{words:?}: {result:#}");
    let message = result["message"].as_str().unwrap();
    for word in words {
        assert!(message.contains(word), "{word} in: {message}");
    }
}

/// No command has a folder; the trail of refusals is a file.
fn assert_nothing_started(place: &Place) {
    let entries = std::fs::read_dir(place.vault()).unwrap().map(|entry| entry.unwrap());
    let folders: Vec<_> = entries.filter(|entry| entry.file_type().unwrap().is_dir()).collect();
    assert!(folders.is_empty(), "{folders:?}");
    assert_eq!(place.survivors(), [0; 0]);
}

#[test]
fn each_call_that_is_missing_or_refused_is_named_by_the_start_that_needs_it() {
    for &(name, call) in CALLS {
        for errno in ERRNOS {
            let place = Place::default();
            let role = place.role(&json!({ "do": "try" }), &json!({}), Path::new(crate::rig::WARDEN));
            let binary = std::env::current_exe().unwrap();
            let line: Vec<&str> =
                [binary.to_str().unwrap()].into_iter().chain(PART.iter().copied()).collect();
            let log = run_refusing(&place, call, errno, &line, &[(ROLE, role.to_str().unwrap())]);
            let result = std::fs::read(place.mark("result")).unwrap_or_else(|_| panic!("{name}: {log}"));
            let reason = std::io::Error::from_raw_os_error(errno).to_string();
            assert_refused(&serde_json::from_slice(&result).unwrap(), &[name, &reason]);
            assert_nothing_started(&place);
        }
    }
}

/// What a caller in Node asks and gets.
const SCRIPT: &str = "
    const { CommandHost, isSupported } = require('argvault');
    (async () => {
      const host = new CommandHost({ vaultDir: process.argv[1] });
      await host.setBackgroundCommandPolicy({ allowedExecutables: ['true'], cwdRoot: '/' });
      const started = host.startBackgroundCommand(['true']);
      const refused = await started.then(() => null, ({ code, message }) => ({ code, message }));
      process.stdout.write(JSON.stringify({ supported: isSupported(), refused }));
    })();";

fn addon_is_built() -> bool {
    let entries = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    entries.into_iter().any(|entry| {
        entry.unwrap().file_name().to_str().is_some_and(|name| {
            name.starts_with("argvault.") && Path::new(name).extension().is_some_and(|end| end == "node")
        })
    })
}

fn node() -> String {
    let path = std::env::var("PATH").unwrap();
    let found = path.split(':').map(|dir| format!("{dir}/node")).find(|file| Path::new(file).exists());
    found.unwrap()
}

fn assert_not_supported(said: &str, words: &[&str]) {
    let said: Json = serde_json::from_str(said).unwrap_or_else(|_| panic!("{words:?}: {said}"));
    assert_eq!(said["supported"]["ok"], false, "{words:?}: {said:#}");
    assert_eq!(said["supported"]["code"], "ERR_PLATFORM", "{words:?}: {said:#}");
    for word in words {
        assert!(said["supported"]["reason"].as_str().unwrap().contains(word), "{word} in: {said:#}");
    }
    assert_refused(&said["refused"], words);
}

#[test]
fn node_is_told_of_each_call_too_which_needs_the_built_addon_to_show() {
    if !addon_is_built() {
        return;
    }
    let node = node();
    for &(name, call) in CALLS {
        for errno in ERRNOS {
            let place = Place::default();
            let vault = place.vault();
            let line = [node.as_str(), "-e", SCRIPT, vault.to_str().unwrap()];
            assert_not_supported(&run_refusing(&place, call, errno, &line, &[]), &[name]);
            assert_nothing_started(&place);
        }
    }
}

/// In a mount namespace of its own, with an empty directory over `/proc`.
const WITHOUT_PROC: &str = "exec unshare -m sh -c 'mount -t tmpfs none /proc && exec \"$@\"' sh \"$@\"";

#[test]
fn a_system_without_proc_is_refused_by_name_which_needs_root_to_show() {
    if !is_root() {
        return;
    }
    let place = Place::default();
    let setting = Setting { user: None, wrapper: Some(WITHOUT_PROC.into()) };
    let mut host = place.host(&json!({ "do": "try" }), &json!({}), &setting);
    assert_refused(&place.hosted_result(&mut host), &["/proc"]);
    assert_nothing_started(&place);
}

#[test]
fn node_is_told_of_a_missing_proc_too_which_needs_root_and_the_built_addon_to_show() {
    if !is_root() || !addon_is_built() {
        return;
    }
    let place = Place::default();
    let said = std::process::Command::new("sh")
        .args(["-c", WITHOUT_PROC, "sh", &node(), "-e", SCRIPT])
        .arg(place.vault())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
    assert_not_supported(&text, &["/proc"]);
    assert_nothing_started(&place);
}

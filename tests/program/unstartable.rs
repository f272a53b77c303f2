//! What is known before a process exists.

use std::os::unix::fs::symlink;
use std::process::Command;

use argvault::program::{Located, ProgramKind};

use crate::place::{Place, SCRIPT, check_wording, found, run, unstartable, variant};
use crate::unprivileged::{go_on, set_mode};

/// Whether formats are registered that only `execve(2)` knows.
fn has_binfmt_handlers() -> bool {
    std::fs::read_dir("/proc/sys/fs/binfmt_misc").is_ok_and(|entries| {
        entries.flatten().any(|e| e.file_name() != "register" && e.file_name() != "status")
    })
}

/// A copy of a dynamic binary whose loader has another name of the same length.
fn without_loader() -> Option<(Vec<u8>, String)> {
    let mut binary = std::fs::read("/bin/true").unwrap();
    let at = binary.windows(5).position(|bytes| bytes == b"/lib/" || bytes == b"/lib6")?;
    binary[at + 1] = b'X';
    let end = at + binary[at..].iter().position(|byte| *byte == 0)?;
    let name = String::from_utf8(binary[at..end].to_vec()).ok()?;
    Some((binary, name))
}

#[test]
fn what_cannot_be_started_is_told_apart_and_the_kernel_agrees() {
    let place = Place::new();
    let (no_loader, loader) = without_loader().expect("/bin/true has a dynamic loader");
    place.write("root/plain", SCRIPT, 0o644);
    place.write("root/empty", "", 0o755);
    place.write("root/no-shebang", "echo hi\n", 0o755);
    place.write("root/no-interpreter", "#!/no/such/thing -x\n", 0o755);
    place.write("root/crlf", "#!/bin/sh\r\necho hi\r\n", 0o755);
    place.write("root/dir-interpreter", "#! /usr\n", 0o755);
    place.write("root/plain-interpreter", format!("#!{}\n", place.text("root/plain")), 0o755);
    place.write("root/relative-interpreter", "#!nothing/here\n", 0o755);
    place.write("root/blank", "#!  \nexit\n", 0o755);
    place.write("root/no-loader", no_loader, 0o755);
    nix::unistd::mkfifo(&place.path("root/fifo"), nix::sys::stat::Mode::from_bits_truncate(0o755)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("root/socket")).unwrap();
    symlink("loop", place.path("root/loop")).unwrap();
    symlink("nothing", place.path("root/dangling")).unwrap();
    let mut cases = vec![
        ("nothing", "Missing", "no such file"),
        ("dangling", "Missing", "no such file"),
        ("plain/x", "ThroughAFile", "leads through a file"),
        ("loop", "LinkLoop", "loop of symbolic links"),
        ("sub", "Directory", "is a directory"),
        ("fifo", "NotAFile", "a FIFO"),
        ("socket", "NotAFile", "a socket"),
        ("plain", "NotExecutable", "not executable"),
        ("empty", "Empty", "is empty"),
        ("blank", "BadShebang", "names no interpreter"),
        ("no-interpreter", "Interpreter", "interpreter \"/no/such/thing\""),
        ("crlf", "Interpreter", "Unix line ends"),
        ("dir-interpreter", "Interpreter", "is not a regular file"),
        ("plain-interpreter", "Interpreter", "is not executable"),
        ("relative-interpreter", "Interpreter", "interpreter \"nothing/here\""),
        ("no-loader", "Loader", loader.as_str()),
    ];
    if !has_binfmt_handlers() {
        cases.push((
            "no-shebang",
            "UnknownFormat",
            "neither a binary that this system knows nor a script with #!",
        ));
    }
    for (name, expected, words) in cases {
        for written in [place.text(&format!("root/{name}")), format!("../{name}")] {
            let refused = unstartable(place.locate(&written));
            let message = refused.to_string();
            assert_eq!(variant(refused.why()), expected, "{message}");
            assert!(message.contains(&format!("\"{written}\" could not be started: ")), "{message}");
            assert!(message.contains(words) && message.ends_with('.'), "{message}");
            assert!(message.contains(refused.path().unwrap().to_str().unwrap()), "{message}");
        }
        // Rust's `Command` never asks a shell on ENOEXEC either.
        let started = Command::new(place.path(&format!("root/{name}"))).current_dir(&place.base).spawn();
        assert!(started.is_err(), "{name} can be started");
    }
}

#[test]
fn a_device_is_refused_without_being_opened() {
    let place = Place::new();
    let refused = unstartable(place.locate("/dev/null"));
    assert_eq!(variant(refused.why()), "NotAFile");
}

#[test]
fn a_magic_link_is_no_name_of_a_program() {
    let place = Place::new();
    assert_eq!(variant(unstartable(place.locate("/proc/self/exe")).why()), "LinkLoop");
}

#[test]
fn unknown_bytes_are_left_to_the_kernel_unless_no_format_is_registered() {
    let place = Place::new();
    let mut foreign = std::fs::read("/bin/true").unwrap();
    foreign[18..20].copy_from_slice(&[0xf3, 0]);
    for (content, refused) in [(&b"\0asm\x01\0\0\0"[..], "UnknownFormat"), (&foreign, "OtherMachine")] {
        let path = place.write("root/tool", content, 0o755);
        match place.locate(path.to_str().unwrap()).unwrap() {
            Located::Found(program) => assert_eq!(program.facts().kind, ProgramKind::Foreign),
            Located::Unstartable(unstartable) => assert_eq!(variant(unstartable.why()), refused),
        }
    }
}

#[test]
fn a_relative_interpreter_is_looked_for_from_the_working_directory_as_the_kernel_does() {
    let place = Place::new();
    let script = place.write("root/script", "#!my/true\n", 0o755);
    std::fs::create_dir(place.path("root/sub/my")).unwrap();
    symlink("/bin/true", place.path("root/sub/my/true")).unwrap();
    let table = place.table(script.to_str().unwrap(), None);
    assert_eq!(variant(unstartable(place.locate_by(&table, ".")).why()), "Interpreter");
    let program = found(place.locate_by(&table, "sub"));
    assert!(run(Command::new(program.path()).current_dir(place.path("root/sub"))).status.success());
}

#[test]
fn permission_is_this_users() {
    if !go_on("unstartable::permission_is_this_users") {
        return;
    }
    let place = Place::new();
    place.write("root/tool", SCRIPT, 0o600);
    place.write("root/others-only", SCRIPT, 0o677);
    place.write("root/unreadable-interpreter", format!("#!{}\n", place.text("root/tool")), 0o755);
    for (name, expected) in [
        ("tool", "NotExecutable"),
        ("others-only", "NotExecutable"),
        ("unreadable-interpreter", "Interpreter"),
    ] {
        assert_eq!(variant(unstartable(place.locate(&format!("../{name}"))).why()), expected, "{name}");
    }

    // To execute is enough for a binary; to be compared with a pin it must be read.
    let binary = place.write("root/binary", std::fs::read("/bin/true").unwrap(), 0o111);
    let program = found(place.locate(binary.to_str().unwrap()));
    assert_eq!(program.facts().kind, ProgramKind::Binary);
    assert!(run(&mut Command::new(program.path())).status.success());
    program.verify().unwrap();
    let error = place.pinned(&binary, "").unwrap_err();
    assert_eq!(variant(&error), "Unreadable");
    check_wording(&error);

    place.write("outside/tool", SCRIPT, 0o755);
    set_mode(&place.path("outside"), 0o600);
    let refused = unstartable(place.locate(&place.text("outside/tool")));
    assert_eq!(variant(refused.why()), "Unreachable");
    set_mode(&place.path("outside"), 0o700);
}

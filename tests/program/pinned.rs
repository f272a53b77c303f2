//! The file that was checked is the file that runs.

use std::os::fd::AsFd as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use argvault::os::path::name_under_proc;
use argvault::program::{ExecBy, ResolvedProgram};
use sha2::{Digest as _, Sha256};

use crate::place::{Place, SCRIPT, check_wording, found, run, variant};
use crate::unprivileged::set_mode;

fn hex_digit(digit: u8) -> char {
    char::from_digit(digit.into(), 16).unwrap()
}

#[test]
fn a_pinned_file_has_its_digest_or_is_refused_with_both() {
    let place = Place::new();
    let script = place.write("root/script", SCRIPT, 0o755);
    let program = found(place.pinned(&script, SCRIPT));
    assert!(matches!(program.exec_by(), ExecBy::Path(path) if path == script), "a script keeps its $0");
    program.verify().unwrap();

    let error = place.pinned(&script, "something else").unwrap_err();
    assert_eq!(variant(&error), "WrongDigest");
    for content in [SCRIPT, "something else"] {
        let hex: String =
            Sha256::digest(content).iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect();
        assert!(error.to_string().contains(&hex), "{error}");
    }
    check_wording(&error);
}

#[test]
fn a_pinned_binary_is_executed_by_its_descriptor() {
    let place = Place::new();
    let content = std::fs::read("/bin/echo").unwrap();
    let binary = place.write("root/binary", &content, 0o755);
    assert!(matches!(found(place.locate(binary.to_str().unwrap())).exec_by(), ExecBy::Path(_)));

    let program = found(place.pinned(&binary, &content));
    std::fs::rename(&binary, place.path("root/old")).unwrap();
    place.write("root/binary", SCRIPT, 0o755);
    let ExecBy::Descriptor(held) = program.exec_by() else { panic!("not by descriptor") };
    // An exec of this name is an exec of the descriptor.
    let output = run(Command::new(name_under_proc(held)).arg0("echo").arg("pinned"));
    assert_eq!(output.stdout, b"pinned\n");
}

#[test]
fn a_file_that_changed_between_the_check_and_the_start_is_noticed() {
    type Change = fn(&Place, &Path);
    let changes: [(&str, Change); 6] = [
        ("rewritten in place, at another length", |_, path| {
            std::fs::write(path, "#!/bin/sh\nevil\n").unwrap();
        }),
        ("rewritten in place, times set back", |_, path| {
            let before = path.metadata().unwrap();
            std::fs::write(path, SCRIPT.replace("echo", "evil")).unwrap();
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(before.modified().unwrap()).unwrap();
        }),
        ("replaced by a rename", |place, path| {
            std::fs::rename(place.write("root/new", SCRIPT, 0o755), path).unwrap();
        }),
        ("replaced by a link", |place, path| {
            std::fs::remove_file(path).unwrap();
            symlink(place.write("root/new", SCRIPT, 0o755), path).unwrap();
        }),
        ("removed", |_, path| std::fs::remove_file(path).unwrap()),
        ("given another mode", |_, path| set_mode(path, 0o700)),
    ];
    for (what, change) in changes {
        for pinned in [false, true] {
            let place = Place::new();
            let script = place.write("root/script", SCRIPT, 0o755);
            let located =
                if pinned { place.pinned(&script, SCRIPT) } else { place.locate(script.to_str().unwrap()) };
            let program = found(located);
            program.verify().unwrap();
            // Past one tick of the clock that stamps files; the module says what happens within it.
            std::thread::sleep(Duration::from_millis(20));
            change(&place, &script);
            let error = program.verify().expect_err(what);
            assert!(matches!(variant(&error).as_str(), "Replaced" | "WrongDigest"), "{what}: {error}");
            assert!(error.to_string().contains(script.to_str().unwrap()), "{error}");
            check_wording(&error);
        }
    }
}

#[test]
fn a_program_survives_being_taken_apart_for_another_process() {
    let place = Place::new();
    let script = place.write("root/script", SCRIPT, 0o755);
    let (facts, file) = found(place.pinned(&script, SCRIPT)).into_parts();
    let program = ResolvedProgram::from_parts(facts, file.as_fd().try_clone_to_owned().unwrap());
    program.verify().unwrap();
}

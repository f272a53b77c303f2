//! What a name leads to.

use std::os::unix::fs::symlink;
use std::process::Command;

use argvault::program::{ProgramError, ProgramKind, ProgramTable, WantedProgram};

use crate::place::{Place, SCRIPT, check_wording, found, run, unstartable, variant};

#[test]
fn a_bare_name_is_the_first_executable_file_on_the_hosts_path() {
    let place = Place::new();
    std::fs::create_dir(place.path("bin1/dir")).unwrap();
    place.write("bin1/plain", SCRIPT, 0o644);
    for name in ["dir", "plain", "both"] {
        place.write(&format!("bin2/{name}"), SCRIPT, 0o755);
    }
    place.write("bin1/both", SCRIPT, 0o755);
    for (name, expected) in [("dir", "bin2/dir"), ("plain", "bin2/plain"), ("both", "bin1/both")] {
        let program = found(place.locate(name));
        assert_eq!(program.path(), place.path(expected), "{name}");
        let output = run(&mut Command::new(program.path()));
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), place.text(expected));
    }
}

#[test]
fn a_bare_name_is_never_looked_for_in_the_workspace() {
    let place = Place::new();
    std::fs::create_dir(place.path("root/sub/bin")).unwrap();
    for planted in ["root/tool", "root/sub/tool", "root/sub/bin/tool"] {
        place.write(planted, SCRIPT, 0o755);
    }
    let missed = unstartable(place.locate("tool"));
    assert_eq!(variant(missed.why()), "NotOnPath");
    assert_eq!(missed.path(), None);
    let message = missed.to_string();
    let searched = format!("(searched: {}, {})", place.text("bin1"), place.text("bin2"));
    for words in ["\"tool\" could not be started: it was not found on PATH", &searched] {
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_name_that_was_missing_or_has_vanished_is_looked_for_again() {
    let place = Place::new();
    let table = place.table("tool", None);
    assert_eq!(table.path_when_set(0), None);
    place.write("bin2/tool", "", 0o644);
    let passed_over = unstartable(place.locate_by(&table, "."));
    assert!(passed_over.to_string().contains("bin2/tool\" is there but can't be executed"), "{passed_over}");
    place.write("bin2/tool", SCRIPT, 0o755);
    assert_eq!(found(place.locate_by(&table, ".")).path(), place.path("bin2/tool"));

    let table = place.table("tool", None);
    assert_eq!(table.path_when_set(0), Some(&*place.path("bin2/tool")));
    place.write("bin1/tool", SCRIPT, 0o755);
    let program = found(place.locate_by(&table, "."));
    assert_eq!(program.path(), place.path("bin2/tool"), "what was resolved when set is kept");
    std::fs::remove_file(place.path("bin2/tool")).unwrap();
    assert_eq!(found(place.locate_by(&table, ".")).path(), place.path("bin1/tool"));
}

#[test]
fn without_a_path_no_bare_name_is_found() {
    let place = Place::new();
    for host_path in [None, Some(""), Some(".:bin")] {
        let wanted = vec![WantedProgram { name: "sh".into(), sha256: None }];
        let missed = unstartable(place.locate_by(&ProgramTable::build(wanted, host_path), "."));
        assert!(missed.to_string().contains("the host's PATH has no absolute entry"), "{missed}");
    }
}

#[test]
fn a_relative_name_is_looked_for_from_the_working_directory() {
    let place = Place::new();
    place.write("root/tool", SCRIPT, 0o755);
    place.write("root/sub/tool", SCRIPT, 0o755);
    symlink(place.path("root/tool"), place.path("root/sub/abs")).unwrap();
    for (name, cwd, expected, real) in [
        ("./tool", ".", "root/tool", "root/tool"),
        ("./tool", "sub", "root/sub/tool", "root/sub/tool"),
        ("sub/tool", ".", "root/sub/tool", "root/sub/tool"),
        ("../tool", "sub", "root/sub/../tool", "root/tool"),
        ("./abs", "sub", "root/sub/abs", "root/tool"),
        ("../../root/tool", "sub", "root/sub/../../root/tool", "root/tool"),
    ] {
        let program = found(place.locate_by(&place.table(name, None), cwd));
        assert_eq!(program.path(), place.path(expected), "{name} in {cwd}");
        assert_eq!(program.facts().real, place.path(real), "{name} in {cwd}");
    }
}

#[test]
fn a_relative_name_that_leads_outside_the_root_is_refused() {
    let place = Place::new();
    let tool = place.write("outside/tool", SCRIPT, 0o755);
    symlink(&tool, place.path("root/sub/abs")).unwrap();
    symlink("../../outside/tool", place.path("root/sub/rel")).unwrap();
    symlink("../../outside", place.path("root/sub/dir")).unwrap();
    for (name, resolved) in [
        ("./abs", "outside/tool"),
        ("./rel", "outside/tool"),
        ("dir/tool", "outside/tool"),
        ("../../outside/tool", "outside/tool"),
        // Nothing tells what exists outside.
        ("dir/nothing", "outside/nothing"),
    ] {
        let error = place.locate(name).unwrap_err();
        assert_eq!(variant(&error), "OutsideRoot", "{name}");
        let message = error.to_string();
        assert!(message.contains("outside the permitted root"), "{message}");
        assert!(message.contains(&place.text(resolved)), "{message}");
        check_wording(&error);
    }
}

#[test]
fn an_absolute_name_is_executed_as_it_is_written() {
    let place = Place::new();
    let tool = place.write("outside/tool", SCRIPT, 0o755);
    symlink(&tool, place.path("outside/link")).unwrap();
    let program = found(place.locate(&place.text("outside/link")));
    assert_eq!(program.path(), place.path("outside/link"));
    assert_eq!(program.facts().real, tool);
    assert_eq!(program.facts().kind, ProgramKind::Script { interpreter: "/bin/sh".into() });
    let output = run(&mut Command::new(program.path()));
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), place.text("outside/link"));
}

#[test]
fn an_entry_that_is_not_in_the_table_is_an_error() {
    let place = Place::new();
    let error = place.locate_by(&ProgramTable::build(Vec::new(), None), ".").unwrap_err();
    assert_eq!(error, ProgramError::NoSuchEntry { index: 0 });
    check_wording(&error);
}

use std::io::Write as _;

use proptest::prelude::*;

use super::*;

fn format_of(bytes: &[u8]) -> Format {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    of(&file).unwrap()
}

#[test]
fn a_shebang_is_read_as_the_kernel_reads_it() {
    let long = |length: usize| format!("#!/{}", "x".repeat(length));
    for (line, expected) in [
        ("#!/bin/sh\n".into(), Some("/bin/sh".into())),
        ("#!/bin/sh".into(), Some("/bin/sh".into())),
        ("#! \t /bin/sh -e -x \nmore".into(), Some("/bin/sh".into())),
        ("#!bin/tool\n".into(), Some("bin/tool".into())),
        ("#!/bin/sh\r\n".into(), Some("/bin/sh\r".into())),
        ("#!/bin/sh\0junk\n".into(), Some("/bin/sh".into())),
        ("#!".into(), None),
        ("#!\n/bin/sh".into(), None),
        ("#!   \n".into(), None),
        ("#!\0\n".into(), None),
        // The kernel looks at 256 bytes, "#!" included: a name that fills them may have been cut.
        (long(252) + "\n", Some(format!("/{}", "x".repeat(252)))),
        (long(252), Some(format!("/{}", "x".repeat(252)))),
        (long(253) + "\n", None),
        (long(253), None),
        (long(400) + "\n", None),
        (format!("#!/bin/sh {}", "x".repeat(400)), Some("/bin/sh".into())),
    ] {
        let interpreter = expected.map(PathBuf::from);
        assert_eq!(format_of(line.as_bytes()), Format::Script { interpreter }, "{line:?}");
    }
}

#[test]
fn other_heads_are_told_apart() {
    for (bytes, expected) in [
        (&b""[..], Format::Empty),
        (b"echo hi\n", Format::Unknown { text: true }),
        (b"\0asm", Format::Unknown { text: false }),
        (b"\x7fELF", Format::Elf { loader: None, machine: Machine::Another }),
    ] {
        assert_eq!(format_of(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn a_real_binary_names_the_loader_that_is_there() {
    let binary = File::open("/proc/self/exe").unwrap();
    let Format::Elf { loader, machine } = of(&binary).unwrap() else { panic!("not an ELF file") };
    assert_ne!(machine, Machine::Another);
    if cfg!(target_env = "gnu") {
        assert!(loader.unwrap().is_file());
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        magic in proptest::sample::select(vec![
            &b"#!"[..], b"\x7fELF\x01\x01", b"\x7fELF\x02\x01", b"\x7fELF\x02\x02",
        ]),
        rest in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        format_of(&[magic, &rest].concat());
    }
}

use proptest::prelude::*;

use super::*;

/// Runs a program as `bpf(4)` says, and counts its steps.
fn run(program: &[sock_filter], number: u32, architecture: u32, arguments: [u64; 6]) -> (u32, usize) {
    let mut data = Vec::new();
    data.extend(number.to_le_bytes());
    data.extend(architecture.to_le_bytes());
    data.extend(0_u64.to_le_bytes());
    for argument in arguments {
        data.extend(argument.to_le_bytes());
    }
    let (mut at, mut accumulator, mut count) = (0, 0_u32, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        let code = u32::from(code);
        at += 1;
        count += 1;
        let branch = |taken: bool| usize::from(if taken { jt } else { jf });
        match code {
            0x20 => accumulator = u32::from_le_bytes(data[k as usize..k as usize + 4].try_into().unwrap()),
            0x54 => accumulator &= k,
            0x05 => at += k as usize,
            0x15 => at += branch(accumulator == k),
            0x35 => at += branch(accumulator >= k),
            0x06 => return (k, count),
            other => panic!("code {other:#x}"),
        }
    }
}

fn errno(answer: u32) -> Option<i32> {
    (answer & 0xffff_0000 == libc::SECCOMP_RET_ERRNO).then_some((answer & 0xffff).cast_signed())
}

fn expected(refusals: &[Refusal], number: u32, arguments: [u64; 6]) -> Option<i32> {
    let refusal = refusals.iter().find(|refusal| refusal.call == number)?;
    let holds = |test: &Test| {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is what is looked at")]
        let argument = arguments[test.argument as usize] as u32;
        (argument & test.mask == test.value) == test.equal
    };
    let refused = refusal.cases.is_empty() || refusal.cases.iter().any(|case| case.iter().all(holds));
    refused.then_some(refusal.errno)
}

fn test() -> impl Strategy<Value = Test> {
    (0_u32..6, prop_oneof![Just(u32::MAX), 0_u32..8], 0_u32..8, any::<bool>())
        .prop_map(|(argument, mask, value, equal)| Test { argument, mask, value, equal })
}

fn refusals() -> impl Strategy<Value = Vec<Refusal>> {
    let cases = prop::collection::vec(prop::collection::vec(test(), 1..4), 0..4);
    prop::collection::btree_map(0_u32..120, (1_i32..120, cases), 0..80).prop_map(|map| {
        map.into_iter().map(|(call, (errno, cases))| Refusal { call, errno, cases }).collect()
    })
}

proptest! {
    #[test]
    fn a_program_refuses_what_its_list_says_and_nothing_else(
        refusals in refusals(), number in 0_u32..130, arguments in prop::array::uniform6(0_u64..10),
    ) {
        let program = compile(refusals.clone());
        let (answer, _) = run(&program, number, ARCHITECTURE, arguments);
        prop_assert_eq!(errno(answer), expected(&refusals, number, arguments));
    }
}

#[test]
fn another_architecture_ends_and_another_numbering_is_unknown() {
    let program = compile(vec![Refusal::always(5, libc::EPERM)]);
    assert_eq!(run(&program, 5, 0x4000_0003, [0; 6]).0, libc::SECCOMP_RET_KILL_PROCESS);
    if cfg!(target_arch = "x86_64") {
        assert_eq!(errno(run(&program, 0x4000_0005, ARCHITECTURE, [0; 6]).0), Some(libc::ENOSYS));
    }
}

#[test]
fn a_call_that_nobody_refuses_takes_few_steps() {
    let program = compile((0..100).map(|call| Refusal::always(call * 3, libc::EPERM)).collect());
    let most = (0..400).map(|number| run(&program, number, ARCHITECTURE, [0; 6]).1).max().unwrap();
    assert!(most < 26, "{most}");
}

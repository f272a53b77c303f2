use proptest::prelude::*;

use super::super::interpreter::{errno, run};
use super::*;

fn call(number: u32) -> Call {
    Call::new("", number)
}

fn expected(refusals: &[Refusal], number: u32, arguments: [u64; 6]) -> Option<i32> {
    let refusal = refusals.iter().find(|refusal| refusal.call.number == number)?;
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
        map.into_iter().map(|(number, (errno, cases))| Refusal { call: call(number), errno, cases }).collect()
    })
}

proptest! {
    #[test]
    fn a_program_refuses_what_its_list_says_and_nothing_else(
        refusals in refusals(), number in 0_u32..130, arguments in prop::array::uniform6(0_u64..10),
    ) {
        let program = compile(refusals.clone(), Architecture::HERE);
        let (answer, _) = run(&program, number, Architecture::HERE.audit, arguments);
        prop_assert_eq!(errno(answer), expected(&refusals, number, arguments));
    }
}

#[test]
fn another_architecture_ends_and_another_numbering_is_unknown() {
    const I386: u32 = 0x4000_0003;
    const ARM: u32 = 0x4000_0028;
    for (architecture, other) in
        [(Architecture::X86_64, Architecture::AARCH64), (Architecture::AARCH64, Architecture::X86_64)]
    {
        let program = compile(vec![Refusal::always(call(5), libc::EPERM)], architecture);
        for foreign in [I386, ARM, other.audit, 0, u32::MAX] {
            for number in [5, 6, 0x4000_0005] {
                let (answer, _) = run(&program, number, foreign, [0; 6]);
                assert_eq!(answer, libc::SECCOMP_RET_KILL_PROCESS, "{foreign:#x} {number:#x}");
            }
        }
        for second in [0x4000_0005, 0x4000_0006, u32::MAX] {
            let (answer, _) = run(&program, second, architecture.audit, [0; 6]);
            let unknown = architecture.second_numbers.then_some(libc::ENOSYS);
            assert_eq!(errno(answer), unknown, "{second:#x}");
        }
    }
}

#[test]
fn a_call_that_nobody_refuses_takes_few_steps() {
    let refusals = (0..100).map(|number| Refusal::always(call(number * 3), libc::EPERM)).collect();
    let program = compile(refusals, Architecture::HERE);
    let steps = |number| run(&program, number, Architecture::HERE.audit, [0; 6]).1;
    let most = (0..400).map(steps).max().unwrap();
    assert!(most < 26, "{most}");
}

//! What a program answers, without a kernel: for tests, also of programs for another processor.

use libc::sock_filter;

/// Runs a program as `bpf(4)` says, and counts its steps.
pub(super) fn run(
    program: &[sock_filter],
    number: u32,
    architecture: u32,
    arguments: [u64; 6],
) -> (u32, usize) {
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

pub(super) fn errno(answer: u32) -> Option<i32> {
    (answer & 0xffff_0000 == libc::SECCOMP_RET_ERRNO).then_some((answer & 0xffff).cast_signed())
}

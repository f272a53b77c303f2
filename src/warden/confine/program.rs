//! From refusals to one seccomp program: a search tree over the calls' numbers, so that a call costs a handful of steps
//! whatever the length of the list, and so does the kernel's own pass over all numbers when the program is set
//! (`seccomp_cache_prepare`, Linux 5.11): three chains through these lists took 0.43 ms there.

use libc::{c_long, sock_filter};

/// A look at the lower half of one argument: every argument in these lists is an `int` or `unsigned int` to the kernel,
/// which ignores the upper half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Test {
    /// Which argument, from 0.
    pub(super) argument: u32,
    /// The bits that are looked at.
    pub(super) mask: u32,
    /// What they are compared with.
    pub(super) value: u32,
    /// Whether they have to be equal or to differ.
    pub(super) equal: bool,
}

impl Test {
    pub(super) fn equals(argument: u32, value: u32) -> Self {
        Self { argument, mask: u32::MAX, value, equal: true }
    }

    pub(super) fn differs(argument: u32, value: u32) -> Self {
        Self { argument, mask: u32::MAX, value, equal: false }
    }

    /// Any of these bits is set.
    pub(super) fn any(argument: u32, mask: u32) -> Self {
        Self { argument, mask, value: 0, equal: false }
    }

    /// None of these bits is set.
    pub(super) fn none(argument: u32, mask: u32) -> Self {
        Self { argument, mask, value: 0, equal: true }
    }

    fn steps(self, steps: &mut Vec<sock_filter>, if_not: usize) {
        // `struct seccomp_data`: number, architecture, instruction pointer, then six arguments of 64 bits; both
        // architectures here are little-endian.
        steps.push(step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 16 + 8 * self.argument));
        if self.mask != u32::MAX {
            steps.push(step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, self.mask));
        }
        let skip = u8::try_from(if_not).unwrap_or(u8::MAX);
        let (jt, jf) = if self.equal { (0, skip) } else { (skip, 0) };
        steps.push(sock_filter { jt, jf, ..step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, self.value) });
    }

    fn length(self) -> usize {
        if self.mask == u32::MAX { 2 } else { 3 }
    }
}

/// A system call, by its number here. Its name is how tests find its number elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    #[cfg(test)]
    pub(super) name: &'static str,
    pub(super) number: u32,
}

impl Call {
    #[cfg_attr(not(test), expect(unused_variables, reason = "a filter has numbers"))]
    pub(super) const fn new(name: &'static str, number: u32) -> Self {
        Self {
            #[cfg(test)]
            name,
            number,
        }
    }
}

/// A call by libc's name for its number.
macro_rules! call {
    ($name:ident) => {
        $crate::warden::confine::program::Call::new(
            stringify!($name),
            $crate::warden::confine::program::number(libc::$name),
        )
    };
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
pub(super) const fn number(call: c_long) -> u32 {
    call as u32
}

/// What a program for one kind of processor has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Architecture {
    /// `AUDIT_ARCH_…` of `linux/audit.h`: the ELF machine, 64 bits, little-endian.
    pub(super) audit: u32,
    /// Each call has a second number that reaches the same kernel (x32), with bit 30 set.
    second_numbers: bool,
}

impl Architecture {
    #[cfg(any(test, not(target_arch = "aarch64")))]
    pub(super) const X86_64: Self = Self { audit: 0xc000_003e, second_numbers: true };
    #[cfg(any(test, target_arch = "aarch64"))]
    pub(super) const AARCH64: Self = Self { audit: 0xc000_00b7, second_numbers: false };
    #[cfg(not(target_arch = "aarch64"))]
    pub(super) const HERE: Self = Self::X86_64;
    #[cfg(target_arch = "aarch64")]
    pub(super) const HERE: Self = Self::AARCH64;
}

/// One call, and when it is refused with which error number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) call: Call,
    pub(super) errno: i32,
    /// Refused when all tests of one of these hold; without any, always.
    pub(super) cases: Vec<Vec<Test>>,
}

impl Refusal {
    pub(super) fn always(call: Call, errno: i32) -> Self {
        Self { call, errno, cases: Vec::new() }
    }

    pub(super) fn when(call: Call, errno: i32, cases: Vec<Vec<Test>>) -> Self {
        Self { cases, ..Self::always(call, errno) }
    }

    /// What is done once the number is this one.
    fn steps(&self) -> Vec<sock_filter> {
        let mut steps = Vec::new();
        for case in &self.cases {
            let length: usize = case.iter().map(|test| test.length()).sum();
            let end = steps.len() + length + 1;
            for test in case {
                let after = steps.len() + test.length();
                test.steps(&mut steps, end - after);
            }
            steps.push(refuse(self.errno));
        }
        steps.push(if self.cases.is_empty() { refuse(self.errno) } else { allow() });
        steps
    }
}

/// The program. Each call may be in the list once.
pub(super) fn compile(mut refusals: Vec<Refusal>, architecture: Architecture) -> Vec<sock_filter> {
    refusals.sort_by_key(|refusal| refusal.call.number);
    // A program for another architecture has other numbers (`seccomp(2)`): it ends.
    let mut steps = vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 4),
        sock_filter { jt: 1, ..step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, architecture.audit) },
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_KILL_PROCESS),
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
    ];
    if architecture.second_numbers {
        // Refused as unknown, as a kernel without x32 does.
        const X32: u32 = 0x4000_0000;
        steps.push(sock_filter { jf: 1, ..step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32) });
        steps.push(refuse(libc::ENOSYS));
    }
    tree(&refusals, &mut steps);
    steps
}

/// Most calls that are looked for one after the other.
const LEAF: usize = 6;

fn tree(refusals: &[Refusal], steps: &mut Vec<sock_filter>) {
    if refusals.len() <= LEAF {
        return leaf(refusals, steps);
    }
    let (low, high) = refusals.split_at(refusals.len() / 2);
    let first = high.first().map_or(u32::MAX, |refusal| refusal.call.number);
    steps.push(sock_filter { jf: 1, ..step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, first) });
    let jump = steps.len();
    // A conditional jump reaches 255 steps; a plain one any distance.
    steps.push(step(libc::BPF_JMP | libc::BPF_JA, 0));
    tree(low, steps);
    steps[jump].k = u32::try_from(steps.len() - jump - 1).unwrap_or(u32::MAX);
    tree(high, steps);
}

/// One look for each call, then `allow`, then what the looks jump to.
fn leaf(refusals: &[Refusal], steps: &mut Vec<sock_filter>) {
    let mut blocks: Vec<sock_filter> = vec![allow()];
    let mut always: Vec<(i32, usize)> = Vec::new();
    for (at, refusal) in refusals.iter().enumerate() {
        let known = always.iter().find(|(errno, _)| refusal.cases.is_empty() && *errno == refusal.errno);
        let target = known.map_or(blocks.len(), |(_, target)| *target);
        if target == blocks.len() {
            if refusal.cases.is_empty() {
                always.push((refusal.errno, target));
            }
            blocks.extend(refusal.steps());
        }
        let distance = u8::try_from(refusals.len() - at - 1 + target).unwrap_or(u8::MAX);
        steps.push(sock_filter {
            jt: distance,
            ..step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, refusal.call.number)
        });
    }
    steps.extend(blocks);
}

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or(0), jt: 0, jf: 0, k }
}

fn allow() -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW)
}

fn refuse(errno: i32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned())
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;

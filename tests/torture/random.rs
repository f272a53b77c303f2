//! A small generator whose numbers a seed determines (xorshift64*).

#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + (self.next() >> 11) % (high - low + 1)
    }

    pub fn one_in(&mut self, count: u64) -> bool {
        self.between(1, count) == 1
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let last = items.len() as u64 - 1;
        &items[usize::try_from(self.between(0, last)).unwrap()]
    }
}

//! Damages logs, the same way every time.

#![allow(dead_code, reason = "not every test damages logs in every way")]

/// A small generator of pseudo-random numbers (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Values that lengths, counts and offsets are corrupted to.
const LENGTHS: [u64; 12] = [
    0,
    1,
    7,
    0x7f,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    i64::MAX as u64,
    i64::MIN as u64,
    u64::MAX,
    u64::MAX - 7,
];

/// A damaged copy: flipped bits, a cut, an overwritten field of 8 bytes, or a stretch copied elsewhere.
pub fn damaged(log: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = log.to_vec();
    match random.below(4) {
        0 => {
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        1 => bytes.truncate(random.below(bytes.len())),
        2 => {
            // Most fields of 8 bytes are aligned, and most that matter are near the beginning.
            let reach = if random.below(2) == 0 { bytes.len().min(1400) } else { bytes.len() };
            let at = random.below(reach) & !7;
            let value = LENGTHS[random.below(LENGTHS.len())];
            let field = if random.below(2) == 0 { value.to_le_bytes() } else { value.to_be_bytes() };
            let end = bytes.len().min(at + 8);
            bytes[at..end].copy_from_slice(&field[..end - at]);
        }
        _ => {
            let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
            let len = random.below(64).min(bytes.len() - from).min(bytes.len() - to);
            bytes.copy_within(from..from + len, to);
        }
    }
    bytes
}

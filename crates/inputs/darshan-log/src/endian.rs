//! Byte order: every number of a log is stored in the order of the machine that wrote it.

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first (x86, ARM, POWER as ppc64le).
    Little,
    /// Most significant byte first (Blue Gene and other big-endian POWER machines).
    Big,
}

impl ByteOrder {
    pub(crate) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        }
    }

    pub(crate) fn i64(self, bytes: [u8; 8]) -> i64 {
        self.u64(bytes) as i64
    }

    pub(crate) fn f64(self, bytes: [u8; 8]) -> f64 {
        f64::from_bits(self.u64(bytes))
    }

    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        }
    }

    pub(crate) fn put_u64(self, out: &mut Vec<u8>, value: u64) {
        match self {
            ByteOrder::Little => out.extend_from_slice(&value.to_le_bytes()),
            ByteOrder::Big => out.extend_from_slice(&value.to_be_bytes()),
        }
    }

    pub(crate) fn put_i64(self, out: &mut Vec<u8>, value: i64) {
        self.put_u64(out, value as u64);
    }

    pub(crate) fn put_f64(self, out: &mut Vec<u8>, value: f64) {
        self.put_u64(out, value.to_bits());
    }

    pub(crate) fn put_u32(self, out: &mut Vec<u8>, value: u32) {
        match self {
            ByteOrder::Little => out.extend_from_slice(&value.to_le_bytes()),
            ByteOrder::Big => out.extend_from_slice(&value.to_be_bytes()),
        }
    }
}

/// Takes fields one after the other from a slice whose length was checked; past its end, every field reads as
/// 0.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    order: ByteOrder,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(order: ByteOrder, bytes: &'a [u8]) -> Self {
        Fields { order, rest: bytes }
    }

    /// The next `n` bytes, or fewer at the end.
    pub(crate) fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (head, rest) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = rest;
        head
    }

    /// Everything not taken yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().unwrap_or([0; N])
    }

    pub(crate) fn u64(&mut self) -> u64 {
        let bytes = self.array();
        self.order.u64(bytes)
    }

    pub(crate) fn i64(&mut self) -> i64 {
        let bytes = self.array();
        self.order.i64(bytes)
    }

    pub(crate) fn f64(&mut self) -> f64 {
        let bytes = self.array();
        self.order.f64(bytes)
    }

    pub(crate) fn u32(&mut self) -> u32 {
        let bytes = self.array();
        self.order.u32(bytes)
    }
}

/// The text before the first NUL, or all of it. Bytes that are not UTF-8 are replaced.
pub(crate) fn text_to_nul(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read_back_in_either_order() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let mut out = Vec::new();
            order.put_u32(&mut out, 0xdead_beef);
            order.put_i64(&mut out, -2);
            order.put_f64(&mut out, 0.1);
            let mut fields = Fields::new(order, &out);
            assert_eq!(fields.u32(), 0xdead_beef);
            assert_eq!(fields.i64(), -2);
            assert_eq!(fields.f64(), 0.1);
            assert_eq!(fields.u64(), 0, "past the end");
        }
    }

    #[test]
    fn text_ends_at_nul_or_at_the_end() {
        assert_eq!(text_to_nul(b"abc\0def"), "abc");
        assert_eq!(text_to_nul(b"abc"), "abc");
        assert_eq!(text_to_nul(b""), "");
    }
}

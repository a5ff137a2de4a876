//! CRC-32 (IEEE 802.3, the one of zlib and of Python's `zlib.crc32`).

/// The checksum of `data`.
pub fn crc32(data: &[u8]) -> u32 {
    crc32fast::hash(data)
}

#[cfg(test)]
mod tests {
    use super::crc32;

    fn bit_by_bit(data: &[u8]) -> u32 {
        let mut crc = !0u32;
        for &byte in data {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 != 0 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        !crc
    }

    #[test]
    fn agrees_with_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn agrees_with_the_definition_at_every_length() {
        let data: Vec<u8> = (0..200u32).map(|i| (i * 37 + 11) as u8).collect();
        for length in 0..data.len() {
            assert_eq!(crc32(&data[..length]), bit_by_bit(&data[..length]), "length {length}");
        }
    }
}

//! CRC-32 (IEEE 802.3, the one of zlib and of Python's `zlib.crc32`), eight bytes at a step.

const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 != 0 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        #[allow(clippy::indexing_slicing)] // evaluated at compile time
        {
            tables[0][byte] = crc;
        }
        byte += 1;
    }
    let mut slice = 1;
    while slice < 8 {
        let mut byte = 0;
        while byte < 256 {
            #[allow(clippy::indexing_slicing)] // evaluated at compile time
            {
                let previous = tables[slice - 1][byte];
                tables[slice][byte] = (previous >> 8) ^ tables[0][(previous & 0xff) as usize];
            }
            byte += 1;
        }
        slice += 1;
    }
    tables
}

/// The checksum of `data`.
pub fn crc32(data: &[u8]) -> u32 {
    let [t0, t1, t2, t3, t4, t5, t6, t7] = &TABLES;
    #[allow(clippy::indexing_slicing)] // a byte is always below 256
    let at = |table: &[u32; 256], byte: u8| table[usize::from(byte)];
    let mut crc = !0u32;
    let (chunks, rest) = data.as_chunks::<8>();
    for &[a, b, c, d, e, f, g, h] in chunks {
        let [p, q, r, s] = crc.to_le_bytes();
        crc = at(t7, a ^ p)
            ^ at(t6, b ^ q)
            ^ at(t5, c ^ r)
            ^ at(t4, d ^ s)
            ^ at(t3, e)
            ^ at(t2, f)
            ^ at(t1, g)
            ^ at(t0, h);
    }
    for &byte in rest {
        crc = (crc >> 8) ^ at(t0, byte ^ crc as u8);
    }
    !crc
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

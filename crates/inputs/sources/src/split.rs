//! Where whole values end in bytes that come in pieces. Each byte is looked at once.

/// Lines, JSON values, or MessagePack values.
#[derive(Clone, Debug)]
pub enum Splitter {
    /// A line is a value.
    Lines,
    /// Objects and lists of JSON.
    Json(Json),
    /// Values of MessagePack.
    MessagePack {
        /// Values that are missing until the one that was begun is whole.
        missing: u64,
    },
}

/// How far a JSON value has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json {
    depth: u32,
    in_text: bool,
    escaped: bool,
    begun: bool,
}

impl Splitter {
    /// For lines.
    pub fn lines() -> Self {
        Splitter::Lines
    }

    /// For MessagePack.
    pub fn message_pack() -> Self {
        Splitter::MessagePack { missing: 0 }
    }

    /// For JSON.
    pub fn json() -> Self {
        Splitter::Json(Json::default())
    }

    /// Go on from `at`. Afterwards `at` is how far was looked; `true` if a whole value ends there.
    pub fn next(&mut self, bytes: &[u8], at: &mut usize) -> bool {
        let rest = bytes.get(*at..).unwrap_or_default();
        match self {
            Splitter::Lines => {
                let end = rest.iter().position(|byte| *byte == b'\n');
                *at += end.map_or(rest.len(), |end| end + 1);
                end.is_some()
            }
            Splitter::Json(json) => {
                for (i, byte) in rest.iter().enumerate() {
                    if json.ends_with(*byte) {
                        *json = Json::default();
                        *at += i + 1;
                        return true;
                    }
                }
                *at = bytes.len();
                false
            }
            Splitter::MessagePack { missing } => {
                while let Some((length, inside)) = bytes.get(*at..).and_then(item) {
                    // The bytes of a text may come yet.
                    if bytes.len() - *at < length {
                        return false;
                    }
                    *at += length;
                    *missing = (*missing).max(1) - 1 + inside;
                    if *missing == 0 {
                        return true;
                    }
                }
                false
            }
        }
    }
}

impl Json {
    /// Does a value (an object or a list) end with this byte?
    fn ends_with(&mut self, byte: u8) -> bool {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => {
                self.depth += 1;
                self.begun = true;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.begun && self.depth == 0
    }
}

/// The length of a MessagePack item without what is inside it, and how many values are inside. `None`: not
/// even its head is whole.
fn item(bytes: &[u8]) -> Option<(usize, u64)> {
    let tag = *bytes.first()?;
    let number = |length: usize| {
        let bytes = bytes.get(1..1 + length)?;
        Some(bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    // A damaged length must not overflow.
    let text = |head: usize, extra: u64| {
        Some(((1 + head as u64 + extra + number(head)?).min(u64::from(u32::MAX) + 6) as usize, 0))
    };
    Some(match tag {
        0x00..=0x7f | 0xe0..=0xff | 0xc0..=0xc3 => (1, 0),
        0x80..=0x8f => (1, 2 * u64::from(tag & 0x0f)),
        0x90..=0x9f => (1, u64::from(tag & 0x0f)),
        0xa0..=0xbf => (1 + usize::from(tag & 0x1f), 0),
        0xc4 | 0xd9 => return text(1, 0),
        0xc5 | 0xda => return text(2, 0),
        0xc6 | 0xdb => return text(4, 0),
        0xc7 => return text(1, 1),
        0xc8 => return text(2, 1),
        0xc9 => return text(4, 1),
        0xca | 0xce | 0xd2 => (5, 0),
        0xcb | 0xcf | 0xd3 => (9, 0),
        0xcc | 0xd0 => (2, 0),
        0xcd | 0xd1 => (3, 0),
        0xd4..=0xd8 => (2 + (1 << (tag - 0xd4)), 0),
        0xdc => (3, number(2)?),
        0xdd => (5, number(4)?),
        0xde => (3, 2 * number(2)?),
        0xdf => (5, 2 * number(4)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where values end if the bytes come in pieces of some length.
    fn ends(splitter: &Splitter, bytes: &[u8], piece: usize) -> Vec<usize> {
        let mut splitter = splitter.clone();
        let (mut at, mut found) = (0, Vec::new());
        for known in (0..bytes.len()).step_by(piece).map(|i| (i + piece).min(bytes.len())) {
            while splitter.next(&bytes[..known], &mut at) {
                found.push(at);
            }
        }
        found
    }

    #[test]
    fn the_same_however_the_bytes_come() {
        let json = br#" {"a": [1, {"b": "}\"]"}]} [2] {"c":3}{"d"#;
        // [1, "ab", {"k": [1.5, nil]}], then 300 as u16, bin of 2, ext of 4, and the beginning of an array.
        let mut pack = vec![0x93, 1, 0xa2, b'a', b'b', 0x81, 0xa1, b'k', 0x92, 0xcb];
        pack.extend(1.5f64.to_be_bytes());
        pack.extend([0xc0, 0xcd, 1, 44, 0xc4, 2, 9, 9, 0xd6, 1, 1, 2, 3, 4, 0xdc, 0, 2, 1]);
        let cases: [(Splitter, &[u8], Vec<usize>); 3] = [
            (Splitter::Lines, b"a\nbc\n\nd", vec![2, 5, 6]),
            (Splitter::json(), json, vec![26, 30, 38]),
            (Splitter::message_pack(), &pack, vec![19, 22, 26, 32]),
        ];
        for (splitter, bytes, expected) in cases {
            for piece in 1..=bytes.len() {
                assert_eq!(ends(&splitter, bytes, piece), expected, "{splitter:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn damaged_lengths_are_harmless() {
        for tag in [0xc6u8, 0xc9, 0xdb, 0xdd, 0xdf] {
            let bytes = [tag, 0xff, 0xff, 0xff, 0xff, 0, 0];
            let mut at = 0;
            assert!(!Splitter::message_pack().next(&bytes, &mut at));
        }
    }
}

//! Patterns of paths, as options have them.

/// What the layers posix and stdio leave out, if nobody says otherwise: the system's own programs, libraries
/// and settings, and logs of tools.
pub const DEFAULT_EXCLUDED: &str = "/etc/*,/usr/*,/bin/*,/sbin/*,/lib/*,/lib32/*,/lib64/*,/boot/*,*/lib/python*,\
     */site-packages/*,*/dist-packages/*,*.so,*.so.*,*.py,*.pyc,*.darshan,*.darshan_partial";

/// Whether a path matches one of a list of patterns, separated by commas.
pub fn matches_any(patterns: &[u8], path: &[u8]) -> bool {
    places(patterns).any(|place| place.matches(patterns, path))
}

/// Shell pattern with `*` (anything) and `?` (one byte).
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    Place::of(pattern, 0, pattern.len()).matches(pattern, text)
}

/// Where a pattern is in a list, and where its stars are. Every new name of a file is compared with all of
/// them: most are done with after their first or last byte, and nothing has to be looked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    begin: usize,
    end: usize,
    /// The first and the last star; the end where there is none.
    first: usize,
    last: usize,
}

/// The patterns of a list.
pub fn places(patterns: &[u8]) -> impl Iterator<Item = Place> {
    let mut next = 0;
    let texts = pieces(patterns).map(move |text| {
        let begin = next;
        next += text.len() + 1;
        (begin, text)
    });
    let places = texts.map(|(begin, text)| {
        let begin = begin + text.len() - text.trim_ascii_start().len();
        Place::of(patterns, begin, begin + text.trim_ascii().len())
    });
    places.filter(|place| place.begin < place.end)
}

/// What is between the commas of a list.
#[inline]
pub fn pieces(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(list);
    core::iter::from_fn(move || {
        let text = rest?;
        let Some(comma) = find_byte(b',', text) else { return rest.take() };
        rest = text.get(comma + 1..);
        text.get(..comma)
    })
}

impl Place {
    fn of(list: &[u8], begin: usize, end: usize) -> Self {
        let pattern = list.get(begin..end).unwrap_or_default();
        let star = |at: Option<usize>| at.map_or(end, |at| begin + at);
        let first = star(find_byte(b'*', pattern));
        let last = star(pattern.iter().rposition(|&byte| byte == b'*'));
        Self { begin, end, first, last }
    }

    /// A set of bytes, as [`bytes_of`] has them: without all of these nothing matches the pattern, which is
    /// of this list.
    pub fn needs(self, list: &[u8]) -> u64 {
        let pattern = list.get(self.begin..self.end).unwrap_or_default();
        let bytes = pattern.iter().filter(|byte| !matches!(byte, b'*' | b'?'));
        bytes.fold(0, |set, &byte| set | bit(byte))
    }

    /// All of it in one word. `None`: the list is too long for that.
    pub fn pack(self) -> Option<u64> {
        let half = |number: usize| u16::try_from(number).ok().map(u64::from);
        Some(half(self.begin)? | half(self.end)? << 16 | half(self.first)? << 32 | half(self.last)? << 48)
    }

    /// See [`pack`](Self::pack).
    #[inline]
    pub fn unpack(word: u64) -> Self {
        let half = |shift: u32| usize::from((word >> shift) as u16);
        Self { begin: half(0), end: half(16), first: half(32), last: half(48) }
    }

    /// Whether a text matches the pattern, which is of this list.
    #[inline]
    pub fn matches(self, list: &[u8], text: &[u8]) -> bool {
        let part = |from: usize, to: usize| list.get(from..to).unwrap_or_default();
        let before = part(self.begin, self.first);
        let Some((start, rest)) = text.split_at_checked(before.len()) else { return false };
        if !is_same(before, start) || self.first == self.end {
            return self.first == self.end && rest.is_empty() && is_same(before, start);
        }
        let behind = part(self.last + 1, self.end);
        let Some(length) = rest.len().checked_sub(behind.len()) else { return false };
        let Some((rest, end)) = rest.split_at_checked(length) else { return false };
        is_same(behind, end) && (self.first == self.last || has(rest, part(self.first + 1, self.last)))
    }
}

/// Which bytes a text has: one bit for each, which some share.
#[inline]
pub fn bytes_of(text: &[u8]) -> u64 {
    text.iter().fold(0, |set, &byte| set | bit(byte))
}

/// The bit of one.
#[inline(always)]
pub const fn bit(byte: u8) -> u64 {
    1u64.wrapping_shl(byte as u32)
}

/// Whether a text has the pieces between stars in it, one after the other. The first place where a piece is
/// leaves most room for the others.
fn has(text: &[u8], pieces: &[u8]) -> bool {
    let mut pieces = pieces.split(|&byte| byte == b'*');
    pieces.try_fold(text, |text, piece| behind(piece, text)).is_some()
}

/// What is behind the first place where a piece is.
fn behind<'a>(piece: &[u8], text: &'a [u8]) -> Option<&'a [u8]> {
    let Some((first, more)) = piece.split_first() else { return Some(text) };
    let mut text = text;
    loop {
        let at = if *first == b'?' { 0 } else { find_byte(*first, text)? };
        text = text.get(at + 1..)?;
        let (part, rest) = text.split_at_checked(more.len())?;
        if is_same(more, part) {
            return Some(rest);
        }
    }
}

#[inline(always)]
fn is_same(wanted: &[u8], text: &[u8]) -> bool {
    wanted.iter().zip(text).all(|(&wanted, &byte)| wanted == byte || wanted == b'?')
}

/// Where a byte is found first: eight are looked at at once.
#[inline]
pub fn find_byte(byte: u8, text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let differs = u64::from_le_bytes(*word) ^ ONES.wrapping_mul(u64::from(byte));
        // The lowest byte that is 0 has its highest bit set here; so may some behind it.
        let zeros = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if zeros != 0 {
            return Some(8 * index + zeros.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(|&other| other == byte)?;
    Some(8 * words.len() + found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    /// What a pattern means.
    fn means(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], rest) => rest.is_empty(),
            ([b'*', more @ ..], _) => (0..=text.len()).any(|at| means(more, &text[at..])),
            ([b'?', more @ ..], [_, rest @ ..]) => means(more, rest),
            ([wanted, more @ ..], [byte, rest @ ..]) => wanted == byte && means(more, rest),
            (_, []) => false,
        }
    }

    /// All texts of at most so many of these letters.
    fn texts(letters: &[u8], most: usize) -> Vec<Vec<u8>> {
        let mut all = std::vec![Vec::new()];
        let mut begin = 0;
        for _ in 0..most {
            let end = all.len();
            for index in begin..end {
                let longer = letters.iter().map(|&letter| [&all[index][..], &[letter]].concat());
                let longer: Vec<_> = longer.collect();
                all.extend(longer);
            }
            begin = end;
        }
        all
    }

    #[test]
    fn patterns_match_what_they_mean() {
        let texts_of = texts(b"ab", 5);
        for pattern in texts(b"ab*?", 5) {
            for text in &texts_of {
                let shown = [&pattern, text].map(|bytes| String::from_utf8_lossy(bytes));
                let found = matches(&pattern, text);
                assert_eq!(found, means(&pattern, text), "{shown:?}");
                let needs = Place::of(&pattern, 0, pattern.len()).needs(&pattern);
                assert!(!found || needs & !bytes_of(text) == 0, "{shown:?}");
            }
        }
    }

    #[test]
    fn a_byte_is_found_where_it_is_first() {
        for text in texts(b"\x01\x00\x81,", 4) {
            let long = [&b"\x00\x01\x80\xff-+"[..], &text, b"-------", &text, b"-"].concat();
            for byte in *b"\x01\x00\x81," {
                assert_eq!(find_byte(byte, &long), long.iter().position(|&other| other == byte), "{long:?}");
            }
        }
        assert!(matches_any(b"a, b*,,c", b"bb") && !matches_any(b"a, b*,,c", b"") && !matches_any(b"", b""));
    }

    #[test]
    fn the_place_of_a_pattern_fits_into_a_word() {
        let list = b" a*b*c ,,x?,*, ,/etc/*";
        let found: Vec<Place> = places(list).collect();
        let texts: Vec<&[u8]> = found.iter().map(|place| &list[place.begin..place.end]).collect();
        assert_eq!(texts, [&b"a*b*c"[..], b"x?", b"*", b"/etc/*"]);
        for place in found {
            assert_eq!(place.pack().map(Place::unpack), Some(place));
        }
        assert_eq!(Place::of(&[b'a'; 70_000], 0, 70_000).pack(), None);
    }

    #[test]
    fn patterns_match_like_a_shell_without_backtracking_explosion() {
        let hit = |p: &str, t: &str| matches(p.as_bytes(), t.as_bytes());
        assert!(hit("*", "") && hit("a*c", "abbc") && hit("a*b*c", "axbxbc") && hit("??", "ab"));
        assert!(!hit("a*c", "ab") && !hit("", "a") && !hit("?", ""));
        let long = String::from("a").repeat(60);
        assert!(!hit(&"a*".repeat(40), &long[..39]));
    }
}

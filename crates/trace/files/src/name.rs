//! Names from outside, safe to print: the one place where they are escaped.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// Text from outside, with control characters made visible: a name must not move the cursor, begin a line of
/// a log, or hide a part of itself.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    push(text, &mut out);
    Cow::Owned(out)
}

/// The name of a file, likewise; bytes that are no text are shown as such (`\xff`), so that different names
/// look different.
pub fn shown(name: impl AsRef<OsStr>) -> String {
    let mut out = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        push(chunk.valid(), &mut out);
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn push(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c if is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
}

/// Control characters, and those that reorder or hide text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(printable("plain ü.msgpack"), "plain ü.msgpack");
        assert_eq!(printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\\u{a}");
        assert_eq!(printable("a\tb"), "a b");
        assert_eq!(printable("x\u{202e}y\u{2066}z\u{9b}0m"), "x\\u{202e}y\\u{2066}z\\u{9b}0m");
    }

    #[test]
    fn different_names_look_different() {
        let name = |bytes: &'static [u8]| shown(OsStr::from_bytes(bytes));
        assert_eq!(name(b"ckpt \xff\n"), "ckpt \\xff\\u{a}");
        assert_ne!(name(b"a\xff"), name(b"a\xfe"));
        assert_eq!(shown("a/ü"), "a/ü");
    }
}

//! The fields of a row (RFC 4180): one in quotes may hold the separator, line breaks, and quotes, which are
//! then doubled.

use csv_core::{ReadRecordResult, ReaderBuilder};
use std::borrow::Cow;

/// The fields of a row.
pub(super) fn split(row: &str, separator: char) -> Vec<Cow<'_, str>> {
    if !row.contains('"') {
        return row.split(separator).map(|field| Cow::Borrowed(field.trim())).collect();
    }
    // Cut off inside of quotes, it ends there.
    quoted(row, separator).unwrap_or_else(|| {
        let closed = format!("{row}\"");
        quoted(&closed, separator).unwrap_or_default()
    })
}

/// Does a row end inside of quotes, so that the next line belongs to it?
pub(super) fn is_open(row: &str, separator: char) -> bool {
    row.contains('"') && quoted(row, separator).is_none()
}

/// The fields of a row with quotes; `None` if the last one is not closed.
fn quoted(row: &str, separator: char) -> Option<Vec<Cow<'static, str>>> {
    let delimiter = u8::try_from(separator).unwrap_or(b',');
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let mut line = without_space_before_quotes(row, separator);
    line.push('\n');
    let (mut text, mut ends) = (vec![0; line.len()], vec![0; line.len() + 1]);
    let (result, _, _, count) = reader.read_record(line.as_bytes(), &mut text, &mut ends);
    if !matches!(result, ReadRecordResult::Record) {
        return None;
    }
    let mut from = 0;
    let field = |end: &usize| {
        let field = String::from_utf8_lossy(&text[from..*end]).trim().to_owned();
        from = *end;
        Cow::Owned(field)
    };
    Some(ends[..count].iter().map(field).collect())
}

/// Quotes are recognised where a field begins; people put spaces there.
fn without_space_before_quotes(row: &str, separator: char) -> String {
    let mut line = String::with_capacity(row.len() + 1);
    let (mut begins, mut quoted) = (true, false);
    for (at, c) in row.char_indices() {
        if begins && !quoted && c.is_whitespace() && c != separator && row[at..].trim_start().starts_with('"')
        {
            continue;
        }
        // Doubled quotes close and open again, which changes nothing.
        quoted ^= c == '"' && (quoted || begins || line.ends_with('"'));
        begins = !quoted && c == separator;
        line.push(c);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_in_quotes() {
        for (row, expected) in [
            ("a, b ,c", vec!["a", "b", "c"]),
            ("\"a, b\",\"c\"", vec!["a, b", "c"]),
            ("\"say \"\"x\"\"\", 1", vec!["say \"x\"", "1"]),
            ("\"two\nlines\",1", vec!["two\nlines", "1"]),
            ("5\" disk,1", vec!["5\" disk", "1"]),
            (" \"a,b\" ,1", vec!["a,b", "1"]),
            ("\"\",1", vec!["", "1"]),
            ("1,\"cut off, here", vec!["1", "cut off, here"]),
        ] {
            assert_eq!(split(row, ','), expected, "{row}");
        }
        assert!(is_open("1,\"a", ',') && !is_open("1,\"a\"", ',') && !is_open("5\" disk,1", ','));
    }

    proptest! {
        /// What is quoted as it should be is read as it was.
        #[test]
        fn there_and_back(
            fields in prop::collection::vec("[a-z\" ,;\n\t]{0,6}", 1..5),
            separator in prop::sample::select(vec![',', ';', '\t']),
        ) {
            let quote = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let row: Vec<String> = fields.iter().map(quote).collect();
            let row = row.join(&separator.to_string());
            let expected: Vec<&str> = fields.iter().map(|field| field.trim()).collect();
            prop_assert!(!is_open(&row, separator));
            prop_assert_eq!(split(&row, separator), expected);
        }

        #[test]
        fn anything_is_survived(row in "\\PC{0,60}") {
            let _ = (split(&row, ','), is_open(&row, ';'));
        }
    }
}

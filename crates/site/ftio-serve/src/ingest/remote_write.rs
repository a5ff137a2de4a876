//! Prometheus' remote write, version 1: a `WriteRequest` of protocol buffers, compressed by Snappy's block
//! format. Both are small enough to be read here.

use super::labelled::Sample;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Uncompressed it is no longer than this.
const MAX_PLAIN: usize = 32 << 20;
/// No request has more samples, …
const MAX_SAMPLES: usize = 200_000;
/// … more labels, all series together, …
const MAX_LABELS: usize = 400_000;
/// … or a series with more labels, or with longer ones.
const MAX_LABELS_OF_SERIES: usize = 128;
const MAX_LABEL: usize = 4096;

/// The samples of a request.
pub fn decode(body: &[u8]) -> Result<Vec<Sample>, String> {
    let plain = unpack(body).ok_or("not compressed by Snappy, or too long")?;
    request(&plain).ok_or_else(|| "not a WriteRequest".into())
}

/// Snappy's block format: the length, then literals and copies of what came before.
fn unpack(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(varint(&mut bytes)?).ok().filter(|length| *length <= MAX_PLAIN)?;
    let mut out = Vec::with_capacity(length.min(1 << 20));
    while let [tag, rest @ ..] = bytes {
        bytes = rest;
        let tag = usize::from(*tag);
        let (count, offset) = match tag & 3 {
            0 => {
                let mut count = tag >> 2;
                if count >= 60 {
                    count = little_endian(&mut bytes, count - 59)?;
                }
                let (literal, rest) = bytes.split_at_checked(count + 1)?;
                out.extend_from_slice(literal);
                bytes = rest;
                if out.len() > length {
                    return None;
                }
                continue;
            }
            1 => {
                let low = little_endian(&mut bytes, 1)?;
                (4 + (tag >> 2 & 7), (tag >> 5) << 8 | low)
            }
            2 => ((tag >> 2) + 1, little_endian(&mut bytes, 2)?),
            _ => ((tag >> 2) + 1, little_endian(&mut bytes, 4)?),
        };
        let from = out.len().checked_sub(offset).filter(|_| offset > 0)?;
        if out.len() + count > length {
            return None;
        }
        // What is copied may reach into itself.
        for i in 0..count {
            out.push(out[from + i]);
        }
    }
    (out.len() == length).then_some(out)
}

fn little_endian(bytes: &mut &[u8], count: usize) -> Option<usize> {
    let (some, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(some.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// A field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The next field and its number.
fn field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let key = varint(bytes)?;
    let value = match key & 7 {
        0 => Field::Number(varint(bytes)?),
        1 => {
            let (eight, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            Field::Number(u64::from_le_bytes(*eight))
        }
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            let (some, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            Field::Bytes(some)
        }
        5 => Field::Number(little_endian(bytes, 4)? as u64),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn request(mut bytes: &[u8]) -> Option<Vec<Sample>> {
    let mut samples = Vec::new();
    let mut labels = 0;
    while !bytes.is_empty() {
        if let (1, Field::Bytes(series)) = field(&mut bytes)? {
            labels += time_series(series, &mut samples)?;
        }
        if labels > MAX_LABELS {
            return None;
        }
    }
    Some(samples)
}

/// The text of a label; `None`: it is too long.
fn text(bytes: &[u8]) -> Option<String> {
    (bytes.len() <= MAX_LABEL).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// Add the samples of a series. The number of its labels; `None`: it cannot be read, or is too much. A short
/// request may be a very long one when it is unpacked, so every part is counted before it is kept.
fn time_series(mut bytes: &[u8], samples: &mut Vec<Sample>) -> Option<usize> {
    let mut labels = BTreeMap::new();
    let mut values = Vec::new();
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            (1, Field::Bytes(mut label)) => {
                let (mut name, mut value) = (String::new(), String::new());
                while !label.is_empty() {
                    match field(&mut label)? {
                        (1, Field::Bytes(bytes)) => name = text(bytes)?,
                        (2, Field::Bytes(bytes)) => value = text(bytes)?,
                        _ => {}
                    }
                }
                labels.insert(name, value);
                if labels.len() > MAX_LABELS_OF_SERIES {
                    return None;
                }
            }
            (2, Field::Bytes(mut sample)) => {
                let (mut value, mut millis) = (0.0, 0i64);
                while !sample.is_empty() {
                    match field(&mut sample)? {
                        (1, Field::Number(bits)) => value = f64::from_bits(bits),
                        (2, Field::Number(time)) => millis = time as i64,
                        _ => {}
                    }
                }
                values.push((value, millis));
                if samples.len() + values.len() > MAX_SAMPLES {
                    return None;
                }
            }
            _ => {}
        }
    }
    let (count, labels) = (labels.len(), Arc::new(labels));
    samples.extend(values.into_iter().map(|(value, millis)| Sample {
        labels: Arc::clone(&labels),
        value,
        time: millis as f64 / 1e3,
    }));
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, content.len() as u8], content].concat()
    }

    fn one() -> Vec<u8> {
        let label = |name: &str, value: &str| {
            message(1, &[message(1, name.as_bytes()), message(2, value.as_bytes())].concat())
        };
        let sample = [&[9][..], &2.5f64.to_le_bytes(), &[16, 0x80, 0xd0, 0x95, 0xff, 0xbc, 0x31]].concat();
        let series = [label("__name__", "x_total"), label("jobid", "17"), message(2, &sample)].concat();
        message(1, &series)
    }

    #[test]
    fn a_request_is_read() {
        let plain = one();
        assert!(plain.len() < 60);
        let packed = [&[plain.len() as u8, (plain.len() as u8 - 1) << 2][..], &plain].concat();
        let samples = decode(&packed).unwrap();
        assert_eq!(samples.len(), 1);
        assert_eq!((samples[0].value, samples[0].labels["jobid"].as_str()), (2.5, "17"));
        assert!((1.69e9..1.71e9).contains(&samples[0].time), "{}", samples[0].time);
    }

    #[test]
    fn copies_may_reach_into_themselves() {
        // "ab", then ten bytes from two before.
        assert_eq!(unpack(&[12, 1 << 2, b'a', b'b', 9 << 2 | 2, 2, 0]).unwrap(), b"abababababab");
        assert!(unpack(&[12, 1 << 2, b'a', b'b', 9 << 2 | 2, 3, 0]).is_none(), "from before the beginning");
        assert!(unpack(&[0xff, 0xff, 0xff, 0xff, 0x0f]).is_none(), "longer than allowed");
    }

    fn long(number: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2];
        let mut length = content.len();
        while length >= 0x80 {
            out.push(length as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
        [&out, content].concat()
    }

    /// A few bytes that stand for very much.
    #[test]
    fn bombs_are_refused_before_they_burst() {
        let label = |name: &str, value: &str| {
            long(1, &[long(1, name.as_bytes()), long(2, value.as_bytes())].concat())
        };
        // Empty samples of one series with long labels: each would have had a copy of them.
        let samples = |count: usize| long(2, &[]).repeat(count);
        let wide: Vec<u8> = (0..100).flat_map(|i| label(&format!("l{i}"), &"x".repeat(4000))).collect();
        assert_eq!(
            request(&long(1, &[&wide[..], &samples(MAX_SAMPLES)].concat())).unwrap().len(),
            MAX_SAMPLES
        );
        assert!(request(&long(1, &[&wide[..], &samples(MAX_SAMPLES + 1)].concat())).is_none());
        assert!(request(&long(1, &label("a", &"x".repeat(MAX_LABEL + 1)))).is_none());
        let many: Vec<u8> = (0..=MAX_LABELS_OF_SERIES).flat_map(|i| label(&i.to_string(), "")).collect();
        assert!(request(&long(1, &many)).is_none());
        let series = long(1, &many[..many.len() / 2]);
        assert!(request(&series.repeat(2 * MAX_LABELS / MAX_LABELS_OF_SERIES + 100)).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_danger(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode(&bytes);
            let _ = request(&bytes);
        }
    }
}

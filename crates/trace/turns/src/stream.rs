//! Messages out of a stream of bytes, in whatever pieces they come.

use crate::message::{LENGTH, Malformed, Message};

/// What has arrived and was not taken yet.
#[derive(Debug, Default)]
pub struct Stream {
    bytes: Vec<u8>,
    taken: usize,
    longest_text: usize,
}

impl Stream {
    /// Texts longer than this are an error.
    pub fn new(longest_text: usize) -> Self {
        Self { bytes: Vec::new(), taken: 0, longest_text }
    }

    /// More bytes have come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message that is complete. After an error nothing more can be understood.
    pub fn take(&mut self) -> Result<Option<(Message, String)>, Malformed> {
        let rest = self.bytes.get(self.taken..).unwrap_or_default();
        let Some(head) = rest.first_chunk::<LENGTH>() else { return Ok(None) };
        let message = Message::decode(head)?;
        let length = message.text as usize;
        if length > self.longest_text {
            return Err(Malformed::Text(message.text));
        }
        let Some(text) = rest.get(LENGTH..LENGTH + length) else { return Ok(None) };
        let text = String::from_utf8_lossy(text).into_owned();
        self.taken += LENGTH + length;
        Ok(Some((message, text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, LONGEST_TEXT, VERSION};
    use proptest::prelude::*;

    #[test]
    fn a_message_comes_back_from_pieces_of_any_size() {
        let hello = Message::new(Kind::Hello).with(7, u64::MAX);
        let ask = Message::new(Kind::Ask).seq(9).with(1, 2);
        let bytes = [hello.encode_with("job=1\n"), ask.encode().to_vec()].concat();
        for size in 1..bytes.len() {
            let mut stream = Stream::new(LONGEST_TEXT);
            let mut got = Vec::new();
            for piece in bytes.chunks(size) {
                stream.push(piece);
                while let Some(one) = stream.take().unwrap() {
                    got.push(one);
                }
            }
            assert_eq!(got, [(Message { text: 6, ..hello }, "job=1\n".into()), (ask, String::new())]);
        }
    }

    #[test]
    fn another_version_an_unknown_kind_and_an_endless_text_are_told_apart() {
        let mut bytes = Message::new(Kind::Ask).encode();
        bytes[2] = 9;
        assert_eq!(Message::decode(&bytes), Err(Malformed::Version(9)));
        assert!(Malformed::Version(9).to_string().contains(&VERSION.to_string()));
        bytes[2] = 1;
        bytes[0] = 99;
        assert_eq!(Message::decode(&bytes), Err(Malformed::Kind(99)));
        let mut stream = Stream::new(10);
        stream.push(&Message { text: 11, ..Message::new(Kind::Hello) }.encode());
        assert_eq!(stream.take(), Err(Malformed::Text(11)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_wait_for_ever(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut stream = Stream::new(LONGEST_TEXT);
            stream.push(&bytes);
            for _ in 0..bytes.len() {
                if !matches!(stream.take(), Ok(Some(_))) {
                    break;
                }
            }
        }
    }
}

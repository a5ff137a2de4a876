//! The part that a spool has named: what is in it already, and what joins it.

use crate::format::block::{self, IDENTITY_BYTES};
use crate::format::checksum::crc32;
use crate::format::frame::{FrameKind, FrameReader, HEAD, Head, TAG, is_trace_start, parse_head};
use files::{Access, Dir, Expect, Why, user};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The part that a spool has named.
pub(super) struct Part {
    pub file: File,
    path: PathBuf,
    /// It was not there before, or is empty.
    pub is_new: bool,
}

impl Part {
    /// Opens a part of the user in whose name this thread acts. `None`: it is gone. Anything that is not a
    /// part of that user's is an error, whatever the path says.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let me = user::effective();
        let is_parts = |directory: &Path| directory.extension().is_some_and(|ending| ending == "parts");
        let (Some(parent), Some(name)) = (path.parent().filter(|parent| is_parts(parent)), path.file_name())
        else {
            return Err(io::Error::other(format!("{}: is not a part of a trace", files::shown(path))));
        };
        let directory = match Dir::reach(parent, me) {
            Err(error) if error.is_missing() => return Ok(None),
            other => other?,
        };
        let file = match directory.file(name, Access::Append, &Expect::of_user(me).with_one_name()) {
            // Only in a directory of that user's own: in any other, others decide what belongs there.
            Err(error) if error.is_missing() => match directory.check(&Expect::of_user(me)) {
                Ok(_) => directory.create(name, 0o600)?,
                Err(files::Error { why: Why::Owner { .. }, .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
            },
            other => other?,
        };
        let mut start = [0u8; TAG.len()];
        let length = file.metadata()?.len();
        let is_new = length == 0;
        if !is_new && (file.read_exact_at(&mut start, 0).is_err() || !is_trace_start(&start)) {
            return Err(io::Error::other(format!("{}: is not a part of a trace", files::shown(path))));
        }
        Ok(Some(Part { file, path: path.to_owned(), is_new }))
    }

    pub fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        self.file.seek(SeekFrom::End(0))?;
        if let Err(error) = self.file.write_all(frames) {
            let _ = self.file.set_len(length);
            return Err(io::Error::new(error.kind(), format!("{}: {error}", files::shown(&self.path))));
        }
        Ok(())
    }
}

/// Names of files that the blocks of a rank have.
pub(super) fn names_of(part: &File, rank: u32) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    let _ = each_block(part, rank, |_, _, body| {
        learn(&mut names, body);
    });
    names
}

/// Numbers of a rank's blocks in a part.
pub(super) fn blocks_of(part: &File, rank: u32) -> HashSet<u64> {
    let mut numbers = HashSet::new();
    let _ = each_block(part, rank, |_, number, _| {
        numbers.insert(number);
    });
    numbers
}

/// What a part has of a rank.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Names of files that its blocks tell of.
    pub names: HashMap<u32, String>,
    /// Where the blocks are.
    pub extents: Vec<Range<u64>>,
    /// How many operations they hold.
    pub operations: u64,
    /// Their numbers.
    pub blocks: HashSet<u64>,
}

/// What a part has of a rank, for the helper that continues it.
pub fn written(path: &Path, rank: u32) -> io::Result<Written> {
    let file = crate::parts::open(path)?;
    let mut found = Written::default();
    each_block(&file, rank, |place, number, body| {
        found.operations += learn(&mut found.names, body);
        found.blocks.insert(number);
        match found.extents.last_mut().filter(|last| last.end == place.start) {
            Some(last) => last.end = place.end,
            None => found.extents.push(place),
        }
    })?;
    Ok(found)
}

/// Learns the names of a block; returns the number of its operations.
fn learn(names: &mut HashMap<u32, String>, body: &[u8]) -> u64 {
    let Ok(block) = block::Block::parse(body) else { return 0 };
    names.extend(block.files.iter().map(|&(number, name)| (number, name.to_owned())));
    block.count.into()
}

/// Calls `found` with the place, the number and the body of each block of a rank. Only whole ones count: of
/// a block that was being written when its process was killed, the part may hold a piece.
fn each_block(mut part: &File, rank: u32, mut found: impl FnMut(Range<u64>, u64, &[u8])) -> io::Result<()> {
    let size = part.metadata()?.len();
    let mut at = 0;
    while let Some((end, block)) = whole_frame(part, at, size, rank) {
        if let Some((number, body)) = block {
            found(at..end, number, &body);
        }
        at = end;
    }
    if at == size {
        return Ok(());
    }
    // From a piece on, every byte is looked at: whole frames may follow anywhere.
    part.seek(SeekFrom::Start(at))?;
    let mut frames = FrameReader::new(part);
    while let Some(frame) = frames.next_frame()? {
        if let Some(number) = frame.kind.and_then(|kind| number_of(kind, frame.body, rank)) {
            let begin = at + frame.offset;
            found(begin..begin + (HEAD + frame.body.len()) as u64, number, frame.body);
        }
    }
    Ok(())
}

/// The number of a block, if the frame is one of `rank`.
fn number_of(kind: FrameKind, body: &[u8], rank: u32) -> Option<u64> {
    let (_, number) = block::identity(body).filter(|(its, _)| kind.is_block() && *its == rank)?;
    Some(number)
}

/// The number and the body of a block.
type Numbered = (u64, Vec<u8>);

/// Where the frame at `at` ends, and its number and body if it is a block of `rank`. `None`: it is not
/// whole, or there is none.
fn whole_frame(file: &File, at: u64, size: u64, rank: u32) -> Option<(u64, Option<Numbered>)> {
    let mut head = [0u8; HEAD];
    file.read_exact_at(&mut head, at).ok()?;
    let Head::Frame { kind, checksum, length } = parse_head(&head) else { return None };
    let (body, end) = (at + HEAD as u64, at + (HEAD + length) as u64);
    let mut next = [0u8; TAG.len()];
    let followed = end == size || (file.read_exact_at(&mut next, end).is_ok() && next == TAG);
    if end > size || !followed {
        return None;
    }
    let Some(kind) = FrameKind::from_code(kind) else { return Some((end, None)) };
    let mut bytes = vec![0; length.min(IDENTITY_BYTES)];
    file.read_exact_at(&mut bytes, body).ok()?;
    let Some(number) = number_of(kind, &bytes, rank) else { return Some((end, None)) };
    bytes.resize(length, 0);
    file.read_exact_at(&mut bytes, body).ok().filter(|()| crc32(&bytes) == checksum)?;
    Some((end, Some((number, bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::block::BlockEncoder;
    use std::fs;

    /// An empty block.
    fn block(rank: u32, number: u64) -> Vec<u8> {
        let mut encoder = BlockEncoder::default();
        assert!(encoder.restart(0));
        let names = vec![(1, "a name that makes the block longer than what identifies it")];
        encoder.finish(rank, number, 0, names).unwrap().to_vec()
    }

    /// One that was cut so many bytes before its end.
    fn piece(rank: u32, number: u64, from_end: usize) -> Vec<u8> {
        let whole = block(rank, number);
        whole[..whole.len() - from_end].to_vec()
    }

    #[test]
    fn a_piece_of_a_block_is_not_a_block() {
        let path = std::env::temp_dir().join(format!("tmio-piece-{}", std::process::id()));
        let blocks = |frames: &[Vec<u8>]| {
            fs::write(&path, frames.concat()).unwrap();
            let mut numbers: Vec<u64> = blocks_of(&File::open(&path).unwrap(), 1).into_iter().collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(blocks(&[block(1, 0), block(2, 0), block(1, 1)]), [0, 1]);
        for from_end in [1, 10, 40] {
            assert_eq!(blocks(&[block(1, 0), piece(1, 1, from_end)]), [0], "killed in the middle of a write");
            // Others went on writing.
            assert_eq!(blocks(&[piece(1, 1, from_end), block(2, 5), block(1, 3)]), [3]);
            assert_eq!(blocks(&[piece(2, 1, from_end), block(1, 3), block(2, 5), block(1, 4)]), [3, 4]);
        }
        let mut wrong = block(1, 1);
        *wrong.last_mut().unwrap() ^= 1;
        assert_eq!(blocks(&[wrong, block(1, 2)]), [2]);
        fs::remove_file(path).unwrap();
    }

    /// A helper was killed while it wrote, the next one went on, and was killed as well.
    #[test]
    fn what_follows_a_piece_was_written_too() {
        let path = std::env::temp_dir().join(format!("tmio-written-{}", std::process::id()));
        let length = block(1, 0).len() as u64;
        for from_end in [1, 10, 40, length as usize - 3] {
            let cut = length - from_end as u64;
            let all = [block(1, 0), piece(1, 1, from_end), block(1, 2), block(2, 1), block(1, 3)];
            fs::write(&path, all.concat()).unwrap();
            let found = written(&path, 1).unwrap();
            assert_eq!(found.blocks, HashSet::from([0, 2, 3]), "{from_end}");
            let second = length + cut;
            let extents = [0..length, second..second + length, second + 2 * length..second + 3 * length];
            assert_eq!(found.extents, extents, "{from_end}");
            assert_eq!(found.names.len(), 1);
        }
        fs::remove_file(path).unwrap();
    }
}

//! The trace of this project: a file, a stream, or what a job that has not ended has left of one.

use super::content::Content;
use super::coverage::CoverageTally;
use super::error::SourceError;
use super::job::{Job, Marked, Source, distinct};
use super::layers::LayerBytes;
use crate::request::layer::Layer;
use crate::request::{Batch, Completion, Detail, Held, Request, Span};
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use tmio_trace::block::merge::Merged;
use tmio_trace::reader::{Operations, ReadAs, parts_path};
use tmio_trace::{Event, Flags, Mark, OpKind, Operation, Outcome, Trace, TraceLayer, Transfer, parts};

/// Operations at a time: as many as fit the first cache of a processor.
const PIECE: usize = 256;

/// Marks that are kept: more cannot be shown.
const MAX_MARKS: usize = 10_000;

/// Does an input that begins like this hold a finished one?
pub(super) use tmio_trace::reader::is_trace_start as looks_like;

/// Is a folder the parts of an unfinished one, or is there no file of that name but its parts?
pub(super) fn is_parts(path: &Path) -> bool {
    let has_name = path.extension().is_some_and(|extension| extension == "parts");
    (has_name && path.is_dir()) || (!path.exists() && parts_path(path).is_dir())
}

/// A finished trace, or one that was recovered, whose parts are read if they are still there.
pub(super) fn open(content: Content, asked: Option<Layer>) -> TmioTrace {
    let Some(path) = content.path.clone() else {
        return TmioTrace::from_stream(&content.name.clone(), content.into_reader(), asked);
    };
    if let Some(job) = parts::of_recovered(&path) {
        return TmioTrace::of_job(&path, job, asked);
    }
    match parts::first_header(&path).is_some_and(|header| header.layers) {
        true => match Trace::open(&path) {
            Ok(trace) => TmioTrace::with_layers(trace, Trace::open(&path).ok(), asked),
            Err(_) => TmioTrace::from_stream(&content.name.clone(), content.into_reader(), asked),
        },
        false => TmioTrace::plain(
            Trace::from_reader(Path::new(&content.name.clone()), content.into_reader()),
            asked,
        ),
    }
}

/// Our own trace.
#[derive(Debug)]
pub struct TmioTrace {
    trace: Trace,
    /// The layer whose requests are handed out; `None`: it has no others than MPI-IO.
    layer: Option<Layer>,
    /// What to tell about the choice of the layer.
    notes: Vec<String>,
}

impl TmioTrace {
    /// The trace of that name, or its parts.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn open(path: &Path, asked: Option<Layer>) -> Result<Self, SourceError> {
        Ok(Self::chosen(Trace::open(path)?, || Trace::open(path).ok(), asked))
    }

    /// The trace whose parts are in a directory of any name.
    ///
    /// # Errors
    ///
    /// There are none, or they cannot be opened.
    pub fn of_parts(directory: &Path, asked: Option<Layer>) -> Result<Self, SourceError> {
        Ok(Self::chosen(Trace::of_parts(directory)?, || Trace::of_parts(directory).ok(), asked))
    }

    fn chosen(trace: Trace, again: impl FnOnce() -> Option<Trace>, asked: Option<Layer>) -> Self {
        match trace.header().is_some_and(|header| header.layers) {
            true => Self::with_layers(trace, again(), asked),
            false => Self::plain(trace, asked),
        }
    }

    fn of_job(path: &Path, job: parts::Job, asked: Option<Layer>) -> Self {
        let layers = job.header.as_ref().is_some_and(|header| header.layers);
        let trace = Trace::from_job(path, job.clone());
        match layers {
            true => Self::with_layers(trace, Some(Trace::from_job(path, job)), asked),
            false => Self::plain(trace, asked),
        }
    }

    /// A finished trace from any stream; `name` is used in messages.
    pub fn from_reader(name: &str, input: Box<dyn Read + Send>) -> Self {
        Self::from_stream(name, input, None)
    }

    fn from_stream(name: &str, mut input: Box<dyn Read + Send>, asked: Option<Layer>) -> Self {
        let name = Path::new(name);
        let mut start = Vec::new();
        // What cannot be read will not be readable for who reads it, either.
        let _ = (&mut input).take(64 << 10).read_to_end(&mut start);
        if parts::header_in(start.as_slice()).is_none_or(|header| !header.layers) {
            return Self::plain(Trace::from_reader(name, Box::new(Cursor::new(start).chain(input))), asked);
        }
        let _ = input.read_to_end(&mut start);
        let bytes: Arc<[u8]> = start.into();
        let trace = || Trace::from_reader(name, Box::new(Cursor::new(Arc::clone(&bytes))));
        Self::with_layers(trace(), Some(trace()), asked)
    }

    fn plain(trace: Trace, asked: Option<Layer>) -> Self {
        Self { trace, layer: asked.filter(|layer| *layer != Layer::MpiIo), notes: Vec::new() }
    }

    /// A trace that may have several layers: `again` is read first, to see what moved most.
    fn with_layers(trace: Trace, again: Option<Trace>, asked: Option<Layer>) -> Self {
        let mut moved = LayerBytes::default();
        let mut has_others = false;
        if let Some(again) = again {
            // What is wrong with it will be said when it is read for its requests.
            let _ = again.read(|event| {
                if let Event::Block(block) = event {
                    add_moved(&mut moved, block.operations);
                    has_others |= block.operations.iter().any(|op| op.kind.layer() != TraceLayer::MpiIo);
                }
            });
        }
        let Some(layer) = asked.or_else(|| moved.choose(|_| true)) else { return Self::plain(trace, asked) };
        if !has_others {
            return Self::plain(trace, asked);
        }
        let mut notes = vec![format!("requests of the layer {layer}")];
        notes.extend(moved.beside(layer).filter(|_| asked.is_none()));
        Self { trace, layer: Some(layer), notes }
    }

    /// What the trace tells, frame by frame.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// The layer whose requests are handed out; `None`: there is only MPI-IO.
    pub fn layer(&self) -> Option<Layer> {
        self.layer
    }

    /// What to tell about that.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Add what operations moved.
pub(crate) fn add_moved(moved: &mut LayerBytes, operations: &[Operation]) {
    let mut sums = [(0u64, 0u64); 3];
    for op in operations.iter().filter(|op| op.kind.class().is_some()) {
        if let Some((count, bytes)) = sums.get_mut(op.kind.layer() as usize) {
            *count += 1;
            *bytes = bytes.saturating_add(op.bytes);
        }
    }
    for (layer, (count, bytes)) in TraceLayer::ALL.into_iter().zip(sums) {
        if count > 0 {
            moved.add(layer.into(), bytes);
        }
    }
}

/// Whether an operation is of the layer that was chosen.
pub fn is_of(layer: Option<Layer>, op: &Operation) -> bool {
    is_kind_of(layer, op.kind)
}

fn is_kind_of(layer: Option<Layer>, kind: OpKind) -> bool {
    layer.is_none_or(|layer| Layer::from(kind.layer()) == layer)
}

impl Source for TmioTrace {
    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let (layer, mut batch) = (self.layer, Vec::new());
        self.read_blocks(|block: &Operations<'_, Transfer>| {
            batch.clear();
            // Mostly all are of one kind, which is then looked at once.
            for alike in block.operations.chunk_by(|one, next| one.kind == next.kind) {
                let class = alike[0].kind.class().filter(|_| is_kind_of(layer, alike[0].kind));
                let Some(class) = class else { continue };
                batch.extend(alike.iter().map(|op| Request {
                    start: op.start,
                    end: if span == Span::Required { op.deadline } else { op.end },
                    bytes: op.bytes,
                    class,
                    rank: Some(block.rank),
                }));
            }
            visit(&batch);
            batch.iter().map(|request| request.bytes).fold(0, u64::saturating_add)
        })
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let (layer, mut batch) = (self.layer, Vec::new());
        self.read_blocks(|block: &Operations<'_>| {
            batch.clear();
            let taken = block.operations.iter().enumerate().filter(|(_, op)| is_of(layer, op));
            batch.extend(taken.filter_map(|(index, op)| {
                Some(Detail {
                    request: request(op, block.rank, span)?,
                    file: Some(op.file),
                    completion: op
                        .nonblocking
                        .map(|times| Completion { done: op.end, deadline: times.deadline }),
                    held: Some(held(op, block.merged_at(index))),
                })
            }));
            visit(Batch { requests: &batch, files: block.files });
            batch.iter().map(|detail| detail.request.bytes).fold(0, u64::saturating_add)
        })
    }
}

/// How long an operation, or several that were merged to one record, held the rank up.
fn held(op: &Operation, merged: Merged) -> Held {
    let (calls, wait) = match op.nonblocking {
        None => (merged.time, None),
        // The tracer has divided the time in tests among the operations tested.
        Some(times) if op.flags.contains(Flags::TESTED) => (times.test_time, None),
        Some(times) => (times.issued.saturating_sub(op.start), Some((times.deadline, op.end))),
    };
    Held { calls: calls.max(0), wait, thread: op.thread }
}

impl TmioTrace {
    /// Hand out requests, and everything else that the trace tells to `watch`.
    pub fn read_watched(
        self,
        span: Span,
        visit: &mut dyn FnMut(&[Request]),
        watch: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(Job, Outcome), SourceError> {
        let (layer, mut batch) = (self.layer, Vec::new());
        let take = |block: &Operations<'_>| {
            batch.clear();
            let taken = block.operations.iter().filter(|op| is_of(layer, op));
            batch.extend(taken.filter_map(|op| request(op, block.rank, span)));
            visit(&batch);
            batch.iter().map(|request| request.bytes).fold(0, u64::saturating_add)
        };
        self.read_events(usize::MAX, take, watch)
    }

    /// Hand every block to `visit`, piece by piece, which returns how many bytes were transferred in it.
    fn read_blocks<T: ReadAs>(
        self,
        visit: impl FnMut(&Operations<'_, T>) -> u64,
    ) -> Result<Job, SourceError> {
        self.read_events(PIECE, visit, &mut |_| {}).map(|(job, _)| job)
    }

    fn read_events<T: ReadAs>(
        self,
        piece: usize,
        mut visit: impl FnMut(&Operations<'_, T>) -> u64,
        watch: &mut dyn FnMut(&Event<'_, T>),
    ) -> Result<(Job, Outcome), SourceError> {
        let Self { trace, layer, notes } = self;
        let mut highest_rank = None;
        let mut coverage = CoverageTally::default();
        let mut marks = Vec::new();
        let outcome = trace.read_pieces(piece, |event: Event<'_, T>| {
            watch(&event);
            match event {
                Event::Header(_) => {}
                Event::Rank(info) => {
                    highest_rank = highest_rank.max(Some(info.rank));
                    coverage.rank(info);
                }
                Event::Block(block) => {
                    highest_rank = highest_rank.max(Some(block.rank));
                    coverage.transferred(std::iter::once(visit(&block)));
                    if marks.len() < MAX_MARKS {
                        let marked = |mark: &Mark| Marked { time: mark.time, text: mark.text.clone() };
                        marks.extend(block.marks.iter().map(marked));
                    }
                }
            }
        })?;
        let counted = highest_rank.map(|rank: u32| rank.saturating_add(1));
        let job = Job {
            ranks: outcome.header.as_ref().map(|header| header.ranks).or(counted),
            start: Some(0),
            end: outcome.known_until,
            layer,
            complete: outcome.complete,
            warnings: outcome.warnings.clone(),
            notes: notes.into_iter().chain(coverage.note(&outcome, layer.is_some())).collect(),
            marks: distinct(marks, outcome.known_until.unwrap_or(0)),
            origin: outcome.header.as_ref().map(|header| header.start).filter(|start| *start > 0),
            ..Job::default()
        };
        Ok((job, outcome))
    }
}

/// The request that an operation is, if it moves data.
pub(crate) fn request(op: &Operation, rank: u32, span: Span) -> Option<Request> {
    let end = match (span, &op.nonblocking) {
        (Span::Required, Some(times)) => times.deadline,
        _ => op.end,
    };
    Some(Request { start: op.start, end, bytes: op.bytes, class: op.kind.class()?, rank: Some(rank) })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tmio_trace::block::BlockEncoder;
    use tmio_trace::frame::{self, FrameKind};
    use tmio_trace::{Direction, FilePointer, Flags, Header, OpKind, RankInfo, TraceEnd};

    pub(crate) fn operation(layer: TraceLayer, bytes: u64, start: i64) -> Operation {
        Operation {
            kind: OpKind::data(Direction::Write, FilePointer::Individual, false, false, false).at(layer),
            flags: Flags::default(),
            thread: 0,
            file: 1,
            offset: -1,
            bytes,
            start,
            end: start + 10,
            nonblocking: None,
        }
    }

    /// A trace of one rank with these operations.
    fn trace(layers: bool, operations: &[Operation]) -> Vec<u8> {
        let header = Header { version: 1, ranks: 1, layers, ..Header::default() };
        let rank = RankInfo { finished: true, ..RankInfo::default() };
        let mut encoder = BlockEncoder::default();
        assert!(encoder.restart(operations.len()));
        operations.iter().for_each(|op| encoder.push(op));
        let block = encoder.finish(0, 0, 100, vec![(1, "f")]).unwrap().to_vec();
        let end = TraceEnd { end: 100, ranks: 1, operations: operations.len() as u64 };
        [
            frame::encode(FrameKind::Header, &header).unwrap(),
            frame::encode(FrameKind::Rank, &rank).unwrap(),
            block,
            frame::encode(FrameKind::End, &end).unwrap(),
        ]
        .concat()
    }

    fn read(trace: &[u8], asked: Option<Layer>) -> (Vec<u64>, Job) {
        let opened = TmioTrace::from_stream("t", Box::new(Cursor::new(trace.to_vec())), asked);
        let mut bytes = Vec::new();
        let job = Box::new(opened)
            .read(Span::Actual, &mut |requests| bytes.extend(requests.iter().map(|request| request.bytes)))
            .unwrap();
        (bytes, job)
    }

    #[test]
    fn the_layer_that_moved_most_is_taken_unless_another_is_asked_for() {
        use TraceLayer::{MpiIo, Posix, Stdio};
        let operations = [operation(MpiIo, 5, 0), operation(Posix, 1000, 20), operation(Stdio, 400, 40)];
        let mixed = trace(true, &operations);
        let (bytes, job) = read(&mixed, None);
        assert_eq!((bytes, job.layer, job.complete), (vec![1000], Some(Layer::Posix), true));
        assert!(job.notes.iter().any(|note| note.contains("400 bytes of STDIO")), "{:?}", job.notes);
        assert_eq!(read(&mixed, Some(Layer::Stdio)).0, [400]);
        assert_eq!(read(&mixed, Some(Layer::MpiIo)).0, [5]);
        let plain = trace(false, &[operation(MpiIo, 7, 0)]);
        // There might have been others.
        let looked_for = trace(true, &[operation(MpiIo, 7, 0)]);
        for trace in [&plain, &looked_for] {
            let (bytes, job) = read(trace, None);
            assert_eq!((bytes, job.layer, job.notes.len()), (vec![7], None, 0));
        }
        assert_eq!(read(&plain, Some(Layer::Posix)).0, [0u64; 0]);
    }

    /// The formats of the C++ TMIO know MPI-IO alone; a trace without any has what it has.
    #[test]
    fn tmio_s_formats_hold_one_layer() {
        use TraceLayer::{MpiIo, Posix};
        let total = |operations: &[Operation]| {
            let bytes = trace(true, operations);
            let ours = Trace::from_reader(Path::new("t"), Box::new(Cursor::new(bytes)));
            let mut text = Vec::new();
            tmio_trace::tmio::convert(ours, tmio_trace::tmio::Format::Json, None, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let totals = text.split("\"total_bytes\":").skip(1);
            totals
                .filter_map(|rest| rest.trim().split([',', '}']).next()?.trim().parse::<f64>().ok())
                .sum::<f64>()
        };
        assert_eq!(total(&[operation(MpiIo, 5, 0), operation(Posix, 1000, 20)]), 5.0);
        assert_eq!(total(&[operation(Posix, 1000, 20)]), 1000.0);
    }
}

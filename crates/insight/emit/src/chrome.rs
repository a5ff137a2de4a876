//! The trace event format of Chrome, which Perfetto opens: a process per rank, a row per thread, and further
//! rows for nonblocking operations that overlap.

use crate::exporter::Exporter;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tmio_trace::{Event, Operation};

/// Rows for overlapping operations of one thread; with more, the last one holds the rest.
const MAX_ROWS: usize = 64;

/// Writes it.
#[derive(Debug)]
pub struct Chrome<W> {
    out: W,
    begun: bool,
    /// By rank and thread: when the last operation of each row of nonblocking ones ends.
    rows: BTreeMap<(u32, u16), Vec<i64>>,
}

impl<W: Write> Chrome<W> {
    /// Into this.
    pub fn new(out: W) -> Self {
        Chrome { out, begun: false, rows: BTreeMap::new() }
    }

    /// One event, after a comma but for the first.
    fn put(&mut self, event: &serde_json::Value) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        self.out.write_all(if first {
            b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
        } else {
            b",\n"
        })?;
        serde_json::to_writer(&mut self.out, event).map_err(io::Error::from)
    }

    /// The row that an operation is drawn in, made known when it is new.
    fn row(&mut self, rank: u32, op: &Operation) -> io::Result<usize> {
        let known = self.rows.contains_key(&(rank, op.thread));
        let rows = self.rows.entry((rank, op.thread)).or_default();
        let before = rows.len();
        let row = if op.nonblocking.is_none() {
            0
        } else {
            let free = rows.iter().position(|end| *end <= op.start);
            let row = free.unwrap_or(before.min(MAX_ROWS - 1));
            match rows.get_mut(row) {
                Some(end) => *end = (*end).max(op.end),
                None => rows.push(op.end),
            }
            row + 1
        };
        let new = rows.len() > before;
        let tid = usize::from(op.thread) * (MAX_ROWS + 1) + row;
        if !known || new {
            let name = match row {
                0 => format!("thread {}", op.thread),
                row => format!("thread {}, nonblocking {row}", op.thread),
            };
            self.put(
                &json!({"ph": "M", "name": "thread_name", "pid": rank, "tid": tid, "args": {"name": name}}),
            )?;
        }
        Ok(tid)
    }
}

impl<W: Write> Exporter for Chrome<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Header(_) => Ok(()),
            Event::Rank(info) => {
                let host = if info.host.is_empty() { String::new() } else { format!(" on {}", info.host) };
                let name = format!("rank {}{host}", info.rank);
                let pid = info.rank;
                self.put(&json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}))?;
                let order = json!({"sort_index": pid});
                self.put(&json!({"ph": "M", "name": "process_sort_index", "pid": pid, "args": order}))
            }
            Event::Block(block) => {
                for mark in block.marks {
                    // An instant event of the rank's process, shown over all its rows.
                    self.put(&json!({
                        "ph": "i",
                        "s": "p",
                        "name": mark.text,
                        "cat": "mark",
                        "pid": block.rank,
                        "tid": usize::from(mark.thread) * (MAX_ROWS + 1),
                        "ts": mark.time as f64 / 1e3,
                    }))?;
                }
                for op in block.operations {
                    let tid = self.row(block.rank, op)?;
                    let file = block
                        .files
                        .iter()
                        .find(|(number, _)| *number == op.file)
                        .map_or("", |(_, name)| name);
                    self.put(&json!({
                        "ph": "X",
                        "name": op.kind.to_string(),
                        "cat": op.kind.class().map_or("metadata", |class| class.name()),
                        "pid": block.rank,
                        "tid": tid,
                        "ts": op.start as f64 / 1e3,
                        "dur": op.end.saturating_sub(op.start).max(0) as f64 / 1e3,
                        "args": {"bytes": op.bytes, "file": file, "offset": op.offset},
                    }))?;
                }
                Ok(())
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.begun {
            self.out.write_all(b"{\"traceEvents\":[")?;
        }
        self.out.write_all(b"\n]}\n")
    }
}

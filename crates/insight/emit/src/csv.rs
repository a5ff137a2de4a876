//! One line per operation: `rank,start,end,bytes,kind,file,offset`, times in seconds of job time.

use crate::exporter::Exporter;
use ::csv::Writer;
use std::io::{self, Write};
use tmio_trace::Event;

const HEADER: [&str; 7] = ["rank", "start", "end", "bytes", "kind", "file", "offset"];

/// Writes it.
#[derive(Debug)]
pub struct Csv<W: Write> {
    out: Writer<W>,
    begun: bool,
}

impl<W: Write> Csv<W> {
    /// Into this.
    pub fn new(out: W) -> Self {
        Csv { out: Writer::from_writer(out), begun: false }
    }

    fn begin(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.out.write_record(HEADER)?;
        }
        Ok(())
    }
}

impl<W: Write> Exporter for Csv<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.begin()?;
        let Event::Block(block) = event else { return Ok(()) };
        let rank = block.rank.to_string();
        for op in block.operations {
            let name = block.files.iter().find(|(number, _)| *number == op.file).map_or("", |(_, name)| name);
            let (start, end) = (Seconds(op.start).to_string(), Seconds(op.end).to_string());
            let (bytes, offset) = (op.bytes.to_string(), op.offset.to_string());
            let kind = op.kind.to_string();
            self.out.write_record([&rank, &start, &end, &bytes, &kind, name, &offset])?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()?;
        self.out.flush()
    }
}

/// Nanoseconds as seconds, exactly.
struct Seconds(i64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let ns = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        assert_eq!(Seconds(-1_500_000_000).to_string(), "-1.500000000");
        assert_eq!(Seconds(12).to_string(), "0.000000012");
    }
}

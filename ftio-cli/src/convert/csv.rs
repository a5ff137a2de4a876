//! One line per operation: `rank,start,end,bytes,kind,file,offset`, times in seconds of job time.

use super::Exporter;
use std::borrow::Cow;
use std::io::{self, Write};
use tmio_trace::Event;

pub struct Csv<W> {
    out: W,
    begun: bool,
}

impl<W: Write> Csv<W> {
    pub fn new(out: W) -> Self {
        Csv { out, begun: false }
    }

    fn begin(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(self.out, "rank,start,end,bytes,kind,file,offset")?;
        }
        Ok(())
    }
}

impl<W: Write> Exporter for Csv<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.begin()?;
        let Event::Block(block) = event else { return Ok(()) };
        let names: Vec<(u32, Cow<'_, str>)> =
            block.files.iter().map(|(number, name)| (*number, quoted(name))).collect();
        for op in block.operations {
            let name = names.iter().find(|(number, _)| *number == op.file).map_or("", |(_, name)| name);
            writeln!(
                self.out,
                "{},{},{},{},{},{name},{}",
                block.rank,
                Seconds(op.start),
                Seconds(op.end),
                op.bytes,
                op.kind,
                op.offset
            )?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()
    }
}

/// Nanoseconds as seconds, exactly.
pub struct Seconds(pub i64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let ns = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    }
}

/// A field as RFC 4180 has it.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(Seconds(-1_500_000_000).to_string(), "-1.500000000");
        assert_eq!(Seconds(12).to_string(), "0.000000012");
    }
}

//! Counts what is in a trace: the smallest use of the reader.

use tmio_trace::{Event, Trace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: count TRACE")?;
    let mut bytes = 0;
    let outcome = Trace::open(path.as_ref())?.read(|event| {
        if let Event::Block(block) = event {
            bytes += block.operations.iter().map(|op| op.bytes).sum::<u64>();
        }
    })?;
    println!("{} operations, {bytes} bytes, complete: {}", outcome.operations, outcome.complete);
    outcome.warnings.iter().for_each(|warning| eprintln!("{warning}"));
    Ok(())
}

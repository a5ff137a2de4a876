//! Writes a trace in a format of the C++ TMIO: `convert TRACE tmio-json|tmio-jsonl|tmio-msgpack OUTPUT`.

use std::fs::File;
use std::io::BufWriter;
use tmio_trace::Trace;
use tmio_trace::tmio::{self, Format};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [trace, format, output] = arguments.as_slice() else {
        return Err("usage: convert TRACE FORMAT OUTPUT".into());
    };
    let format = Format::from_name(format).ok_or("FORMAT is tmio-json, tmio-jsonl or tmio-msgpack")?;
    let mut file = BufWriter::new(File::create(output)?);
    let outcome = tmio::convert(Trace::open(trace.as_ref())?, format, None, &mut file)?;
    outcome.warnings.iter().for_each(|warning| eprintln!("{warning}"));
    Ok(())
}

//! Says what is in a file of the C++ TMIO.

use std::fs::File;
use tmio_trace::tmio::{self, Mode, ReadOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: digest FILE")?;
    let digest = tmio::read(path.as_ref(), File::open(&path)?, ReadOptions::default())?;
    for mode in Mode::ALL {
        let series = digest.series(mode);
        let (phases, ranks) = (series.len(), series.scalars.number_of_ranks);
        println!("{:14} {phases} phases, {ranks} ranks, {} bytes", mode.name(), series.scalars.total_bytes);
    }
    println!("{} flushes, complete: {}", digest.flushes, digest.complete);
    digest.warnings.iter().for_each(|warning| eprintln!("{warning}"));
    Ok(())
}

//! Three months of a storage server and its jobs, made up: `make_server_archive DIRECTORY [JOBS [DAYS]]`
//! writes servers.csv and jobs.csv. Applications run 1 to 60 times, for 4 minutes to 2 hours; seven of ten
//! do I/O.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use trace_generator::random::Random;

const STEP: f64 = 2.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory =
        PathBuf::from(arguments.next().ok_or("usage: make_server_archive DIRECTORY [JOBS [DAYS]]")?);
    let jobs: usize = arguments.next().map_or(Ok(80_815), |text| text.parse())?;
    let days: f64 = arguments.next().map_or(Ok(92.0), |text| text.parse())?;
    fs::create_dir_all(&directory)?;
    let random = &mut Random::new(2014);
    let seconds = 86_400.0 * days;
    let mut log: Vec<f32> =
        (0..(seconds / STEP) as usize).map(|_| 1e8 * random.exponential(1.0) as f32).collect();
    let mut list = BufWriter::new(File::create(directory.join("jobs.csv"))?);
    writeln!(list, "id,user,nodes,start,end,name")?;
    let (mut made, mut application) = (0, 0);
    while made < jobs {
        application += 1;
        let runs = (1.0 + random.exponential(15.0)).min(60.0) as usize;
        let length = (1500.0 * random.factor(0.8)).clamp(240.0, 7200.0);
        let nodes = 1 << random.below(12);
        let writes = random.unit() < 0.7;
        let cycle = random.between(60.0, 600.0).min(length / 2.0);
        let burst = (cycle * random.between(0.03, 0.15)).max(4.0);
        let bandwidth = 1e9 * random.between(1.0, 8.0);
        for _ in 0..runs.min(jobs - made) {
            made += 1;
            let start = (random.unit() * (seconds - 1.2 * length)).floor();
            let slower = 1.0 + random.exponential(0.01);
            let end = start + (length * slower).ceil();
            writeln!(list, "{made},user{},{nodes},{start:.0},{end:.0},app{application}", application % 700)?;
            let mut at = start + cycle / 2.0;
            while writes && at + burst < end {
                let (from, to) = ((at / STEP) as usize, ((at + burst) / STEP) as usize);
                log[from..to].iter_mut().for_each(|value| *value += bandwidth as f32);
                at += cycle * slower;
            }
        }
    }
    list.flush()?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(directory.join("servers.csv"))?);
    writeln!(out, "time,write")?;
    for (line, value) in log.iter().enumerate() {
        writeln!(out, "{},{value:.0}", line as f64 * STEP)?;
    }
    out.flush()?;
    println!("{made} jobs of {application} applications in {days} days");
    Ok(())
}

//! Months of a storage server's log and of its job log, as large as an archive of a real site.
//!
//! Applications run 1 to 60 times, for 4 minutes to 2 hours, at any time and at the same time as others;
//! a quarter of them writes bursts. Which ones do is part of their name, so that it can be checked.

use crate::random::Random;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Seconds between two lines of the log.
const STEP: f64 = 2.0;

/// How often, and how long, an application runs and what it writes.
struct Application {
    name: String,
    user: String,
    nodes: u32,
    runs: usize,
    /// Seconds that a run takes alone.
    length: f64,
    /// Seconds from the start of one burst to the next, seconds of a burst, its bandwidth; if it writes.
    bursts: Option<(f64, f64, f64)>,
}

impl Application {
    fn new(number: usize, random: &mut Random) -> Self {
        let length = (1500.0 * random.factor(0.8)).clamp(240.0, 7200.0);
        let cycle = random.between(60.0, 600.0).min(length / 2.0);
        let burst = (cycle * random.between(0.03, 0.15)).max(4.0);
        let bursts = (cycle, burst, 1e9 * random.between(1.0, 8.0));
        let writes = random.unit() < 0.25;
        Application {
            name: format!("{}{number}", if writes { "write" } else { "silent" }),
            user: format!("user{}", number % 700),
            nodes: 1 << random.below(12),
            runs: (1.0 + random.exponential(15.0)).min(60.0) as usize,
            length,
            bursts: writes.then_some(bursts),
        }
    }
}

/// What was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Jobs in the job log.
    pub jobs: usize,
    /// Different applications.
    pub applications: usize,
}

/// Write `servers.csv` and `jobs.csv` of that many jobs in that many days into a directory.
pub fn write_archive(directory: &Path, jobs: usize, days: f64, seed: u64) -> io::Result<Archive> {
    fs::create_dir_all(directory)?;
    let random = &mut Random::new(seed);
    let seconds = 86_400.0 * days;
    let mut log: Vec<f32> =
        (0..(seconds / STEP) as usize).map(|_| 1e8 * random.exponential(1.0) as f32).collect();
    let mut list = BufWriter::new(File::create(directory.join("jobs.csv"))?);
    writeln!(list, "id,user,nodes,start,end,name")?;
    let mut made = Archive { jobs: 0, applications: 0 };
    while made.jobs < jobs {
        made.applications += 1;
        let application = Application::new(made.applications, random);
        for _ in 0..application.runs.min(jobs - made.jobs) {
            made.jobs += 1;
            let start = (random.unit() * (seconds - 1.2 * application.length).max(0.0)).floor();
            let slower = 1.0 + random.exponential(0.01);
            let end = start + (application.length * slower).ceil();
            let Application { user, nodes, name, .. } = &application;
            writeln!(list, "{},{user},{nodes},{start:.0},{end:.0},{name}", made.jobs)?;
            if let Some((cycle, burst, bandwidth)) = application.bursts {
                let mut at = start + cycle / 2.0;
                while at + burst < end {
                    let (from, to) = ((at / STEP) as usize, ((at + burst) / STEP) as usize);
                    let to = to.min(log.len());
                    log[from.min(to)..to].iter_mut().for_each(|value| *value += bandwidth as f32);
                    at += cycle * slower;
                }
            }
        }
    }
    list.flush()?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(directory.join("servers.csv"))?);
    writeln!(out, "time,write [B/s]")?;
    for (line, value) in log.iter().enumerate() {
        writeln!(out, "{},{value:.0}", line as f64 * STEP)?;
    }
    out.flush()?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_jobs_as_asked_for_and_the_same_every_time() {
        let folder = std::env::temp_dir().join(format!("server-archive-{}", std::process::id()));
        let made = write_archive(&folder, 100, 0.5, 3).unwrap();
        assert_eq!(made.jobs, 100);
        assert!((2..100).contains(&made.applications));
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let (jobs, log) = (read("jobs.csv"), read("servers.csv"));
        assert_eq!((jobs.lines().count(), log.lines().count()), (101, 21_601));
        assert_eq!(write_archive(&folder, 100, 0.5, 3).unwrap(), made);
        assert_eq!((read("jobs.csv"), read("servers.csv")), (jobs, log));
        fs::remove_dir_all(&folder).unwrap();
    }
}

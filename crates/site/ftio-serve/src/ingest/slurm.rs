//! What Slurm knows: one `squeue` for all jobs, seldom; one `sacct` for those that have ended; or the file in
//! which it notes them.

use crate::config::Slurm;
use crate::lock::locked;
use crate::service::{Service, now};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Between fields, because names and comments of jobs have all letters in them.
const BETWEEN: char = '\u{1f}';
/// What `squeue` is asked for: job, array, name, comment, user, account, partition, quality of service,
/// state, times, sizes, nodes, directory, command.
const FIELDS: [&str; 20] =
    ["i", "F", "K", "j", "k", "u", "a", "P", "q", "t", "T", "V", "S", "M", "l", "D", "C", "N", "Z", "o"];

/// What `squeue` said last: for each job its fields by name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Queue {
    pub jobs: BTreeMap<String, BTreeMap<String, String>>,
    /// When, in seconds since 1970; 0: never.
    #[serde(skip)]
    pub time: f64,
}

impl Queue {
    /// The table that `squeue` prints: a line of names, then a line for each job. Fields are apart by
    /// `BETWEEN`, or by `|` as with `--format %all`.
    pub fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let between = if first.contains(BETWEEN) { BETWEEN } else { '|' };
        let names: Vec<&str> = first.split(between).map(str::trim).collect();
        let id = names.iter().position(|name| *name == "JOBID");
        let mut jobs = BTreeMap::new();
        for line in lines {
            let fields: Vec<&str> = line.split(between).map(str::trim).collect();
            // A `|` or a line feed in a name shifts everything: such a line tells nothing.
            if fields.len() != names.len() {
                continue;
            }
            if let Some(id) = id.and_then(|place| fields.get(place)) {
                let named = names.iter().map(ToString::to_string).zip(fields.iter().map(ToString::to_string));
                jobs.insert((*id).to_owned(), named.collect());
            }
        }
        Queue { jobs, time: 0.0 }
    }
}

/// A line of `jobcomp/filetxt`: `Key=Value` words, of which some values have blanks.
pub fn parse_completion(line: &str) -> BTreeMap<String, String> {
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    let mut last = None;
    for word in line.split_whitespace() {
        match word.split_once('=').filter(|(key, _)| key.chars().all(|c| c.is_ascii_alphanumeric())) {
            Some((key, value)) => {
                last = Some(key.to_owned());
                fields.insert(key.to_owned(), value.to_owned());
            }
            None => {
                if let Some(value) = last.as_ref().and_then(|key| fields.get_mut(key)) {
                    value.push(' ');
                    value.push_str(word);
                }
            }
        }
    }
    fields
}

/// Ask until told to stop. One that does not answer is asked less and less often.
pub fn run(service: &Service, slurm: &Slurm, stop: &AtomicBool) {
    let (mut pause, mut read) = (Duration::ZERO, 0u64);
    let mut last = Instant::now();
    while !stop.load(Relaxed) {
        if last.elapsed() < pause {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        last = Instant::now();
        let usual = match slurm {
            Slurm::Squeue(every) | Slurm::Sacct(every) => *every,
            Slurm::JobComp(_) => Duration::from_secs(5),
        };
        let done = match slurm {
            Slurm::Squeue(_) => squeue().map(|queue| apply_queue(service, queue)),
            // A little overlap: what is seen twice ends once.
            Slurm::Sacct(every) => sacct(2 * every.as_secs()).and_then(|text| ended(service, &text)),
            Slurm::JobComp(path) => completions(service, path, &mut read),
        };
        pause = if done.is_ok() { usual } else { (pause * 2).clamp(usual, Duration::from_secs(600)) };
        service.stats.problem("slurm", done.err().map(|error| format!("Slurm: {error}")));
    }
}

fn squeue() -> Result<Queue, String> {
    let format = FIELDS.map(|field| format!("%{field}")).join(&BETWEEN.to_string());
    let mut queue = Queue::parse(&said("squeue", &["--format", &format])?);
    queue.time = now();
    Ok(queue)
}

/// Jobs that ended in the last seconds: lines of id, state and node list.
fn sacct(seconds: u64) -> Result<String, String> {
    let since = format!("--starttime=now-{seconds}seconds");
    let format = "--format=JobIDRaw,State,Partition,NodeList";
    let states = "--state=BF,CA,CD,DL,F,NF,OOM,PR,TO";
    said("sacct", &["-a", "-X", "-n", "-P", "--endtime=now", &since, states, format])
}

fn said(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program}: {}", text.lines().next().unwrap_or("failed")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What `sacct` says: pushed jobs end with it, and learn where they ran.
fn ended(service: &Service, text: &str) -> Result<(), String> {
    for line in text.lines() {
        let [id, state, partition, nodes] = line.split('|').collect::<Vec<_>>()[..] else { continue };
        for job in service.running().jobs.values_mut().filter(|job| is_slurms(&job.row, id)) {
            job.row.desc.partition = crate::job::clean(partition, 256);
            if job.row.desc.nodelist.is_empty() {
                job.row.desc.nodelist = crate::job::clean(nodes, 4096);
            }
        }
        end_job(service, id, state == "COMPLETED")?;
    }
    Ok(())
}

/// Is a job the one that Slurm gave this number?
fn is_slurms(row: &crate::store::JobRow, id: &str) -> bool {
    row.desc.jobid.split(['.', '-']).next() == Some(id)
}

/// By Slurm's word a job has ended.
fn end_job(service: &Service, id: &str, well: bool) -> Result<(), String> {
    let ended: Vec<i64> = {
        let mut running = service.running();
        // Who follows its trace ends it, when all of that is read.
        let traced = |job: &&mut crate::live::LiveJob| job.row.origin == crate::job::Origin::Trace;
        let of_id = |job: &&mut crate::live::LiveJob| is_slurms(&job.row, id);
        running.jobs.values_mut().filter(traced).filter(of_id).for_each(|job| job.is_over = true);
        let is_it = |job: &&crate::live::LiveJob| {
            let pushed = job.row.origin == crate::job::Origin::Push && job.connections == 0;
            pushed && is_slurms(&job.row, id)
        };
        running.jobs.values().filter(is_it).map(|job| job.row.id).collect()
    };
    let state = if well { crate::job::State::Finished } else { crate::job::State::Lost };
    for job in ended {
        super::finished::pushed(service, job, state).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// What Slurm knows about running jobs that their traces do not tell.
fn apply_queue(service: &Service, queue: Queue) {
    for job in service.running().jobs.values_mut() {
        let id = job.row.desc.jobid.split(['.', '-']).next().unwrap_or_default().to_owned();
        let Some(fields) = queue.jobs.get(&id) else { continue };
        let field = |name: &str| fields.get(name).filter(|text| !text.is_empty() && *text != "(null)");
        if let Some(partition) = field("PARTITION") {
            job.row.desc.partition = crate::job::clean(partition, 256);
        }
        if job.row.desc.nodelist.is_empty()
            && let Some(nodes) = field("NODELIST")
        {
            job.row.desc.nodelist = crate::job::clean(nodes, 4096);
        }
    }
    *locked(&service.squeue) = queue;
}

/// Jobs that have ended by Slurm's word: pushed ones end with them.
fn completions(service: &Service, path: &std::path::Path, read: &mut u64) -> Result<(), String> {
    use std::io::{Read, Seek, SeekFrom};
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = std::fs::File::open(path).map_err(named)?;
    let length = file.metadata().map_err(named)?.len();
    if *read > length {
        *read = 0;
    }
    file.seek(SeekFrom::Start(*read)).map_err(named)?;
    let mut bytes = Vec::new();
    file.take(16 << 20).read_to_end(&mut bytes).map_err(named)?;
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
    *read += end as u64 + 1;
    for line in String::from_utf8_lossy(&bytes[..end]).lines() {
        let fields = parse_completion(line);
        let Some(id) = fields.get("JobId") else { continue };
        let well = fields.get("JobState").is_none_or(|state| state == "COMPLETED");
        end_job(service, id, well)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_a_table() {
        let queue = Queue::parse("JOBID|PARTITION|COMMENT\n17|normal|./app\n18|a|b|c\n");
        assert_eq!(queue.jobs.len(), 1, "a name with a bar in it");
        assert_eq!(queue.jobs["17"]["PARTITION"], "normal");
        assert!(Queue::parse("").jobs.is_empty());
        let queue = Queue::parse("JOBID\u{1f}COMMENT\n18\u{1f}b | c\n");
        assert_eq!(queue.jobs["18"]["COMMENT"], "b | c");
    }

    #[test]
    fn completions_are_words() {
        let fields = parse_completion("JobId=5 UserId=ann(1000) Name=my job JobState=COMPLETED NodeCnt=1");
        assert_eq!(fields["Name"], "my job");
        assert_eq!(fields["JobState"], "COMPLETED");
    }
}

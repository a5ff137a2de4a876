//! Workloads in the Standard Workload Format (SWF), version 2.2, and columns that it does not have.
//!
//! A line is a job, its 18 numbers divided by spaces; `;` begins a comment. Of the 18 are used: number (1),
//! submit time (2), run time (4), allocated and requested processors (5, 8), requested time (9), and
//! executable (14); −1 stands for what is not known. Processors are nodes here. Further columns are named by
//! a comment `; ExtraColumns: kind min max …`; without one they are, in this order, [`EXTRA`].

use crate::job::{Job, Kind};
use crate::scaling::Scaling;
use std::fmt::Write as _;

/// The names of extra columns, and their order where the file does not tell.
pub const EXTRA: [&str; 8] =
    ["kind", "min", "max", "serial", "io_share", "bandwidth", "priority", "scal_factor"];

/// A job, and what else the file tells about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The job.
    pub job: Job,
    /// The number of the executable; −1 if not known.
    pub executable: i64,
    /// Whether the file tells how its time depends on nodes.
    pub knows_scaling: bool,
}

/// A file's content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// Its jobs, in the file's order.
    pub entries: Vec<Entry>,
    /// Jobs that were left out because they have no run time, no nodes or no submit time: they never ran.
    pub never_ran: usize,
    /// Nodes of the machine (`MaxNodes`, else `MaxProcs`), if the file tells.
    pub nodes: Option<u32>,
}

/// A line that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct SwfError {
    /// The line's number, from 1.
    pub line: usize,
    /// What was expected, and what was there.
    pub problem: String,
}

/// Fewer columns do not make a job.
const MIN_COLUMNS: usize = 5;
const STANDARD: usize = 18;

/// Read a file's text.
///
/// # Errors
/// A line that is not a job or a comment.
pub fn read(text: &str) -> Result<Workload, SwfError> {
    let mut workload = Workload::default();
    let mut extra: Vec<String> = EXTRA.map(str::to_owned).to_vec();
    for (number, line) in text.lines().enumerate() {
        let wrong = |problem| SwfError { line: number + 1, problem };
        let line = line.trim();
        if let Some(comment) = line.strip_prefix(';') {
            let Some((name, value)) = comment.split_once(':') else { continue };
            match name.trim() {
                "MaxNodes" => workload.nodes = value.trim().parse().ok().or(workload.nodes),
                "MaxProcs" => workload.nodes = workload.nodes.or_else(|| value.trim().parse().ok()),
                "ExtraColumns" => extra = columns(value).map_err(wrong)?,
                _ => {}
            }
        } else if !line.is_empty() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match entry(&words, &extra).map_err(wrong)? {
                Some(entry) => workload.entries.push(entry),
                None => workload.never_ran += 1,
            }
        }
    }
    Ok(workload)
}

fn columns(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    match names.iter().find(|name| !EXTRA.contains(&name.as_str())) {
        Some(name) => Err(format!("unknown column {name}: expected some of {}", EXTRA.join(", "))),
        None => Ok(names),
    }
}

fn entry(words: &[&str], extra: &[String]) -> Result<Option<Entry>, String> {
    if words.len() < MIN_COLUMNS {
        return Err(format!("expected at least {MIN_COLUMNS} numbers, found {}", words.len()));
    }
    let number = |place: usize| match words.get(place - 1) {
        None => Ok(-1.0),
        Some(word) => match word.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(format!("expected a number in column {place}, found {word:?}")),
        },
    };
    let known = |place: usize| number(place).map(|value| (value >= 0.0).then_some(value));
    let [time, allocated, requested, wanted] = [known(4)?, known(5)?, known(8)?, known(9)?];
    let (id, submit, executable) = (number(1)?, known(2)?, number(14)?);
    let nodes = requested.filter(|nodes| *nodes >= 1.0).or(allocated).filter(|nodes| *nodes >= 1.0);
    let (Some(time), Some(nodes), Some(submit)) = (time, nodes, submit) else { return Ok(None) };
    if nodes > f64::from(u32::MAX) {
        return Err(format!("{nodes} nodes are more than any machine has"));
    }
    let mut job = Job::rigid(id as u64, submit, nodes as u32, time);
    job.estimate = wanted.filter(|wanted| *wanted > 0.0).unwrap_or(time);
    job.reliability = 0.25;
    let mut knows_scaling = false;
    let mut factor = None;
    for (name, word) in extra.iter().zip(words.iter().skip(STANDARD)) {
        if name == "kind" {
            job.kind = kind(word)?;
            continue;
        }
        let value: f64 = word.parse().map_err(|_| format!("expected a number for {name}, found {word:?}"))?;
        if value == -1.0 && name != "priority" {
            continue;
        }
        match name.as_str() {
            "min" => job.min = value as u32,
            "max" => job.max = value as u32,
            "serial" => {
                job.scaling = Scaling::Serial(value);
                knows_scaling = true;
            }
            "io_share" => job.io_share = value,
            "bandwidth" => job.bandwidth = value,
            "priority" => job.priority = value as i64,
            _ => factor = Some(value),
        }
    }
    if job.kind == Kind::Rigid {
        (job.min, job.max) = (job.preferred, job.preferred);
    }
    if let Some(problem) = job.problem() {
        return Err(format!("job {}: {problem}", job.id));
    }
    job.scal_factor = factor.unwrap_or_else(|| job.efficiency());
    Ok(Some(Entry { job, executable: executable as i64, knows_scaling }))
}

fn kind(word: &str) -> Result<Kind, String> {
    match word {
        "rigid" | "0" | "-1" => Ok(Kind::Rigid),
        "moldable" | "1" => Ok(Kind::Moldable),
        "malleable" | "2" => Ok(Kind::Malleable),
        _ => Err(format!("expected rigid, moldable or malleable, found {word:?}")),
    }
}

impl Workload {
    /// Make the jobs fit a machine: sizes beyond it are cut where a job allows it, other jobs are left out.
    /// Returns how many were.
    pub fn fit(&mut self, nodes: u32) -> usize {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.job.least() <= nodes);
        for Entry { job, .. } in &mut self.entries {
            job.max = job.max.min(nodes);
            if job.preferred > nodes {
                let ratio = job.ratio(nodes);
                if let Scaling::Serial(serial) = &mut job.scaling {
                    *serial /= ratio;
                }
                (job.time, job.estimate, job.preferred) = (job.time * ratio, job.estimate * ratio, nodes);
                job.bandwidth /= ratio;
            }
        }
        before - self.entries.len()
    }

    /// The jobs alone.
    pub fn jobs(&self) -> Vec<Job> {
        self.entries.iter().map(|entry| entry.job.clone()).collect()
    }
}

/// Write jobs, with extra columns.
pub fn write(jobs: &[Job], nodes: u32, note: &str) -> String {
    let mut out = format!(";Version: 2.2\n;Note: {note}\n;MaxNodes: {nodes}\n");
    let _ = writeln!(out, ";ExtraColumns: kind min max serial io_share bandwidth priority");
    for job in jobs {
        let kind = match job.kind {
            Kind::Rigid => "rigid",
            Kind::Moldable => "moldable",
            Kind::Malleable => "malleable",
        };
        let serial = if let Scaling::Serial(serial) = job.scaling { serial } else { -1.0 };
        let _ = writeln!(
            out,
            "{} {} -1 {} {} -1 -1 {} {} -1 1 -1 -1 -1 -1 -1 -1 -1 {kind} {} {} {serial:.4} {:.4} {:.0} {}",
            job.id,
            job.submit,
            job.time,
            job.preferred,
            job.preferred,
            job.estimate,
            job.min,
            job.max,
            job.io_share,
            job.bandwidth,
            job.priority,
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_file_is_a_workload_of_rigid_jobs() {
        let text = "; Computer: X\n;MaxProcs: 128\n;MaxNodes: 64\n\n\
            1 0 5 100 4 -1 -1 8 200 -1 1 3 1 7 1 -1 -1 -1\n\
            2 10 -1 50 2 -1 -1 -1 -1 -1 1 3 1 -1 1 -1 -1 -1\n\
            3 11 -1 -1 2 -1 -1 2 60 -1 5 3 1 7 1 -1 -1 -1\n";
        let read = read(text).unwrap();
        assert_eq!((read.nodes, read.never_ran, read.entries.len()), (Some(64), 1, 2));
        let first = &read.entries[0];
        assert_eq!((first.job.id, first.job.preferred, first.executable), (1, 8, 7));
        assert_eq!((first.job.time, first.job.estimate, first.job.kind), (100.0, 200.0, Kind::Rigid));
        let second = &read.entries[1].job;
        assert_eq!((second.preferred, second.estimate), (2, 50.0));
    }

    #[test]
    fn extra_columns_in_the_default_order_or_a_named_one() {
        let standard = "1 0 -1 100 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1";
        let by_default = read(&format!("{standard} malleable 2 8 0.1 0.25 1e9 3")).unwrap();
        let job = &by_default.entries[0].job;
        assert_eq!((job.kind, job.min, job.max, job.priority), (Kind::Malleable, 2, 8, 3));
        assert_eq!((job.io_share, job.bandwidth), (0.25, 1e9));
        assert_eq!(job.scaling, Scaling::Serial(0.1));
        let named = read(&format!("; ExtraColumns: priority kind max min\n{standard} 3 2 8 2")).unwrap();
        let other = &named.entries[0].job;
        assert_eq!((other.kind, other.min, other.max, other.priority), (Kind::Malleable, 2, 8, 3));
        assert_eq!(other.scaling, Scaling::Serial(0.0));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let standard = "1 0 -1 100 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1";
        for (text, problem) in [
            ("; a\n1 2 3", "line 2: expected at least 5 numbers, found 3"),
            ("1 0 -1 abc 4", "line 1: expected a number in column 4, found \"abc\""),
            (&format!("{standard} soft"), "line 1: expected rigid, moldable or malleable, found \"soft\""),
            (
                &format!("{standard} malleable 8 4"),
                "line 1: job 1: its sizes are 8, 4, 4: expected 1 ≤ min ≤ preferred ≤ max",
            ),
            (
                ";ExtraColumns: kind size",
                &format!("line 1: unknown column size: expected some of {}", EXTRA.join(", ")),
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), problem);
        }
    }

    #[test]
    fn jobs_that_are_too_large_are_cut_or_left_out() {
        let job = Job::rigid(1, 0.0, 8, 100.0).malleable(2, 16, Scaling::Serial(0.5));
        let text = write(&[job.clone(), Job::rigid(2, 0.0, 8, 1.0)], 16, "a test");
        let mut workload = read(&text).unwrap();
        assert_eq!(workload.entries[0].job.ratio(2), job.ratio(2));
        assert_eq!(workload.fit(4), 1);
        let cut = &workload.entries[0].job;
        assert_eq!((cut.min, cut.preferred, cut.max, cut.time), (2, 4, 4, 150.0));
        assert!((cut.time * cut.ratio(2) - job.time * job.ratio(2)).abs() < 1e-9);
    }
}

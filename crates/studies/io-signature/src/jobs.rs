//! The job log: who ran what on how many nodes from when to when. CSV with named columns, or what `sacct
//! -P` prints.

use crate::moment::{clock_change, duration, is_local, moment};
use std::collections::{BTreeMap, HashSet};

/// One job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number, if the log has one, else its line.
    pub id: String,
    /// Whose it is.
    pub user: String,
    /// On how many nodes it ran.
    pub nodes: u32,
    /// What it ran, if the log tells.
    pub name: String,
    /// When it began, in seconds since 1970 (or on the clock of the log).
    pub start: f64,
    /// When it ended.
    pub end: f64,
}

/// The jobs of a log, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs {
    /// The jobs in the order of the log.
    pub jobs: Vec<Job>,
    /// Lines that are no usable job: the line, and why.
    pub dropped: Vec<(usize, String)>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Some times have no time zone: they may be those of another one.
    pub local: bool,
}

/// Why a job log cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum JobsError {
    #[error("expected a line that names the columns, found nothing")]
    Empty,
    #[error("line 1: expected columns user, nodes, start and end, found no {missing} in \"{found}\"")]
    Columns { missing: &'static str, found: String },
}

/// The names a column goes by.
const USER: &[&str] = &["user", "username", "uid", "owner"];
const NODES: &[&str] = &["nodes", "nnodes", "allocnodes", "node_count", "nodect", "num_nodes"];
const START: &[&str] = &["start", "starttime", "start_time", "begin"];
const END: &[&str] = &["end", "endtime", "end_time"];
const NAME: &[&str] = &["jobname", "name", "command", "job_name", "executable", "exe"];
const ID: &[&str] = &["jobid", "id", "job_id", "jobidraw"];
const ELAPSED: &[&str] = &["elapsed", "elapsedraw", "walltime", "runtime", "duration"];

struct Columns {
    user: usize,
    nodes: usize,
    start: usize,
    end: usize,
    name: Option<usize>,
    id: Option<usize>,
    elapsed: Option<usize>,
}

impl Columns {
    fn of(header: &[&str]) -> Result<Self, JobsError> {
        let place = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| header.iter().position(|column| column.trim().eq_ignore_ascii_case(name)))
        };
        let needed = |names: &'static [&str]| {
            place(names).ok_or_else(|| JobsError::Columns { missing: names[0], found: header.join(" ") })
        };
        Ok(Columns {
            user: needed(USER)?,
            nodes: needed(NODES)?,
            start: needed(START)?,
            end: needed(END)?,
            name: place(NAME),
            id: place(ID),
            elapsed: place(ELAPSED),
        })
    }
}

impl Jobs {
    /// Read a job log. Times without a zone are local, `offset` seconds ahead of UTC.
    pub fn parse(text: &str, offset: f64) -> Result<Self, JobsError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines =
            text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let (_, header) = lines.next().ok_or(JobsError::Empty)?;
        let separator =
            ['|', ';', '\t', ','].into_iter().find(|separator| header.contains(*separator)).unwrap_or(',');
        let columns = Columns::of(&split(header, separator))?;
        let mut out = Jobs::default();
        let mut shifted = 0;
        let width = split(header, separator).len();
        for (number, line) in lines {
            let fields = fields(line, separator, width);
            out.local |= fields.get(columns.start).is_some_and(|field| is_local(field));
            match job(&fields, &columns, number + 1, offset) {
                Ok(Some((job, moved))) => {
                    shifted += usize::from(moved);
                    out.jobs.push(job);
                }
                // A step of a job: the job has a line of its own.
                Ok(None) => {}
                Err(problem) => out.dropped.push((number + 1, problem)),
            }
        }
        out.without_steps();
        out.without_repetitions(columns.id.is_some());
        if shifted > 0 {
            out.warnings.push(format!(
                "{shifted} jobs end an hour earlier or later than their run time says (daylight saving); \
                 the run time was taken"
            ));
        }
        let (first, last) = out.range();
        if out.local
            && let Some(day) = clock_change(first, last)
        {
            out.warnings.push(format!(
                "the times have no time zone, and clocks may have changed on {day} (daylight saving): then \
                 jobs on one side of it are cut out an hour off; take a job log in UTC (TZ=UTC sacct …)"
            ));
        }
        Ok(out)
    }

    /// Steps of a job that have a user of their own: the job has a line of its own.
    fn without_steps(&mut self) {
        let ids: HashSet<String> = self.jobs.iter().map(|job| job.id.clone()).collect();
        self.jobs.retain(|job| job.id.rsplit_once('.').is_none_or(|(job, _)| !ids.contains(job)));
    }

    /// A line that is there twice is no second run.
    fn without_repetitions(&mut self, numbered: bool) {
        let mut seen = HashSet::new();
        let before = self.jobs.len();
        self.jobs.retain(|job| {
            let id = if numbered { job.id.clone() } else { String::new() };
            let times = (job.start.to_bits(), job.end.to_bits());
            seen.insert((id, job.user.clone(), job.nodes, job.name.clone(), times))
        });
        match before - self.jobs.len() {
            0 => {}
            1 => self.warnings.push("1 line repeats a job and was left out".into()),
            more => self.warnings.push(format!("{more} lines repeat jobs and were left out")),
        }
    }

    /// The first start and the last end.
    fn range(&self) -> (f64, f64) {
        let first = self.jobs.iter().map(|job| job.start).fold(f64::INFINITY, f64::min);
        (first, self.jobs.iter().map(|job| job.end).fold(f64::NEG_INFINITY, f64::max))
    }

    /// Do the jobs and a log from `from` to `to` belong together? A sentence if not.
    pub fn against_log(&self, from: f64, to: f64) -> Option<String> {
        let (first, last) = self.range();
        let inside = |factor: f64| {
            let covered = |job: &&Job| job.start * factor >= from && job.end * factor <= to;
            self.jobs.iter().filter(covered).count()
        };
        // Most jobs lie in the log then, and not all of them in a corner of it.
        let fits = |factor: f64| {
            2 * inside(factor) >= self.jobs.len() && factor * (last - first) >= 0.1 * (to - from)
        };
        if self.jobs.is_empty() || inside(1.0) > 0 {
            return None;
        }
        let ranges =
            format!("the jobs run from {first:.0} s to {last:.0} s, the log from {from:.0} s to {to:.0} s");
        for (factor, unit) in [(1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")] {
            for (which, fits) in [("jobs", fits(1.0 / factor)), ("log", fits(factor))] {
                if fits {
                    return Some(format!(
                        "{ranges}: the times of the {which} are a factor {factor} larger ({unit}?); no job \
                         was used"
                    ));
                }
            }
        }
        Some(format!("{ranges}: no job lies in the log; do both use the same clock and time zone?"))
    }

    /// The jobs by user, number of nodes and name: the runs of one application each.
    pub fn applications(&self) -> BTreeMap<(String, u32, String), Vec<&Job>> {
        let mut out: BTreeMap<(String, u32, String), Vec<&Job>> = BTreeMap::new();
        for job in &self.jobs {
            out.entry((job.user.clone(), job.nodes, job.name.clone())).or_default().push(job);
        }
        out.values_mut().for_each(|runs| runs.sort_by(|a, b| a.start.total_cmp(&b.start)));
        out
    }
}

/// The job of a line, and whether its end was corrected by an hour; `None` if it is a step of another.
fn job(fields: &[&str], columns: &Columns, line: usize, offset: f64) -> Result<Option<(Job, bool)>, String> {
    let field = |place: usize| fields.get(place).map_or("", |field| field.trim());
    let id = columns.id.map_or_else(|| format!("line {line}"), |place| field(place).to_owned());
    if columns.id.is_some() && id.contains('.') && field(columns.user).is_empty() {
        return Ok(None);
    }
    if field(columns.user).is_empty() {
        return Err("expected a user, found nothing".into());
    }
    let nodes = nodes(field(columns.nodes))
        .ok_or_else(|| format!("expected a number of nodes, found \"{}\"", field(columns.nodes)))?;
    let time = |place: usize, what: &str| {
        moment(field(place), offset)
            .ok_or_else(|| format!("expected a time as its {what}, found \"{}\"", field(place)))
    };
    let (start, mut end) = (time(columns.start, "start")?, time(columns.end, "end")?);
    let elapsed = columns.elapsed.and_then(|place| duration(field(place)));
    let mut moved = false;
    if let Some(elapsed) = elapsed.filter(|elapsed| ((end - start - elapsed).abs() - 3600.0).abs() < 2.0) {
        end = start + elapsed;
        moved = true;
    }
    if end.is_nan() || start.is_nan() || end <= start {
        let by = start - end;
        return Err(format!(
            "ends {by:.0} s before it starts (daylight saving? a column Elapsed would tell)"
        ));
    }
    let name = columns.name.map_or("", field).to_owned();
    Ok(Some((Job { id, user: field(columns.user).into(), nodes, name, start, end }, moved)))
}

/// A number of nodes. Spreadsheets write `64.0`.
fn nodes(text: &str) -> Option<u32> {
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

/// As many fields as there are columns. `sacct` does not quote: what is too much belongs to the last one,
/// which is the name of the job as a rule.
fn fields(line: &str, separator: char, width: usize) -> Vec<&str> {
    let mut fields = split(line, separator);
    if separator == '|' && fields.len() > width && !line.contains('"') {
        fields = line.splitn(width, separator).collect();
    }
    fields
}

/// Fields of a line; a separator inside double quotes does not count.
fn split(line: &str, separator: char) -> Vec<&str> {
    let mut fields = Vec::new();
    let (mut from, mut quoted) = (0, false);
    for (place, character) in line.char_indices() {
        if character == '"' {
            quoted = !quoted;
        } else if character == separator && !quoted {
            fields.push(line[from..place].trim_matches('"'));
            from = place + character.len_utf8();
        }
    }
    fields.push(line[from..].trim_matches('"'));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_and_sacct() {
        let csv = "user,nodes,start,end,command\nann,64,1000,2000,\"lmp, big\"\nbob,8,1500,1700,x\n";
        let found = Jobs::parse(csv, 0.0).unwrap();
        assert_eq!(found.jobs.len(), 2);
        assert_eq!((found.jobs[0].name.as_str(), found.jobs[0].nodes), ("lmp, big", 64));
        let sacct = "JobID|User|NNodes|Start|End|JobName\n\
            17|ann|64|2024-05-01T12:00:00|2024-05-01T13:00:00|lmp\n\
            17.batch||1|2024-05-01T12:00:00|2024-05-01T13:00:00|batch\n\
            18|ann|64|2024-05-01T14:00:00|Unknown|lmp\n";
        let found = Jobs::parse(sacct, 7200.0).unwrap();
        assert_eq!(found.jobs.len(), 1);
        assert_eq!(found.jobs[0].start, 1_714_557_600.0);
        assert_eq!(found.dropped.len(), 1);
        assert!(found.dropped[0].1.contains("\"Unknown\""));
    }

    #[test]
    fn repeated_lines_and_steps_are_no_runs() {
        let text = "JobID|User|NNodes|Start|End|JobName\n\
            17|ann|64.0|100|200|lmp|v2\n17|ann|64|100|200|lmp|v2\n18|ann|64|100|200|lmp|v2\n\
            17.0|ann|64|100|200|lmp|v2\n17.batch|ann|1|100|200|batch\n19.pbs01|ann|64|300|400|lmp|v2\n";
        let found = Jobs::parse(text, 0.0).unwrap();
        let ids: Vec<&str> = found.jobs.iter().map(|job| job.id.as_str()).collect();
        assert_eq!(ids, ["17", "18", "19.pbs01"]);
        assert!(found.jobs.iter().all(|job| job.name == "lmp|v2" && job.nodes == 64), "{:?}", found.jobs);
        assert_eq!(found.warnings, ["1 line repeats a job and was left out"]);
        assert!(!found.local);
        // Without numbers of jobs, the same line twice is one job.
        let text = "user,nodes,start,end\nann,4,10,20\nann,4,10,20\nann,4,30,40\nann,4,10,20\n";
        let found = Jobs::parse(text, 0.0).unwrap();
        assert_eq!(found.jobs.len(), 2);
        assert_eq!(found.warnings, ["2 lines repeat jobs and were left out"]);
        let odd = Jobs::parse("user,nodes,start,end\nann,6.5,10,20\n", 0.0).unwrap();
        assert!(odd.dropped[0].1.contains("\"6.5\""));
    }

    #[test]
    fn columns_that_are_missing_are_named() {
        assert_eq!(Jobs::parse("", 0.0), Err(JobsError::Empty));
        let error = Jobs::parse("user,start,end\na,1,2\n", 0.0).unwrap_err();
        assert!(error.to_string().contains("no nodes"), "{error}");
    }

    #[test]
    fn daylight_saving() {
        // Clocks went back at 3 o'clock: the job ran for 90 minutes.
        let text = "User|NNodes|Start|End|Elapsed\nann|4|2024-10-27T02:00:00|2024-10-27T02:30:00|01:30:00\n\
            bob|4|2024-10-27T02:50:00|2024-10-27T02:10:00|\n";
        let found = Jobs::parse(text, 7200.0).unwrap();
        assert_eq!(found.jobs[0].end - found.jobs[0].start, 5400.0);
        assert!(found.warnings[0].contains("daylight saving"));
        assert!(found.dropped[0].1.contains("before it starts"));
        // On both sides of the change, without a zone.
        let text = "User|NNodes|Start|End\nann|4|2024-10-20T02:00:00|2024-10-20T03:00:00\n\
            ann|4|2024-11-01T02:00:00|2024-11-01T03:00:00\n";
        let found = Jobs::parse(text, 0.0).unwrap();
        assert!(found.warnings[0].contains("2024-10-27"), "{:?}", found.warnings);
        let in_utc = Jobs::parse(&text.replace(":00|", ":00Z|").replace(":00\n", ":00Z\n"), 0.0).unwrap();
        assert!(in_utc.warnings.is_empty(), "{:?}", in_utc.warnings);
    }

    #[test]
    fn a_factor_1000_is_said() {
        let jobs = |factor: f64| {
            let line = |i: i32| {
                format!("a,1,{},{}\n", factor * f64::from(100 * i), factor * f64::from(100 * i + 90))
            };
            let text: String =
                std::iter::once("user,nodes,start,end\n".to_owned()).chain((10..20).map(line)).collect();
            Jobs::parse(&text, 0.0).unwrap()
        };
        assert_eq!(jobs(1.0).against_log(900.0, 3000.0), None);
        assert!(jobs(1000.0).against_log(900.0, 3000.0).unwrap().contains("jobs are a factor 1000"));
        assert!(jobs(0.001).against_log(900.0, 3000.0).unwrap().contains("log are a factor 1000"));
        assert!(jobs(1.0).against_log(1e8, 1e9).unwrap().contains("same clock"));
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let text = "JobID|User|NNodes|Start|End|Elapsed|JobName\n\
            17|ann|64|2024-05-01T12:00:00|2024-05-01T13:00:00|1-02:03:04|\"lmp | big\"\n";
        let alphabet: Vec<char> = "0129-+:.,;|\"T Zé\n\t#ae".chars().collect();
        let mut random = seeded_random::Random::new(9);
        for _ in 0..3000 {
            let mut changed: Vec<char> = text.chars().collect();
            for _ in 0..=random.below(6) {
                let place = random.below(changed.len());
                match random.below(3) {
                    0 => changed[place] = alphabet[random.below(alphabet.len())],
                    1 => changed.insert(place, alphabet[random.below(alphabet.len())]),
                    _ => drop(changed.remove(place)),
                }
            }
            let changed: String = changed.into_iter().collect();
            if let Ok(found) = Jobs::parse(&changed, 0.0) {
                assert!(
                    found.jobs.iter().all(|job| job.end > job.start && !job.user.is_empty()),
                    "{changed}"
                );
            }
        }
    }

    #[test]
    fn runs_of_an_application() {
        let found =
            Jobs::parse("user,nodes,start,end,name\na,1,50,60,x\na,1,10,20,x\na,2,10,20,x\n", 0.0).unwrap();
        let applications = found.applications();
        assert_eq!(applications.len(), 2);
        let runs = &applications[&("a".to_owned(), 1, "x".to_owned())];
        assert_eq!(runs.iter().map(|run| run.start).collect::<Vec<_>>(), [10.0, 50.0]);
    }
}

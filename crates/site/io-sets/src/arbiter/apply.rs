//! What an arbiter decides, by the means of the file system.
//!
//! Jobs without the tracer cannot be asked to wait, but a file system may hold them back: whoever waits gets
//! a rate or a weight of next to nothing, whoever holds its turn a high one.

use super::report::Report;
use files::{Access, Dir, Expect};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// Why something could not be done.
pub type Problem = Box<dyn std::error::Error + Send + Sync>;

/// By which means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// Rules of Lustre's NRS TBF policy.
    LustreTbf {
        /// The parameter that takes the rules.
        parameter: String,
        /// Requests per second of a job that has its turn.
        open_rate: u32,
        /// The same of a job that waits.
        closed_rate: u32,
    },
    /// Weights or limits of cgroups.
    Cgroup {
        /// The directory of a job's group, with `{job}` in it.
        directory: String,
        /// What those who wait are limited to; `None`: weights change.
        limit: Option<Limit>,
    },
    /// A command, with `{job}` and `{state}` in it.
    Command(String),
}

/// So many bytes per second on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    device: String,
    bytes: u64,
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (device, bytes) = text.split_once('=')?;
            let (major, minor) = device.split_once(':')?;
            let _: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
            Some(Limit { device: device.to_owned(), bytes: bytes.parse().ok().filter(|bytes| *bytes > 0)? })
        };
        parse().ok_or("MAJOR:MINOR=BYTES, such as 8:0=1048576")
    }
}

/// What a job may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Open,
    Closed,
    Gone,
}

impl Turn {
    fn word(self) -> &'static str {
        match self {
            Turn::Open => "open",
            Turn::Closed => "closed",
            Turn::Gone => "gone",
        }
    }
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A program and its arguments.
    Run(Vec<String>),
    /// This text goes to a file of the kernel's.
    Write(PathBuf, String),
}

impl std::fmt::Display for Action {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Action::Run(words) => {
                let quoted =
                    words.iter().map(|word| match word.contains([' ', '{', '"', '$', '&', '|', ';']) {
                        true => format!("'{}'", word.replace('\'', "'\\''")),
                        false => word.clone(),
                    });
                out.write_str(&quoted.collect::<Vec<_>>().join(" "))
            }
            Action::Write(path, text) => write!(out, "echo '{text}' > {}", path.display()),
        }
    }
}

/// What is to be done for one job.
#[derive(Clone, Debug)]
pub struct Change {
    /// Shown to people as a line of a shell.
    pub action: Action,
    /// If that fails: a rule that an earlier run was killed with is still there, and cannot be started again.
    instead: Option<Action>,
}

impl Change {
    /// Does it.
    pub fn perform(&self) -> Result<(), Problem> {
        let done = perform(&self.action);
        match &self.instead {
            Some(instead) if done.is_err() => perform(instead).or(done),
            _ => done,
        }
    }
}

/// The turns that have been applied.
#[derive(Debug)]
pub struct Turns {
    means: Means,
    known: BTreeMap<String, Turn>,
}

impl Turns {
    /// None yet.
    pub fn new(means: Means) -> Self {
        Turns { means, known: BTreeMap::new() }
    }

    /// What changes by a report. Steps of a job are one job for the file system: it goes if one of them may.
    pub fn follow(&mut self, report: &Report) -> Vec<Change> {
        let turn = |state: &str| if state == "waiting" { Turn::Closed } else { Turn::Open };
        let mut now: BTreeMap<String, Turn> = BTreeMap::new();
        for job in &report.jobs {
            let id = job.job.split('.').next().unwrap_or_default().to_owned();
            let state = now.entry(id).or_insert(Turn::Closed);
            if turn(&job.state) == Turn::Open {
                *state = Turn::Open;
            }
        }
        self.change(now)
    }

    /// Everything is taken back.
    pub fn take_back(&mut self) -> Vec<Change> {
        self.change(BTreeMap::new())
    }

    fn change(&mut self, now: BTreeMap<String, Turn>) -> Vec<Change> {
        let gone: Vec<String> = self.known.keys().filter(|job| !now.contains_key(*job)).cloned().collect();
        let mut changes = Vec::new();
        for (job, turn) in now.into_iter().chain(gone.into_iter().map(|job| (job, Turn::Gone))) {
            let before = self.known.get(&job).copied();
            if before == Some(turn) || !is_plain(&job) {
                continue;
            }
            match turn {
                Turn::Gone => self.known.remove(&job),
                _ => self.known.insert(job.clone(), turn),
            };
            let is_rule = matches!(self.means, Means::LustreTbf { .. }) && before.is_none();
            let instead = if is_rule { action(&self.means, &job, Some(turn), turn) } else { None };
            changes.extend(action(&self.means, &job, before, turn).map(|action| Change { action, instead }));
        }
        changes
    }
}

/// Ids of batch systems. Others could be anything, and end up in commands and paths.
fn is_plain(job: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !job.is_empty() && job.len() <= 64 && job.chars().all(fine)
}

fn action(means: &Means, job: &str, before: Option<Turn>, turn: Turn) -> Option<Action> {
    match means {
        Means::LustreTbf { parameter, open_rate, closed_rate } => {
            let rate = if turn == Turn::Closed { closed_rate } else { open_rate };
            let name = rule_name(job);
            let rule = match (before, turn) {
                (None, _) => format!("start {name} jobid={{{job}}} rate={rate}"),
                (_, Turn::Gone) => format!("stop {name}"),
                _ => format!("change {name} rate={rate}"),
            };
            let rule = format!("{parameter}={rule}");
            Some(Action::Run(vec!["lctl".to_owned(), "set_param".to_owned(), rule]))
        }
        Means::Command(command) => {
            let command = command.replace("{job}", job).replace("{state}", turn.word());
            Some(Action::Run(vec!["sh".to_owned(), "-c".to_owned(), command]))
        }
        Means::Cgroup { directory, limit } => {
            cgroup(&PathBuf::from(directory.replace("{job}", job)), limit.as_ref(), turn)
        }
    }
}

/// Names of rules are letters, digits and `_`, at most 15 of them.
fn rule_name(job: &str) -> String {
    let clean: String = job.chars().map(|c| if c == '-' { '_' } else { c }).collect();
    let short: String = clean.chars().rev().take(14).collect::<Vec<_>>().into_iter().rev().collect();
    format!("j{short}")
}

/// The file of a group, version 1 or 2, and what to write to it. `None`: the job has no group on this node.
fn cgroup(directory: &Path, limit: Option<&Limit>, turn: Turn) -> Option<Action> {
    let closed = turn == Turn::Closed;
    let has = |name: &str| Some(directory.join(name)).filter(|path| path.exists());
    let (path, text) = match limit {
        Some(Limit { device, bytes }) => {
            let v2 = has("io.max").map(|path| {
                let most = if closed { bytes.to_string() } else { "max".to_owned() };
                (path, format!("{device} wbps={most}"))
            });
            let v1 = || {
                let path = has("blkio.throttle.write_bps_device")?;
                Some((path, format!("{device} {}", if closed { *bytes } else { 0 })))
            };
            v2.or_else(v1)?
        }
        None => {
            let v2 =
                has("io.weight").map(|path| (path, format!("default {}", if closed { 1 } else { 1000 })));
            let v1 = || {
                let path = has("blkio.bfq.weight").or_else(|| has("blkio.weight"))?;
                Some((path, if closed { "10".to_owned() } else { "1000".to_owned() }))
            };
            v2.or_else(v1)?
        }
    };
    Some(Action::Write(path, text))
}

fn perform(action: &Action) -> Result<(), Problem> {
    match action {
        Action::Write(path, text) => write(path, text),
        Action::Run(words) => {
            let (program, arguments) = words.split_first().ok_or("nothing to run")?;
            let status = Command::new(program).args(arguments).status()?;
            if status.success() { Ok(()) } else { Err(status.to_string().into()) }
        }
    }
}

/// A setting of the kernel, which is there already: nothing is made, and no link in its place is followed.
fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let (directory, name) = path.parent().zip(path.file_name()).ok_or("no path of a file")?;
    let mut file = Dir::open(directory)?.file(name, Access::WriteOnly, &Expect::anybodys())?;
    Ok(file.write_all(text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The grammar of nrs_tbf.c: start, change, stop.
    #[test]
    fn rules_of_lustre() {
        let parameter = "ost.OSS.ost_io.nrs_tbf_rule".to_owned();
        let means = Means::LustreTbf { parameter, open_rate: 10_000, closed_rate: 1 };
        let all = [
            (None, Turn::Open),
            (Some(Turn::Open), Turn::Closed),
            (Some(Turn::Closed), Turn::Open),
            (Some(Turn::Open), Turn::Gone),
        ];
        let shown: Vec<String> = all
            .into_iter()
            .flat_map(|(before, turn)| action(&means, "4711", before, turn))
            .map(|action| action.to_string())
            .collect();
        let rule = "lctl set_param 'ost.OSS.ost_io.nrs_tbf_rule";
        assert_eq!(
            shown,
            [
                format!("{rule}=start j4711 jobid={{4711}} rate=10000'"),
                format!("{rule}=change j4711 rate=1'"),
                format!("{rule}=change j4711 rate=10000'"),
                format!("{rule}=stop j4711'"),
            ]
        );
        assert_eq!(rule_name("a-very-long-name-of-a-job").len(), 15);
        assert!(!is_plain("4711; rm -r /") && !is_plain("") && is_plain("4711_2"));
    }

    #[test]
    fn groups_of_both_versions() {
        let root = tempfile::tempdir().unwrap();
        let write =
            |turn, limit: Option<&Limit>| cgroup(root.path(), limit, turn).map(|action| action.to_string());
        assert_eq!(write(Turn::Closed, None), None, "the job has no group here");
        let path = root.path().display();
        fs::write(root.path().join("blkio.throttle.write_bps_device"), "").unwrap();
        let limit = "8:0=1000".parse::<Limit>().unwrap();
        let v1 = format!("> {path}/blkio.throttle.write_bps_device");
        assert_eq!(write(Turn::Closed, Some(&limit)), Some(format!("echo '8:0 1000' {v1}")));
        assert_eq!(write(Turn::Open, Some(&limit)), Some(format!("echo '8:0 0' {v1}")));
        fs::write(root.path().join("io.max"), "").unwrap();
        fs::write(root.path().join("io.weight"), "").unwrap();
        assert_eq!(write(Turn::Gone, Some(&limit)), Some(format!("echo '8:0 wbps=max' > {path}/io.max")));
        assert_eq!(write(Turn::Closed, None), Some(format!("echo 'default 1' > {path}/io.weight")));
    }

    #[test]
    fn only_what_is_there_is_written_and_no_link_is_followed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("io.weight"), "").unwrap();
        fs::write(at("precious"), "precious").unwrap();
        std::os::unix::fs::symlink(at("precious"), at("io.max")).unwrap();
        let write = |name: &str| perform(&Action::Write(at(name), "default 1".to_owned()));
        write("io.weight").unwrap();
        assert_eq!(fs::read_to_string(at("io.weight")).unwrap(), "default 1");
        assert!(write("io.max").unwrap_err().to_string().contains("is a link"));
        assert!(write("none").is_err() && !at("none").exists());
        assert_eq!(fs::read_to_string(at("precious")).unwrap(), "precious");
    }
}

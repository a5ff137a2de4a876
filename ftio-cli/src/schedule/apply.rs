//! `ftio schedule --apply`: what an arbiter decides, by the means of the file system.
//!
//! Jobs without the tracer cannot be asked to wait, but a file system may hold them back: whoever waits gets
//! a rate or a weight of next to nothing, whoever holds its turn a high one.

use crate::arbiter::secret;
use crate::exit::{Exit, wrong_usage};
use crate::terminal::text::{Severity, complain};
use anyhow::Context;
use clap::{ValueEnum, ValueHint};
use files::{Access, Dir, Expect};
use io_arbiter::client::Client;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use turns::Address;

const HEADING: &str = "Turns by the file system's own means";

/// How turns are applied.
#[derive(Debug, clap::Args)]
pub struct ApplyArgs {
    /// Apply the turns of an arbiter: by rules of Lustre's NRS TBF policy, by weights or limits of cgroups,
    /// or by a command of the site's
    #[arg(long, value_name = "MEANS", value_enum, requires = "arbiter", help_heading = HEADING)]
    pub apply: Option<Means>,

    /// Where the arbiter listens
    #[arg(long, value_name = "ADDRESS", help_heading = HEADING)]
    pub arbiter: Option<Address>,

    /// File with the secret of an arbiter that listens at tcp
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub secret: Option<PathBuf>,

    /// Print what would be done, once, and do nothing
    #[arg(long, help_heading = HEADING)]
    pub dry_run: bool,

    /// lustre-tbf: the parameter that takes the rules
    #[arg(long, value_name = "NAME", default_value = "ost.OSS.ost_io.nrs_tbf_rule", help_heading = HEADING)]
    pub parameter: String,

    /// lustre-tbf: requests per second, per server and partition, of a job that has its turn
    #[arg(long, value_name = "RATE", default_value_t = 10_000, help_heading = HEADING,
          value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub open_rate: u32,

    /// lustre-tbf: the same of a job that waits
    #[arg(long, value_name = "RATE", default_value_t = 1, help_heading = HEADING,
          value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub closed_rate: u32,

    /// cgroup: the directory of a job's group, with {job} in it
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub cgroup: Option<String>,

    /// cgroup: limit those who wait to so many bytes per second on a device, instead of changing weights
    #[arg(long, value_name = "MAJOR:MINOR=BYTES", value_parser = limit, help_heading = HEADING)]
    pub limit: Option<Limit>,

    /// command: what to run, with {job} and {state} (open, closed or gone) in it
    #[arg(long, value_name = "COMMAND", help_heading = HEADING)]
    pub command: Option<String>,
}

/// `--apply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Means {
    LustreTbf,
    Cgroup,
    Command,
}

/// `--limit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    device: String,
    bytes: u64,
}

fn limit(text: &str) -> Result<Limit, String> {
    let parse = || {
        let (device, bytes) = text.split_once('=')?;
        let (major, minor) = device.split_once(':')?;
        let _: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        Some(Limit { device: device.to_owned(), bytes: bytes.parse().ok().filter(|bytes| *bytes > 0)? })
    };
    parse().ok_or_else(|| "expected MAJOR:MINOR=BYTES, such as 8:0=1048576".to_owned())
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
enum Action {
    Run(Vec<String>),
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

/// The interval at which the arbiter is asked.
const INTERVAL: Duration = Duration::from_millis(250);

/// Applies turns until it is interrupted; then everything is taken back.
pub fn run(args: &ApplyArgs) -> anyhow::Result<Exit> {
    let (Some(means), Some(address)) = (args.apply, &args.arbiter) else {
        return Err(wrong_usage("--apply needs --arbiter ADDRESS"));
    };
    check(args, means)?;
    let about = || format!("no answer of an arbiter at {address}");
    let secret = secret(args.secret.as_deref())?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let mut known: BTreeMap<String, Turn> = BTreeMap::new();
    let mut client = Client::new(address, secret.as_deref()).with_context(about)?;
    let mut lost = None;
    while !stop.load(Relaxed) {
        let report = match client.report().with_context(about) {
            Ok(report) => report,
            // Nobody is held back by an arbiter that is gone.
            Err(error) => {
                lost = Some(error);
                break;
            }
        };
        let turn = |state: &str| if state == "waiting" { Turn::Closed } else { Turn::Open };
        // Steps of a job are one job for the file system: it goes if one of them may.
        let mut now: BTreeMap<String, Turn> = BTreeMap::new();
        for job in &report.jobs {
            let id = job.job.split('.').next().unwrap_or_default().to_owned();
            let state = now.entry(id).or_insert(Turn::Closed);
            if turn(&job.state) == Turn::Open {
                *state = Turn::Open;
            }
        }
        apply(args, means, &mut known, now);
        if args.dry_run {
            return Ok(Exit::Done);
        }
        std::thread::sleep(INTERVAL);
    }
    apply(args, means, &mut known, BTreeMap::new());
    lost.map_or(Ok(Exit::Done), Err)
}

fn check(args: &ApplyArgs, means: Means) -> anyhow::Result<()> {
    match means {
        Means::Cgroup if !args.cgroup.as_ref().is_some_and(|directory| directory.contains("{job}")) => {
            Err(wrong_usage("--apply cgroup needs --cgroup DIR with {job} in it"))
        }
        Means::Command if args.command.is_none() => {
            Err(wrong_usage("--apply command needs --command 'COMMAND {job} {state}'"))
        }
        _ => Ok(()),
    }
}

/// Does what has changed.
fn apply(args: &ApplyArgs, means: Means, known: &mut BTreeMap<String, Turn>, now: BTreeMap<String, Turn>) {
    let gone: Vec<String> = known.keys().filter(|job| !now.contains_key(*job)).cloned().collect();
    let changes = now.iter().map(|(job, turn)| (job.clone(), *turn));
    let changes: Vec<(String, Turn)> = changes.chain(gone.into_iter().map(|job| (job, Turn::Gone))).collect();
    for (job, turn) in changes {
        let before = known.get(&job).copied();
        if before == Some(turn) || !is_plain(&job) {
            continue;
        }
        match turn {
            Turn::Gone => known.remove(&job),
            _ => known.insert(job.clone(), turn),
        };
        for action in actions(args, means, &job, before, turn) {
            if args.dry_run {
                println!("{action}");
                continue;
            }
            let Err(error) = perform(&action) else { continue };
            // A rule that an earlier run was killed with is still there, and cannot be started again.
            let again = (means == Means::LustreTbf && before.is_none())
                .then(|| actions(args, means, &job, Some(turn), turn));
            if !again.is_some_and(|again| again.iter().all(|action| perform(action).is_ok())) {
                complain(Severity::Error, &format!("{action}: {error}"));
            }
        }
    }
}

/// Ids of batch systems. Others could be anything, and end up in commands and paths.
fn is_plain(job: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !job.is_empty() && job.len() <= 64 && job.chars().all(fine)
}

fn actions(args: &ApplyArgs, means: Means, job: &str, before: Option<Turn>, turn: Turn) -> Vec<Action> {
    match means {
        Means::LustreTbf => {
            let rate = if turn == Turn::Closed { args.closed_rate } else { args.open_rate };
            let name = rule_name(job);
            let rule = match (before, turn) {
                (None, _) => format!("start {name} jobid={{{job}}} rate={rate}"),
                (_, Turn::Gone) => format!("stop {name}"),
                _ => format!("change {name} rate={rate}"),
            };
            vec![Action::Run(vec![
                "lctl".to_owned(),
                "set_param".to_owned(),
                format!("{}={rule}", args.parameter),
            ])]
        }
        Means::Command => {
            let command = args.command.clone().unwrap_or_default();
            let command = command.replace("{job}", job).replace("{state}", turn.word());
            vec![Action::Run(vec!["sh".to_owned(), "-c".to_owned(), command])]
        }
        Means::Cgroup => {
            let directory = PathBuf::from(args.cgroup.clone().unwrap_or_default().replace("{job}", job));
            cgroup(&directory, args.limit.as_ref(), turn).into_iter().collect()
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

fn perform(action: &Action) -> anyhow::Result<()> {
    match action {
        Action::Write(path, text) => write(path, text),
        Action::Run(words) => {
            let (program, arguments) = words.split_first().context("nothing to run")?;
            let status = Command::new(program).args(arguments).status()?;
            anyhow::ensure!(status.success(), "{status}");
            Ok(())
        }
    }
}

/// A setting of the kernel, which is there already: nothing is made, and no link in its place is followed.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let (directory, name) = path.parent().zip(path.file_name()).context("no path of a file")?;
    let mut file = Dir::open(directory)?.file(name, Access::WriteOnly, &Expect::anybodys())?;
    Ok(file.write_all(text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::fs;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: ApplyArgs,
    }

    fn args(line: &str) -> ApplyArgs {
        Line::try_parse_from(line.split(' ')).unwrap().args
    }

    /// The grammar of nrs_tbf.c: start, change, stop.
    #[test]
    fn rules_of_lustre() {
        let args = args("ftio --apply lustre-tbf --arbiter unix:/a");
        let all = [
            (None, Turn::Open),
            (Some(Turn::Open), Turn::Closed),
            (Some(Turn::Closed), Turn::Open),
            (Some(Turn::Open), Turn::Gone),
        ];
        let shown: Vec<String> = all
            .into_iter()
            .flat_map(|(before, turn)| actions(&args, Means::LustreTbf, "4711", before, turn))
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
        let limit = limit("8:0=1000").unwrap();
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

//! `ftio serve` and `ftio agent`: the settings that the crate `ftio-serve` is given.

pub mod agent;

use crate::exit::{Exit, asked_to_end, wrong_usage};
use crate::log;
use crate::settings::{Numbers, Row, Setting, given};
use crate::terminal::text::{Severity, complain, warning};
use crate::values::positive;
use anyhow::Context;
use clap::ValueHint;
use ftio_serve::config::{Access, Config, Listen, Slurm, parse_access};
use ftio_serve::users;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  In an empty directory: a page at http://127.0.0.1:1337 about the traces that appear below it:
      ftio serve
  The traces of a site, on a shared file system:
      ftio serve --data /var/lib/ftio --watch /scratch/traces --cluster fritz --capacity 50e9
  What is the model of an application, from all its runs so far?
      curl 'http://127.0.0.1:1337/model/get?jobid=4711'
      curl 'http://127.0.0.1:1337/model/evaluate?jobid=4711&metric=write_sync->total_bytes&size=64'
  Behind nginx, which says who asks (docs/serve.md has its configuration):
      ftio serve --listen unix:/run/ftio/ftio.sock --trusted-proxy www-data
  Values of a program of your own:
      curl -d '{\"job\": {\"jobid\": \"17\"}, \"metrics\": {\"written_bytes\": 1e9}}' \\
          -H 'Content-Type: application/json' http://127.0.0.1:1337/api/v1/push

Who sees what: the kernel says who is at the other end of a connection from this machine. Who runs the \
service, and root, see all jobs; others see their own, which are those whose trace files they own. Other \
machines need a token (--access) or a proxy (--trusted-proxy).

FTIO_LOG=warn logs only what is wrong, FTIO_LOG_FORMAT=json logs in JSON, for journald.

Exit status: 0 ended by a signal, 1 failed, 2 wrong usage.";

/// Serve a page and an interface about all jobs of a site
///
/// Traces and logs are found below the watched directories, read once, and kept in a database: jobs, series
/// over time within a budget, profiles, models, predictions and how right they were. The endpoints of the
/// metric proxy (`/job/list`, `/trace/plot`, `/model/get` …) are there, our own under `/api/v1`, and
/// `/metrics` for Prometheus.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where to listen: HOST:PORT, or unix:PATH; may be given several times [default: 127.0.0.1:1337]
    #[arg(long, value_name = "ADDR")]
    pub listen: Vec<String>,

    /// Where the database and the series are kept; not on a network file system
    #[arg(long, value_name = "DIR", default_value = "ftio-data", value_hint = ValueHint::DirPath)]
    pub data: PathBuf,

    /// Find traces, logs and the parts of running jobs below these directories [default: the current one]
    #[arg(long, value_name = "DIR", num_args = 1.., value_hint = ValueHint::DirPath)]
    pub watch: Vec<PathBuf>,

    /// Forget jobs that ended more than this many days ago, with their series; the sums of days stay
    /// [default: keep everything]
    #[arg(long, value_name = "DAYS", value_parser = positive)]
    pub keep: Option<f64>,

    /// Keep the priority of each running job in DIR/JOB/priority, as `ftio schedule --configfs` does: from
    /// earlier runs of the application, then from its own period; `ftio arbiter --priorities DIR` takes them
    /// from there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub configfs: Option<PathBuf>,

    /// Name of the cluster, for jobs that do not say
    #[arg(long, value_name = "NAME", default_value = "")]
    pub cluster: String,

    /// What the file system can take, in bytes per second: the sum of all jobs is shown against it
    #[arg(long, value_name = "RATE", value_parser = positive)]
    pub capacity: Option<f64>,

    /// Rules for alarms (TOML) [default: jobs that mostly do I/O, and a site at its capacity]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub alarms: Option<PathBuf>,

    /// Ask Slurm: squeue or sacct, with :SECONDS after it (at least 30), or jobcomp:FILE; may be given
    /// several times
    #[arg(long, value_name = "HOW", value_parser = slurm)]
    pub slurm: Vec<Slurm>,

    /// Ask this exporter of Prometheus every ten seconds: http://HOST:PORT[/PATH]; may be given several times
    #[arg(long, value_name = "URL", value_parser = plain_url)]
    pub scrape: Vec<String>,

    /// Write what /metrics says to this URL by Prometheus' remote write, every 15 s: http://HOST:PORT/PATH;
    /// may be given several times
    #[arg(long, value_name = "URL", value_parser = plain_url)]
    pub remote_write: Vec<String>,

    /// Take values over this socket, in the protocol of the metric proxy's clients
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub proxy_socket: Option<PathBuf>,

    /// Who may do what: lines of TOKEN ROLE NAME, with the roles user, operator, admin, agent and metrics; -
    /// in place of the token gives a user of this machine a role. The file must be readable by its owner
    /// alone
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Access")]
    pub access: Option<PathBuf>,

    /// A proxy whose header X-Remote-User is believed: its address, or the user that it runs as on this
    /// machine
    #[arg(long, value_name = "ADDR|USER", help_heading = "Access")]
    pub trusted_proxy: Vec<String>,

    /// Another name of this server: requests to names that are not known are refused
    #[arg(long = "host", value_name = "NAME", help_heading = "Access")]
    pub hosts: Vec<String>,

    /// Let GET change something, as the original metric proxy does
    #[arg(long, help_heading = "Access")]
    pub compat_get: bool,

    /// Tell users' names in /metrics
    #[arg(long, help_heading = "Access")]
    pub metrics_users: bool,

    /// Set a limit; may be given several times. `--set help` lists all
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = LIMITS)]
    pub limits: Vec<Setting>,
}

const BUDGET: &str = "budget";
const MEMORY: &str = "memory";
const DISK_OF_USER: &str = "disk-of-user";
const POLL: &str = "poll";
const METRICS_JOBS: &str = "metrics-jobs";

const LIMITS: Numbers = Numbers::new(|| {
    let usual = Config::new(Path::new(""));
    vec![
        Row::new(
            BUDGET,
            usual.budget as f64,
            "bytes",
            (4096.0, ftio_serve::series::MAX_SERIES as f64),
            "for the series of one job, in memory and on disk: when they are full, neighbouring values are \
             added up and the time between them doubles",
        ),
        Row::new(
            MEMORY,
            usual.memory as f64,
            "bytes",
            (f64::from(16 << 20), 1e15),
            "of memory for all that others can make the service keep: running jobs with their names, texts \
             and series, and bodies of requests. A user has at most a quarter of what others leave",
        ),
        Row::new(
            DISK_OF_USER,
            usual.disk_of_user as f64,
            "bytes",
            (0.0, 1e18),
            "that the jobs of one user may add to the data in a day; root and who runs the service have no \
             such limit",
        ),
        Row::new(
            POLL,
            usual.poll.as_secs_f64(),
            "s",
            (0.01, 1e6),
            "between looks through the watched directories",
        ),
        Row::new(
            METRICS_JOBS,
            usual.metrics_jobs as f64,
            "jobs",
            (0.0, 1e9),
            "one by one in /metrics, at most",
        ),
    ]
});

/// `--slurm`.
fn slurm(text: &str) -> Result<Slurm, String> {
    const MIN_SECONDS: u64 = 30;
    const USUAL_SECONDS: u64 = 60;
    let (command, detail) = text.split_once(':').unwrap_or((text, ""));
    let slurm = match command {
        "squeue" => Slurm::Squeue,
        "sacct" => Slurm::Sacct,
        "jobcomp" if !detail.is_empty() => return Ok(Slurm::JobComp(detail.into())),
        _ => return Err("expected squeue, sacct (with :SECONDS after it), or jobcomp:FILE".into()),
    };
    match if detail.is_empty() { Ok(USUAL_SECONDS) } else { detail.parse() } {
        Ok(seconds) if seconds >= MIN_SECONDS => Ok(slurm(Duration::from_secs(seconds))),
        _ => Err(format!("expected at least {MIN_SECONDS} seconds: {command} is a load for Slurm")),
    }
}

/// `--scrape`.
fn plain_url(text: &str) -> Result<String, String> {
    match text.strip_prefix("http://") {
        Some(rest) if !rest.is_empty() => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err("expected http://HOST:PORT".into()),
    }
}

/// Serve until a signal comes.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    log::set_up("ftio serve: ")?;
    let config = config(args)?;
    config.check().map_err(wrong_usage)?;
    let stop = asked_to_end()?;
    if rustix::process::geteuid().is_root() {
        complain(Severity::Note, "runs as root: a user of its own that may read the traces is enough");
    }
    let (data, watched) = (config.data.display().to_string(), config.watch.clone());
    ftio_serve::run(config, &stop, |addresses| {
        for address in addresses {
            tracing::info!(address, "listening on {address}");
        }
        let watched: Vec<String> = watched.iter().map(|path| path.display().to_string()).collect();
        let watched = watched.join(", ");
        tracing::info!(watched, data, "watching {watched}; data in {data}");
    })?;
    Ok(Exit::Done)
}

fn config(args: &Args) -> anyhow::Result<Config> {
    ftio_serve::store::private_folder(&args.data).with_context(|| args.data.display().to_string())?;
    let mut config = Config::new(&absolute(&args.data)?);
    if !args.listen.is_empty() {
        config.listen = args.listen.iter().map(|text| listen(text)).collect::<anyhow::Result<_>>()?;
    }
    let here = [PathBuf::from(".")];
    let watch = if args.watch.is_empty() { &here[..] } else { &args.watch };
    for folder in watch {
        if !folder.is_dir() {
            warning!("{}: not there yet: waiting for it", folder.display());
        }
        config.watch.push(absolute(folder)?);
    }
    if let Some(path) = &args.access {
        let Access { tokens, roles } = access(path)?;
        (config.tokens, config.roles) = (tokens, roles);
    }
    for proxy in &args.trusted_proxy {
        match (proxy.parse::<IpAddr>(), users::uid(proxy)) {
            (Ok(address), _) if address.is_loopback() => {
                let text =
                    format!("--trusted-proxy {proxy}: on this machine, name the user that the proxy runs as");
                return Err(wrong_usage(text));
            }
            (Ok(address), _) => config.trusted_proxies.push(address),
            (_, Some(uid)) => config.trusted_users.push(uid),
            _ => return Err(wrong_usage(format!("--trusted-proxy {proxy}: no address, and no user"))),
        }
    }
    let limit = |name| given(&args.limits, name);
    config.poll = limit(POLL).map_or(config.poll, Duration::from_secs_f64);
    config.budget = limit(BUDGET).map_or(config.budget, |bytes| bytes as usize);
    config.memory = limit(MEMORY).map_or(config.memory, |bytes| bytes as usize);
    config.disk_of_user = limit(DISK_OF_USER).map_or(config.disk_of_user, |bytes| bytes as u64);
    config.metrics_jobs = limit(METRICS_JOBS).map_or(config.metrics_jobs, |jobs| jobs as usize);
    // A century is for ever.
    config.keep = args.keep.map(|days| Duration::from_secs_f64(86_400.0 * days.min(36_500.0)));
    config.priorities.clone_from(&args.configfs);
    config.remote_write.clone_from(&args.remote_write);
    config.cluster.clone_from(&args.cluster);
    config.capacity = args.capacity;
    config.alarms.clone_from(&args.alarms);
    config.slurm.clone_from(&args.slurm);
    config.scrape.clone_from(&args.scrape);
    config.proxy_socket.clone_from(&args.proxy_socket);
    config.hosts.clone_from(&args.hosts);
    config.compat_get = args.compat_get;
    config.metrics_users = args.metrics_users;
    Ok(config)
}

/// As it is from everywhere; what does not exist yet is taken as it is written.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    let named = || path.display().to_string();
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).with_context(named)
}

fn listen(text: &str) -> anyhow::Result<Listen> {
    if let Some(path) = text.strip_prefix("unix:") {
        return Ok(Listen::Unix(path.into()));
    }
    let text = text.strip_prefix("tcp:").unwrap_or(text);
    // A port alone is one of this machine.
    let full = if text.starts_with(':') { format!("127.0.0.1{text}") } else { text.to_owned() };
    let address: Option<SocketAddr> = full.to_socket_addrs().ok().and_then(|mut all| all.next());
    let wrong = || wrong_usage(format!("--listen {text}: expected HOST:PORT or unix:PATH"));
    Ok(Listen::Tcp(address.ok_or_else(wrong)?))
}

/// Tokens are passwords: a file that others can read gives them away.
fn access(path: &Path) -> anyhow::Result<Access> {
    let named = || path.display().to_string();
    let about = std::fs::metadata(path).with_context(named)?;
    if about.mode() & 0o077 != 0 {
        anyhow::bail!("{}: others may read it: chmod 600", named());
    }
    let text = std::fs::read_to_string(path).with_context(named)?;
    parse_access(&text).map_err(anyhow::Error::msg).with_context(named)
}

//! What the service is told at its start.

use crate::share::{Payer, Standing};
use crate::viewer::Role;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where requests come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Tcp(SocketAddr),
    /// A Unix socket, for HTTP; who asks is known from the kernel.
    Unix(PathBuf),
}

/// How Slurm is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slurm {
    /// `squeue`, this often.
    Squeue(Duration),
    /// `sacct` for jobs that have ended, this often.
    Sacct(Duration),
    /// The file of `JobCompType=jobcomp/filetxt`.
    JobComp(PathBuf),
}

/// Everything. [`Config::new`] has the defaults of `ftio serve`.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub listen: Vec<Listen>,
    pub data: PathBuf,
    /// Directories below which traces are found.
    pub watch: Vec<PathBuf>,
    /// How often they are looked through.
    pub poll: Duration,
    /// How deep.
    pub depth: usize,
    /// Larger files are left alone, in bytes.
    pub largest: u64,
    /// Bytes of memory, and at most of disk, for the series of one job.
    pub budget: usize,
    /// Bytes of memory for all that others can make the service keep: running jobs with their names, texts
    /// and series, and bodies of requests. If there are many jobs, each has less.
    pub memory: usize,
    /// Bytes that the jobs of a user may add to the data in a day.
    pub disk_of_user: u64,
    /// At most this many jobs run at once.
    pub most_running: usize,
    /// Where the priorities of running jobs are kept (`DIR/JOB/priority`).
    pub priorities: Option<PathBuf>,
    /// Jobs that ended longer ago are forgotten; the sums of their days stay.
    pub keep: Option<Duration>,
    /// Where `/metrics` is written to by Prometheus' remote write.
    pub remote_write: Vec<String>,
    /// A pushed job that is silent this long has ended.
    pub silence: Duration,
    /// Socket of the metric proxy's protocol.
    pub proxy_socket: Option<PathBuf>,
    /// Tokens, by their text.
    pub tokens: HashMap<String, Token>,
    /// Further names under which the server may be asked (`Host`).
    pub hosts: Vec<String>,
    /// Who may say on whose behalf they ask (`X-Remote-User`).
    pub trusted_proxies: Vec<std::net::IpAddr>,
    /// The same, of proxies on this machine: the users that they run as.
    pub trusted_users: Vec<u32>,
    /// Users who may do more than look at their own jobs.
    pub roles: HashMap<u32, Role>,
    /// Change state by GET, as the original does.
    pub compat_get: bool,
    /// Rules for alarms.
    pub alarms: Option<PathBuf>,
    pub slurm: Vec<Slurm>,
    /// Servers that are asked for metrics now and then; only these may be joined.
    pub scrape: Vec<String>,
    /// Name of the cluster, for jobs that do not say.
    pub cluster: String,
    /// What the file system can take, in bytes per second.
    pub capacity: Option<f64>,
    /// At most this many jobs are in `/metrics`.
    pub metrics_jobs: usize,
    /// Whether `/metrics` tells users.
    pub metrics_users: bool,
    /// At most this many connections at once.
    pub connections: usize,
    /// Only the latest runs of an application make its models.
    pub last_runs: usize,
}

/// What a token allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub name: String,
    pub role: Role,
    /// The user whose jobs are seen.
    pub uid: Option<u32>,
}

impl Config {
    /// Loopback, and data in this directory.
    pub fn new(data: &Path) -> Self {
        Config {
            listen: vec![Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 1337)))],
            data: data.to_owned(),
            poll: Duration::from_secs(1),
            depth: 8,
            largest: 16 << 30,
            budget: 256 << 10,
            memory: 256 << 20,
            disk_of_user: 1 << 30,
            most_running: 20_000,
            silence: Duration::from_secs(120),
            metrics_jobs: 2000,
            connections: 16_384,
            last_runs: 1000,
            ..Config::default()
        }
    }

    /// Of the memory, what is for running jobs. The rest is for what is under way: answers, what is being
    /// read and written.
    pub fn memory_of_jobs(&self) -> usize {
        self.memory / 8 * 5
    }

    /// Of the memory, what is for bodies of requests and messages that are not complete.
    pub fn memory_of_bodies(&self) -> usize {
        self.memory / 4
    }

    /// How far somebody is trusted: root, who runs the service, and whoever the site has given a role.
    pub fn standing(&self, payer: &Payer) -> Standing {
        let trusted = match payer {
            Payer::User(uid) => {
                let role = self.roles.get(uid).copied();
                let own = *uid == 0
                    || *uid == rustix::process::geteuid().as_raw()
                    || self.trusted_users.contains(uid);
                role.map_or(own, |role| matches!(role, Role::Agent | Role::Operator | Role::Admin))
            }
            Payer::Token(_) => true,
            Payer::Address(address) => self.trusted_proxies.contains(address),
        };
        if trusted { Standing::Trusted } else { Standing::User }
    }

    /// What must not be.
    pub fn check(&self) -> Result<(), String> {
        let open = self.listen.iter().find_map(|listen| match listen {
            Listen::Tcp(address) if !address.ip().is_loopback() => Some(address),
            _ => None,
        });
        if let Some(address) = open
            && self.tokens.is_empty()
            && self.trusted_proxies.is_empty()
        {
            return Err(format!(
                "{address} can be reached from other machines: give --access FILE or --trusted-proxy ADDR, \
                 or listen on 127.0.0.1"
            ));
        }
        if self.listen.is_empty() {
            return Err("nothing to listen on".into());
        }
        Ok(())
    }
}

/// Who may do what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub tokens: HashMap<String, Token>,
    pub roles: HashMap<u32, Role>,
}

/// A file of lines `TOKEN ROLE NAME`; `#` begins a comment. The name is that of a user, or `uid:NUMBER`.
/// Without a token (`-`) the user has that role wherever the kernel says who they are.
pub fn parse_access(text: &str) -> Result<Access, String> {
    let mut access = Access::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            [token, role, name] => {
                if token.len() < 16 && *token != "-" {
                    return Err(format!("line {number}: a token needs at least 16 characters"));
                }
                let role = Role::from_name(role).ok_or_else(|| {
                    format!("line {number}: expected user, operator, admin, agent or metrics, found {role}")
                })?;
                let uid = crate::users::uid(name);
                match (*token, uid) {
                    ("-", Some(uid)) => {
                        access.roles.insert(uid, role);
                    }
                    (_, None) if role == Role::User || *token == "-" => {
                        return Err(format!(
                            "line {number}: there is no user {name}; uid:NUMBER works as well"
                        ));
                    }
                    _ => {
                        let name = (*name).to_owned();
                        access.tokens.insert((*token).to_owned(), Token { name, role, uid });
                    }
                }
            }
            _ => return Err(format!("line {number}: expected TOKEN ROLE NAME")),
        }
    }
    Ok(access)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_line_by_line() {
        let text =
            "# all\n0123456789abcdef admin root\n\nfedcba9876543210 user uid:1234 # ann\n- operator uid:7\n";
        let Access { tokens, roles } = parse_access(text).unwrap();
        assert_eq!(roles[&7], Role::Operator);
        assert_eq!(tokens["fedcba9876543210"].uid, Some(1234));
        assert_eq!(tokens["0123456789abcdef"].role, Role::Admin);
        for wrong in ["short admin x", "0123456789abcdef king x", "0123456789abcdef admin"] {
            assert!(parse_access(wrong).unwrap_err().starts_with("line 1: "), "{wrong}");
        }
    }

    #[test]
    fn other_machines_need_tokens() {
        let mut config = Config::new(Path::new("x"));
        assert_eq!(config.check(), Ok(()));
        config.listen = vec![Listen::Tcp(SocketAddr::from(([0, 0, 0, 0], 1)))];
        assert!(config.check().is_err());
        config.trusted_proxies.push([10, 0, 0, 1].into());
        assert_eq!(config.check(), Ok(()));
    }
}

//! The command line, a part of what `programs/workload.c` accepts.

use std::path::PathBuf;
use std::str::FromStr;

pub const USAGE: &str = "\
usage: workload [OPTIONS]

Computes, writes, computes, writes ... through MPI-IO, and prints as one JSON object what it did.

  --iterations N      phases of I/O (10)
  --compute SECONDS   computation, by sleeping, before each of them (1)
  --size BYTES        bytes of each request, suffixes k and m (64k)
  --requests N        requests per phase and rank (4)
  --access A          blocking | nonblocking | collective
  --read              read every phase back and verify it
  --dir DIR           where the file is written, under a fresh name (.)
  --keep              leave it there
";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Blocking,
    Nonblocking,
    Collective,
}

pub struct Options {
    pub iterations: usize,
    pub compute: f64,
    pub size: usize,
    pub requests: usize,
    pub access: Access,
    pub read: bool,
    pub directory: PathBuf,
    pub keep: bool,
}

impl Options {
    /// `None` when help is asked for.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Options {
            iterations: 10,
            compute: 1.0,
            size: 64 << 10,
            requests: 4,
            access: Access::Blocking,
            read: false,
            directory: ".".into(),
            keep: false,
        };
        while let Some(option) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{option} needs a value"));
            match option.as_str() {
                "--iterations" => options.iterations = number(&option, &value()?)?,
                "--compute" => options.compute = number(&option, &value()?)?,
                "--size" => options.size = size(&option, &value()?)?,
                "--requests" => options.requests = number(&option, &value()?)?,
                "--access" => {
                    options.access = match value()?.as_str() {
                        "blocking" => Access::Blocking,
                        "nonblocking" => Access::Nonblocking,
                        "collective" => Access::Collective,
                        other => return Err(format!("--access: {other}")),
                    }
                }
                "--read" => options.read = true,
                "--dir" => options.directory = value()?.into(),
                "--keep" => options.keep = true,
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("unexpected argument: {option}")),
            }
        }
        Ok(Some(options))
    }
}

fn number<T: FromStr>(option: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{option}: {value}"))
}

fn size(option: &str, value: &str) -> Result<usize, String> {
    let (digits, factor) = match value.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => value.strip_suffix(['m', 'M']).map_or((value, 1), |digits| (digits, 1 << 20)),
    };
    number::<usize>(option, digits).map(|number| number * factor)
}

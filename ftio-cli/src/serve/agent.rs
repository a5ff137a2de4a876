//! `ftio agent`: what a node does, pushed to `ftio serve`.

use crate::exit::{Exit, asked_to_end, wrong_usage};
use crate::terminal::text::{note, warning};
use crate::values::positive_seconds;
use anyhow::Context;
use clap::ValueHint;
use ftio_serve::agent::{Server, node_name, sample};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  On every node, as a service of its own:
      ftio agent --server http://head:1337 --token-file /etc/ftio/agent.token
  Once, to see what is sent:
      ftio agent --print

Exit status: 0 ended by a signal, 1 failed, 2 wrong usage.";

/// Tell ftio serve about this node: memory, load, disks, network
///
/// Everything is read from /proc, once a second, and takes well under a thousandth of a core. Counters are
/// sent as running sums: a message that is lost costs resolution, not bytes. The node is the job "Node: NAME"
/// of the server.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The server: http://HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDR", default_value = "http://127.0.0.1:1337")]
    pub server: String,

    /// How often
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = positive_seconds)]
    pub every: f64,

    /// Name of the node [default: that of the host]
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,

    /// A file with a token of the role agent
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,

    /// Print what would be sent, once, and end
    #[arg(long)]
    pub print: bool,
}

/// Tell until a signal comes.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let node = args.node.clone().unwrap_or_else(node_name);
    if args.print {
        println!("{}", sample(&node));
        return Ok(Exit::Done);
    }
    let read = |path: &PathBuf| std::fs::read_to_string(path).with_context(|| path.display().to_string());
    let token = args.token_file.as_ref().map(read).transpose()?.map(|text| text.trim().to_owned());
    let server = Server::parse(&args.server, token).map_err(wrong_usage)?;
    let stop = asked_to_end()?;
    let every = Duration::from_secs_f64(args.every);
    let mut problem: Option<String> = None;
    while !stop.load(Relaxed) {
        let begun = Instant::now();
        let done = server.push(&sample(&node).to_string()).err();
        // Once when it goes wrong, and once when it works again.
        match (&problem, &done) {
            (None, Some(text)) => warning!("{}: {text}", args.server),
            (Some(_), None) => note!("{}: works again", args.server),
            _ => {}
        }
        problem = done;
        while begun.elapsed() < every && !stop.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(20).min(every));
        }
    }
    Ok(Exit::Done)
}

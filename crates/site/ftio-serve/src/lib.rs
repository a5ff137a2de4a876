//! The service behind `ftio serve`: it finds jobs, keeps what they did, and answers questions over HTTP.
//!
//! | module | subject |
//! |---|---|
//! | [`config`] | what it is told at its start |
//! | [`ingest`] | how it learns of jobs: traces, pushes, Slurm |
//! | [`running`], [`live`], [`series`] | running jobs, and what their metrics did over time in a budget |
//! | [`share`], [`refusals`] | how much of what all share one user may have, and who was refused more |
//! | [`store`] | the database of jobs, runs, predictions and alarms |
//! | [`damage`] | data that are found to be damaged |
//! | [`apps`], [`foresee`] | scaling models of an application; the period and the next phase of a job |
//! | [`categories`] | the categories of MOSAIC |
//! | [`tick`], [`alarms`] | what happens once a second |
//! | [`http`] | who asks, what they may see, and the answers |
//! | [`export`] | metrics go out by remote write |
//!
//! Nothing here analyses I/O by itself: periods are `ftio-core`'s, models `perf-model`'s, sets `io-sets`'.

#![forbid(unsafe_code)]
// What the service says goes through `tracing`; who runs it decides where that goes.
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod agent;
pub mod alarms;
pub mod apps;
pub mod categories;
mod client;
pub mod config;
pub mod damage;
pub mod export;
pub mod foresee;
pub mod http;
pub mod ingest;
pub mod job;
mod judged;
pub mod live;
mod lock;
mod past;
pub mod priorities;
pub mod refusals;
pub mod running;
pub mod series;
pub mod service;
pub mod share;
pub mod stats;
pub mod store;
pub mod tick;
mod unix_socket;
pub mod users;
pub mod viewer;
pub mod workers;

pub use config::{Config, Listen, Slurm};
pub use service::Service;

use anyhow::Context;
use io_sets::configfs::Configfs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a thread does until it is told to stop.
type Work = Box<dyn FnOnce(&Arc<Service>, &AtomicBool) + Send>;

/// Serve until `stop` says so. `ready` is told the addresses when requests are taken.
pub fn run(config: Config, stop: &Arc<AtomicBool>, ready: impl FnOnce(&[String])) -> anyhow::Result<()> {
    config.check().map_err(anyhow::Error::msg)?;
    let priorities = config.priorities.as_ref().map(Configfs::open).transpose()?;
    let service = Service::open(config)?;
    let mut threads = Vec::new();
    let mut start = |name: &str, work: Work| {
        let (service, stop) = (Arc::clone(&service), Arc::clone(stop));
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || work(&service, &stop));
        thread.with_context(|| format!("no thread for {name}")).map(|thread| threads.push(thread))
    };
    start("tick", Box::new(|service, stop| tick::run(service, stop)))?;
    start("scrub", Box::new(|service, stop| service.scrub(stop)))?;
    start("predict", Box::new(|service, stop| tick::predict(service, stop)))?;
    if let Some(directory) = priorities {
        let work =
            |service: &Arc<Service>, stop: &AtomicBool| tick::keep_priorities(service, directory, stop);
        start("priorities", Box::new(work))?;
    }
    for root in service.config.watch.clone() {
        start("watch", Box::new(move |service, stop| ingest::watch::run(service, &root, stop)))?;
    }
    for slurm in service.config.slurm.clone() {
        start("slurm", Box::new(move |service, stop| ingest::slurm::run(service, &slurm, stop)))?;
    }
    for url in service.config.remote_write.clone() {
        start("export", Box::new(move |service, stop| export::run(service, &url, stop)))?;
    }
    for url in service.config.scrape.clone() {
        start("scrape", Box::new(move |service, stop| ingest::scrape::run(service, &url, stop)))?;
    }
    let served = http::serve(&service, stop, ready);
    stop.store(true, Relaxed);
    // One that hangs in a file system is left behind.
    let patience = Instant::now() + Duration::from_secs(5);
    for thread in threads {
        while !thread.is_finished() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
        if thread.is_finished() {
            let _ = thread.join();
        }
    }
    service.checkpoint()?;
    served
}

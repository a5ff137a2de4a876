//! How the service learns of jobs: files below watched directories, pushes, Slurm, other servers.

pub mod below;
pub mod events;
pub mod finished;
pub mod follow;
pub mod labelled;
pub mod push;
pub mod remote_write;
pub mod scrape;
pub mod slurm;
pub mod socket;
pub mod trace;
pub mod watch;

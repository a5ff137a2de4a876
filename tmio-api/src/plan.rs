//! What all ranks must know before they begin, decided by rank 0.

use crate::options::Options;
use crate::output::{self, Values};
use crate::world::{JobInfo, World};
use crate::{clock, system};
use std::path::{Path, PathBuf};

/// Where the trace goes, and when it begins.
pub(crate) struct Plan {
    pub(crate) output: PathBuf,
    pub(crate) job: String,
    /// Wall-clock time at job time 0.
    pub(crate) start: i64,
    /// Rank 0's clock at job time 0.
    pub(crate) epoch: i64,
}

impl Plan {
    /// Rank 0: chooses the path and makes the directory of the parts.
    pub(crate) fn make(job: &JobInfo, ranks: u32, host: &str, options: &Options) -> Result<Self, String> {
        let mut id = system::job_id();
        if job.spawned {
            id = format!("{id}.spawn{}", std::process::id());
        }
        let values = Values { job: id.clone(), ranks, host: host.to_owned(), format: options.format };
        let output = output::prepare(options.output.as_deref(), &values)?;
        Ok(Plan { output, job: id, start: clock::realtime(), epoch: clock::monotonic() })
    }

    /// Rank 0 makes the plan, the others get it.
    pub(crate) fn agree(
        world: &dyn World,
        make: impl FnOnce() -> Result<Self, String>,
    ) -> Result<Self, String> {
        let mut letter = [0u8; 8192];
        if world.rank() == 0 {
            let text = match make() {
                Ok(plan) => {
                    let output = plan.output.to_string_lossy();
                    format!("{}\0{}\0{}\0{output}\0\0", plan.start, plan.epoch, plan.job)
                }
                Err(reason) => format!("!{reason}\0"),
            };
            let length = text.len().min(letter.len() - 1);
            for (place, byte) in letter.iter_mut().zip(text.bytes().take(length)) {
                *place = byte;
            }
        }
        if !world.broadcast(0, &mut letter) {
            return Err("the ranks could not agree on it".to_owned());
        }
        let text = String::from_utf8_lossy(&letter);
        if let Some(reason) = text.strip_prefix('!') {
            return Err(reason.trim_end_matches('\0').to_owned());
        }
        let mut fields = text.split('\0');
        let mut field = || fields.next().unwrap_or_default();
        let (start, epoch, job, output) = (field(), field(), field(), field());
        match (start.parse(), epoch.parse()) {
            (Ok(start), Ok(epoch)) if !output.is_empty() => {
                Ok(Plan { output: Path::new(output).to_owned(), job: job.to_owned(), start, epoch })
            }
            _ => Err("its path is too long".to_owned()),
        }
    }
}

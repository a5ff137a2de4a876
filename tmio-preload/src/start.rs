//! Who takes part in a trace, at its start and at its end.
//!
//! A rank may have no tracer, and nobody may wait for it. At the start only ranks of one node agree with
//! each other, which find each other by the [roll](crate::roll). If these are all ranks of the job, they
//! are together from the start to the end. If the job has other nodes, each node starts for itself, and all
//! meet in `MPI_Finalize`, where they wait for each other no longer than `TMIO_FINALIZE_TIMEOUT`.
//!
//! Who is on the roll is what launchers say. What MPI says decides:
//!
//! | MPI has made of the process | and the launcher | it is traced |
//! |---|---|---|
//! | the only rank of its job | may say what it likes | alone, as a job of its own |
//! | a rank of several | has told it that rank of as many | with those on the roll |
//! | a rank of several | says something else, or nothing; or the roll contradicts itself | alone at the start; all meet in `MPI_Finalize`, or else alone to the end |
//! | a rank of several | has told it that rank, and the others have begun without it | alone, to the end |

use crate::errors::{Quiet, went_well};
use crate::launcher::{self, JobKey};
use crate::lifecycle::hook_finalize;
use crate::roll::{Closed, Enrolment, Members, Roll};
use crate::sessions::Alone;
use crate::shared_world::SharedWorld;
use crate::tracer::{self, Tracer};
use crate::world::MpiWorld;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
use std::time::Duration;
use tmio_api::message::Level;
use tmio_api::options::{self, Parsed};
use tmio_api::surroundings::Surroundings;
use tmio_api::{JobInfo, message, preloaded};

/// What is known before `MPI_Init`.
pub(crate) struct Start {
    caller: usize,
    parsed: Parsed,
    key: Option<JobKey>,
    enrolment: Enrolment,
}

/// The traced ranks of this node, from `MPI_Init` to `MPI_Finalize`.
struct Node {
    tracer: &'static Tracer,
    /// `None`: only this one.
    world: Option<SharedWorld>,
    others: Others,
    patience: Duration,
    /// The children of this one take no part.
    process: u32,
}

/// The ranks of the job that are not with us from the start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    /// There are none that have a tracer.
    None,
    /// Nothing is known of them, but what MPI says.
    Unknown,
    /// On other nodes, where they may have one.
    Elsewhere,
    /// On other nodes; and some of this node have none, so that they can never all be together.
    Incomplete,
}

/// With whom a rank begins.
struct Company {
    /// `None`: with nobody.
    members: Option<Members>,
    /// How many ranks there are on this node.
    local: u32,
    others: Others,
    /// All of them, here and on other nodes, have the launcher's word for being one job.
    is_told: bool,
}

static NODE: Mutex<Option<Node>> = Mutex::new(None);

impl Company {
    fn nobody(others: Others) -> Self {
        Self { members: None, local: 1, others, is_told: false }
    }

    /// Those on the roll, as far as they fit to what MPI says: that this is rank `rank` of `size`.
    fn find(key: Option<JobKey>, enrolment: Enrolment, rank: u32, size: u32, progress: &dyn Fn()) -> Self {
        let told = launcher::told(key, rank, size);
        match (enrolment, told) {
            (Enrolment::On(roll), _) if size == 1 => {
                roll.leave();
                Self::nobody(Others::None)
            }
            (_, _) if size == 1 => Self::nobody(Others::None),
            (Enrolment::On(roll), None) => {
                roll.leave();
                Self::nobody(Others::Unknown)
            }
            (Enrolment::Nowhere, _) | (Enrolment::TooLate, None) => Self::nobody(Others::Unknown),
            (Enrolment::TooLate, Some(_)) => Self::nobody(Others::None),
            (Enrolment::On(roll), Some(told)) => {
                let local = told.local.unwrap_or(size).min(size);
                match roll.close(rank, size, local, progress) {
                    Closed::Together(members) => Self::of(members, local, size),
                    Closed::TooLate => Self::nobody(Others::None),
                    Closed::Contradiction => Self::nobody(Others::Unknown),
                }
            }
        }
    }

    fn of(members: Members, local: u32, size: u32) -> Self {
        let enrolled = members.len() as u32;
        let others = match (enrolled >= local, local >= size) {
            (_, true) => Others::None,
            (true, false) => Others::Elsewhere,
            (false, false) => Others::Incomplete,
        };
        Self { members: Some(members), local, others, is_told: true }
    }

    /// What is to be said about ranks that have no tracer.
    fn missing(&self, size: u32) -> Option<String> {
        let members = self.members.as_ref()?;
        let (enrolled, local) = (members.len() as u32, self.local);
        if enrolled >= local {
            return None;
        }
        if local < size {
            return Some(format!("{enrolled} of {local} ranks of this node are traced"));
        }
        let without = (0..size).filter(|rank| members.iter().all(|member| member.rank != *rank));
        Some(format!("{enrolled} of {size} ranks are traced; without a tracer: {}", list(without)))
    }
}

impl Start {
    /// Puts this rank on the roll. `None`: there is nothing to be done.
    pub(crate) fn before_init(caller: usize) -> Option<Self> {
        static BEGUN: AtomicBool = AtomicBool::new(false);
        if BEGUN.swap(true, AcqRel) || tmio_api::has_started() {
            return None;
        }
        let around = Surroundings::here();
        let parsed = preloaded::apart(|| options::read(&around))?;
        let layers = parsed.options.layers;
        if parsed.options.disable {
            return None;
        }
        if parsed.problem.is_none() && (layers.posix || layers.stdio) {
            preloaded::get().inspect(|core| (core.listen)(7));
        }
        let key = launcher::job_key();
        let enrolment = key.map_or(Enrolment::Nowhere, |key| Roll::enrol(key.number));
        Some(Self { caller, parsed, key, enrolment })
    }

    /// `MPI_Init` has failed.
    pub(crate) fn not_at_all(self) {
        if let Enrolment::On(roll) = self.enrolment {
            roll.decline();
        }
    }

    /// Begins tracing with those who are on the roll.
    pub(crate) fn after_init(mut self) {
        // Until the rank is known from MPI, the launcher's word for it decides who speaks.
        message::configure(self.parsed.options.log, launcher::rank().unwrap_or(0) == 0);
        let Some(tracer) = tracer::set_up(self.caller) else {
            message::warn("no trace: this MPI is not known, or lacks functions that tmio needs");
            return self.not_at_all();
        };
        let Some(_quiet) = Quiet::new(tracer) else { return self.not_at_all() };
        let Some((rank, size)) = rank_and_size(tracer) else { return self.not_at_all() };
        let patience = self.parsed.options.finalize_timeout;
        let company = Company::find(self.key, self.enrolment, rank, size, &|| tracer.progress_at_border());
        if company.others == Others::Unknown && rank > 0 {
            // One of those who begin alone and meet later speaks for all.
            let log = &mut self.parsed.options.log;
            *log = if *log == Level::Debug { Level::Debug } else { Level::Silent };
        }
        let job = JobInfo {
            mpi: tracer.library_version(),
            spawned: is_spawned(tracer),
            world_rank: rank,
            world_size: size,
            key: self.key.filter(|key| key.on_all_nodes && company.is_told).map(|key| key.number),
            launch: self.key.map(|key| key.number),
        };
        if self.parsed.options.iosets.is_some() {
            tracer.prepare_progress();
        }
        let missing = company.missing(size);
        let world = company.members.filter(|members| members.len() > 1).map(|members| {
            let progress = || tracer::get().into_iter().for_each(Tracer::progress_at_border);
            SharedWorld::new(members, patience, progress)
        });
        let started = match &world {
            Some(world) => tmio_api::start(world, &job, self.parsed),
            None => tmio_api::start(&Alone, &job, self.parsed),
        };
        if !started || !hook_finalize(tracer) {
            return;
        }
        if let Some(missing) = missing {
            message::warn(missing);
        }
        let process = std::process::id();
        *NODE.lock() = Some(Node { tracer, world, others: company.others, patience, process });
    }
}

/// The first few of some ranks.
fn list(ranks: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for (number, rank) in ranks.enumerate() {
        match number {
            0 => text.push_str(&rank.to_string()),
            1..8 => text.push_str(&format!(", {rank}")),
            _ => return text + ", …",
        }
    }
    text
}

fn rank_and_size(tracer: &Tracer) -> Option<(u32, u32)> {
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    // SAFETY: MPI is initialised, and both places are valid.
    let known = unsafe {
        went_well(|| (tracer.mpi.comm_rank)(tracer.abi.comm_world, &mut rank))
            && went_well(|| (tracer.mpi.comm_size)(tracer.abi.comm_world, &mut size))
    };
    let (rank, size) = (u32::try_from(rank).ok()?, u32::try_from(size).ok()?);
    (known && rank < size).then_some((rank, size))
}

/// Whether this process was made by `MPI_Comm_spawn`.
fn is_spawned(tracer: &Tracer) -> bool {
    let mut parent = 0usize;
    // SAFETY: the place for the answer is valid.
    let told = went_well(|| unsafe { (tracer.mpi.comm_get_parent)(&mut parent) });
    // Four-byte handles fill the low half of the zeroed word.
    told && parent != tracer.abi.comm_null
}

/// The end of the job, inside `MPI_Finalize`.
pub(crate) fn finish() {
    let Some(Node { tracer, world, others, patience, process }) = NODE.lock().take() else { return };
    if process != std::process::id() {
        // The world is the parent's.
        return std::mem::forget(world);
    }
    let Some(_quiet) = Quiet::new(tracer) else { return tmio_api::finish_apart("MPI has no error handlers") };
    tracer.end_progress();
    // Everybody is here: what follows takes no longer than the file system, which has as long, and a little
    // more to tell the others.
    let for_the_trace = patience + patience / 4 + Duration::from_secs(1);
    match (others, world) {
        (Others::None, Some(world)) => {
            world.meet(patience);
            world.set_patience(for_the_trace);
            tmio_api::finish(&world);
        }
        (Others::None, None) => tmio_api::finish(&Alone),
        (Others::Incomplete, _) => tmio_api::finish_apart("some ranks have no tracer"),
        (Others::Elsewhere | Others::Unknown, _) => match MpiWorld::of_all_who_answer(tracer, patience) {
            Ok(mut world) => {
                world.set_patience(for_the_trace);
                tmio_api::finish(&world);
                world.free();
            }
            Err(reason) if others == Others::Unknown => {
                message::warn(format_args!("each rank has a trace of its own: {reason}"));
                tmio_api::finish(&Alone);
            }
            Err(reason) => tmio_api::finish_apart(&reason),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn a_long_list_of_ranks_is_cut_short() {
        assert_eq!(list([3].into_iter()), "3");
        assert_eq!(list([1, 2].into_iter()), "1, 2");
        assert_eq!(list(0..100), "0, 1, 2, 3, 4, 5, 6, 7, …");
    }
}

//! The profile that the counters of a Darshan log give.

use super::figures::{FunctionProfile, ModeProfile, Profile, Series};
use super::requests;
use crate::summary::FileSummary;
use darshan_log::{Activity, Log, ModuleId};
use sources::SourceError;
use sources::darshan::DarshanLog;
use sources::request::layer::Layer;
use std::collections::BTreeMap;

/// Totals of one layer (the heaviest) from its counters; phases and bandwidths from DXT where there is some.
pub(super) fn profile(opened: &DarshanLog) -> Result<Profile, SourceError> {
    let DarshanLog { name, log, layer } = opened;
    let layers: Vec<Layer> = match layer {
        Some(layer) => vec![*layer],
        None => opened.heaviest().0.into_iter().chain(Layer::ALL).collect(),
    };
    // Darshan 2 counted bytes below MPI-IO only.
    let counted: Vec<(Layer, Counters)> =
        layers.into_iter().map(|layer| (layer, Counters::of(log, layer))).collect();
    let moves_data = |(_, counters): &(Layer, Counters)| counters.read.bytes > 0 || counters.write.bytes > 0;
    let has_records = |(_, counters): &(Layer, Counters)| counters.records > 0;
    let chosen = counted.iter().position(moves_data).or_else(|| counted.iter().position(has_records));
    let counted = chosen.and_then(|index| counted.into_iter().nth(index));
    let Some((layer, counters)) = counted else {
        let present: Vec<String> = log.modules().iter().map(|module| module.name().into_owned()).collect();
        let found = if present.is_empty() { "no module".into() } else { present.join(", ") };
        let expected = "counters of POSIX, MPI-IO or STDIO".into();
        return Err(SourceError::Absent { name: name.clone(), expected, found });
    };
    let ranks = u32::try_from(log.job().nprocs).ok().filter(|ranks| *ranks > 0);
    let run_time = log.job().run_time();
    let files = counters.files(log)?;
    let dxt = match layer {
        Layer::MpiIo => Some(ModuleId::DXT_MPIIO),
        Layer::Posix => Some(ModuleId::DXT_POSIX),
        _ => None,
    };
    let traced = dxt.is_some_and(|module| log.module(module).is_some());
    let mut profile = if traced {
        requests::profile(DarshanLog { layer: Some(layer), ..opened.clone() }.into_source()?)?
    } else {
        Profile::default()
    };
    profile.ranks = ranks;
    profile.total_time = ranks.filter(|_| run_time > 0.0).map(|ranks| f64::from(ranks) * run_time);
    profile.files = files;
    profile.warnings.extend(counters.damage.clone());
    counters.into_profile(&mut profile);
    Ok(profile)
}

/// Operations, bytes and seconds in one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    operations: u64,
    bytes: u64,
    time: f64,
}

impl Flow {
    fn add(&mut self, operations: u64, bytes: u64, time: f64) {
        self.operations = self.operations.saturating_add(operations);
        self.bytes = self.bytes.saturating_add(bytes);
        self.time += time;
    }
}

#[derive(Debug, Default)]
struct Counters {
    records: u64,
    read: Flow,
    write: Flow,
    open: Flow,
    /// Read and written, by rank; `None` if a record stands for all ranks.
    ranks: Option<BTreeMap<i64, [Flow; 2]>>,
    by_file: BTreeMap<u64, FileSummary>,
    damage: Option<String>,
}

impl Counters {
    fn of(log: &Log, layer: Layer) -> Self {
        let mut counters = Counters { ranks: Some(BTreeMap::new()), ..Counters::default() };
        for activity in log.activities(layer.into()) {
            match activity {
                Ok(activity) => counters.add(&activity),
                Err(problem) => {
                    counters.damage = Some(problem.to_string());
                    break;
                }
            }
        }
        counters
    }

    fn add(&mut self, one: &Activity) {
        self.records += 1;
        self.read.add(one.reads, one.bytes_read, one.read_time);
        self.write.add(one.writes, one.bytes_written, one.write_time);
        self.open.add(one.opens, 0, one.meta_time);
        if one.is_shared() {
            self.ranks = None;
        }
        if let Some([read, write]) = self.ranks.as_mut().map(|ranks| ranks.entry(one.rank).or_default()) {
            read.add(one.reads, one.bytes_read, one.read_time);
            write.add(one.writes, one.bytes_written, one.write_time);
        }
        let file = self.by_file.entry(one.id).or_default();
        file.ops += one.reads.saturating_add(one.writes);
        file.bytes_read = file.bytes_read.saturating_add(one.bytes_read);
        file.bytes_written = file.bytes_written.saturating_add(one.bytes_written);
    }

    fn files(&self, log: &Log) -> Result<Vec<FileSummary>, SourceError> {
        let names = log.names()?;
        let named = |(id, file): (&u64, &FileSummary)| {
            let name = names.get(*id).unwrap_or("(unknown)").to_owned();
            FileSummary { name, ..file.clone() }
        };
        Ok(self.by_file.iter().map(named).collect())
    }

    fn into_profile(self, profile: &mut Profile) {
        for (series, index, flow) in [(Series::ReadSync, 0, self.read), (Series::WriteSync, 1, self.write)] {
            let mode = &mut profile.modes[series as usize];
            let of_ranks = self.ranks.as_ref().map(|ranks| ranks.values().map(|flows| flows[index]));
            let most = |of: fn(&Flow) -> u64| {
                of_ranks.clone().map(|flows| flows.map(|flow| of(&flow)).max().unwrap_or(0) as f64)
            };
            *mode = ModeProfile {
                total_bytes: Some(flow.bytes as f64),
                max_bytes_per_rank: most(|flow| flow.bytes).or(mode.max_bytes_per_rank),
                max_io_ops_per_rank: most(|flow| flow.operations).or(mode.max_io_ops_per_rank),
                total_io_ops: Some(flow.operations as f64),
                number_of_ranks: of_ranks
                    .clone()
                    .map(|flows| flows.filter(|flow| flow.operations > 0).count() as f64)
                    .or(mode.number_of_ranks),
                time: Some(flow.time),
                lost_time: Some(0.0),
                ..std::mem::take(mode)
            };
        }
        // Darshan knows no nonblocking operations.
        for series in Series::ALL.into_iter().skip(2) {
            profile.modes[series as usize] = ModeProfile { lost_time: Some(0.0), ..ModeProfile::default() };
        }
        for (name, flow) in [("open", self.open), ("read", self.read), ("write", self.write)] {
            let function = FunctionProfile { calls: flow.operations, bytes: flow.bytes, time: flow.time };
            profile.functions.insert(name.to_owned(), function);
        }
    }
}

//! The workload in Rust, through rsmpi: the same shape and the same report as `programs/workload.c`, with
//! fewer choices. It shows that a Rust program is traced like any other.

mod file;
mod options;

use file::File;
use mpi::collective::SystemOperation;
use mpi::traits::*;
use options::{Access, Options};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

const CLASSES: [&str; 4] = ["write_sync", "read_sync", "write_async", "read_async"];

/// Operations and bytes of each class: what this rank asked for, all of which exists in the file.
#[derive(Default, Clone, Copy)]
struct Account {
    ops: [u64; 4],
    bytes: [u64; 4],
}

impl Account {
    fn count(&mut self, write: bool, access: Access, requests: &[Vec<u8>]) {
        let class = usize::from(!write) + if access == Access::Nonblocking { 2 } else { 0 };
        self.ops[class] += requests.len() as u64;
        self.bytes[class] += requests.iter().map(|request| request.len() as u64).sum::<u64>();
    }

    fn json(&self) -> String {
        let classes = CLASSES.iter().enumerate().map(|(class, name)| {
            format!("\"{name}\": {{\"ops\": {}, \"bytes\": {}}}", self.ops[class], self.bytes[class])
        });
        // MPI_Status is not looked at here, so that it cannot disagree.
        format!("{}, \"status_mismatches\": 0", classes.collect::<Vec<_>>().join(", "))
    }
}

/// The bytes of one request, different from those of any other of the run.
fn pattern(phase: usize, rank: usize, request: usize, size: usize) -> Vec<u8> {
    let start = phase * 31 + rank * 7 + request * 3;
    (0..size).map(|i| (start + i * 5 + i / 251) as u8).collect()
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(fault) => {
            eprintln!("workload: {fault} (see --help)");
            return ExitCode::from(2);
        }
    };
    let Some(universe) = mpi::initialize() else {
        eprintln!("workload: MPI was initialised before");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let (rank, ranks) = (world.rank() as usize, world.size() as usize);

    // Fresh names: an MPI that was killed can leave a lock behind that belongs to a name.
    let mut run = [u64::from(std::process::id()), nanoseconds()];
    world.process_at_rank(0).broadcast_into(&mut run);
    let name = options.directory.join(format!("workload_rust_{}_{}.dat", run[0], run[1]));
    let file = File::open(&world, &name);

    let mut account = Account::default();
    let mut starts = Vec::with_capacity(options.iterations);
    let mut damaged = 0u64;
    world.barrier();
    let origin = Instant::now();
    for phase in 0..options.iterations {
        std::thread::sleep(Duration::from_secs_f64(options.compute));
        starts.push(origin.elapsed().as_secs_f64());
        let offset = |request: usize| ((phase * ranks + rank) * options.requests + request) * options.size;
        let written: Vec<Vec<u8>> =
            (0..options.requests).map(|request| pattern(phase, rank, request, options.size)).collect();
        file.write(options.access, &written, offset);
        account.count(true, options.access, &written);
        world.barrier();
        if options.read {
            let mut read = vec![vec![0; options.size]; options.requests];
            file.read(options.access, &mut read, offset);
            account.count(false, options.access, &read);
            damaged += read.iter().zip(&written).filter(|(read, written)| read != written).count() as u64;
            world.barrier();
        }
    }
    file.close();
    world.barrier();

    let good = report(&world, &options, &name, &account, &starts, damaged);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Collects everybody's account on rank 0, which prints it; says on all ranks whether everything was right.
fn report(
    world: &impl Communicator,
    options: &Options,
    name: &std::path::Path,
    account: &Account,
    starts: &[f64],
    damaged: u64,
) -> bool {
    let (rank, ranks) = (world.rank(), world.size() as usize);
    let root = world.process_at_rank(0);
    let mine: Vec<u64> = account.ops.iter().chain(&account.bytes).copied().chain([damaged]).collect();
    let mut good = true;
    if rank == 0 {
        let mut everybody = vec![0u64; mine.len() * ranks];
        let mut first = vec![0.0; starts.len()];
        root.gather_into_root(&mine, &mut everybody);
        root.reduce_into_root(starts, &mut first, SystemOperation::min());
        let mut total = Account::default();
        let per_rank: Vec<String> = everybody
            .chunks(mine.len())
            .enumerate()
            .map(|(rank, row)| {
                let mut account = Account::default();
                account.ops.copy_from_slice(&row[..4]);
                account.bytes.copy_from_slice(&row[4..8]);
                for class in 0..4 {
                    total.ops[class] += account.ops[class];
                    total.bytes[class] += account.bytes[class];
                }
                good &= row[8] == 0;
                format!("{{\"rank\": {rank}, {}}}", account.json())
            })
            .collect();
        let size = std::fs::metadata(name).map(|meta| meta.len()).unwrap_or(0);
        good &= size == (options.iterations * ranks * options.requests * options.size) as u64;
        let mean_period = match first[..] {
            [one, .., last] => format!("{:.9}", (last - one) / (first.len() - 1) as f64),
            _ => "null".into(),
        };
        println!(
            "{{\"program\": \"workload_rust\", \"ranks\": {ranks}, \"iterations\": {}, \"files\": [{{\"name\": \"{}\", \
             \"size\": {size}}}], \"verified\": {good}, \"phase_starts\": {first:?}, \"mean_period\": {mean_period}, \
             \"total\": {{{}}}, \"per_rank\": [{}]}}",
            options.iterations,
            name.display(),
            total.json(),
            per_rank.join(", ")
        );
        if !options.keep {
            let _ = std::fs::remove_file(name);
        }
    } else {
        root.gather_into(&mine);
        root.reduce_into(starts, SystemOperation::min());
    }
    root.broadcast_into(&mut good);
    good
}

fn nanoseconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as u64)
}

//! What `MPI_Init` and `MPI_Finalize` ask of a rank in jobs far larger than this machine: `scripts/bench
//! scaling --simulate`.
//!
//! One rank runs here for real, with the code that every job runs; the others are answers that a
//! [`World`] makes up. Messages and bytes are counted as MPI libraries send them: collectives along
//! binomial trees (Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005), in which only a gather's or a
//! scatter's root holds more than its own share. Prints one JSON object per line.

use std::cell::Cell;
use std::time::Instant;
use tmio_api::ranks::clocks;
use tmio_api::ranks::nodes::Nodes;
use tmio_api::{World, clock};

struct Simulated {
    rank: u32,
    size: u32,
    per_node: u32,
    messages: Cell<u64>,
    bytes: Cell<u64>,
    calls: Cell<u64>,
}

impl Simulated {
    fn new(rank: u32, size: u32, per_node: u32) -> Self {
        let zero = || Cell::new(0);
        Self { rank, size, per_node, messages: zero(), bytes: zero(), calls: zero() }
    }

    fn count(&self, messages: u64, bytes: u64) {
        self.messages.set(self.messages.get() + messages);
        self.bytes.set(self.bytes.get() + bytes);
    }

    fn depth(&self) -> u64 {
        u64::from(self.size.next_power_of_two().trailing_zeros())
    }

    /// Along a tree, or by recursive doubling: one message of so many bytes per level.
    fn collective(&self, bytes: u64) {
        self.count(self.depth(), self.depth() * bytes);
    }

    /// Ranks below this one in a binomial tree whose root is rank 0: what it passes on in a gather or a
    /// scatter.
    fn below(&self) -> u64 {
        let subtree = if self.rank == 0 { self.size } else { 1 << self.rank.trailing_zeros() };
        u64::from(subtree.min(self.size - self.rank))
    }
}

impl World for Simulated {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn broadcast(&self, _root: u32, bytes: &mut [u8]) -> bool {
        self.collective(bytes.len() as u64);
        true
    }

    fn minimum(&self, value: i64) -> Option<i64> {
        self.collective(8);
        // The first two calls ask whether all are on one node: they are not.
        self.calls.set(self.calls.get() + 1);
        Some(if self.calls.get() <= 2 { value.min(i64::from(self.size)) - 1 } else { value.min(1 << 40) })
    }

    fn sum_before(&self, _value: i64) -> Option<i64> {
        self.collective(8);
        Some(i64::from(self.rank) * 4096)
    }

    fn sum(&self, value: i64) -> Option<i64> {
        self.collective(8);
        Some(value * i64::from(self.size))
    }

    fn gather(&self, _mine: i64) -> Option<Vec<i64>> {
        self.count(u64::from(self.below().ilog2()) + 1, self.below() * 8);
        let nodes = || (0..self.size).map(|rank| i64::from(rank / self.per_node)).collect();
        Some(if self.rank == 0 { nodes() } else { Vec::new() })
    }

    fn scatter(&self, all: &[i64], mine: &mut [i64]) -> bool {
        self.count(u64::from(self.below().ilog2()) + 1, self.below() * 8 * mine.len() as u64);
        if self.rank == 0 {
            mine.copy_from_slice(&all[..mine.len()]);
            return true;
        }
        let leader = self.rank / self.per_node * self.per_node;
        let next = self.rank + 1;
        let previous = if leader == self.rank { -1 } else { i64::from(self.rank) - 1 };
        let next = if next.is_multiple_of(self.per_node) || next == self.size { -1 } else { i64::from(next) };
        mine.copy_from_slice(&[i64::from(leader), previous, next]);
        true
    }

    fn send(&self, _to: u32, bytes: &[u8]) -> bool {
        self.count(1, bytes.len() as u64);
        true
    }

    fn receive(&self, _from: u32, bytes: &mut [u8]) -> bool {
        self.count(1, bytes.len() as u64);
        bytes.fill(0);
        true
    }
}

/// What a start asks: the plan, who is where, the clocks.
fn start(world: &Simulated) {
    let mut letter = [0u8; 8192];
    world.broadcast(0, &mut letter);
    let nodes = Nodes::find(world, i64::from(world.rank / world.per_node)).expect("simulated");
    clocks::compare(world, &nodes, &clock::monotonic).expect("simulated");
}

/// What an end asks: the same again, sums over all ranks, lengths along the ranks of the node, and votes.
fn finish(world: &Simulated) {
    start(world);
    for _ in 0..4 {
        world.sum(1);
    }
    world.count(2, 16);
    world.sum_before(4096);
    world.sum(4096);
    for _ in 0..5 {
        world.minimum(1 << 41);
    }
}

fn main() {
    const PER_NODE: u32 = 64;
    for size in [1_000u32, 10_000, 100_000, 1_000_000] {
        for (who, rank) in [("rank 0", 0), ("a leader", PER_NODE * 3), ("another rank", PER_NODE * 3 + 5)] {
            for (step, run) in [("MPI_Init", start as fn(&Simulated)), ("MPI_Finalize", finish)] {
                let world = Simulated::new(rank, size, PER_NODE);
                let began = Instant::now();
                run(&world);
                let seconds = began.elapsed().as_secs_f64();
                let (messages, bytes) = (world.messages.get(), world.bytes.get());
                println!(
                    "{{\"ranks\": {size}, \"who\": \"{who}\", \"step\": \"{step}\", \
                     \"seconds\": {seconds:.6}, \"messages\": {messages}, \"bytes\": {bytes}}}"
                );
            }
        }
    }
}

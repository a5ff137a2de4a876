//! For tests: ranks that are threads of one process.

use crate::ranks::world::World;
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::sync::Barrier;

/// Messages on their way, by sender and receiver.
type Mail = HashMap<(u32, u32), VecDeque<Vec<u8>>>;

struct Shared {
    barrier: Barrier,
    values: Mutex<Vec<Vec<i64>>>,
    letter: Mutex<Vec<u8>>,
    mail: Mutex<Mail>,
    arrived: Condvar,
}

pub(crate) struct Threads<'a> {
    rank: u32,
    size: u32,
    shared: &'a Shared,
}

/// What each of `size` ranks gets.
pub(crate) fn on_ranks<T: Send>(size: u32, body: impl Fn(&Threads<'_>) -> T + Sync) -> Vec<T> {
    let shared = Shared {
        barrier: Barrier::new(size as usize),
        values: Mutex::new(vec![Vec::new(); size as usize]),
        letter: Mutex::default(),
        mail: Mutex::default(),
        arrived: Condvar::new(),
    };
    let (shared, body) = (&shared, &body);
    std::thread::scope(|scope| {
        let ranks: Vec<_> =
            (0..size).map(|rank| scope.spawn(move || body(&Threads { rank, size, shared }))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

impl Threads<'_> {
    /// Everybody's values, by rank.
    fn all(&self, mine: Vec<i64>) -> Vec<Vec<i64>> {
        self.shared.values.lock()[self.rank as usize] = mine;
        self.shared.barrier.wait();
        let all = self.shared.values.lock().clone();
        self.shared.barrier.wait();
        all
    }
}

impl World for Threads<'_> {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn broadcast(&self, root: u32, bytes: &mut [u8]) -> bool {
        if self.rank == root {
            *self.shared.letter.lock() = bytes.to_vec();
        }
        self.shared.barrier.wait();
        bytes.copy_from_slice(&self.shared.letter.lock());
        self.shared.barrier.wait();
        true
    }

    fn minimum(&self, value: i64) -> Option<i64> {
        self.all(vec![value]).into_iter().flatten().min()
    }

    fn sum_before(&self, value: i64) -> Option<i64> {
        Some(self.all(vec![value]).into_iter().take(self.rank as usize).flatten().sum())
    }

    fn sum(&self, value: i64) -> Option<i64> {
        Some(self.all(vec![value]).into_iter().flatten().sum())
    }

    fn gather(&self, mine: i64) -> Option<Vec<i64>> {
        let all = self.all(vec![mine]).into_iter().flatten().collect();
        Some(if self.rank == 0 { all } else { Vec::new() })
    }

    fn scatter(&self, all: &[i64], mine: &mut [i64]) -> bool {
        let all = self.all(all.to_vec()).swap_remove(0);
        let from = self.rank as usize * mine.len();
        mine.copy_from_slice(&all[from..from + mine.len()]);
        true
    }

    fn send(&self, to: u32, bytes: &[u8]) -> bool {
        self.shared.mail.lock().entry((self.rank, to)).or_default().push_back(bytes.to_vec());
        self.shared.arrived.notify_all();
        true
    }

    fn receive(&self, from: u32, bytes: &mut [u8]) -> bool {
        let mut mail = self.shared.mail.lock();
        loop {
            if let Some(letter) = mail.get_mut(&(from, self.rank)).and_then(VecDeque::pop_front) {
                bytes.copy_from_slice(&letter);
                return true;
            }
            self.shared.arrived.wait(&mut mail);
        }
    }
}

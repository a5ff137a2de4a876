//! The traced ranks of one node, who agree in memory that they share, without a word of MPI.
//!
//! They are those on the [list](crate::roll), and that is only a hint. A call of MPI among them would hang or
//! end the job where the hint is wrong; here a call that is not answered in time is given up, and nobody but
//! the trace has lost anything. MPI is only asked to go on with its own work while somebody waits.

use crate::memory_file::Slot;
use crate::roll::Members;
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};
use tmio_api::World;
use tmio_trace::liveness::Life;

/// How often it is asked whether somebody who is waited for still runs.
const LOOK: Duration = Duration::from_millis(250);

pub(crate) struct SharedWorld {
    members: Members,
    /// How many collective calls there were, and how many of them in which everybody tells a value.
    step: Cell<u64>,
    exchanges: Cell<usize>,
    /// Nobody is waited for after this.
    deadline: Cell<Instant>,
    given_up: Cell<bool>,
    progress: fn(),
}

/// What to do when somebody who is waited for has ended.
#[derive(Clone, Copy)]
enum TheDead {
    /// Give up.
    AreNotWaitedFor,
    /// Wait for this long, and then give up.
    MayBeFollowed(Duration),
}

impl SharedWorld {
    /// `progress` lets MPI work, while others are waited for.
    pub(crate) fn new(members: Members, patience: Duration, progress: fn()) -> Self {
        Self {
            members,
            step: Cell::new(0),
            exchanges: Cell::new(0),
            deadline: Cell::new(Instant::now() + patience),
            given_up: Cell::new(false),
            progress,
        }
    }

    /// Waits for nobody longer than this from now on.
    pub(crate) fn set_patience(&self, patience: Duration) {
        self.deadline.set(Instant::now() + patience);
    }

    /// Waits until every rank has come to this call, as `MPI_Finalize` does in any case. If one of these
    /// processes is gone, it never will: then nobody is waited for any longer than `patience`.
    pub(crate) fn meet(&self, patience: Duration) {
        if let Some(own) = self.own() {
            own.arrived.store(1, Release);
        }
        let arrived = |slot: &Slot| slot.arrived.load(Acquire) != 0;
        let all = 0..self.members.len();
        if !all.into_iter().all(|index| self.wait(index, None, TheDead::MayBeFollowed(patience), arrived)) {
            self.give_up();
        }
    }

    fn own(&self) -> Option<&Slot> {
        self.members.slot(self.members.own)
    }

    /// The others need not wait for this rank any longer.
    fn give_up(&self) {
        self.given_up.set(true);
        if let Some(own) = self.own() {
            own.gone.store(1, Release);
        }
    }

    /// Waits until something is true of what a rank says; `false`: it will not be.
    fn wait(
        &self,
        index: usize,
        until: Option<Instant>,
        the_dead: TheDead,
        ready: impl Fn(&Slot) -> bool,
    ) -> bool {
        let Some(slot) = self.members.slot(index) else { return false };
        let (mut until, mut look) = (until, Instant::now() + LOOK);
        let mut pause = Duration::from_micros(1);
        for tries in 0u32.. {
            if ready(slot) {
                return true;
            }
            if slot.gone.load(Acquire) != 0 {
                return ready(slot);
            }
            if tries < 100 {
                std::thread::yield_now();
                continue;
            }
            let now = Instant::now();
            if until.is_some_and(|until| now >= until) {
                return false;
            }
            if now >= look {
                look = now + LOOK;
                match (self.members.life(index), the_dead) {
                    (Life::Alive, _) | (Life::Unknown, TheDead::AreNotWaitedFor) => {}
                    (Life::Dead, TheDead::AreNotWaitedFor) => return ready(slot),
                    // Nobody waits for ever for a process of another container, which cannot be seen.
                    (_, TheDead::MayBeFollowed(patience)) => until = until.or(Some(now + patience)),
                }
            }
            (self.progress)();
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        false
    }

    /// The same in a call of everybody, before the deadline.
    fn wait_in_call(&self, index: usize, ready: impl Fn(&Slot) -> bool) -> bool {
        self.wait(index, Some(self.deadline.get()), TheDead::AreNotWaitedFor, ready)
    }

    /// Makes a call, unless one was given up before: the others have not made the same calls then.
    fn attempt<T>(&self, call: impl FnOnce() -> Option<T>) -> Option<T> {
        let answer = if self.given_up.get() { None } else { call() };
        if answer.is_none() {
            self.give_up();
        }
        answer
    }

    fn next_step(&self) -> u64 {
        self.step.set(self.step.get() + 1);
        self.step.get()
    }

    /// Everybody tells a value; each one's is given to `note`, by rank.
    ///
    /// There are two places for values: nobody comes to the next such call but one before all have read this
    /// one's, because they have come to the next.
    fn exchange(&self, value: i64, mut note: impl FnMut(usize, i64)) -> Option<()> {
        self.attempt(|| {
            let step = self.next_step();
            let place = self.exchanges.get() % 2;
            self.exchanges.set(self.exchanges.get() + 1);
            let own = self.own()?;
            own.values.get(place)?.store(value, Relaxed);
            own.step.store(step, Release);
            for index in 0..self.members.len() {
                if !self.wait_in_call(index, |slot| has_come(slot, step)) {
                    return None;
                }
                note(index, self.members.slot(index)?.values.get(place)?.load(Relaxed));
            }
            Some(())
        })
    }

    /// Rank `root` tells everybody a piece of at most as many bytes as there is room for.
    fn broadcast_piece(&self, root: usize, piece: &mut [u8]) -> Option<()> {
        self.attempt(|| {
            let step = self.next_step();
            let own = self.own()?;
            if root == self.members.own {
                // What it has sent before has been taken.
                if !self.wait_in_call(root, was_taken) {
                    return None;
                }
                put(&own.data, piece);
                own.step.store(step, Release);
                // It says nothing else before all have heard it.
                let mut all = 0..self.members.len();
                return all.all(|index| self.wait_in_call(index, |slot| has_come(slot, step))).then_some(());
            }
            if !self.wait_in_call(root, |slot| has_come(slot, step)) {
                return None;
            }
            get(&self.members.slot(root)?.data, piece);
            own.step.store(step, Release);
            Some(())
        })
    }
}

fn has_come(slot: &Slot, step: u64) -> bool {
    slot.step.load(Acquire) >= step
}

fn was_taken(slot: &Slot) -> bool {
    slot.taken.load(Acquire) == slot.sent.load(Relaxed)
}

/// Bytes that there is room for in a slot.
const PIECE: usize = size_of::<Slot>() - std::mem::offset_of!(Slot, data);

fn put(words: &[AtomicU64], bytes: &[u8]) {
    for (word, part) in words.iter().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole.iter_mut().zip(part).for_each(|(place, &byte)| *place = byte);
        word.store(u64::from_ne_bytes(whole), Relaxed);
    }
}

fn get(words: &[AtomicU64], bytes: &mut [u8]) {
    for (word, part) in words.iter().zip(bytes.chunks_mut(8)) {
        let whole = word.load(Relaxed).to_ne_bytes();
        part.iter_mut().zip(whole).for_each(|(place, byte)| *place = byte);
    }
}

impl World for SharedWorld {
    fn rank(&self) -> u32 {
        self.members.own as u32
    }

    fn size(&self) -> u32 {
        self.members.len() as u32
    }

    fn broadcast(&self, root: u32, bytes: &mut [u8]) -> bool {
        bytes.chunks_mut(PIECE).all(|piece| self.broadcast_piece(root as usize, piece).is_some())
    }

    fn minimum(&self, value: i64) -> Option<i64> {
        let mut least = i64::MAX;
        self.exchange(value, |_, value| least = least.min(value))?;
        Some(least)
    }

    fn sum_before(&self, value: i64) -> Option<i64> {
        let mut sum = 0i64;
        self.exchange(value, |index, value| {
            sum = sum.wrapping_add(if index < self.members.own { value } else { 0 });
        })?;
        Some(sum)
    }

    fn sum(&self, value: i64) -> Option<i64> {
        let mut sum = 0i64;
        self.exchange(value, |_, value| sum = sum.wrapping_add(value))?;
        Some(sum)
    }

    fn gather(&self, mine: i64) -> Option<Vec<i64>> {
        let mut all = Vec::new();
        let count = if self.members.own == 0 { self.members.len() } else { 0 };
        // Whoever has no memory for it keeps to the order of calls all the same.
        let has_room = all.try_reserve_exact(count).is_ok();
        self.exchange(mine, |_, value| {
            if all.len() < all.capacity().min(count) {
                all.push(value);
            }
        })?;
        has_room.then_some(all)
    }

    fn scatter(&self, all: &[i64], mine: &mut [i64]) -> bool {
        let own = self.members.own;
        // As many calls on every rank: a piece for each of them, of which each keeps its own.
        (0..self.members.len()).all(|index| {
            let of_index = all.get(index * mine.len()..).unwrap_or_default();
            (0..mine.len()).all(|number| {
                let mut value = of_index.get(number).copied().unwrap_or(0).to_ne_bytes();
                let told = self.broadcast(0, &mut value);
                if let Some(place) = mine.get_mut(number).filter(|_| index == own) {
                    *place = i64::from_ne_bytes(value);
                }
                told
            })
        })
    }

    fn send(&self, to: u32, bytes: &[u8]) -> bool {
        let send = |piece: &[u8]| {
            let own = self.own()?;
            if !self.wait_in_call(self.members.own, was_taken) {
                return None;
            }
            put(&own.data, piece);
            own.to.store(u64::from(to), Relaxed);
            own.length.store(piece.len() as u64, Relaxed);
            own.sent.store(own.sent.load(Relaxed) + 1, Release);
            Some(())
        };
        bytes.chunks(PIECE).all(|piece| self.attempt(|| send(piece)).is_some())
    }

    fn receive(&self, from: u32, bytes: &mut [u8]) -> bool {
        let own = self.members.own as u64;
        let receive = |piece: &mut [u8]| {
            let slot = self.members.slot(from as usize)?;
            let is_there = |slot: &Slot| {
                slot.sent.load(Acquire) != slot.taken.load(Relaxed) && slot.to.load(Relaxed) == own
            };
            if !self.wait_in_call(from as usize, is_there) {
                return None;
            }
            let fits = slot.length.load(Relaxed) == piece.len() as u64;
            get(&slot.data, piece);
            slot.taken.store(slot.sent.load(Relaxed), Release);
            fits.then_some(())
        };
        bytes.chunks_mut(PIECE).all(|piece| self.attempt(|| receive(piece)).is_some())
    }
}

impl Drop for SharedWorld {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roll::{Closed, Enrolment, Roll};

    /// Runs `body` as several ranks, which are threads here.
    fn on_ranks<T: Send>(name: &str, size: u32, body: impl Fn(&SharedWorld) -> T + Sync) -> Vec<T> {
        let path = std::env::temp_dir().join(format!("tmio-shared-{name}-{}", std::process::id()));
        std::thread::scope(|scope| {
            let rolls: Vec<Roll> = (0..size)
                .map(|_| match Roll::enrol_in(path.clone(), std::process::id()) {
                    Enrolment::On(roll) => roll,
                    _ => panic!("no list"),
                })
                .collect();
            let body = &body;
            let run = |(rank, roll): (u32, Roll)| {
                scope.spawn(move || {
                    let Closed::Together(members) = roll.close(rank, size, size, &|| ()) else {
                        panic!("no list")
                    };
                    body(&SharedWorld::new(members, Duration::from_secs(60), || ()))
                })
            };
            let threads: Vec<_> = (0..size).zip(rolls).map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn everybody_hears_the_same() {
        let size = 5;
        let heard = on_ranks("hear", size, |world| {
            let rank = i64::from(world.rank());
            for round in 0..50 {
                assert_eq!(world.minimum(rank + round), Some(round));
                let root = round as u32 % size;
                // Longer than there is room for at once.
                let mut letter = vec![if world.rank() == root { round as u8 } else { 99 }; 2 * PIECE + 13];
                assert!(world.broadcast(root, &mut letter));
                assert!(letter.iter().all(|&byte| byte == round as u8));
                assert_eq!(world.sum(rank), Some(10));
                assert_eq!(world.sum_before(10), Some(10 * rank));
            }
            let all = world.gather(rank * rank);
            let mut mine = [0; 2];
            let told: Vec<i64> = if rank == 0 { (0..10).collect() } else { Vec::new() };
            assert!(world.scatter(&told, &mut mine));
            (all, mine)
        });
        for (rank, (all, mine)) in (0..).zip(&heard) {
            let expected = if rank == 0 { vec![0, 1, 4, 9, 16] } else { Vec::new() };
            assert_eq!(all.as_ref(), Some(&expected));
            assert_eq!(*mine, [2 * rank, 2 * rank + 1]);
        }
    }

    #[test]
    fn messages_arrive_in_order_and_whole() {
        let sizes = [1, 8, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5];
        on_ranks("messages", 4, |world| {
            let text = |from: u32, number: usize| -> Vec<u8> {
                (0..sizes[number]).map(|at| (at as u32 * 7 + from + number as u32) as u8).collect()
            };
            if world.rank() == 0 {
                for from in 1..4 {
                    for (number, &size) in sizes.iter().enumerate() {
                        let mut bytes = vec![0; size];
                        assert!(world.receive(from, &mut bytes) && bytes == text(from, number));
                        assert!(world.send(from, &bytes));
                    }
                }
            } else {
                for number in 0..sizes.len() {
                    let sent = text(world.rank(), number);
                    let mut back = vec![0; sent.len()];
                    assert!(world.send(0, &sent) && world.receive(0, &mut back) && back == sent);
                }
            }
            assert_eq!(world.sum(1), Some(4));
        });
    }

    #[test]
    fn one_who_gives_up_holds_up_nobody() {
        let answers = on_ranks("up", 3, |world| {
            let together = world.sum(1);
            if world.rank() == 1 {
                return (together, None);
            }
            // The other has gone, and neither this nor any further call is answered.
            assert_eq!(world.sum(1), None);
            assert!(!world.broadcast(0, &mut [0; 4]) && !world.send(1, &[0; 4]));
            (together, world.minimum(1))
        });
        assert_eq!(answers, vec![(Some(3), None); 3]);
    }

    #[test]
    fn a_call_that_nobody_answers_is_given_up() {
        let answers = on_ranks("alone", 2, |world| {
            if world.rank() == 0 {
                world.set_patience(Duration::from_millis(50));
                let answer = world.minimum(3);
                world.meet(Duration::ZERO);
                return answer;
            }
            // Comes late, when the first has given up: what that one had said is there, and no more.
            while world.members.slot(0).is_some_and(|slot| slot.arrived.load(Acquire) == 0) {
                std::thread::yield_now();
            }
            assert_eq!(world.minimum(5), Some(3));
            world.minimum(5)
        });
        assert_eq!(answers, [None, None]);
    }

    #[test]
    fn all_are_waited_for_at_the_end() {
        let order = std::sync::Mutex::new(Vec::new());
        on_ranks("meet", 3, |world| {
            if world.rank() == 2 {
                std::thread::sleep(Duration::from_millis(100));
                order.lock().unwrap().push("last");
            }
            world.meet(Duration::ZERO);
            order.lock().unwrap().push("met");
            assert_eq!(world.sum(1), Some(3));
        });
        assert_eq!(*order.lock().unwrap(), ["last", "met", "met", "met"]);
    }
}

//! Jobs that do something to a file while it is staged, and mistakes that must be found.

use super::disk::{BUFFER, Disk, STORAGE};
use super::explore::{Chooser, explore};
use super::job::{Act, Job};
use super::machine::{Abilities, Failure, Machine, State, hash_of};
use super::rules::{HOST, Place};
use crate::journal::{Line, Past, Verified};
use crate::plan::{Direction, Kind};
use crate::protocol::copy::{Made, Order, copy};
use crate::protocol::evict::{End, finish, set_aside};
use crate::protocol::restart::put_in_order;
use crate::protocol::{Durable, Places, Step, aside_name, leave_out, left_out};
use crate::stamp::Stamp;
use crate::system::System;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const PLACES: Places<usize> = Places { buffer: BUFFER, storage: STORAGE };

/// All that a machine of today can do.
const ABLE: Abilities = Abilities { tells: true, leases: true, sees_all: true, exchanges: true };

/// What is there, what happens, and which way the file goes.
#[derive(Clone, Debug)]
struct Scenario {
    what: &'static str,
    acts: Vec<Act>,
    abilities: Abilities,
    direction: Direction,
    folder: &'static str,
    /// There is an older file at the destination.
    older_there: bool,
    rounds: usize,
}

impl Scenario {
    fn out(what: &'static str, acts: &[Act]) -> Self {
        let (direction, folder, older_there) = (Direction::Out, "", false);
        Scenario { what, acts: acts.to_vec(), abilities: ABLE, direction, folder, older_there, rounds: 1 }
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("{}x", self.folder))
    }

    fn place(&self) -> Place<'static> {
        Place { folder: self.folder }
    }

    fn state(&self) -> State {
        let mut disk = Disk::new();
        let folder = |top: usize, disk: &mut Disk| {
            let mut at = top;
            for name in self.folder.split_terminator('/') {
                let made = disk.new_folder(at);
                disk.rename(vec![(at, name.into(), Some(made))]);
                at = made;
            }
            at
        };
        let buffer = folder(BUFFER, &mut disk);
        match self.direction {
            Direction::Out => {
                if self.older_there {
                    let there = folder(STORAGE, &mut disk);
                    let file = disk.new_file(b"oo", STORAGE);
                    disk.rename(vec![(there, "x".into(), Some(file))]);
                    disk.clock += 1;
                }
                let file = disk.new_file(b"11", BUFFER);
                disk.rename(vec![(buffer, "x".into(), Some(file))]);
            }
            Direction::In => {
                let there = folder(STORAGE, &mut disk);
                let file = disk.new_file(b"ss", STORAGE);
                disk.rename(vec![(there, "x".into(), Some(file))]);
            }
        }
        disk.settle();
        let mut job = Job::new(&self.acts, &disk, self.folder);
        if self.direction == Direction::In {
            // What is brought in is a version of `x` as well, which a failure may bring back.
            job.versions.push(b"ss".to_vec());
        }
        State { disk, job }
    }

    /// What is at the destination at first.
    fn before(&self) -> Option<Vec<u8>> {
        match (self.direction, self.older_there) {
            (Direction::In, _) => Some(b"ss".to_vec()),
            (Direction::Out, true) => Some(b"oo".to_vec()),
            (Direction::Out, false) => None,
        }
    }

    /// All orders; how many states there were, and runs.
    fn try_all(&self) -> Result<(usize, usize), String> {
        let (seen, started) = (RefCell::new(HashSet::new()), RefCell::new(HashSet::new()));
        let scenario = self.clone();
        let failure: Failure =
            Rc::new(move |state, journal| match seen.borrow_mut().insert(hash_of(&(state, journal))) {
                true => scenario.fails(state, journal, &mut started.borrow_mut()),
                false => Ok(()),
            });
        explore(|chooser| self.run(chooser, &failure)).map_err(|wrong| format!("{}: {wrong}", self.what))
    }

    fn run(&self, chooser: Chooser, failure: &Failure) -> Result<(), String> {
        let machine = Machine::new(self.state(), self.abilities, chooser, Some(Rc::clone(failure)));
        for round in 0..self.rounds {
            self.stage(&machine, round);
        }
        let inner = &mut *machine.0.borrow_mut();
        if let Some(wrong) = inner.wrong.take() {
            return Err(format!("{wrong}\nafter {:?}", inner.chooser.taken()));
        }
        if inner.stopped {
            return Ok(()); // what follows was seen before
        }
        failure(&inner.state, &inner.journal)?;
        let mut state = inner.state.clone();
        while state.job.can_go_on(&state.disk) {
            state.job.go_on(&mut state.disk, self.abilities.tells);
        }
        self.place().holds(&state.disk, &state.job, self.before().as_ref())?;
        self.place().is_clean(&state.disk)
    }

    /// The machine fails now, or the process is killed.
    fn fails(&self, state: &State, journal: &[String], started: &mut HashSet<u64>) -> Result<(), String> {
        self.place().survives(&state.disk, &state.job, self.before().as_ref())?;
        self.start_again(state, journal, started)
    }

    /// The program: a file is found, copied, and leaves the buffer.
    fn stage(&self, machine: &Machine, round: usize) {
        let path = self.path();
        let expected = match self.direction {
            Direction::Out => match self.find(machine, &path) {
                Some(stamp) => Some(stamp),
                None => return,
            },
            Direction::In => None,
        };
        let order = Order {
            direction: self.direction,
            path: &path,
            kind: Kind::File,
            expected,
            before: None,
            same_as: None,
            read_back: false,
        };
        let draft = format!(".ftio-stage.{HOST}.1.{}", round + 1);
        let Ok(made) = copy(machine, &PLACES, &order, OsStr::new(&draft), &mut machine.clone()) else {
            return;
        };
        if machine.write(&Line::Verified(Verified::new(self.direction, &path, &made))).is_err() {
            return;
        }
        self.evict(machine, made);
    }

    /// As a look at the buffer finds it.
    fn find(&self, machine: &Machine, path: &Path) -> Option<Stamp> {
        let mut at = BUFFER;
        for name in path.parent()? {
            at = machine.folder(&at, name).ok()?;
        }
        machine.look(&at, path.file_name()?).ok().map(|found| Stamp::of(&found))
    }

    fn evict(&self, machine: &Machine, made: Made) {
        let mut noted = Verified::new(self.direction, &self.path(), &made);
        let leaving = noted.leaving(Kind::File);
        let Ok(aside) = set_aside(machine, &PLACES, &leaving, &aside_name(HOST), &mut Durable::new()) else {
            return;
        };
        match self.direction {
            Direction::Out => noted.source = aside.renamed().1,
            Direction::In => noted.target = aside.renamed().1,
        }
        if machine.write(&Line::Verified(noted)).is_err() {
            return;
        }
        if !left_out(Step::Rest) {
            machine.rest();
        }
        let _: End = finish(machine, &PLACES, &leaving, aside);
    }

    /// The machine has failed, or the process was killed: what is left is put in order, and staged again.
    fn start_again(
        &self,
        state: &State,
        journal: &[String],
        started: &mut HashSet<u64>,
    ) -> Result<(), String> {
        // Killed, everything is as it was; or one side remembers all and the other nothing.
        let mut states = vec![state.disk.clone()];
        let steady = state.disk.with_synced_files(BUFFER);
        let sides = [BUFFER, STORAGE].map(|side| steady.after_failure(side));
        for (first, side) in [(&sides[0], STORAGE), (&sides[1], BUFFER)] {
            states.extend(first.iter().flat_map(|disk| disk.least_and_most(side)));
        }
        for (index, disk) in states.into_iter().enumerate() {
            let was_killed = index == 0;
            if !started.insert(hash_of(&(
                &disk,
                &state.job.current,
                &state.job.versions,
                journal,
                was_killed,
            ))) {
                continue;
            }
            let mut job = Job::new(&[], &disk, self.folder);
            (job.current, job.versions) = (state.job.current, state.job.versions.clone());
            (job.precious, job.precious_content) = (None, state.job.precious_content.clone());
            (job.destroyed, job.was_missing) = (state.job.destroyed.clone(), state.job.was_missing);
            // If the failure has taken back what the job did to its names, what is there now is what counts.
            let found = self.place();
            if disk.forgot_the_job {
                let aside = format!("{}{}/x", self.folder, aside_name(HOST));
                let there = disk.at(BUFFER, &format!("{}x", self.folder)).or(disk.at(BUFFER, &aside));
                job.current = there.or(job.current);
            }
            if found.holds(&disk, &job, self.before().as_ref()).is_err() {
                continue;
            }
            let machine = Machine::new(State { disk, job }, self.abilities, Chooser::straight(), None);
            let past = Past::of(journal.iter().map(|line| serde_json::from_str(line).ok()));
            let known = |path: &Path, kind| past.leaving(path, kind);
            put_in_order(&machine, &PLACES, &past.drafts, known, &aside_name(HOST), || machine.rest())
                .map_err(|error| error.to_string())?;
            self.stage(&machine, 7);
            let inner = machine.0.borrow();
            found
                .holds(&inner.state.disk, &inner.state.job, self.before().as_ref())
                // Only a draft whose removal the machine has forgotten may be left.
                .and_then(|()| if was_killed { found.is_clean(&inner.state.disk) } else { Ok(()) })
                .map_err(|wrong| format!("after the next start: {wrong}"))?;
        }
        Ok(())
    }
}

/// What jobs do.
fn jobs() -> Vec<Scenario> {
    use Act::*;
    let write = [LookUp, Open, Write(1, 2), Close];
    let quietly = [LookUp, Open, Write(1, 2), SetTimeBack, Close];
    let mapped = [LookUp, Open, Map, Close, Store(0, 2), Store(1, 3), Unmap];
    vec![
        Scenario::out("nobody does anything", &[]),
        Scenario::out("written in place", &write),
        Scenario::out("written in place twice", &[LookUp, Open, Write(0, 2), Write(1, 3), Close]),
        Scenario::out("written, and its time put back", &quietly),
        Scenario::out(
            "shortened and written again",
            &[LookUp, Open, Truncate(0), Write(0, 3), Write(1, 3), Close],
        ),
        Scenario::out("replaced by renaming", &[Replace(2)]),
        Scenario::out("replaced twice", &[Replace(2), Replace(3)]),
        Scenario::out("replaced and written", &[Replace(2), LookUp, Open, Write(0, 4), Close]),
        Scenario::out("removed", &[Remove]),
        Scenario::out("removed and written anew", &[Remove, Create(2)]),
        Scenario::out("written anew as soon as it is gone", &[Create(2)]),
        Scenario::out("gets a second name", &[Link, LookUp, Open, Write(0, 2), Close]),
        Scenario::out("written through a mapping", &mapped),
        Scenario::out("somebody writes it at the destination", &[ReplaceThere(8)]),
    ]
}

/// All of them, on machines that can do more or less.
fn scenarios() -> Vec<Scenario> {
    let mut all = jobs();
    let with = |abilities: Abilities| jobs().into_iter().map(move |one| Scenario { abilities, ..one });
    // tmpfs: writes through mappings are not told.
    all.extend(with(Abilities { tells: false, ..ABLE }));
    // No leases, but all processes can be seen: root on a file system of another kind.
    all.extend(with(Abilities { tells: false, leases: false, ..ABLE }));
    // An ordinary user, who sees only his own processes.
    all.extend(with(Abilities { sees_all: false, ..ABLE }));
    all.extend(with(Abilities { sees_all: false, leases: false, ..ABLE }));
    // In folders that have to be made; over an older copy, with and without a call for that.
    all.extend(jobs().into_iter().map(|one| Scenario { folder: "d/e/", ..one }));
    all.extend(jobs().into_iter().map(|one| Scenario { older_there: true, ..one }));
    let abilities = Abilities { exchanges: false, ..ABLE };
    let nobody_there = |one: &Scenario| !one.acts.contains(&Act::ReplaceThere(8));
    all.extend(jobs().into_iter().filter(nobody_there).map(|one| Scenario {
        older_there: true,
        abilities,
        ..one
    }));
    // And inwards.
    for acts in
        [&[][..], &[Act::Create(2)], &[Act::Create(2), Act::LookUp, Act::Open, Act::Write(1, 3), Act::Close]]
    {
        for abilities in [ABLE, Abilities { tells: false, ..ABLE }] {
            let one = Scenario::out("brought in", acts);
            all.push(Scenario { direction: Direction::In, abilities, ..one });
        }
    }
    all
}

#[test]
fn nothing_is_lost_in_any_order() {
    let (mut states, mut runs) = (0, 0);
    for scenario in scenarios() {
        let found = scenario.try_all().unwrap_or_else(|wrong| panic!("{wrong}\n{:?}", scenario.abilities));
        if std::env::var_os("MODEL_SHOW").is_some() {
            println!("{}: {found:?}", scenario.what);
        }
        (states, runs) = (states + found.0, runs + found.1);
    }
    println!("{states} states, {runs} runs");
    // If these become few, something is not tried any more.
    assert!(states > 20_000 && runs > 20_000, "{states} states, {runs} runs");
}

/// A file that was put back is staged once more.
#[test]
fn nothing_is_lost_the_second_time() {
    for scenario in jobs() {
        Scenario { rounds: 2, ..scenario }.try_all().unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

/// Without one of its steps, the protocol loses something, and the model finds it.
#[test]
fn every_step_is_needed() {
    let mistakes = [
        (Step::NoReplaceInwards, "a file that came in replaced the job's (C3)"),
        (Step::SetAside, "looked at, and then removed by name (C4)"),
        (Step::SyncAside, "the folder for private names was not on the disk"),
        (Step::LookAtAside, "set aside, and removed without a look"),
        (Step::Writers, "nobody asked who writes (H1)"),
        (Step::CompareContent, "writes through a mapping that are not told (H1)"),
        (Step::TimeOfChange, "a version with its time put back (H2)"),
        (Step::Settle, "a version written within one tick of the clock"),
        (Step::LookAfterCopy, "written while it was read"),
        (Step::ReadTwice, "written through a mapping while it was read"),
        (Step::SyncDraft, "the copy's content was not on the disk"),
        (Step::SyncFolder, "the copy's name was not on the disk"),
        (Step::SyncFoldersAbove, "a folder of the copy was not on the disk"),
        (Step::Rest, "an open that had begun before"),
        (Step::PutBackNoReplace, "putting back replaced a new file"),
        (Step::LookAtReplaced, "a copy replaced somebody else's newer file"),
    ];
    for (step, what) in mistakes {
        leave_out(Some(step));
        let wrong = scenarios().iter().find_map(|scenario| scenario.try_all().err());
        leave_out(None);
        let wrong = wrong.unwrap_or_else(|| panic!("{step:?} left out ({what}), and nothing was found"));
        println!("{step:?} ({what}): {}", wrong.lines().next().unwrap_or_default());
    }
}

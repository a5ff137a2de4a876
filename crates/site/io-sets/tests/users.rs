//! Users who want everything: others get their turns all the same.

use io_sets::arbiter::{Arbiter, Leases, NodeId, Refusal, Settings};
use std::collections::{HashMap, HashSet};
use turns::{Hello, Kind, Message};

const EVIL: u32 = 4001;
const HONEST: u32 = 4002;
const STEP: f64 = 0.05;

/// How somebody who wants everything behaves.
#[derive(Clone, Copy, Debug)]
struct Evil {
    jobs: usize,
    /// Short phases at first, so that their period seems to be short.
    pretend: bool,
    /// Give the lease back after so many seconds, and ask again at once.
    yields: Option<f64>,
    /// How long they have been running, in milliseconds, by their own word.
    running: u64,
}

struct World {
    arbiter: Arbiter,
    now: f64,
    /// Nodes that have a lease, and since when.
    holds: HashMap<NodeId, f64>,
    asked: HashMap<NodeId, u32>,
}

impl World {
    fn new(settings: Settings) -> Self {
        World { arbiter: Arbiter::new(settings), now: 0.0, holds: HashMap::new(), asked: HashMap::new() }
    }

    fn hello(&mut self, node: NodeId, job: &str, user: u32, running: u64) -> Result<(), Refusal> {
        let hello = Hello { job: job.into(), run: node, ..Hello::default() };
        let running = running as f64 / 1e3;
        self.arbiter.hello(self.now, node, &hello, (1, running), Some(user))
    }

    fn say(&mut self, node: NodeId, message: &Message) {
        self.arbiter.receive(self.now, node, message).unwrap();
    }

    fn ask(&mut self, node: NodeId) {
        let seq = self.asked.entry(node).or_default();
        *seq += 1;
        let ask = Message::new(Kind::Ask).seq(*seq);
        self.say(node, &ask);
    }

    fn give_back(&mut self, node: NodeId, bytes: u64) {
        self.holds.remove(&node);
        let give = Message::new(Kind::Yield).seq(self.asked[&node]).with(bytes, 0);
        self.say(node, &give);
    }

    /// A moment passes: who is told to go goes, and who holds says so.
    fn step(&mut self, bytes: u64) {
        self.now += STEP;
        self.arbiter.settle(self.now);
        for (node, message) in self.arbiter.take_messages() {
            match message.kind {
                Kind::Grant => _ = self.holds.insert(node, self.now),
                Kind::Revoke => _ = self.holds.remove(&node),
                _ => {}
            }
        }
        let beat = Message::new(Kind::Beat).with(bytes, 1);
        for node in self.holds.keys().copied().collect::<Vec<_>>() {
            self.say(node, &beat);
        }
    }
}

/// The longest wait of an honest job with five phases of two seconds every 15 s, among those of one user who
/// behaves like that; and how long the latter held.
fn longest_wait(evil: Evil, leases: Leases) -> f64 {
    let settings = Settings { leases, patience: Some(60.0), ..Settings::default() };
    let mut world = World::new(settings);
    let nodes: Vec<NodeId> = (1..=evil.jobs as u64).collect();
    for node in &nodes {
        world.hello(*node, &format!("evil{node}"), EVIL, evil.running).unwrap();
    }
    if evil.pretend {
        for _ in 0..6 {
            nodes.iter().for_each(|node| world.ask(*node));
            (0..4).for_each(|_| world.step(1_000_000));
            let holding: Vec<NodeId> = world.holds.keys().copied().collect();
            holding.iter().for_each(|node| world.give_back(*node, 1_000_000));
            (0..12).for_each(|_| world.step(0));
        }
    }
    nodes.iter().for_each(|node| world.ask(*node));
    let victim = 1000;
    world.hello(victim, "victim", HONEST, 60_000).unwrap();
    let (mut worst, mut asked, mut done, mut phases) = (0.0f64, None, 0.0, 0);
    let mut next = world.now + 5.0;
    let end = world.now + 300.0;
    while phases < 5 {
        assert!(world.now < end, "{evil:?} {leases:?}: it never ends, after {phases} phases");
        if asked.is_none() && world.now >= next {
            world.ask(victim);
            (asked, done) = (Some(world.now), 0.0);
        }
        let before = world.holds.contains_key(&victim);
        world.step(1_000_000);
        let holds = world.holds.contains_key(&victim);
        if let Some(since) = asked {
            match (before, holds) {
                (false, false) => worst = worst.max(world.now - since),
                (true, false) => asked = Some(world.now),
                _ => done += STEP,
            }
            if done >= 2.0 && holds {
                world.give_back(victim, 1_000_000);
                (asked, phases, next) = (None, phases + 1, world.now + 15.0);
            }
        }
        // They ask again at once whenever they have none.
        for node in &nodes {
            let since = world.holds.get(node).copied();
            if since.zip(evil.yields).is_some_and(|(since, after)| world.now - since >= after) {
                world.give_back(*node, 1_000_000);
                world.ask(*node);
            }
        }
    }
    worst
}

#[test]
fn many_jobs_of_one_user_do_not_starve_another() {
    let all = [
        Evil { jobs: 20, pretend: true, yields: None, running: 1_000 },
        Evil { jobs: 20, pretend: false, yields: None, running: 1_000 },
        Evil { jobs: 60, pretend: true, yields: Some(0.8), running: 1_000 },
        Evil { jobs: 40, pretend: false, yields: Some(0.3), running: 60_000 },
        Evil { jobs: 20, pretend: false, yields: None, running: 60_000 },
        Evil { jobs: 100, pretend: true, yields: Some(3.0), running: 0 },
        Evil { jobs: 1, pretend: true, yields: None, running: 1_000 },
        Evil { jobs: 2, pretend: true, yields: None, running: 1_000 },
    ];
    for evil in all {
        for leases in [Leases::Fixed(1), Leases::Fixed(2), Leases::Auto] {
            let worst = longest_wait(evil, leases);
            assert!(
                worst < 12.0,
                "{evil:?} {leases}: an honest job waits {worst:.1} s of its patience of 60 s"
            );
        }
    }
}

/// Jobs of one user beyond his share are turned away; those of others are not.
#[test]
fn one_user_does_not_take_all_places() {
    let mut world = World::new(Settings::default());
    let mut refused = 0;
    for node in 0..6000 {
        match world.hello(node, "job", EVIL, 0) {
            Ok(()) => {}
            Err(Refusal::Many(5000)) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(refused, 1000);
    world.hello(10_000, "job", HONEST, 0).unwrap();
    world.arbiter.gone(world.now, 10);
    let bye = Message::new(Kind::Bye);
    world.say(11, &bye);
    world.hello(20_000, "another", EVIL, 0).unwrap();
}

/// One who says that he moves exabytes does not make all believe that there is room for everybody.
#[test]
fn a_liar_does_not_end_all_turns() {
    let mut world = World::new(Settings::default());
    // Four honest users, of whom each can fill the file system: 1 GB/s.
    let honest: Vec<NodeId> = (1..=4).collect();
    for node in &honest {
        world.hello(*node, &format!("job{node}"), HONEST + *node as u32, 60_000).unwrap();
    }
    world.hello(99, "liar", EVIL, 60_000).unwrap();
    let mut together = Vec::new();
    for second in 0..60 {
        for node in &honest {
            if !world.holds.contains_key(node) {
                world.ask(*node);
            }
        }
        if second > 20 && second % 2 == 0 {
            world.ask(99);
        }
        for _ in 0..20 {
            let share = 50_000_000 / world.holds.len().max(1) as u64;
            world.step(share);
            if world.holds.contains_key(&99) {
                let lie = Message::new(Kind::Beat).with(1 << 55, 1);
                world.say(99, &lie);
            }
            if second > 40 {
                let holding: HashSet<NodeId> = world.holds.keys().copied().collect();
                together.push(honest.iter().filter(|node| holding.contains(node)).count());
            }
        }
        if world.holds.contains_key(&99) {
            world.give_back(99, 1 << 55);
        }
    }
    let capacity = world.arbiter.report(world.now).capacity;
    assert!(capacity < 1e10, "{capacity:e} bytes per second are believed");
    let all = together.iter().filter(|count| **count == 4).count();
    assert!(all < together.len() / 2, "turns are taken: all four held {all} of {} times", together.len());
}

/// A user sees his own jobs, and others as numbers.
#[test]
fn jobs_of_others_are_numbers() {
    let mut world = World::new(Settings::default());
    world.hello(1, "secret", EVIL, 0).unwrap();
    world.hello(2, "own", HONEST, 0).unwrap();
    world.ask(1);
    world.step(5);
    let report = world.arbiter.report(world.now);
    assert_eq!((report.jobs.len(), report.others.is_none()), (2, true));
    let seen = report.seen_by(Some(HONEST));
    let text = serde_json::to_string(&seen).unwrap();
    assert!(text.contains("own") && !text.contains("secret") && !text.contains(&EVIL.to_string()), "{text}");
    let others = seen.others.unwrap();
    assert_eq!((others.jobs, others.holding, others.nodes), (1, 1, 1));
    assert_eq!(report.seen_by(None).jobs.len(), 0);
}

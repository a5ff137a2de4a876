//! What holds for any sequence of messages, from honest and other nodes.

use io_sets::arbiter::{Arbiter, Leases, Order, Settings};
use proptest::prelude::*;
use std::collections::BTreeMap;
use turns::{Hello, Kind, Message};

/// What a node believes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Belief {
    job: u64,
    seq: u32,
    /// It has asked and not given back.
    wants: bool,
    /// It was told to go, and nothing else since.
    may: bool,
    /// Since when it has been told to wait, and when it heard of the arbiter last.
    waiting_since: Option<f64>,
    heard: f64,
    grants: u32,
}

#[derive(Clone, Debug)]
enum Step {
    Ask(usize),
    Yield(usize),
    Die(usize),
    Stop(usize),
    Nonsense(usize, u8, u64),
    Pass(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let node = 0..12usize;
    let step = prop_oneof![
        6 => node.clone().prop_map(Step::Ask),
        5 => node.clone().prop_map(Step::Yield),
        1 => node.clone().prop_map(Step::Die),
        1 => node.clone().prop_map(Step::Stop),
        1 => (node, any::<u8>(), any::<u64>()).prop_map(|(n, k, a)| Step::Nonsense(n, k, a)),
        8 => (1..3000u32).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 1..120)
}

struct World {
    arbiter: Arbiter,
    nodes: BTreeMap<u64, Belief>,
    now: f64,
    patience: f64,
    stopped: Vec<u64>,
    beat: f64,
    leases: usize,
}

impl World {
    fn new(leases: usize, order: Order) -> Self {
        let patience = 5.0;
        let settings = Settings {
            leases: Leases::Fixed(leases),
            order,
            patience: Some(patience),
            ..Settings::default()
        };
        let mut world = World {
            arbiter: Arbiter::new(settings),
            nodes: BTreeMap::new(),
            now: 0.0,
            patience,
            stopped: Vec::new(),
            beat: 0.0,
            leases,
        };
        (0..12).for_each(|node| world.join(node));
        world
    }

    /// Two nodes make a job.
    fn join(&mut self, node: u64) {
        let hello = Hello { job: (node / 2).to_string(), ..Hello::default() };
        self.arbiter.hello(self.now, node, &hello, (4, 1.0), None).unwrap();
        self.nodes.insert(node, Belief { job: node / 2, heard: self.now, ..Belief::default() });
    }

    fn settle(&mut self) {
        self.arbiter.settle(self.now);
        for (node, message) in self.arbiter.take_messages() {
            let Some(belief) = self.nodes.get_mut(&node) else { continue };
            belief.heard = self.now;
            match message.kind {
                Kind::Grant => {
                    (belief.may, belief.waiting_since) = (true, None);
                    belief.grants += 1;
                }
                Kind::Revoke => {
                    belief.may = false;
                    belief.waiting_since = belief.wants.then_some(self.now);
                    if !self.stopped.contains(&node) {
                        self.arbiter.receive(self.now, node, &Message::new(Kind::Beat)).unwrap();
                    }
                }
                _ => {}
            }
        }
    }

    /// Lets time pass as the daemon would, and checks all the time.
    fn pass(&mut self, milliseconds: u32) {
        let until = self.now + f64::from(milliseconds) * 1e-3;
        while self.now < until {
            self.now = (self.now + 0.02).min(until);
            if self.now >= self.beat {
                self.beat = self.now + 0.25;
                for (node, belief) in &self.nodes {
                    if belief.may && !self.stopped.contains(node) {
                        let beat = Message::new(Kind::Beat).with(1000, 1);
                        self.arbiter.receive(self.now, *node, &beat).unwrap();
                    }
                }
            }
            self.settle();
            self.check();
        }
    }

    fn check(&mut self) {
        let report = self.arbiter.report(self.now);
        let passing: Vec<&str> = report
            .jobs
            .iter()
            .filter(|job| job.passes > 0 || job.short)
            .map(|job| job.job.as_str())
            .collect();
        let holding = report.jobs.iter().filter(|job| job.state == "holding");
        let ordinary = holding.filter(|job| !passing.contains(&job.job.as_str())).count();
        assert!(ordinary <= self.leases, "{ordinary} hold at {}: {report:?}", self.now);
        // Work-conserving: if anybody waits, as many hold as may.
        if report.waiting > 0 {
            assert!(report.holding >= self.leases, "{report:?}");
        }
        for (node, belief) in &self.nodes {
            if let Some(since) = belief.waiting_since {
                let waited = self.now - since;
                assert!(waited <= self.patience + 0.6, "{node} has waited {waited} s: {report:?}");
                assert!(self.now - belief.heard < 0.5, "{node} hears nothing at {}", self.now);
            }
            // What a node believes and what the arbiter believes are the same.
            if belief.may && !self.stopped.contains(node) {
                let job = report.jobs.iter().find(|job| job.job == belief.job.to_string()).unwrap();
                assert_eq!(job.state, "holding", "{node} at {}: {report:?}", self.now);
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Ask(node) => {
                let belief = self.nodes.get_mut(&(node as u64)).unwrap();
                if belief.may || self.stopped.contains(&(node as u64)) {
                    return;
                }
                belief.seq += 1;
                belief.waiting_since.get_or_insert(self.now);
                belief.heard = self.now;
                belief.wants = true;
                let ask = Message::new(Kind::Ask).seq(belief.seq);
                self.arbiter.receive(self.now, node as u64, &ask).unwrap();
            }
            Step::Yield(node) => {
                let belief = self.nodes.get_mut(&(node as u64)).unwrap();
                if !belief.wants || self.stopped.contains(&(node as u64)) {
                    return;
                }
                (belief.may, belief.wants, belief.waiting_since) = (false, false, None);
                let message = Message::new(Kind::Yield).seq(belief.seq).with(500, 0);
                self.arbiter.receive(self.now, node as u64, &message).unwrap();
            }
            Step::Die(node) => {
                self.stopped.retain(|one| *one != node as u64);
                self.arbiter.gone(self.now, node as u64);
                self.join(node as u64);
            }
            Step::Stop(node) => {
                // It says nothing any more. If it held, the lease is free after a second.
                let belief = self.nodes.get_mut(&(node as u64)).unwrap();
                if belief.may {
                    self.stopped.push(node as u64);
                    (belief.wants, belief.waiting_since) = (false, None);
                }
            }
            Step::Nonsense(node, kind, a) => {
                let kinds =
                    [Kind::Status, Kind::Welcome, Kind::Grant, Kind::Entered, Kind::Report, Kind::Wait];
                let message =
                    Message::new(kinds[usize::from(kind) % kinds.len()]).seq(kind.into()).with(a, a);
                self.arbiter.receive(self.now, node as u64, &message).unwrap();
            }
            Step::Pass(milliseconds) => self.pass(milliseconds),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Never more holders than leases, but for those whose patience is over; nobody waits longer than that,
    /// or without hearing of the arbiter; a lease of a node that died or was stopped comes back.
    #[test]
    fn whatever_nodes_do(steps in steps(), leases in 1..4usize, shortest in any::<bool>()) {
        let mut world = World::new(leases, if shortest { Order::Shortest } else { Order::Start });
        for step in &steps {
            world.step(step);
            world.settle();
        }
        // Those who are stopped lose their lease when they have held it for a second and a little.
        let before = world.arbiter.report(world.now);
        world.pass(20_000);
        let report = world.arbiter.report(world.now);
        for node in &world.stopped {
            let others = world.nodes.iter().any(|(other, belief)| {
                !world.stopped.contains(other) && belief.job == node / 2 && belief.wants
            });
            let job = report.jobs.iter().find(|job| job.job == (node / 2).to_string()).unwrap();
            let held = before.jobs.iter().find(|one| one.job == job.job).map_or(0.0, |one| one.held);
            prop_assert!(others || job.held < held + 1.4, "{} {:?}", held, job);
        }
        // Everybody who wants to gets there.
        let wanted: Vec<u64> = world.nodes.iter().filter(|(_, b)| b.wants).map(|(node, _)| *node).collect();
        for node in wanted {
            let (mut waited, before) = (0, world.nodes[&node]);
            let went = |world: &World| before.may || world.nodes[&node].grants > before.grants;
            while !went(&world) && !world.stopped.contains(&node) && waited < 60 {
                world.pass(100);
                waited += 1;
            }
            prop_assert!(waited < 60, "{} never gets there", node);
        }
    }
}

#[test]
fn a_lease_is_free_at_once_when_its_holder_dies_and_after_a_second_when_it_is_stopped() {
    let mut world = World::new(1, Order::Start);
    world.step(&Step::Ask(0));
    world.settle();
    world.step(&Step::Ask(2));
    world.settle();
    assert!(world.nodes[&0].may && !world.nodes[&2].may);
    world.step(&Step::Die(0));
    world.settle();
    assert!(world.nodes[&2].may);
    world.step(&Step::Ask(4));
    world.step(&Step::Stop(2));
    world.pass(900);
    assert!(!world.nodes[&4].may);
    world.pass(500);
    assert!(world.nodes[&4].may);
}

#[test]
fn a_collective_call_that_one_node_has_entered_may_be_entered_by_the_others() {
    let mut world = World::new(1, Order::Start);
    world.step(&Step::Ask(0));
    world.step(&Step::Ask(2));
    world.settle();
    let arbiter = &mut world.arbiter;
    // Node 3 belongs to the job of node 2, which waits, and node 2 has entered call 7 of file 5.
    arbiter.receive(0.1, 2, &Message::new(Kind::Entered).with(5, 7)).unwrap();
    let wanted = |number: u64| Message::new(Kind::Ask).seq(1).with(0, 5 << 32 | number);
    arbiter.receive(0.1, 3, &wanted(7)).unwrap();
    arbiter.settle(0.1);
    let pass = (3, Message::new(Kind::Pass).with(5, 7));
    assert!(arbiter.take_messages().contains(&pass));
    arbiter.receive(0.2, 3, &Message { seq: 2, ..wanted(8) }).unwrap();
    arbiter.settle(0.2);
    assert!(!arbiter.take_messages().iter().any(|(_, message)| message.kind == Kind::Pass));
    // The one that has asked hears of it when the other enters it later.
    arbiter.receive(0.3, 2, &Message::new(Kind::Entered).with(5, 8)).unwrap();
    assert!(arbiter.take_messages().contains(&(3, Message::new(Kind::Pass).with(5, 8))));
}

#[test]
fn a_phase_that_was_expected_to_be_short_and_is_not_takes_turns() {
    let mut world = World::new(1, Order::Start);
    // The first phase tells what it can use: 4 kB/s. The others would take a quarter of a millisecond.
    world.step(&Step::Ask(0));
    world.settle();
    world.pass(2000);
    for phase in 0..5 {
        let seq = world.nodes[&0].seq;
        world.arbiter.receive(world.now, 0, &Message::new(Kind::Yield).seq(seq).with(1, 0)).unwrap();
        *world.nodes.get_mut(&0).unwrap() = Belief { seq, heard: world.now, ..Belief::default() };
        world.pass(10_000);
        if phase == 4 {
            world.step(&Step::Ask(2));
            world.settle();
        }
        world.step(&Step::Ask(0));
        world.settle();
        assert!(world.nodes[&0].may);
    }
    assert!(world.nodes[&2].may, "the short one does not interrupt the other");
    let holding = |world: &mut World| world.arbiter.report(world.now).holding;
    assert_eq!(holding(&mut world), 2);
    world.pass(1300);
    assert_eq!(holding(&mut world), 1);
}

#[test]
fn silence_is_found_also_where_leases_are_short_and_many_want_one() {
    let mut world = World::new(1, Order::Start);
    for node in [0, 2, 4, 6, 8, 10] {
        world.step(&Step::Ask(node));
    }
    world.settle();
    while !world.nodes[&10].may {
        world.pass(20);
    }
    world.step(&Step::Stop(10));
    let held = |world: &mut World| {
        let report = world.arbiter.report(world.now);
        report.jobs.iter().find(|job| job.job == "5").unwrap().held
    };
    let before = held(&mut world);
    world.pass(60_000);
    assert!(held(&mut world) < before + 1.3, "{} s", held(&mut world) - before);
}

//! How much work 1,000 jobs of 100 nodes each are for the rules of an arbiter: simulated nodes, without
//! sockets.
//!
//! Every job wants to do I/O for 0.1 s every 20 s, which is more than there is room for: they queue up. Each
//! of its nodes asks, beats and gives its lease back. Prints the processor time per simulated second, and how
//! long it takes from the moment at which messages are there to the moment at which all answers are.
//!
//! `cargo run --release -p io-sets --example many_nodes`

use io_sets::arbiter::{Arbiter, Leases, Settings};
use std::time::Instant;
use turns::{Hello, Kind, Message};

const JOBS: u64 = 1000;
const NODES: u64 = 100;
const STEP: f64 = 1e-3;
const SECONDS: f64 = 20.0;
const PERIOD: f64 = 20.0;
const WORK: f64 = 0.1;

/// When a job does what next.
#[derive(Clone, Copy)]
enum Next {
    Asks(f64),
    Waits,
    Works { until: f64 },
}

fn main() {
    let mut arbiter = Arbiter::new(Settings { leases: Leases::Fixed(4), ..Settings::default() });
    for node in 0..JOBS * NODES {
        let hello = Hello { job: (node / NODES).to_string(), ..Hello::default() };
        arbiter.hello(0.0, node, &hello, (100, 100.0), None).expect("it says so once");
    }
    arbiter.take_messages();
    let mut jobs: Vec<Next> = (0..JOBS).map(|job| Next::Asks(job as f64 * PERIOD / JOBS as f64)).collect();
    let mut seq = vec![0u32; JOBS as usize];
    let (mut messages, mut answers, mut busy) = (0u64, 0u64, 0.0);
    let mut latencies = Vec::new();
    for step in 0..(SECONDS / STEP) as u64 {
        let now = step as f64 * STEP;
        let mut said: Vec<(u64, Message)> = Vec::new();
        for job in 0..JOBS {
            let index = job as usize;
            let all = job * NODES..(job + 1) * NODES;
            match jobs[index] {
                Next::Asks(time) if now >= time => {
                    seq[index] += 1;
                    said.extend(all.map(|node| (node, Message::new(Kind::Ask).seq(seq[index]))));
                    jobs[index] = Next::Waits;
                }
                Next::Works { until } if now >= until => {
                    let message = Message::new(Kind::Yield).seq(seq[index]).with(1 << 20, 5_000_000);
                    said.extend(all.map(|node| (node, message)));
                    jobs[index] = Next::Asks(now + PERIOD);
                }
                _ => {}
            }
        }
        let began = Instant::now();
        messages += said.len() as u64;
        for (node, message) in &said {
            arbiter.receive(now, *node, message).expect("it is known");
        }
        arbiter.settle(now);
        let answered = arbiter.take_messages();
        arbiter.take_phases();
        let took = began.elapsed().as_secs_f64();
        busy += took;
        answers += answered.len() as u64;
        if !said.is_empty() || !answered.is_empty() {
            latencies.push(took);
        }
        for (node, message) in answered {
            let job = (node / NODES) as usize;
            match message.kind {
                Kind::Grant => jobs[job] = Next::Works { until: now + WORK },
                Kind::Revoke if matches!(jobs[job], Next::Works { .. }) => jobs[job] = Next::Waits,
                _ => {}
            }
        }
    }
    latencies.sort_by(f64::total_cmp);
    let at = |part: f64| latencies[((latencies.len() - 1) as f64 * part) as usize] * 1e6;
    println!(
        "{JOBS} jobs of {NODES} nodes: {:.0} messages and {:.0} answers per second, {:.1} % of a core; \
         answers after {:.0} us (median), {:.0} us (99 %), {:.0} us (longest)",
        messages as f64 / SECONDS,
        answers as f64 / SECONDS,
        100.0 * busy / SECONDS,
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

//! Policies beside each other on seeded workloads: a JSON object for each simulation. Used by
//! `scripts/bench batch`.
//!
//! Arguments: number of seeds, jobs, nodes, load, overestimation of run times, cost of a change in seconds.

use batch_sim::lublin::{Options, workload};
use batch_sim::{Expansion, Metrics, Policy, Settings, simulate};

/// CPU seconds of this thread: other work may run on the machine.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_ascii_whitespace().next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let number = |place: usize, usual: f64| numbers.get(place).copied().unwrap_or(usual);
    let (seeds, jobs, nodes) = (number(0, 10.0) as u64, number(1, 2000.0) as usize, number(2, 128.0) as u32);
    let (load, overestimate, cost) = (number(3, 0.8), number(4, 1.0), number(5, 0.0));
    for seed in 1..=seeds {
        for malleable in [0.0, 0.3, 0.6, 1.0] {
            let jobs = workload(&Options { jobs, nodes, load, malleable, overestimate, seed });
            let mut policies =
                vec![(Policy::Fcfs, Expansion::Aggressive), (Policy::Easy, Expansion::Aggressive)];
            policies.extend(Expansion::ALL.map(|expansion| (Policy::Mebf, expansion)));
            for (policy, expansion) in policies {
                for balance in [false, true] {
                    if balance && policy == Policy::Fcfs {
                        continue;
                    }
                    let settings =
                        Settings { nodes, policy, expansion, balance, cost, ..Settings::default() };
                    let begun = cpu_seconds();
                    let outcome = simulate(&jobs, &settings).expect("a workload that fits");
                    let seconds = cpu_seconds() - begun;
                    let metrics = Metrics::of(&jobs, &outcome, nodes);
                    let row = serde_json::json!({
                        "seed": seed, "malleable": malleable, "policy": policy, "expansion": expansion,
                        "balance": balance, "seconds": seconds, "metrics": metrics,
                    });
                    println!("{row}");
                }
            }
        }
    }
}

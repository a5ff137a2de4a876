//! The case that the report leaves open: a job that never stops writing, in one set with others that want to
//! write now and then. What each gets without and with the remedy ([`Patience`]), and what the remedy costs
//! where nobody needs it.
//!
//!     cargo run --release -p io-sets --example starvation

use io_sets::experiment::{Experiment, Policy};
use io_sets::metrics::Metrics;
use io_sets::queue::Patience;
use io_sets::simulate::{Application, Known, Level, Noise, Platform, Predictor, Sharing, Simulation};

const MIB: f64 = (1 << 20) as f64;

fn main() {
    println!(
        "One application writes without a break for an hour; three others, behind it in its set, want to \
         write 20 s every 384 s.\n"
    );
    println!(
        "{:24} {:>10} {:>14} {:>14} {:>12}",
        "patience", "wrote", "others' phases", "longest phase", "hog done at"
    );
    for (name, patience) in [
        ("endless, as published", Patience::Endless),
        ("period (default)", Patience::default()),
        ("period / 3.16", Patience::OfPeriod(0.1f64.sqrt())),
        ("period / 10", Patience::OfPeriod(0.1)),
    ] {
        starve(name, patience);
    }
    println!(
        "\nThe published experiment, one repetition, request by request, sets with known periods: what it \
         costs there.\n"
    );
    println!(
        "{:24} {:>10} {:>12} {:>13} {:>13} {:>12}",
        "patience", "capacity", "max stretch", "mean stretch", "I/O slowdown", "utilisation"
    );
    for (factor, name, patience) in [
        (2.0, "endless", Patience::Endless),
        (2.0, "period (default)", Patience::default()),
        (2.0, "period / 3.16", Patience::OfPeriod(0.1f64.sqrt())),
        (2.0, "period / 10", Patience::OfPeriod(0.1)),
        (1.0, "endless", Patience::Endless),
        (1.0, "period (default)", Patience::default()),
        (1.0, "period / 3.16", Patience::OfPeriod(0.1f64.sqrt())),
        (1.0, "period / 10", Patience::OfPeriod(0.1)),
    ] {
        let mut experiment = Experiment { level: Level::Requests, patience, ..Experiment::published() };
        experiment.platform.capacity = factor * experiment.platform.alone;
        let nobody = |_, _| -> Box<dyn Predictor> { unreachable!("periods are known") };
        let outcome = experiment.repetition(Policy::Clairvoyant, 0, &nobody);
        let metrics = Metrics::of(&outcome, experiment.frame, experiment.platform.alone);
        println!(
            "{name:24} {:>4.0} MiB/s {:>12.3} {:>13.3} {:>13.3} {:>12.3}",
            experiment.platform.capacity / MIB,
            metrics.stretch_max,
            metrics.stretch_geomean,
            metrics.io_slowdown,
            metrics.utilisation
        );
    }
}

fn starve(name: &str, patience: Patience) {
    let rate = 100.0 * MIB;
    let application = |job, compute, seconds: f64, iterations| Application {
        job,
        processes: 8,
        compute,
        bytes: (seconds * rate) as u64,
        iterations: Some(iterations),
        start: 0.0,
    };
    // The hog's phases are as long as the others' period, so that it is in their set; there is nothing
    // between them.
    let mut applications = vec![application(1, 0.0, 384.0, 10)];
    applications.extend((2..5).map(|job| application(job, 364.0, 20.0, 9)));
    let outcome = Simulation {
        platform: Platform { servers: 1, stripe: 1, capacity: rate, alone: rate, request: 1 << 20 },
        applications: &applications,
        noise: Noise::default(),
        sharing: Sharing::Sets(patience),
        known: Known::All,
        level: Level::Requests,
        until: 1e6,
        seed: 1,
    }
    .run();
    let hour = 3600.0;
    let others = || outcome.courses[1..].iter().flat_map(|course| &course.phases);
    let done = others().filter(|phase| phase.end <= hour).count();
    let bytes: f64 = others().filter(|phase| phase.end <= hour).fold(0.0, |sum, phase| sum + phase.bytes);
    let longest = others().map(|phase| phase.end - phase.start).fold(0.0, f64::max);
    let hog = outcome.courses[0].phases.last().map_or(0.0, |phase| phase.end);
    println!("{name:24} {:>6.1} GiB {done:>14} {longest:>12.0} s {hog:>10.0} s", bytes / MIB / 1024.0);
}

use ftio_core::detect::{Options, detect};
use ftio_core::request::{Class, Request};
use ftio_core::source::{InMemory, Job};
use trace_generator::experiment::settings;
use trace_generator::write::nanoseconds;

fn main() {
    let want = std::env::args().nth(1).unwrap_or_default();
    let from: u64 = std::env::args().nth(2).map_or(0, |s| s.parse().unwrap());
    let to: u64 = std::env::args().nth(3).map_or(20, |s| s.parse().unwrap());
    let f: f64 = std::env::args().nth(4).map_or(1.0, |s| s.parse().unwrap());
    let verbose = std::env::args().nth(5).is_some();
    let options = Options { frequency: (f > 0.0).then_some(f), ..Options::default() };
    let mut all = vec![];
    let mut conf: Vec<(f64, bool)> = vec![];
    for setting in settings() {
        if !setting.name.contains(&want) {
            continue;
        }
        let mut errors = vec![];
        let (mut periodic, mut miscounts, mut rio, mut sure) = (0, 0, 0.0f64, 0);
        for seed in from..to {
            let g = setting.generate(seed);
            let reqs: Vec<Request> = g
                .writes
                .iter()
                .map(|w| Request::new(nanoseconds(w.start), nanoseconds(w.end), w.bytes, Class::WriteSync))
                .collect();
            let job = Job {
                ranks: g.ranks,
                start: Some(0),
                end: Some(nanoseconds(g.duration)),
                complete: true,
                ..Job::default()
            };
            let d = detect("x", InMemory { requests: &reqs, job }, &options).unwrap().detection;
            let ev = d.evidence.clone().unwrap();
            periodic += d.periodic as usize;
            sure += (d.confidence >= 0.9) as usize;
            let mut good = false;
            if let Some(t) = g.truth.period {
                let e = d.period.map_or(1.0, |p| (p / t - 1.0).abs());
                good = e <= 0.05;
                miscounts += (ev.phases != g.truth.starts.len()) as usize;
                errors.push(e);
                let r = (d.characterization.r_io.unwrap_or(0.0) / g.truth.r_io.unwrap() - 1.0).abs();
                rio = rio.max(r);
                if (verbose && e > 0.001) || e > 0.02 || r > 0.1 {
                    println!(
                        "   seed {seed} truth {t:.3} n {} found {:?} conf {:.2} rio {r:.2} {:?} first {:.2} last {:.2}",
                        g.truth.starts.len(),
                        d.period,
                        d.confidence,
                        ev,
                        g.truth.starts[0],
                        g.truth.starts[g.truth.starts.len() - 1]
                    );
                }
            } else if verbose || (d.periodic && setting.table == "none") {
                println!(
                    "   seed {seed} {:?} conf {:.2} {:?} {:?} {:?}",
                    d.period, d.confidence, d.signal, ev, d.reasons
                );
            }
            if d.periodic && setting.table != "two" {
                conf.push((d.confidence, good));
            }
            if d.periodic && setting.table != "two" {
                if std::env::var_os("DUMP").is_some() {
                    let signs = ftio_core::confidence::signs(&ev, d.period.unwrap());
                    println!(
                        "CSV,{},{},{}",
                        setting.name,
                        good as u8,
                        signs.iter().map(|x| x.to_string()).collect::<Vec<_>>().join(",")
                    );
                }
            }
        }
        let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        let mut sorted = errors.clone();
        sorted.sort_by(f64::total_cmp);
        let med = sorted.get(sorted.len() / 2).copied().unwrap_or(0.);
        all.extend(errors.iter().copied());
        println!(
            "{:40} mean {:.3} % median {:.3} % max {:.2} %  miscounted {miscounts} periodic {periodic}/{} rio {rio:.3} sure {sure}",
            setting.name,
            100.0 * mean,
            100.0 * med,
            100.0 * sorted.last().copied().unwrap_or(0.),
            to - from
        );
    }
    println!("all {:.3} %", 100.0 * all.iter().sum::<f64>() / all.len().max(1) as f64);
    let high: Vec<_> = conf.iter().filter(|c| c.0 >= 0.9).collect();
    println!("sure {} right {} of answers {}", high.len(), high.iter().filter(|c| c.1).count(), conf.len());
}

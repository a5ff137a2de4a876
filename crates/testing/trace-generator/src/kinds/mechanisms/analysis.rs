//! Programs that work through data: readers, sorts, data bases, instruments, keepers of files.

use super::job::{Job, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("chunk_by_chunk", "a chunk is read, then worked on, each for another time", chunks),
    Kind::new("map_waves_and_reduce", "waves of map tasks, in the end one large reduction", map_reduce),
    Kind::new("sorted_runs", "read as much as fits, sort, write; then all runs are merged", sorted_runs),
    Kind::new(
        "log_and_checkpoint",
        "a data base: its log all the time, checkpoints spread over the interval",
        data_base,
    ),
    Kind::new(
        "flushes_and_compactions",
        "tables of memory are flushed; every fourth is merged, rarer more",
        compaction,
    ),
    Kind::new("copy_by_the_clock", "what has changed is copied every so often, sizes over a decade", backup),
    Kind::new("rotated_logs", "a log grows, and is compressed when its time is over", rotation),
    Kind::new("supersteps", "a graph's frontier grows over decades and shrinks, steps are even", supersteps),
    Kind::new("frames_of_scans", "frames of a camera in scans of unlike lengths with breaks", frames),
    Kind::new("instrument_cycles", "a cycle images its tiles in a row, then chemistry", instrument),
    Kind::new("out_of_core_matrix", "every iteration reads the whole matrix in panels", matrix),
    Kind::new("render_frames", "every frame reads its scene and writes an image; scenes change", render),
    Kind::new(
        "index_by_generations",
        "documents are gathered until a segment is full; the pace drifts",
        segments,
    ),
    Kind::new("sampled_profile", "a profiler or logger that writes its buffer every few seconds", profile),
];

fn chunks(random: &mut Random) -> Made {
    let count = phases(random, 10).min(500);
    let mut job = Job::any(random, count);
    let spread = random.between(0.05, 0.55);
    job.busy = random.between(0.05, 0.5);
    let mut time = job.first(random);
    for _ in 0..count {
        let end = job.usual(random, time);
        time = end + (job.period - job.length()) * random.gamma(1.0 / (spread * spread)).max(0.02);
    }
    job.next = Some(time);
    job.regular(random).turned()
}

fn map_reduce(random: &mut Random) -> Made {
    let (count, slots) = (random.whole(6, 25), random.whole(4, 40));
    let mut job = Job::even(random, count * slots, 0.05);
    (job.ranks, job.busy) = (slots as u32, random.between(0.05, 0.2));
    let (late, share) = (random.between(0.02, 0.15), job.volume() / slots as f64);
    let mut time = 0.0;
    for _ in 0..count {
        // The next wave begins when the last task is done.
        let (mut last, length) = (time, job.length());
        for slot in 0..slots as u32 {
            let from = time + if slot == 0 { 0.0 } else { late * job.period * random.unit() };
            job.read(slot, from, length, share);
            let done = from + 0.7 * job.period * (1.0 + job.jitter * random.normal());
            job.write(slot, done, 0.3 * length, 0.2 * share);
            last = f64::max(last, done + 0.3 * length);
        }
        job.mark(time, last);
        time = last + 0.05 * job.period;
    }
    let (length, bytes) = (job.period * random.between(0.5, 4.0), job.volume());
    job.write(0, time, length, bytes * random.between(0.2, 2.0));
    job.regular(random)
}

fn sorted_runs(random: &mut Random) -> Made {
    let count = random.whole(6, 40);
    let mut job = Job::even(random, count, 0.05);
    let (read, sort) = (random.between(0.15, 0.35), random.between(0.1, 0.4));
    let write = (0.95 - read - sort).min(read * 1.2);
    let bytes = job.rate * read * job.period;
    let mut time = job.first(random);
    for _ in 0..count {
        let span = job.period * (1.0 + job.jitter * random.normal()).max(0.8);
        job.read(0, time, read * span, bytes);
        job.write(0, time + (read + sort) * span, write * span, bytes);
        job.mark(time, time + (read + sort + write) * span);
        time += span;
    }
    // The merge reads and writes everything once more, without a pause.
    let whole = bytes * count as f64;
    let parts = random.whole(20, 200);
    let length = job.period * count as f64 * random.between(0.1, 0.4) / parts as f64;
    for _ in 0..parts {
        job.read(0, time, 0.4 * length, whole / parts as f64);
        job.write(0, time + 0.45 * length, 0.5 * length, whole / parts as f64);
        time += length * random.factor(0.3);
    }
    // So are the parts of the merge.
    job.regular(random).also(&[length])
}

fn data_base(random: &mut Random) -> Made {
    let count = phases(random, 7).min(30);
    let mut job = Job::even(random, count, 0.02);
    (job.clocked, job.busy) = (true, random.between(0.2, 0.8));
    let (pages, log) = (random.whole(30, 150), random.between(0.02, 0.25));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let length = job.length() * random.between(0.9, 1.0);
        let (each, bytes) = (length / pages as f64, job.volume() / pages as f64);
        for i in 0..pages {
            let at = if i == 0 { 0.0 } else { random.unit() * 0.5 };
            job.write(0, start + (i as f64 + at) * each, 0.3 * each, bytes);
        }
        job.mark(start, start + length);
    }
    let (until, mean) = (job.end(), job.period / 100.0);
    let (bytes, mut time) = (log * job.volume() / 100.0, 0.0);
    while time < until {
        let size = random.factor(0.5);
        job.write(0, time, 0.1 * mean, bytes * size);
        time += mean * random.exponential(1.0);
    }
    job.next = Some(next);
    job.regular(random)
}

fn compaction(random: &mut Random) -> Made {
    let count = random.whole(24, 120);
    let mut job = Job::even(random, count, 0.06);
    (job.busy, job.clocked) = (random.between(0.02, 0.1), false);
    let mut time = job.first(random);
    let after = random.between(0.05, 0.2);
    for i in 1..=count {
        let end = job.usual(random, time);
        // A merge of four at a time, sixteen, …: read and written in the quiet after the flush.
        let mut from = end + after * job.period;
        for (each, size) in [(4, 1.5), (16, 3.0)] {
            if i % each == 0 {
                let (length, volume) = (size * job.length(), 0.8 * size * job.volume());
                job.read(0, from, length, volume);
                job.write(0, from + 0.2 * length, length, volume);
                from += 1.3 * length;
            }
        }
        time += job.distance(random, from - time + 0.1 * job.period);
    }
    job.next = Some(time);
    let slow = job.mean_truth().period.unwrap_or(job.period);
    job.regular(random).also(&[4.0 * slow, 16.0 * slow])
}

fn backup(random: &mut Random) -> Made {
    let count = phases(random, 7).min(60);
    let mut job = Job::even(random, count, 0.01);
    (job.clocked, job.busy) = (true, random.between(0.03, 0.2));
    let (spread, files) = (random.between(0.3, 1.2), random.whole(5, 80));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let size = random.factor(spread).clamp(0.05, 4.0);
        let mut time = start;
        let number = ((files as f64 * size) as usize).max(2);
        for _ in 0..number {
            let length = job.length() / files as f64 * random.factor(0.8).min(4.0);
            let bytes = job.rate * length;
            job.read(0, time, 0.45 * length, bytes);
            job.write(0, time + 0.45 * length, 0.5 * length, bytes);
            time += length;
        }
        job.mark(start, time);
    }
    job.next = Some(next);
    job.regular(random)
}

fn rotation(random: &mut Random) -> Made {
    let count = phases(random, 7).min(40);
    let mut job = Job::even(random, count, 0.01);
    (job.clocked, job.busy) = (true, random.between(0.02, 0.15));
    let lines = random.whole(20, 150);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let mut whole = 0.0;
        for _ in 0..lines {
            let bytes = job.volume() / lines as f64 * random.exponential(1.0);
            let at = start - job.period * random.unit();
            job.write(0, at.max(0.0), 1e-4 * job.period, bytes);
            whole += bytes;
        }
        let length = job.length();
        job.read(0, start, length, whole);
        job.write(0, start + 0.1 * length, length, 0.6 * whole);
        job.mark(start, start + 1.1 * length);
    }
    job.next = Some(next);
    job.regular(random)
}

fn supersteps(random: &mut Random) -> Made {
    let count = random.whole(10, 40);
    let mut job = Job::even(random, count, 0.04);
    job.busy = job.busy.min(0.15);
    let (peak, width) = (random.between(0.3, 0.7), random.between(0.12, 0.3));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, start) in starts.into_iter().enumerate() {
        let at = (i as f64 / count as f64 - peak) / width;
        let size = (-0.5 * at * at).exp();
        let (length, volume) = (job.length() * size.max(0.05), job.volume() * size);
        job.phase(random, start, length, volume);
    }
    job.next = Some(next);
    job.regular(random)
}

fn frames(random: &mut Random) -> Made {
    let (scans, usual) = (random.whole(3, 12), random.log_between(15.0, 120.0));
    let mut job = Job::even(random, scans * usual as usize, 0.01);
    job.period = random.log_between(0.01, 10.0);
    (job.ranks, job.writers, job.busy) = (1, 1, random.between(0.1, 0.7));
    let (mut time, mut within, mut links) = (0.0, 0.0, 0);
    for _ in 0..scans {
        let count = (usual * random.factor(0.5)).max(6.0) as usize;
        let (starts, next) = job.rhythm(random, time, count);
        for &start in &starts {
            job.usual(random, start);
        }
        within += starts[count - 1] - starts[0];
        links += count - 1;
        time = next + job.period * usual * random.log_between(0.1, 2.0);
    }
    let period = within / links as f64;
    job.based(random, period)
}

fn instrument(random: &mut Random) -> Made {
    let (count, number) = (random.whole(6, 40), random.whole(4, 60));
    let mut job = Job::even(random, count * number, 0.015);
    job.busy = random.between(0.2, 0.75);
    let (busy, lag) = (random.between(0.2, 0.8), random.between(0.0, 0.1));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let (tile, bytes) = (job.length() / number as f64, job.volume() / number as f64);
    for &start in &starts {
        for i in 0..number {
            let late = if i == 0 { 0.0 } else { lag * random.unit() };
            let size = random.factor(0.15);
            job.write(0, start + (i as f64 + late) * tile, busy * tile, bytes * size);
        }
        let end = start + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random).also(&[tile])
}

fn matrix(random: &mut Random) -> Made {
    let (count, panels) = (random.whole(6, 60), random.whole(3, 40));
    let mut job = Job::even(random, count * panels, 0.03);
    job.busy = random.between(0.4, 0.85);
    let busy = random.between(0.7, 1.0);
    let mut time = job.first(random);
    let (each, bytes) = (job.length() / panels as f64, job.volume() / panels as f64);
    for _ in 0..count {
        let start = time;
        for _ in 0..panels {
            let length = each * random.factor(0.1);
            job.read(0, time, busy * length, bytes);
            time += length;
        }
        job.mark(start, time);
        let pause = (job.period - job.length()) * (1.0 + job.jitter * random.normal());
        // The vectors are written now and then.
        let vector = 0.05 * pause;
        job.write(0, time + 0.3 * pause, vector, 0.02 * bytes);
        time += pause;
    }
    job.next = Some(time);
    job.regular(random).also(&[each])
}

fn render(random: &mut Random) -> Made {
    let count = random.whole(30, 300);
    let mut job = Job::any(random, count);
    (job.busy, job.writers) = (random.between(0.03, 0.2), 1);
    let spread = random.between(0.02, 0.2);
    let (mut time, mut scene) = (job.first(random), 1.0);
    for i in 0..count {
        if i % 40 == 0 {
            scene = random.between(0.85, 1.15);
        }
        let (length, volume) = (job.length(), job.volume());
        let end = job.phase(random, time, length, volume * scene);
        job.read(0, end + 0.1 * job.period, 0.5 * length, 0.3 * volume);
        time += (job.period * scene * random.factor(spread)).max(2.0 * length + 0.1 * job.period);
    }
    job.next = Some(time);
    job.regular(random)
}

fn segments(random: &mut Random) -> Made {
    let count = phases(random, 12).min(200);
    let mut job = Job::even(random, count, 0.05);
    (job.busy, job.clocked) = (job.busy.min(0.25), false);
    // The index grows, and so does the time of adding to it: by less than a third.
    let growth = random.between(0.0, 0.3);
    let mut time = job.first(random);
    for i in 0..count {
        job.usual(random, time);
        let slower = 1.0 + growth * (i as f64 / count as f64 - 0.5);
        time += job.distance(random, 1.2 * job.length()) * slower;
    }
    job.next = Some(time);
    job.regular(random)
}

fn profile(random: &mut Random) -> Made {
    let (count, heavy) = (phases(random, 20).min(400), random.whole(2, 8));
    let mut job = Job::even(random, count, 0.02);
    (job.writers, job.busy) = (1, job.busy.min(0.05));
    job.play(random, count);
    // The program itself reads or writes a few times, as much as all of the buffers or less.
    let (until, whole) = (job.end(), job.volume() * count as f64);
    for _ in 0..heavy {
        let length = job.period * random.log_between(0.1, 3.0);
        let (at, bytes) = (until * random.unit() * 0.95, whole * random.log_between(0.003, 0.1));
        job.write(0, at, length, bytes);
    }
    job.regular(random)
}

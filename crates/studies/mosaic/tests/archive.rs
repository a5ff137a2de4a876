//! Archives: shards joined are what one machine makes, an interrupted work goes on, bad logs stop nothing.

mod support;

use mosaic::archive::summary::Summary;
use mosaic::archive::{Listing, Part, Settings, Shard, process, reduce};
use mosaic::log::{InvalidKind, Reading};
use std::path::{Path, PathBuf};
use support::{MB, Made};

/// 120 logs of 10 applications of 4 users, some of them broken.
fn archive(folder: &Path) {
    for number in 0..120u64 {
        let mut made = Made { run_time: 600.0 + number as f64, ranks: 8, ..Made::default() };
        made.user = (number % 4) as i64;
        made.command = format!("/bin/app{} {number}", number % 10);
        let bytes = (200.0 + (number * 37 % 50) as f64) * MB;
        match number % 3 {
            0 => made.access(true, -1, 580.0, 590.0, bytes as u64),
            1 => (0..10).for_each(|i| {
                made.access(true, -1, 60.0 * f64::from(i), 60.0 * f64::from(i) + 5.0, bytes as u64)
            }),
            _ => made.access(false, -1, 1.0, 9.0, bytes as u64),
        }
        let mut log = made.bytes(number);
        match number % 17 {
            5 => log.truncate(log.len() / 2),
            6 => log = b"no log at all".to_vec(),
            _ => {}
        }
        let sub = folder.join(format!("{:02}", number % 7));
        std::fs::create_dir_all(&sub).unwrap();
        std::fs::write(sub.join(format!("{number}.darshan")), log).unwrap();
    }
    // Ends after its job.
    let mut late = Made { run_time: 100.0, ranks: 1, ..Made::default() };
    late.access(true, -1, 50.0, 150.0, 1000);
    std::fs::write(folder.join("late.darshan"), late.bytes(0)).unwrap();
    std::fs::write(folder.join("empty.darshan"), b"").unwrap();
}

/// Without FTIO, which takes its time in a build for tests.
fn settings() -> Settings {
    Settings { reading: Reading { witness: false, ..Reading::default() }, ..Settings::default() }
}

fn read(listing: &Listing, part: &Path, shard: Shard, threads: usize) {
    let mut part = Part::open(part, &settings(), shard).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| process(listing, shard, &mut part, |_| {})).unwrap();
}

/// All that comes out, as bytes.
fn result<P: AsRef<Path>>(parts: &[P]) -> (Vec<u8>, Vec<u8>, String, Summary) {
    let (mut lines, mut bad) = (Vec::new(), Vec::new());
    let summary = reduce(parts, false, Some(&mut lines), Some(&mut bad)).unwrap();
    let text = serde_json::to_string(&summary).unwrap();
    (lines, bad, text, summary)
}

fn shard(index: u32, count: u32) -> Shard {
    Shard { index, count }
}

#[test]
fn shards_joined_are_byte_by_byte_what_one_machine_makes() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let listing = Listing::of(&[folder.path()]);
    assert_eq!(listing.len(), 122);
    let work = tempfile::tempdir().unwrap();
    let at = |name: String| work.path().join(name);
    read(&listing, &at("one".into()), Shard::WHOLE, 1);
    let whole = result(&[at("one".into())]);

    read(&listing, &at("four threads".into()), Shard::WHOLE, 4);
    assert_eq!(std::fs::read(at("one".into())).unwrap(), std::fs::read(at("four threads".into())).unwrap());

    for count in [2, 5, 16] {
        let parts: Vec<PathBuf> = (0..count).map(|index| at(format!("{index} of {count}"))).collect();
        for (index, part) in parts.iter().enumerate() {
            read(&listing, part, shard(index as u32, count), 2);
        }
        let mut backwards = parts.clone();
        backwards.reverse();
        for parts in [parts, backwards] {
            let joined = result(&parts);
            assert_eq!((&joined.0, &joined.1, &joined.2), (&whole.0, &whole.1, &whole.2), "{count} shards");
        }
    }
}

#[test]
fn runs_of_an_application_count_by_their_heaviest() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let work = tempfile::tempdir().unwrap();
    let part = work.path().join("part");
    read(&Listing::of(&[folder.path()]), &part, Shard::WHOLE, 2);
    let (lines, bad, _, summary) = result(&[part]);
    let lines: Vec<serde_json::Value> =
        String::from_utf8(lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 122);
    let status = |line: &serde_json::Value| line["status"].as_str().unwrap().to_owned();
    let of = |wanted: &str| lines.iter().filter(|line| status(line) == wanted).count() as u64;
    // Users and applications: i mod 4 and i mod 10 give 20 pairs.
    assert_eq!((of("ok"), of("duplicate"), of("invalid")), (20, 86, 16));
    assert_eq!((summary.ok, summary.duplicate, summary.invalid, summary.logs), (20, 86, 16, 122));
    assert_eq!((summary.unique.count, summary.all_runs.count), (20, 106));
    assert_eq!(summary.invalid_kinds[&InvalidKind::ImpossibleTimes], 1);
    assert_eq!(String::from_utf8(bad).unwrap().lines().count(), 16);
    let moved = |line: &serde_json::Value| {
        line["bytes_read"].as_u64().unwrap() + line["bytes_written"].as_u64().unwrap()
    };
    for line in &lines {
        assert_eq!(line["schema"], "ftio.category/1");
        assert!(!line["reason"].as_str().unwrap().is_empty());
        if status(line) == "invalid" {
            assert!(line["reason"].as_str().unwrap().starts_with(line["source"].as_str().unwrap()));
            continue;
        }
        let same = |other: &&serde_json::Value| {
            status(other) != "invalid"
                && other["user"] == line["user"]
                && other["application"] == line["application"]
        };
        let runs: Vec<&serde_json::Value> = lines.iter().filter(same).collect();
        assert_eq!(line["runs"].as_u64().unwrap(), runs.len() as u64);
        let heaviest = runs.iter().map(|run| moved(run)).max().unwrap();
        let first = runs.iter().find(|run| moved(run) == heaviest).unwrap();
        assert_eq!(line["heaviest"], first["source"]);
        assert_eq!(status(line) == "ok", line["source"] == first["source"]);
    }
    // Both views, by counting.
    for (name, count) in &summary.unique.categories {
        let of = |line: &&serde_json::Value| {
            status(line) == "ok" && line["categories"].as_array().unwrap().iter().any(|c| c == name)
        };
        assert_eq!(*count, lines.iter().filter(of).count() as u64, "{name}");
        let runs: u64 = lines.iter().filter(of).map(|line| line["runs"].as_u64().unwrap()).sum();
        assert_eq!(summary.all_runs.categories[name], runs, "{name}");
    }
}

#[test]
fn jaccard_indices_are_shares_of_either() {
    let folder = tempfile::tempdir().unwrap();
    // Two that read at the start and write at the end, one that only reads.
    for number in 0..3u64 {
        let mut made = Made { run_time: 100.0, ranks: 1, user: number as i64, ..Made::default() };
        made.access(false, -1, 0.0, 5.0, 1_000_000_000);
        if number > 0 {
            made.access(true, -1, 90.0, 95.0, 1_000_000_000);
        }
        std::fs::write(folder.path().join(format!("{number}.darshan")), made.bytes(number)).unwrap();
    }
    let part = folder.path().join("part");
    read(&Listing::of(&[folder.path()]), &part, Shard::WHOLE, 2);
    let summary = result(&[part]).3;
    let jaccard = &summary.unique.jaccard;
    let at = |name: &str| jaccard.categories.iter().position(|other| *other == name).unwrap();
    let index = |a: &str, b: &str| jaccard.matrix[at(a)][at(b)];
    assert_eq!(index("read_on_start", "read_on_start"), 1.0);
    assert_eq!(index("read_on_start", "write_on_end"), 2.0 / 3.0);
    assert_eq!(index("write_on_end", "read_on_start"), 2.0 / 3.0);
    assert_eq!(index("write_on_end", "write_insignificant"), 0.0);
    let table = &summary.unique.table_3;
    assert_eq!((table.read.on_start, table.read.others), (1.0, 0.0));
    assert_eq!((table.write.insignificant, table.write.on_end), (1.0 / 3.0, 2.0 / 3.0));
}

#[test]
fn an_interrupted_work_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let listing = Listing::of(&[folder.path()]);
    let work = tempfile::tempdir().unwrap();
    let (whole, part) = (work.path().join("whole"), work.path().join("part"));
    read(&listing, &whole, Shard::WHOLE, 2);
    let bytes = std::fs::read(&whole).unwrap();
    for cut in [bytes.len() - 1, bytes.len() - 20, bytes.len() / 2, 3000] {
        std::fs::write(&part, &bytes[..cut]).unwrap();
        assert!(reduce(&[&part], false, None, None).is_err(), "unfinished at {cut}");
        reduce(&[&part], true, None, None).unwrap();
        let held = Part::open(&part, &settings(), Shard::WHOLE).unwrap().held();
        assert!(held <= 122);
        read(&listing, &part, Shard::WHOLE, 2);
        assert_eq!(std::fs::read(&part).unwrap(), bytes, "cut at {cut}");
    }
    // Other settings are another work.
    let mut other = settings();
    other.thresholds.spike = 7.0;
    let problem = Part::open(&part, &other, Shard::WHOLE).unwrap_err().to_string();
    assert!(problem.contains("spike 7,") && problem.contains("spike 50"), "{problem}");
    assert!(Part::open(&part, &settings(), shard(1, 2)).is_err());
    std::fs::write(&part, b"something else\n").unwrap();
    assert!(Part::open(&part, &settings(), Shard::WHOLE).is_err());
}

#[test]
fn logs_that_are_added_are_read_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let work = tempfile::tempdir().unwrap();
    let (grown, whole) = (work.path().join("grown"), work.path().join("whole"));
    let all: Vec<String> = Listing::of(&[folder.path()]).iter().map(str::to_owned).collect();
    // Every third at first, then all: paths before and between the old ones come later in the file.
    let some: Vec<&String> = all.iter().skip(1).step_by(3).collect();
    read(&Listing::of(&some), &grown, Shard::WHOLE, 2);
    read(&Listing::of(&all[40..60]), &grown, Shard::WHOLE, 2);
    read(&Listing::of(&all), &grown, Shard::WHOLE, 2);
    read(&Listing::of(&all), &whole, Shard::WHOLE, 2);
    assert_eq!(result(&[&grown]).0, result(&[&whole]).0);
    assert_eq!(result(&[&grown]).2, result(&[&whole]).2);
}

#[test]
fn parts_must_make_up_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let listing = Listing::of(&[folder.path()]);
    let parts: Vec<PathBuf> = (0..3).map(|index| folder.path().join(format!("part{index}"))).collect();
    for (index, part) in parts.iter().enumerate() {
        read(&listing, part, shard(index as u32, 3), 2);
    }
    let problem = |parts: &[&PathBuf]| reduce(parts, false, None, None).unwrap_err().to_string();
    assert!(problem(&[&parts[0], &parts[2]]).contains("missing of 3: 1"));
    assert!(problem(&[&parts[0], &parts[1], &parts[2], &parts[1]]).contains("1/3 is there twice"));
    assert!(reduce(&[&parts[0], &parts[2]], true, None, None).is_ok());
    assert!(reduce::<PathBuf>(&[], false, None, None).is_err());
    let alone = folder.path().join("alone");
    read(&listing, &alone, Shard::WHOLE, 2);
    assert!(problem(&[&parts[0], &alone]).contains("3 shards"));
}

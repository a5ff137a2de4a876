//! The same run, traced by tmio and by Darshan with DXT, is of the same categories.
//!
//! `pairs/` was recorded by `scripts/reference.support/record_pairs`: real MPI programs, both tracers at
//! once.

use mosaic::archive::record::Valid;
use mosaic::archive::{Record, Settings};
use mosaic::log::Origin;
use std::path::Path;

fn read(name: &str) -> Valid {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs").join(name);
    let record = Record::of(&path.to_string_lossy(), &Settings::default());
    *record.valid.unwrap_or_else(|| panic!("{name}: {:?}", record.invalid))
}

#[test]
fn both_tracers_give_the_same_categories() {
    for (name, expected) in [
        ("checkpoints", &["write_periodic_second", "write_steady", "write_periodic_low_busy_time"][..]),
        ("read_then_write", &["read_on_start", "write_on_end"]),
    ] {
        let (tmio, darshan) = (read(&format!("{name}.msgpack")), read(&format!("{name}.darshan")));
        assert_eq!((tmio.origin, darshan.origin), (Origin::Requests, Origin::Dxt), "{name}");
        assert_eq!(tmio.categories.names(), darshan.categories.names(), "{name}");
        for category in expected {
            assert!(tmio.categories.names().contains(category), "{name}: {:?}", tmio.categories.names());
        }
        // The same application, user and processes, and the same bytes but for what MPI writes itself.
        assert_eq!(tmio.application, darshan.application);
        assert_eq!((tmio.user, tmio.ranks), (darshan.user, darshan.ranks), "{name}");
        assert!((tmio.bytes as f64 / darshan.bytes as f64 - 1.0).abs() < 0.001, "{name}");
        assert!((tmio.start - darshan.start).abs() <= 2, "{} {}", tmio.start, darshan.start);
        for direction in [mosaic::Direction::Read, mosaic::Direction::Write] {
            let periods = |run: &Valid| -> Vec<f64> {
                run.findings.flow(direction).periodic.iter().map(|found| found.period).collect()
            };
            let (ours, theirs) = (periods(&tmio), periods(&darshan));
            assert_eq!(ours.len(), theirs.len(), "{name}");
            assert!(ours.iter().zip(&theirs).all(|(a, b)| (a / b - 1.0).abs() < 0.02), "{ours:?} {theirs:?}");
        }
    }
}

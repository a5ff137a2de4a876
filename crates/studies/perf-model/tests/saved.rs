//! Experiments that Extra-P has saved and profiles of Cube: what we read is what Extra-P reads.
//!
//! `saved/` was made by `scripts/reference` (`make_saved.py`), with what Extra-P 4.2.5 reads in
//! `extrap.json`.

use perf_model::input::{self, Scaling};
use perf_model::{Experiment, Measure, Options, model};
use serde_json::Value;
use std::path::PathBuf;

fn saved() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/saved")
}

fn extrap(name: &str) -> Value {
    let text = std::fs::read_to_string(saved().join("extrap.json")).expect("what Extra-P reads");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    assert!(all[name].is_object(), "{name}");
    all[name].clone()
}

fn close(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().expect("a number");
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-9), "{what}: {ours}, Extra-P has {theirs}");
}

/// Every set and point that Extra-P has, and no other.
fn compare(experiment: &Experiment, theirs: &Value) {
    assert_eq!(serde_json::json!(experiment.parameters), theirs["parameters"]);
    let sets = theirs["sets"].as_array().expect("sets");
    assert_eq!(experiment.sets.len(), sets.len());
    for set in sets {
        let (callpath, metric) = (set["callpath"].as_str().unwrap(), set["metric"].as_str().unwrap());
        let ours = experiment.sets.iter().find(|ours| ours.callpath == callpath && ours.metric == metric);
        let ours = ours.unwrap_or_else(|| panic!("{callpath} {metric} is missing"));
        let points = set["points"].as_array().expect("points");
        assert_eq!(ours.measurements.len(), points.len(), "{callpath} {metric}");
        for point in points {
            let place: Vec<f64> = serde_json::from_value(point["point"].clone()).expect("a point");
            let found = ours.measurements.iter().find(|m| *experiment.coordinates[m.coordinate] == *place);
            let values = &found.unwrap_or_else(|| panic!("{callpath} {metric} at {place:?}")).values;
            let measures = [
                (Measure::Mean, "mean"),
                (Measure::Median, "median"),
                (Measure::Minimum, "minimum"),
                (Measure::Maximum, "maximum"),
            ];
            for (measure, name) in measures {
                close(measure.of(values), &point[name], &format!("{callpath} {metric} {place:?} {name}"));
            }
        }
    }
}

#[test]
fn experiments_with_and_without_values() {
    for name in ["figures.extra-p", "values.extra-p"] {
        let experiment = input::read(&saved().join(name), None).expect(name);
        compare(&experiment, &extrap(name));
    }
    let with_figures = input::read(&saved().join("figures.extra-p"), None).unwrap();
    assert!(with_figures.sets.iter().flat_map(|set| &set.measurements).all(|m| m.values.len() == 7));
    let models = model(&with_figures, &Options::default()).unwrap();
    assert_eq!(models.models[0].callpath, "main");
    assert!((models.models[0].evaluate(&[64.0]) / 131.0 - 1.0).abs() < 0.05);
}

#[test]
fn profiles_of_weak_and_of_strong_scaling() {
    for (scaling, name) in [(Scaling::Weak, "cube weak"), (Scaling::Strong, "cube strong")] {
        let experiment = input::read_runs(&saved().join("cube"), scaling).expect(name);
        compare(&experiment, &extrap(name));
        assert!(experiment.notes.is_empty(), "{:?}", experiment.notes);
    }
    let threads = input::read_runs(&saved().join("cube"), Scaling::WeakThreaded).unwrap();
    let weak = input::read(&saved().join("cube"), None).unwrap();
    assert_eq!(threads.sets.len(), weak.sets.len());
    let models = model(&weak, &Options::default()).unwrap();
    let found = |callpath: &str, metric: &str| {
        let model = models.models.iter().find(|one| one.callpath == callpath && one.metric == metric);
        model.unwrap_or_else(|| panic!("{callpath} {metric}")).evaluate(&[64.0])
    };
    // Without what it calls, writing takes half a second a process; what it calls grows with the square.
    assert!((found("main->write <checkpoint>", "time") / 32.0 - 1.0).abs() < 0.05);
    assert!((found("main->write <checkpoint>->MPI_File_write_at", "time") / 40.96 - 1.0).abs() < 0.05);
}

#[test]
fn damaged_files_are_errors_that_name_them() {
    let folder = std::env::temp_dir().join(format!("perf-model-saved-{}", std::process::id()));
    let run = folder.join("app.p2.r1");
    std::fs::create_dir_all(&run).unwrap();
    let file = folder.join("x.extra-p");
    let message = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        input::read(&file, None).unwrap_err().to_string()
    };
    let whole = std::fs::read(saved().join("values.extra-p")).unwrap();
    let cut = message(&whole[..whole.len() / 2]);
    assert!(cut.contains("x.extra-p: expected a zip archive"), "{cut}");
    let mut changed = whole.clone();
    changed[whole.len() / 4] ^= 0x55;
    let changed = message(&changed);
    assert!(changed.contains("in the archive, found"), "{changed}");

    let none = input::read(&folder, None).unwrap_err().to_string();
    assert!(none.contains("expected folders such as app.p4.n10.r1"), "{none}");
    let profile = std::fs::read(saved().join("cube/app.p16.r1/profile.cubex")).unwrap();
    std::fs::write(run.join("profile.cubex"), &profile[..3000]).unwrap();
    let cut = input::read(&folder, None).unwrap_err().to_string();
    assert!(cut.contains("profile.cubex: expected a Cube profile"), "{cut}");
    // Whatever byte is changed, there is an answer or an error, never a panic.
    for at in (0..profile.len()).step_by(97) {
        let mut damaged = profile.clone();
        damaged[at] ^= 0xff;
        std::fs::write(run.join("profile.cubex"), damaged).unwrap();
        let _ = input::read(&folder, None);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

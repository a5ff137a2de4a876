//! Workloads come from outside: whatever is in the file, reading it ends in jobs or in an error that names a
//! line.

use batch_sim::{Policy, Settings, simulate, swf};
use proptest::prelude::*;

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-2i64..200).prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| number.to_string()),
        1 => prop::sample::select(vec!["malleable", "rigid", "moldable", "2", "1e300", "-0", "x", ""])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        if let Err(error) = swf::read(&text) {
            prop_assert!(error.line >= 1 && error.line <= text.lines().count());
        }
    }

    #[test]
    fn what_is_read_can_be_simulated(
        lines in prop::collection::vec(prop::collection::vec(word(), 0..28), 0..12)
    ) {
        let text: String = lines.iter().map(|words| words.join(" ") + "\n").collect();
        let Ok(mut workload) = swf::read(&text) else { return Ok(()) };
        workload.fit(64);
        let jobs = workload.jobs();
        // Beyond that, adding a second changes nothing.
        prop_assume!(jobs.iter().all(|job| job.time < 1e12 && job.estimate < 1e12 && job.submit < 1e12));
        for policy in Policy::ALL {
            let outcome = simulate(&jobs, &Settings { nodes: 64, policy, ..Settings::default() });
            prop_assert!(outcome.is_ok_and(|outcome| outcome.jobs.len() == jobs.len()));
        }
    }
}

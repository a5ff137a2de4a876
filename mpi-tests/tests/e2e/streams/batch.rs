//! One batch of scripts: played alone and with the library at the same time, and compared.

use super::compare::{Aspect, Difference, Differences, behaviours, joined, runs, with_kernel};
use super::play::{Played, Settings, Stage};
use super::recorded::Recorded;
use super::script::Script;

/// With what a run without the library is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// A run with the library.
    Traced,
    /// The same, and the kernel must be asked for the same as without it, which takes longer to see.
    TracedAndCounted,
    /// Another run without it: what differs then differs by chance, which no legal script does.
    Alone,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    pub second: Second,
    /// The number of calls, not only of bytes.
    pub calls: bool,
}

/// What a batch showed.
#[derive(Debug)]
pub struct Shown {
    pub differences: Differences,
    /// What is wrong with the trace, or with the run as a whole.
    pub wrong: Vec<String>,
    /// What the calls returned without the library.
    pub alone: Played,
    /// Names in the trace that no script has.
    pub other_names: Vec<String>,
}

/// Plays the scripts.
pub fn play(stage: &Stage, scripts: &[Script], settings: Settings, checks: Checks) -> Shown {
    let ((alone, kernel), (traced, recorded, kernel_traced)) = std::thread::scope(|scope| {
        let alone = scope.spawn(|| stage.alone(scripts, settings));
        let traced = match checks.second {
            Second::Traced => {
                let (played, recorded) = stage.traced(scripts, settings);
                (played, recorded, None)
            }
            Second::TracedAndCounted => {
                let (played, recorded, account) = stage.traced_and_counted(scripts, settings);
                (played, recorded, Some(account))
            }
            Second::Alone => {
                let (played, account) = stage.alone_again(scripts, settings);
                let recorded = Recorded { sums: account.sums.clone(), ..Recorded::default() };
                (played, recorded, Some(account))
            }
        };
        (alone.join().expect("it has played"), traced)
    });
    let mut differences = joined([
        runs(&alone, &traced),
        with_kernel(&kernel, &recorded),
        kernel_traced.map(|traced| behaviours(&kernel, &traced)).unwrap_or_default(),
    ]);
    if !checks.calls {
        for found in differences.values_mut() {
            found.retain(|difference| difference.aspect != Aspect::Calls);
        }
        differences.retain(|_, found| !found.is_empty());
    }
    let mut wrong = recorded.wrong.clone();
    if (alone.code, &alone.said) != (traced.code, &traced.said) {
        let told =
            |played: &Played| format!("ended with {:?} and said \"{}\"", played.code, played.said.trim());
        wrong.push(format!("alone it {}, traced it {}", told(&alone), told(&traced)));
    }
    let other_names = recorded.others.iter().map(|(name, bytes)| format!("{name}: {bytes} bytes")).collect();
    Shown { differences, wrong, alone, other_names }
}

/// The same for one script: all that differs.
pub fn play_one(stage: &Stage, script: &Script, settings: Settings, checks: Checks) -> Vec<Difference> {
    let shown = play(stage, std::slice::from_ref(script), settings, checks);
    let of_trace = shown.wrong.into_iter().map(|text| Difference { aspect: Aspect::Trace, text });
    shown.differences.into_values().flatten().chain(of_trace).collect()
}

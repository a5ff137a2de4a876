//! Which job a trace belongs to.

use std::path::Path;
use tmio_trace::growing;

/// Its id. `alone` if this is the only trace, so that the environment of this command may be that of the job.
pub(super) fn of(trace: &Path, alone: bool) -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| alone && !value.is_empty());
    variable("IOSETS_JOB_ID")
        .or_else(|| {
            growing::running(trace).or_else(|| growing::finished(trace)).map(|(job, _)| without_step(&job))
        })
        .or_else(|| variable("SLURM_JOB_ID"))
        .unwrap_or_else(|| name(trace))
}

/// `4711` of `4711.2`: servers know jobs, not their steps.
fn without_step(job: &str) -> String {
    match job.split_once('.') {
        Some((id, step)) if is_number(id) && is_number(step) => id.to_owned(),
        _ => job.to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The file's name without its ending, with all that a directory's name should not have replaced.
fn name(trace: &Path) -> String {
    let stem = trace.file_stem().unwrap_or_default().to_string_lossy();
    let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    stem.chars().map(fine).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_belong_to_their_job() {
        assert_eq!(without_step("4711.2"), "4711");
        assert_eq!(without_step("4711"), "4711");
        assert_eq!(without_step("123.server"), "123.server");
        assert_eq!(name(Path::new("/a/job 7.x.jsonl")), "job_7_x");
    }
}

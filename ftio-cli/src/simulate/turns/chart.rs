//! The results of a simulation, as they are drawn.

use super::Result;
use super::table::{COLUMNS, title};
use draw::policies::{Comparison, Course, Metric, Values};
use io_sets::experiment::{Experiment, Policy};
use io_sets::simulate::Outcome;

/// What is to be drawn. `shown` is the first repetition of each policy.
pub fn comparison(
    experiment: &Experiment,
    results: &[Result],
    shown: &[(Policy, Outcome)],
    published: bool,
) -> Comparison<'static> {
    let base = results.iter().find(|result| result.policy == Policy::FairShare);
    let metrics = COLUMNS.into_iter().map(|(name, value, change)| {
        let paper = |policy: Policy| {
            let change = change(&policy.published()).filter(|_| published && policy != Policy::FairShare)?;
            Some(value(&base?.mean) * (1.0 + change))
        };
        let of = |result: &Result| Values {
            policy: title(result.policy),
            all: result.all.iter().map(value).collect(),
            mean: value(&result.mean),
            published: paper(result.policy),
        };
        Metric { name, policies: results.iter().map(of).collect() }
    });
    let course = |(policy, outcome): &(Policy, Outcome)| {
        let phases = outcome.courses.iter().map(|course| &course.phases);
        let applications = phases.map(|all| all.iter().map(|phase| [phase.start, phase.end]).collect());
        Course { policy: title(*policy), applications: applications.collect() }
    };
    Comparison {
        metrics: metrics.collect(),
        courses: shown.iter().map(course).collect(),
        end: experiment.frame.end,
        published,
    }
}

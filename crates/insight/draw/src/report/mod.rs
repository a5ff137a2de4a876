//! The report about a job as one self-contained page, a page that compares several, and the numbers by which
//! jobs are compared.

mod compare;
pub mod figures;
mod page;
mod sections;

pub use compare::page as comparison;
pub use page::page;
pub use sections::findings::tally;

use ftio_core::detect::Analysis;
use ftio_core::detect::listed_phases::ListedPhase;
use inspect::participation::Participation;
use inspect::summary::Summary;
use inspect::usage::Usage;
use io_advice::Finding;
use io_advice::study::{PhaseRow, Study};

/// What a report is about: everything that is known about a job.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    pub name: &'a str,
    pub usage: &'a Usage,
    pub summary: &'a Summary,
    /// The period and what led to it; or why there is none to be looked for.
    pub analysis: Result<&'a Analysis, &'a str>,
    /// What the ranks do in each phase of the analysis; empty where that was not asked.
    pub participation: Vec<Participation>,
    pub findings: &'a [Finding],
}

/// A phase, and what the ranks do in it.
#[derive(Clone, Copy, Debug)]
struct Phase<'a> {
    listed: &'a ListedPhase,
    told: &'a Participation,
}

impl<'a> Subject<'a> {
    /// Of what is known about a job.
    pub fn of(study: &'a Study) -> Self {
        let told =
            |row: &PhaseRow| Participation { ranks: row.ranks, lost_time: row.lost_time, spread: row.spread };
        Subject {
            name: &study.name,
            usage: &study.usage,
            summary: &study.summary,
            analysis: study.analysis.as_ref().map_err(String::as_str),
            participation: study.phases.iter().map(told).collect(),
            findings: &study.findings,
        }
    }
}

impl Subject<'_> {
    /// What a page about the job is called: its program, or its input.
    fn title(&self) -> String {
        let program =
            self.summary.job.as_ref().map(|job| job.executable.trim()).filter(|name| !name.is_empty());
        let name = program.map(|command| command.split(' ').next().unwrap_or(command));
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        base(name.unwrap_or(self.name))
    }

    fn phases(&self) -> Vec<Phase<'_>> {
        let listed = self.analysis.iter().flat_map(|analysis| &analysis.detection.phases);
        listed.zip(&self.participation).map(|(listed, told)| Phase { listed, told }).collect()
    }
}

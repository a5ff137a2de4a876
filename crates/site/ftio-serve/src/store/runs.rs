//! Finished runs and what they measured; sums by day.

use super::rows::{DAY_CATEGORIES, DAYS, RUNS, damaged, fields};
use super::{JobRow, Store};
use crate::viewer::Viewer;
use rusqlite::params;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a finished run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub job: i64,
    pub size: i64,
    /// Callpath, metric, value.
    pub measurements: Vec<(String, String, f64)>,
}

/// An application: all runs of one command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AppRow {
    /// Its key.
    pub app: String,
    /// Jobs, running ones included.
    pub jobs: i64,
    /// Finished runs with measurements.
    pub runs: i64,
    /// Different numbers of ranks among them.
    pub scales: i64,
    pub smallest: i64,
    pub largest: i64,
    /// When the latest began, in seconds since 1970.
    pub last: f64,
    pub written_bytes: f64,
    pub read_bytes: f64,
    /// Mean of the periods that were found.
    pub period: Option<f64>,
}

/// Sums of a day.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DayRow {
    /// Days since 1970.
    pub day: i64,
    /// `None` where nobody is known.
    pub owner: Option<u32>,
    pub app: String,
    pub jobs: i64,
    pub written_bytes: f64,
    pub read_bytes: f64,
}

/// Jobs of a category.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryRow {
    /// The first day of the stretch, in days since 1970.
    pub day: i64,
    pub category: String,
    pub jobs: i64,
    /// What they wrote, of a category of writes; what they read, of one of reads.
    pub bytes: f64,
}

impl Store {
    /// Keep what a run measured.
    pub fn insert_run(&self, run: &RunRow, app: &str, end: f64, owner: Option<u32>) -> anyhow::Result<()> {
        let sql = "INSERT OR REPLACE INTO runs (job, app, size, end, owner, measurements)
            VALUES (?1,?2,?3,?4,?5,?6)";
        let text = serde_json::to_string(&run.measurements)?;
        self.connection.prepare_cached(sql)?.execute(params![run.job, app, run.size, end, owner, text])?;
        self.sum(RUNS, run.job)
    }

    /// The latest runs of an application that somebody may see, oldest first.
    pub fn runs(&self, app: &str, viewer: &Viewer, most: usize) -> anyhow::Result<Vec<RunRow>> {
        let sql = format!(
            "SELECT {} FROM runs WHERE app = ?1 AND (?2 OR owner = ?3) ORDER BY end DESC, job DESC LIMIT ?4",
            RUNS.with_sum()
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let values = params![app, viewer.all, viewer.uid, most as i64];
        let mut runs = self.rows(&mut statement, values, |row| {
            RUNS.check(row, 0).map_err(|why| damaged(RUNS.name, &why))?;
            let measurements = serde_json::from_str(&row.get::<_, String>(5)?);
            let measurements = measurements.map_err(|error| damaged(RUNS.name, &error.to_string()))?;
            Ok(RunRow { job: row.get(0)?, size: row.get(2)?, measurements })
        })?;
        runs.reverse();
        Ok(runs)
    }

    /// How many runs an application has, and the last of them: whether models are out of date.
    pub fn runs_version(&self, app: &str, viewer: &Viewer) -> anyhow::Result<(i64, i64)> {
        let sql = "SELECT count(*), coalesce(max(job), 0) FROM runs WHERE app = ?1 AND (?2 OR owner = ?3)";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params![app, viewer.all, viewer.uid], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// All applications that somebody may see, the latest first.
    pub fn apps(&self, viewer: &Viewer, most: usize) -> anyhow::Result<Vec<AppRow>> {
        let sql = "SELECT jobs.app, count(*), count(runs.job), count(DISTINCT runs.size), min(jobs.size),
            max(jobs.size), max(start), sum(written), sum(read), avg(period)
            FROM jobs LEFT JOIN runs ON runs.job = jobs.id
            WHERE jobs.app <> '' AND (?1 OR jobs.owner = ?2)
            GROUP BY jobs.app ORDER BY max(start) DESC LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        self.rows(
            &mut statement,
            params![viewer.all, viewer.uid, most as i64],
            fields!(AppRow {
                app,
                jobs,
                runs,
                scales,
                smallest,
                largest,
                last,
                written_bytes,
                read_bytes,
                period
            }),
        )
    }

    /// Add a finished job to its day.
    pub fn add_to_day(&self, job: &JobRow) -> anyhow::Result<()> {
        let sql = "INSERT INTO days (day, owner, app, jobs, written, read) VALUES (?1,?2,?3,1,?4,?5)
            ON CONFLICT (day, owner, app) DO UPDATE SET jobs = jobs + 1, written = written + ?4,
            read = read + ?5 RETURNING rowid";
        let day = (job.end / 86_400.0) as i64;
        let owner = job.owner.map_or(-1, i64::from);
        let (written, read) = (job.written_bytes, job.read_bytes);
        let values = params![day, owner, job.app, written, read];
        self.sum(DAYS, self.connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)?;
        let sql = "INSERT INTO day_categories (day, owner, category, jobs, bytes) VALUES (?1,?2,?3,1,?4)
            ON CONFLICT (day, owner, category) DO UPDATE SET jobs = jobs + 1, bytes = bytes + ?4
            RETURNING rowid";
        for category in &job.categories {
            let bytes = if category.starts_with("read") { read } else { written };
            let values = params![day, owner, category, bytes];
            let row = self.connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
            self.sum(DAY_CATEGORIES, row)?;
        }
        Ok(())
    }

    /// Categories of all jobs since a day, by stretches of `step` days.
    pub fn categories(&self, from: i64, step: i64, viewer: &Viewer) -> anyhow::Result<Vec<CategoryRow>> {
        let sql = "SELECT day / ?4 * ?4, category, sum(jobs), sum(bytes) FROM day_categories
            WHERE day >= ?1 AND (?2 OR owner = ?3) GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100000";
        let mut statement = self.connection.prepare_cached(sql)?;
        self.rows(
            &mut statement,
            params![from, viewer.all, viewer.uid, step.max(1)],
            fields!(CategoryRow { day, category, jobs, bytes }),
        )
    }

    /// How many of the latest jobs of an application are in which category.
    pub fn app_categories(
        &self,
        app: &str,
        viewer: &Viewer,
        most: usize,
    ) -> anyhow::Result<Vec<(String, i64)>> {
        let sql = "SELECT categories FROM jobs WHERE app = ?1 AND (?2 OR owner = ?3) AND state <> 'running'
            ORDER BY start DESC LIMIT ?4";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![app, viewer.all, viewer.uid, most as i64];
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for row in self.rows(&mut statement, values, |row| row.get::<_, String>(0))? {
            for category in row.split(',').filter(|name| !name.is_empty()) {
                *counts.entry(category.to_owned()).or_default() += 1;
            }
        }
        Ok(counts.into_iter().collect())
    }

    /// Sums since a day.
    pub fn days(&self, from: i64, viewer: &Viewer) -> anyhow::Result<Vec<DayRow>> {
        let sql = "SELECT day, owner, app, jobs, written, read FROM days
            WHERE day >= ?1 AND (?2 OR owner = ?3) ORDER BY day LIMIT 100000";
        let mut statement = self.connection.prepare_cached(sql)?;
        self.rows(&mut statement, params![from, viewer.all, viewer.uid], |row| {
            Ok(DayRow {
                day: row.get(0)?,
                owner: u32::try_from(row.get::<_, i64>(1)?).ok(),
                app: row.get(2)?,
                jobs: row.get(3)?,
                written_bytes: row.get(4)?,
                read_bytes: row.get(5)?,
            })
        })
    }
}

//! What was foretold, and what came of it.

use super::Store;
use super::rows::{PREDICTIONS, fields};
use crate::viewer::Viewer;
use rusqlite::params;
use serde::Serialize;

/// A prediction of a job's next phase; times in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictionRow {
    pub id: i64,
    pub job: i64,
    pub made: f64,
    pub start: f64,
    /// The start lies between this …
    pub low: f64,
    /// … and this with a probability of 80 %.
    pub high: f64,
    pub end: f64,
    pub bytes: f64,
    pub period: Option<f64>,
    pub confidence: f64,
    /// When the phase did begin; `None` if that is not known (yet).
    pub came: Option<f64>,
    /// Whether that was in the interval, or within a tenth of the period.
    pub hit: Option<bool>,
}

/// How often predictions were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Hits {
    /// Predictions whose phase came.
    pub judged: i64,
    /// Of these, how many were right.
    pub hits: i64,
    /// Mean distance between predicted and actual start, in periods.
    pub mean_error: Option<f64>,
}

impl Hits {
    /// Of both together.
    pub fn with(self, other: Hits) -> Hits {
        let judged = self.judged + other.judged;
        let weighted = |hits: Hits| hits.mean_error.map(|error| error * hits.judged as f64);
        let errors = [self, other].into_iter().filter_map(weighted).reduce(|a, b| a + b);
        let mean_error = errors.map(|sum| sum / judged.max(1) as f64);
        Hits { judged, hits: self.hits + other.hits, mean_error }
    }
}

fn hits(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Hits> {
    Ok(Hits { judged: row.get(first)?, hits: row.get(first + 1)?, mean_error: row.get(first + 2)? })
}

impl Store {
    /// Keep a prediction; its number.
    pub fn insert_prediction(&self, row: &PredictionRow) -> anyhow::Result<i64> {
        let sql =
            "INSERT INTO predictions (job, made, start, low, high, end, bytes, period, confidence, came, hit)
            VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)";
        self.connection.prepare_cached(sql)?.execute(params![
            row.job,
            row.made,
            row.start,
            row.low,
            row.high,
            row.end,
            row.bytes,
            row.period,
            row.confidence,
            row.came,
            row.hit
        ])?;
        let id = self.connection.last_insert_rowid();
        self.sum(PREDICTIONS, id)?;
        Ok(id)
    }

    /// Its phase came.
    pub fn judge_prediction(&self, id: i64, came: f64, hit: bool) -> anyhow::Result<()> {
        let sql = "UPDATE predictions SET came = ?2, hit = ?3 WHERE id = ?1";
        self.connection.prepare_cached(sql)?.execute(params![id, came, hit])?;
        self.sum(PREDICTIONS, id)
    }

    /// Those of a job, the latest first.
    pub fn predictions(&self, job: i64, most: usize) -> anyhow::Result<Vec<PredictionRow>> {
        let sql = "SELECT id, job, made, start, low, high, end, bytes, period, confidence, came, hit
            FROM predictions WHERE job = ?1 ORDER BY made DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        self.rows(
            &mut statement,
            params![job, most as i64],
            fields!(PredictionRow {
                id,
                job,
                made,
                start,
                low,
                high,
                end,
                bytes,
                period,
                confidence,
                came,
                hit
            }),
        )
    }

    /// How right predictions about a job were.
    pub fn hits(&self, job: i64) -> anyhow::Result<Hits> {
        let sql = "SELECT count(*), coalesce(sum(hit), 0), avg(abs(came - start) / period) FROM predictions
            WHERE hit IS NOT NULL AND job = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([job], |row| hits(row, 0))?)
    }

    /// How right predictions since a time were, about all jobs that somebody may see, or those of one
    /// application: by weeks, each with its first day (days since 1970).
    pub fn weekly_hits(
        &self,
        since: f64,
        app: Option<&str>,
        viewer: &Viewer,
    ) -> anyhow::Result<Vec<(i64, Hits)>> {
        let sql = "SELECT cast(p.made / 604800 AS INTEGER) * 7, count(*), coalesce(sum(hit), 0),
            avg(abs(p.came - p.start) / p.period) FROM predictions p JOIN jobs ON jobs.id = p.job
            WHERE p.hit IS NOT NULL AND p.made >= ?1 AND (?2 IS NULL OR jobs.app = ?2)
            AND (?3 OR jobs.owner = ?4) GROUP BY 1 ORDER BY 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![since, app, viewer.all, viewer.uid];
        self.rows(&mut statement, values, |row| Ok((row.get(0)?, hits(row, 1)?)))
    }
}

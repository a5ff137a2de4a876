//! What was foretold, and what came of it.

use super::Store;
use super::rows::{PREDICTIONS, fields};
use crate::viewer::Viewer;
use rusqlite::params;
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// Of how many a period was known, …
    pub errors: i64,
    /// … and the median distance between predicted and actual start, in periods.
    pub median_error: Option<f64>,
}

/// A prediction whose phase came: whether it was right, and its error in periods.
type Judged = (bool, Option<f64>);

impl Hits {
    /// Of all these.
    pub fn of(judged: &[Judged]) -> Self {
        let mut errors: Vec<f64> = judged.iter().filter_map(|(_, error)| *error).collect();
        errors.sort_by(f64::total_cmp);
        let middle = errors.len() / 2;
        let median_error = match errors.len() % 2 {
            0 if errors.is_empty() => None,
            0 => Some((errors[middle - 1] + errors[middle]) / 2.0),
            _ => Some(errors[middle]),
        };
        let hits = judged.iter().filter(|(hit, _)| *hit).count() as i64;
        Hits { judged: judged.len() as i64, hits, errors: errors.len() as i64, median_error }
    }
}

/// By weeks, each with its first day (days since 1970): the predictions that can be judged.
pub type Weeks = BTreeMap<i64, Vec<Judged>>;

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
        let sql =
            "SELECT hit, abs(came - start) / period FROM predictions WHERE hit IS NOT NULL AND job = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(Hits::of(&self.rows(&mut statement, [job], |row| Ok((row.get(0)?, row.get(1)?)))?))
    }

    /// How right predictions since a time were, about all jobs that somebody may see, or those of one
    /// application.
    pub fn judged(&self, since: f64, app: Option<&str>, viewer: &Viewer) -> anyhow::Result<Weeks> {
        let sql = "SELECT cast(p.made / 604800 AS INTEGER) * 7, p.hit, abs(p.came - p.start) / p.period
            FROM predictions p JOIN jobs ON jobs.id = p.job
            WHERE p.hit IS NOT NULL AND p.made >= ?1 AND (?2 IS NULL OR jobs.app = ?2)
            AND (?3 OR jobs.owner = ?4)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![since, app, viewer.all, viewer.uid];
        let all = self.rows(&mut statement, values, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        let mut weeks = Weeks::new();
        for (week, judged) in all {
            weeks.entry(week).or_default().push(judged);
        }
        Ok(weeks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_prediction_that_is_far_off_is_one_of_many() {
        let hits = Hits::of(&[(true, Some(0.01)), (false, Some(440.0)), (true, Some(0.03)), (true, None)]);
        assert_eq!(hits, Hits { judged: 4, hits: 3, errors: 3, median_error: Some(0.03) });
        assert_eq!(Hits::of(&[(true, Some(0.25)), (true, Some(0.75))]).median_error, Some(0.5));
        assert_eq!(Hits::of(&[]), Hits::default());
    }
}

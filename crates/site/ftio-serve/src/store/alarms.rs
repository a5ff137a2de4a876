//! Thresholds that were set over HTTP, and alarms that were raised.

use super::Store;
use super::rows::{ALARMS, RULES, fields};
use crate::viewer::Viewer;
use rusqlite::params;
use serde::Serialize;

/// A threshold, as the original has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleRow {
    pub name: String,
    /// The job id it is for; `*` is all.
    pub target: String,
    pub metric: String,
    /// `<`, `>` or `=`.
    pub operation: String,
    pub value: f64,
}

/// An alarm that was raised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlarmRow {
    pub id: i64,
    pub rule: String,
    pub job: i64,
    pub jobid: String,
    pub metric: String,
    pub value: f64,
    pub message: String,
    /// Seconds since 1970.
    pub since: f64,
    /// `None` while it stands.
    pub until: Option<f64>,
}

impl Store {
    pub fn set_rule(&self, rule: &RuleRow) -> anyhow::Result<()> {
        let sql = "INSERT OR REPLACE INTO rules (name, target, metric, operation, value)
            VALUES (?1,?2,?3,?4,?5)";
        self.connection
            .execute(sql, params![rule.name, rule.target, rule.metric, rule.operation, rule.value])?;
        self.sum(RULES, self.connection.last_insert_rowid())
    }

    /// `false`: there was none.
    pub fn remove_rule(&self, target: &str, name: &str) -> anyhow::Result<bool> {
        let sql = "DELETE FROM rules WHERE target = ?1 AND name = ?2";
        Ok(self.connection.execute(sql, params![target, name])? > 0)
    }

    pub fn rules(&self) -> anyhow::Result<Vec<RuleRow>> {
        let sql = "SELECT name, target, metric, operation, value FROM rules ORDER BY target, name";
        let mut statement = self.connection.prepare_cached(sql)?;
        self.rows(&mut statement, [], fields!(RuleRow { name, target, metric, operation, value }))
    }

    /// An alarm is raised; its number.
    pub fn raise(&self, alarm: &AlarmRow, owner: Option<u32>) -> anyhow::Result<i64> {
        let sql = "INSERT INTO alarms (rule, job, jobid, owner, metric, value, message, since)
            VALUES (?1,?2,?3,?4,?5,?6,?7,?8)";
        self.connection.execute(
            sql,
            params![
                alarm.rule,
                alarm.job,
                alarm.jobid,
                owner,
                alarm.metric,
                alarm.value,
                alarm.message,
                alarm.since
            ],
        )?;
        let id = self.connection.last_insert_rowid();
        self.sum(ALARMS, id)?;
        Ok(id)
    }

    pub fn clear(&self, alarm: i64, time: f64) -> anyhow::Result<()> {
        self.connection.execute("UPDATE alarms SET until = ?2 WHERE id = ?1", params![alarm, time])?;
        self.sum(ALARMS, alarm)
    }

    /// Whatever stood when the service ended is over: it is raised again if it still holds.
    pub fn clear_all(&self, time: f64) -> anyhow::Result<()> {
        self.connection.execute("UPDATE alarms SET until = ?1 WHERE until IS NULL", [time])?;
        Ok(())
    }

    /// Those that stand, and the latest others.
    pub fn alarms(&self, viewer: &Viewer, only_standing: bool, most: usize) -> anyhow::Result<Vec<AlarmRow>> {
        let sql = "SELECT id, rule, job, jobid, metric, value, message, since, until FROM alarms
            WHERE (?1 OR owner = ?2) AND (NOT ?3 OR until IS NULL)
            ORDER BY until IS NOT NULL, since DESC LIMIT ?4";
        let mut statement = self.connection.prepare_cached(sql)?;
        self.rows(
            &mut statement,
            params![viewer.all, viewer.uid, only_standing, most as i64],
            fields!(AlarmRow { id, rule, job, jobid, metric, value, message, since, until }),
        )
    }
}

//! Jobs: one row each, and their details apart.

use super::Store;
use super::rows::{DETAILS, JOBS, damaged};
use crate::job::{JobDesc, Origin, State, Totals};
use crate::viewer::Viewer;
use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};
use serde::Serialize;

/// A job as it is listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobRow {
    /// Its number in the database; Slurm uses job ids again.
    pub id: i64,
    #[serde(flatten)]
    pub desc: JobDesc,
    /// Seconds since 1970, with fractions.
    pub start: f64,
    /// 0 while it runs.
    pub end: f64,
    pub state: State,
    pub origin: Origin,
    /// The user's number: of the file's owner, or of who pushed.
    pub owner: Option<u32>,
    pub app: String,
    /// The trace.
    #[serde(skip)]
    pub path: String,
    pub period: Option<f64>,
    pub confidence: Option<f64>,
    pub written_bytes: f64,
    pub read_bytes: f64,
    /// Share of the run time that an average rank spends in I/O, of a trace that tells times.
    pub io_share: Option<f64>,
    /// Findings of high severity.
    pub high_findings: i64,
    /// What kind of I/O it does (MOSAIC), once it has ended.
    pub categories: Vec<String>,
}

/// A row that was selected with [`JOBS`]' columns and its sum.
fn row(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    JOBS.check(row, 0).map_err(|why| damaged(JOBS.name, &why))?;
    let (start, end): (f64, f64) = (row.get(3)?, row.get(4)?);
    let unknown = |name: &str| damaged(JOBS.name, &format!("{name} is not known"));
    Ok(JobRow {
        id: row.get(0)?,
        desc: JobDesc {
            jobid: row.get(1)?,
            cluster: row.get(2)?,
            command: row.get(8)?,
            size: row.get(10)?,
            nodelist: row.get(11)?,
            partition: row.get(12)?,
            run_dir: row.get(13)?,
            start_time: start as u64,
            end_time: end as u64,
        },
        start,
        end,
        state: State::from_name(&row.get::<_, String>(5)?).ok_or_else(|| unknown("its state"))?,
        origin: Origin::from_name(&row.get::<_, String>(6)?).ok_or_else(|| unknown("its origin"))?,
        owner: row.get(7)?,
        app: row.get(9)?,
        path: row.get(14)?,
        period: row.get(15)?,
        confidence: row.get(16)?,
        written_bytes: row.get(17)?,
        read_bytes: row.get(18)?,
        io_share: row.get(19)?,
        high_findings: row.get(20)?,
        categories: words(&row.get::<_, String>(21)?),
    })
}

/// Names of categories have no commas.
fn words(text: &str) -> Vec<String> {
    text.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// By what a list is ordered: a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort(&'static str);

impl Sort {
    pub const END: Sort = Sort("end");
    pub const NAMES: [&'static str; 6] = ["start", "end", "size", "written", "read", "period"];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|known| *known == name).map(Sort)
    }
}

impl Default for Sort {
    fn default() -> Self {
        Sort("start")
    }
}

/// Which jobs are wanted.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    pub state: Option<State>,
    pub origin: Option<Origin>,
    pub owner: Option<u32>,
    pub app: Option<String>,
    pub category: Option<String>,
    /// In job id, command or nodes.
    pub text: Option<String>,
    /// Started at or after, in seconds since 1970.
    pub from: Option<f64>,
    /// Started before.
    pub to: Option<f64>,
    pub sort: Sort,
    pub ascending: bool,
    pub limit: usize,
    /// Continue after the job with this number in a list of this order.
    pub after: Option<i64>,
}

const COLUMNS: &str = "jobid, cluster, start, end, state, origin, owner, command, app, size, nodelist, partition, \
    run_dir, path, period, confidence, written, read, io_share, high_findings, categories";
const VALUES: &str = "?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22";

impl Store {
    /// Executes a statement that is about the number `?1` and [`VALUES`] in [`COLUMNS`].
    fn write_job(&self, sql: &str, id: Option<i64>, job: &JobRow) -> anyhow::Result<()> {
        self.connection.prepare_cached(sql)?.execute(params![
            id,
            job.desc.jobid,
            job.desc.cluster,
            job.start,
            job.end,
            job.state.name(),
            job.origin.name(),
            job.owner,
            job.desc.command,
            job.app,
            job.desc.size,
            job.desc.nodelist,
            job.desc.partition,
            job.desc.run_dir,
            job.path,
            job.period,
            job.confidence,
            job.written_bytes,
            job.read_bytes,
            job.io_share,
            job.high_findings,
            job.categories.join(","),
        ])?;
        Ok(())
    }

    /// A new job; its number.
    pub fn insert_job(&self, job: &JobRow) -> anyhow::Result<i64> {
        self.write_job(&format!("INSERT INTO jobs (id, {COLUMNS}) VALUES (?1,{VALUES})"), None, job)?;
        let id = self.connection.last_insert_rowid();
        self.sum(JOBS, id)?;
        Ok(id)
    }

    /// What is known by now.
    pub fn update_job(&self, job: &JobRow) -> anyhow::Result<()> {
        let sql = format!("UPDATE jobs SET ({COLUMNS}) = ({VALUES}) WHERE id = ?1");
        self.write_job(&sql, Some(job.id), job)?;
        self.sum(JOBS, job.id)
    }

    /// A job whose number is given: it is there, whether it was or not.
    pub fn put_job(&self, job: &JobRow) -> anyhow::Result<()> {
        let sql = format!("INSERT OR IGNORE INTO jobs (id, {COLUMNS}) VALUES (?1,{VALUES})");
        self.write_job(&sql, Some(job.id), job)?;
        self.update_job(job)
    }

    /// What it came to, what was found in it, and findings: JSON.
    pub fn set_details(
        &self,
        job: i64,
        totals: &Totals,
        detection: &serde_json::Value,
        findings: &serde_json::Value,
    ) -> anyhow::Result<()> {
        let sql = "INSERT OR REPLACE INTO details (job, totals, detection, findings) VALUES (?1,?2,?3,?4)";
        let totals = serde_json::to_string(totals)?;
        self.connection.prepare_cached(sql)?.execute(params![
            job,
            totals,
            detection.to_string(),
            findings.to_string()
        ])?;
        self.sum(DETAILS, job)
    }

    /// Totals, detection and findings of a job; `None` if there are none, or they are damaged.
    pub fn details(
        &self,
        job: i64,
    ) -> anyhow::Result<Option<(Totals, serde_json::Value, serde_json::Value)>> {
        let sql = format!("SELECT {} FROM details WHERE job = ?1", DETAILS.with_sum());
        let mut statement = self.connection.prepare_cached(&sql)?;
        self.row(&mut statement, [job], |row| {
            DETAILS.check(row, 0).map_err(|why| damaged(DETAILS.name, &why))?;
            let json = |error: serde_json::Error| damaged(DETAILS.name, &error.to_string());
            let text = |place: usize| row.get::<_, String>(place);
            Ok((
                serde_json::from_str(&text(1)?).map_err(json)?,
                serde_json::from_str(&text(2)?).map_err(json)?,
                serde_json::from_str(&text(3)?).map_err(json)?,
            ))
        })
    }

    /// One job by its number.
    pub fn job(&self, id: i64) -> anyhow::Result<Option<JobRow>> {
        let sql = format!("SELECT {} FROM jobs WHERE id = ?1", JOBS.with_sum());
        self.row(&mut *self.connection.prepare_cached(&sql)?, [id], row)
    }

    /// The latest job of that id that somebody may see.
    pub fn job_by_jobid(&self, jobid: &str, viewer: &Viewer) -> anyhow::Result<Option<JobRow>> {
        let sql = format!(
            "SELECT {} FROM jobs WHERE jobid = ?1 AND (?2 OR owner = ?3) ORDER BY start DESC, id DESC LIMIT 8",
            JOBS.with_sum()
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        self.row(&mut statement, params![jobid, viewer.all, viewer.uid], row)
    }

    /// Jobs that somebody may see.
    pub fn jobs(&self, filter: &JobFilter, viewer: &Viewer) -> anyhow::Result<Vec<JobRow>> {
        let mut sql = format!("SELECT {} FROM jobs WHERE 1", JOBS.with_sum());
        let mut values: Vec<Value> = Vec::new();
        let mut add = |condition: &str, value: Value| {
            values.push(value);
            sql.push_str(&format!(" AND {}", condition.replace('?', &format!("?{}", values.len()))));
        };
        if !viewer.all {
            add("owner = ?", viewer.uid.map_or(Value::Integer(-1), |uid| Value::Integer(uid.into())));
        }
        if let Some(owner) = filter.owner {
            add("owner = ?", Value::Integer(owner.into()));
        }
        if let Some(state) = filter.state {
            add("state = ?", Value::Text(state.name().into()));
        }
        if let Some(origin) = filter.origin {
            add("origin = ?", Value::Text(origin.name().into()));
        }
        if let Some(app) = &filter.app {
            add("app = ?", Value::Text(app.clone()));
        }
        if let Some(category) = &filter.category {
            add("instr(',' || categories || ',', ',' || ? || ',')", Value::Text(category.clone()));
        }
        if let Some(text) = &filter.text {
            let found = "(instr(lower(jobid), lower(?)) OR instr(lower(command), lower(?)) OR \
                         instr(lower(nodelist), lower(?)))";
            add(found, Value::Text(text.clone()));
        }
        if let Some(from) = filter.from {
            add("start >= ?", Value::Real(from));
        }
        if let Some(to) = filter.to {
            add("start < ?", Value::Real(to));
        }
        let (column, order, beyond) = (
            filter.sort.0,
            if filter.ascending { "ASC" } else { "DESC" },
            if filter.ascending { ">" } else { "<" },
        );
        if let Some(after) = filter.after {
            let place = format!(
                "(coalesce({column}, -1), id) {beyond} \
                 (SELECT coalesce({column}, -1), id FROM jobs WHERE id = ?)"
            );
            add(&place, Value::Integer(after));
        }
        sql.push_str(&format!(
            " ORDER BY coalesce({column}, -1) {order}, id {order} LIMIT {}",
            filter.limit.min(1_000_000)
        ));
        let mut statement = self.connection.prepare_cached(&sql)?;
        self.rows(&mut statement, params_from_iter(values), row)
    }

    /// The numbers of all jobs that run.
    pub fn running(&self) -> anyhow::Result<Vec<i64>> {
        let sql = "SELECT id FROM jobs WHERE state = 'running' ORDER BY id";
        self.rows(&mut *self.connection.prepare_cached(sql)?, [], |row| row.get(0))
    }

    /// How many jobs are in which state.
    pub fn count_jobs(&self) -> anyhow::Result<Vec<(State, i64)>> {
        let mut statement =
            self.connection.prepare_cached("SELECT state, count(*) FROM jobs GROUP BY state")?;
        let mut counts = Vec::new();
        for (name, count) in
            self.rows(&mut statement, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?
        {
            counts.extend(State::from_name(&name).map(|state| (state, count)));
        }
        Ok(counts)
    }
}

impl Store {
    /// The job that this is another account of: of the same user, with the same id, begun within a second,
    /// and either of the same file, or of one that is gone (it was renamed), or begun in the same instant and
    /// running until now, or the same in every number (a copy). Two programs that one job starts at once are
    /// two jobs.
    pub fn same_run(&self, job: &JobRow) -> anyhow::Result<Option<(i64, State)>> {
        let mut statement = self.connection.prepare_cached(&same_run())?;
        let values =
            params![job.desc.jobid, job.desc.cluster, job.start, job.owner, job.origin.name(), job.path];
        let all: Vec<JobRow> = self.rows(&mut statement, values, row)?;
        let gone = |path: &str| {
            let path = std::path::Path::new(path);
            !path.exists() && !tmio_trace::parts::directory(path).exists()
        };
        let numbers = |row: &JobRow| [row.start, row.end, row.written_bytes, row.read_bytes];
        let same = |row: &&JobRow| {
            let instant = (row.start - job.start).abs() < 1e-6 && row.desc.command == job.desc.command;
            let copy = row.state == State::Running || numbers(row) == numbers(job);
            row.path == job.path || gone(&row.path) || (instant && copy)
        };
        Ok(all.iter().find(same).map(|row| (row.id, row.state)))
    }
}

/// Jobs of that id, cluster, start, owner and origin. The `+` keeps SQLite from going through all jobs of the
/// owner, who may have all of them.
pub(super) fn same_run() -> String {
    format!(
        "SELECT {} FROM jobs WHERE jobid = ?1 AND cluster = ?2 AND abs(start - ?3) < 1
        AND +owner IS ?4 AND origin = ?5 ORDER BY path <> ?6, id",
        JOBS.with_sum()
    )
}

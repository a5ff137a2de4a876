use super::*;
use crate::job::{JobDesc, Origin, State};
use crate::live::LiveJob;
use crate::viewer::Viewer;

fn job(jobid: &str, owner: u32, start: f64) -> JobRow {
    let desc =
        JobDesc { jobid: jobid.into(), command: format!("/bin/app {jobid}"), size: 4, ..JobDesc::default() };
    LiveJob::row(desc, Origin::Trace, Some(owner), start)
}

#[test]
fn jobs_are_found_by_who_may_see_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for (i, owner) in [7, 8, 7].into_iter().enumerate() {
        store.insert_job(&job(&format!("j{i}"), owner, i as f64)).unwrap();
    }
    let all = |viewer: &Viewer, filter: &JobFilter| -> Vec<String> {
        store.jobs(filter, viewer).unwrap().into_iter().map(|row| row.desc.jobid).collect()
    };
    let filter = JobFilter { limit: 10, ..JobFilter::default() };
    assert_eq!(all(&Viewer::ALL, &filter), ["j2", "j1", "j0"]);
    assert_eq!(all(&Viewer { all: false, uid: Some(7) }, &filter), ["j2", "j0"]);
    assert!(all(&Viewer { all: false, uid: None }, &filter).is_empty());
    let next = JobFilter { limit: 1, after: Some(3), ..JobFilter::default() };
    assert_eq!(all(&Viewer::ALL, &next), ["j1"], "a list goes on where it ended");
    let named = JobFilter { text: Some("APP J1".into()), limit: 5, ..JobFilter::default() };
    assert_eq!(all(&Viewer::ALL, &named), ["j1"]);
    for text in ["'; DROP TABLE jobs; --", "%", "_"] {
        let odd = JobFilter { text: Some(text.into()), limit: 5, ..JobFilter::default() };
        assert!(all(&Viewer::ALL, &odd).is_empty(), "{text}");
    }
    for sort in Sort::NAMES {
        let filter = JobFilter { sort: Sort::from_name(sort).unwrap(), limit: 9, ..JobFilter::default() };
        assert_eq!(all(&Viewer::ALL, &filter).len(), 3, "{sort}");
    }
    let other = Viewer { all: false, uid: Some(9) };
    assert!(store.job_by_jobid("j1", &other).unwrap().is_none());
    assert_eq!(store.job_by_jobid("j1", &Viewer::ALL).unwrap().unwrap().owner, Some(8));
}

#[test]
fn the_same_run_is_one_job() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let id = store.insert_job(&job("a", 7, 100.0)).unwrap();
    assert_eq!(store.same_run(&job("a", 7, 100.4)).unwrap(), Some((id, State::Running)));
    assert_eq!(store.same_run(&job("a", 7, 200.0)).unwrap(), None, "ids are used again");
    assert_eq!(store.same_run(&job("a", 8, 100.0)).unwrap(), None, "somebody else's");
}

#[test]
fn days_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for _ in 0..3 {
        let ended = JobRow {
            end: 86_400.0 * 5.0 + 1.0,
            written_bytes: 10.0,
            read_bytes: 1.0,
            categories: vec!["write_steady".into(), "read_on_start".into()],
            ..job("a", 7, 1.0)
        };
        store.add_to_day(&ended).unwrap();
    }
    let days = store.days(0, &Viewer::ALL).unwrap();
    assert_eq!((days.len(), days[0].day, days[0].jobs, days[0].written_bytes), (1, 5, 3, 30.0));
    assert!(store.days(0, &Viewer { all: false, uid: Some(8) }).unwrap().is_empty());
    let months = store.categories(0, 4, &Viewer::ALL).unwrap();
    let read = CategoryRow { day: 4, category: "read_on_start".into(), jobs: 3, bytes: 3.0 };
    assert_eq!((months.len(), &months[0]), (2, &read));
}

#[test]
fn a_second_service_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let first = claim(folder.path()).unwrap();
    assert!(claim(folder.path()).unwrap_err().to_string().contains("another ftio serve"));
    drop(first);
    claim(folder.path()).unwrap();
}

/// However many jobs a user has, a run is found by its id.
#[test]
fn a_run_is_found_by_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let sql = format!("EXPLAIN QUERY PLAN {}", jobs::same_run());
    let values = rusqlite::params!["7", "c", 1.5, 1000, "trace", "/x"];
    let plan: String = store.connection.query_row(&sql, values, |row| row.get(3)).unwrap();
    assert!(plan.contains("jobs_jobid"), "{plan}");
}

//! The table of everything that can be asked. The router, the checks of roles and methods, and the OpenAPI
//! description come from it.

use super::api::{self, apps, site};
use super::compat::{alarms, ftio, jobs, models, profiles, traces, tree, values};
use super::context::{Context, Result};
use super::{openapi, page, prometheus};
use crate::viewer::Role;
use Method::{Change, Delete, Get, Post};
use Needs::{Admin, Jobs, Metrics, Nothing, Push};

/// Answers a question.
type Handler = fn(&Context) -> Result;

/// A way in.
#[derive(Clone, Copy)]
pub struct Route {
    pub method: Method,
    /// `{…}` stands for one part of the path.
    pub path: &'static str,
    /// Names of parameters with spaces between them; `?` after one that may be absent.
    pub parameters: &'static str,
    pub about: &'static str,
    /// The least that one must be allowed to.
    pub needs: Needs,
    /// It may take long: of each user, one such is worked on at a time.
    pub costly: bool,
    pub run: Handler,
}

/// How it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    /// Changes something. By GET only where that is asked for, as the original has it.
    Change,
    Delete,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Anybody who reaches the server.
    Nothing,
    /// A role that may scrape.
    Metrics,
    /// A role that may push.
    Push,
    /// A role that may look at jobs.
    Jobs,
    Admin,
}

impl Needs {
    pub fn allow(self, role: Role) -> bool {
        match self {
            Needs::Nothing => true,
            Needs::Metrics => role == Role::Metrics || role.sees_jobs(),
            Needs::Push => role.pushes(),
            Needs::Jobs => role.sees_jobs(),
            Needs::Admin => role == Role::Admin,
        }
    }
}

/// A way in that costs little.
const fn of(
    method: Method,
    needs: Needs,
    path: &'static str,
    parameters: &'static str,
    about: &'static str,
    run: Handler,
) -> Route {
    Route { method, path, parameters, about, needs, costly: false, run }
}

const fn open(path: &'static str, parameters: &'static str, about: &'static str, run: Handler) -> Route {
    of(Get, Nothing, path, parameters, about, run)
}

const fn get(path: &'static str, parameters: &'static str, about: &'static str, run: Handler) -> Route {
    of(Get, Jobs, path, parameters, about, run)
}

const fn costly(path: &'static str, parameters: &'static str, about: &'static str, run: Handler) -> Route {
    slow(get(path, parameters, about, run))
}

const fn slow(route: Route) -> Route {
    Route { costly: true, ..route }
}

/// Everything. The first part is the original's; see docs/serve.md.
pub const ROUTES: &[Route] = &[
    open("/", "", "The page", page::index),
    of(Get, Metrics, "/metrics", "job? node?", "Prometheus' text format", prometheus::metrics),
    of(Get, Metrics, "/metrics/sd", "", "Targets for Prometheus", prometheus::discovery),
    costly("/job", "jobid?", "A running job and its counters, or all of them", jobs::job),
    get("/job/list", "", "Descriptions of running jobs, then of the latest that have ended", jobs::list),
    get("/queue/list", "", "What squeue says", jobs::queue),
    costly("/queue/model", "jobid", "Measurements for a job that waits, by its comment", jobs::queue_model),
    costly("/trace/list", "", "Series that are kept", traces::list),
    costly("/trace/read", "jobid filter?", "Series as they are kept", traces::read),
    costly("/trace/plot", "jobid filter derivate?", "Points of a metric over time", traces::plot),
    slow(of(Post, Jobs, "/trace/plot", "jobid filter derivate?", "The same by POST", traces::plot)),
    get("/trace/metrics", "jobid", "Names of the metrics of a job", traces::metrics),
    costly("/trace/json", "jobid", "All metrics and their derivatives", traces::json),
    get("/trace/size", "jobid", "Bytes that a series takes, and may take", traces::size),
    costly("/trace/ftio", "jobid metricid derivate?", "The period of a metric", ftio::metric),
    costly("/model/ftio", "jobid", "The period of every metric", ftio::all),
    costly("/profiles", "", "Descriptions of finished jobs", profiles::list),
    get("/profiles/get", "jobid", "What a finished job came to", profiles::profile),
    costly("/profiles/percmd", "", "Finished jobs by command", profiles::by_command),
    costly("/profiles/extrap", "jobid?", "Measurements for Extra-P", profiles::extra_p),
    costly("/profiles/points", "jobid?", "Measured values by number of ranks", profiles::points),
    costly("/model/get", "jobid?", "Models: name, formula, residual", models::list),
    costly("/model/download", "jobid?", "Measurements for Extra-P", profiles::extra_p),
    costly("/model/plot", "jobid? metric start end step?", "A model over numbers of ranks", models::plot),
    slow(of(Post, Jobs, "/model/plot", "jobid? metric start end step?", "The same by POST", models::plot)),
    costly("/model/evaluate", "jobid? metric size", "A model at a number of ranks", models::evaluate),
    get("/predict", "jobid metric?", "The last prediction of a job", ftio::predict),
    get("/alarms", "", "Alarms that stand, by job", alarms::raised),
    get("/alarms/list", "", "All thresholds, by job", alarms::all),
    of(
        Post,
        Admin,
        "/alarms/add",
        "name target metric operation value",
        "Set a threshold: operation is <, > or =",
        alarms::add,
    ),
    of(Change, Admin, "/alarms/del", "target name", "Remove a threshold", alarms::remove),
    of(Change, Push, "/set", "key value doc? job?", "Set a gauge", values::set),
    of(Change, Push, "/accumulate", "key value doc? job?", "Add to a counter", values::accumulate),
    of(Change, Push, "/push", "key doc? job?", "Declare a counter", values::declare),
    of(Change, Admin, "/join", "to period?", "Ask another server now and then", tree::join),
    get("/join/list", "", "Servers that are asked", tree::joined),
    of(Change, Admin, "/join/multiple", "to? period?", "Nothing: there is no tree", tree::nothing),
    of(Change, Admin, "/pivot", "from?", "The address to join: this one", tree::pivot),
    get("/topo", "", "Parents and children: there is no tree", tree::topology),
    of(Change, Admin, "/remove", "from? target?", "Nothing: there is no tree", tree::nothing),
    of(Change, Admin, "/leave", "from?", "Nothing: there is no tree", tree::nothing),
    of(Change, Admin, "/disconnect", "target?", "Nothing: there is no tree", tree::nothing),
    get("/period", "", "Milliseconds between samples", tree::period),
    get("/ftio/args", "", "How periods are looked for", ftio::args),
    of(Post, Admin, "/ftio/args", "", "Refused: there is one way to find the period", ftio::set_args),
    costly(
        "/ftio/modified_args",
        "jobid metricid derivate? args?",
        "The period of a metric, with other arguments",
        ftio::modified,
    ),
    get("/ftio/logs", "", "Nothing: no other process is asked", ftio::logs),
    get("/ftio/port", "", "Nothing: no other process is asked", ftio::port),
    get("/is_admire_proxy.html", "", "How the original recognises its like", tree::is_proxy),
    // Our own.
    open("/healthz", "", "The service runs", site::health),
    open("/readyz", "", "What is wrong, if anything", site::ready),
    get("/api/v1/version", "", "Version, and who asks", site::version),
    get("/api/v1/openapi.json", "", "This description", openapi::document),
    get(
        "/api/v1/jobs",
        "state? origin? user? app? category? q? from? to? sort? order? limit? cursor?",
        "Jobs",
        api::jobs::list,
    ),
    get("/api/v1/jobs/{id}", "", "A job: totals, period, next phase", api::jobs::job),
    get("/api/v1/jobs/{id}/series", "metric? from? to? points?", "A metric over time", api::jobs::series),
    get("/api/v1/jobs/{id}/prediction", "", "What is expected next", api::jobs::prediction),
    get(
        "/api/v1/jobs/{id}/predictions",
        "limit?",
        "What was expected, and what came",
        api::jobs::predictions,
    ),
    get("/api/v1/jobs/{id}/detection", "", "Period, phases, evidence", api::jobs::detection),
    get("/api/v1/jobs/{id}/findings", "", "What is wrong with its I/O", api::jobs::findings),
    costly("/api/v1/jobs/{id}/report.html", "", "The report of ftio report", api::jobs::report),
    costly("/api/v1/apps", "limit?", "Applications", apps::list),
    costly("/api/v1/apps/profiles", "app", "Its runs", apps::profiles),
    costly("/api/v1/apps/categories", "app", "Categories of its latest jobs", apps::categories),
    costly("/api/v1/apps/points", "app", "Measured values by number of ranks", apps::points),
    costly("/api/v1/apps/models", "app all?", "Its models", apps::models),
    costly("/api/v1/apps/evaluate", "app metric ranks", "A model at a number of ranks", apps::evaluate),
    costly("/api/v1/apps/curve", "app metric to?", "A model and its interval", apps::curve),
    costly("/api/v1/apps/expect", "app ranks", "What to expect of the next run", apps::expect),
    get("/api/v1/running", "", "Running jobs with small pictures", site::running),
    costly("/api/v1/forecast", "horizon?", "Phases ahead, and where they meet", site::forecast),
    costly("/api/v1/schedule", "", "Sets and priorities of Set-10", site::schedule),
    costly("/api/v1/site", "days?", "Who moves how much", site::site),
    costly("/api/v1/site/categories", "days?", "Categories of jobs over time", site::categories),
    costly("/api/v1/site/series", "metric? points?", "The sum of all running jobs", site::series),
    costly("/api/v1/quality", "days? app?", "How right predictions were, by weeks", site::quality),
    get("/api/v1/alarms", "standing?", "Alarms and rules", site::alarms),
    of(Post, Admin, "/api/v1/alarms", "name target metric operation value", "Set a threshold", alarms::add),
    of(Delete, Admin, "/api/v1/alarms", "name target", "Remove a threshold", alarms::remove),
    of(Post, Push, PUSH, "", "Values of a job or a node", site::push),
    of(
        Post,
        Push,
        REMOTE_WRITE,
        "",
        "Prometheus' remote write: samples with a label jobid or instance",
        site::remote_write,
    ),
    get("/api/v1/events", "", "What happens, as server-sent events", site::events_are_elsewhere),
];

/// Where the stream of events is.
pub const EVENTS: &str = "/api/v1/events";

/// Where values are pushed to.
pub const PUSH: &str = "/api/v1/push";

/// Where Prometheus writes to; the body is not JSON.
pub const REMOTE_WRITE: &str = "/api/v1/write";

/// What a path leads to.
#[derive(Debug)]
pub enum Matched {
    Found(&'static Route, Vec<String>),
    /// There is the path, with another method.
    OtherMethod,
    Nothing,
}

/// Find the way. `compat_get`: what changes something may be asked by GET.
pub fn find(method: &str, path: &str, compat_get: bool) -> Matched {
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    let mut seen = false;
    for route in ROUTES {
        let Some(places) = places(route.path, path) else { continue };
        seen = true;
        let fits = match route.method {
            Method::Get => matches!(method, "GET" | "HEAD"),
            Method::Post => matches!(method, "POST" | "PUT"),
            Method::Change => method == "POST" || (method == "GET" && compat_get),
            Method::Delete => method == "DELETE",
        };
        if fits {
            return Matched::Found(route, places);
        }
    }
    if seen { Matched::OtherMethod } else { Matched::Nothing }
}

fn places(pattern: &str, path: &str) -> Option<Vec<String>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut places = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(places),
            (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() => {
                places.push(super::context::decoded(given, false).ok()?);
            }
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.method, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_they_should() {
        let Matched::Found(route, places) = find("GET", "/api/v1/jobs/17/series", false) else { panic!() };
        assert_eq!((route.path, places), ("/api/v1/jobs/{id}/series", vec!["17".to_owned()]));
        assert!(matches!(find("GET", "/job/", false), Matched::Found(..)));
        assert!(matches!(find("GET", "/alarms/del", false), Matched::OtherMethod));
        assert!(matches!(find("GET", "/alarms/del", true), Matched::Found(..)));
        assert!(matches!(find("GET", "/job/../../x", false), Matched::Nothing));
        assert!(matches!(find("GET", "", false), Matched::Nothing));
    }

    #[test]
    fn no_way_is_there_twice() {
        for (i, one) in ROUTES.iter().enumerate() {
            let twice = ROUTES[..i].iter().any(|other| other.path == one.path && other.method == one.method);
            assert!(!twice, "{one:?}");
        }
    }
}

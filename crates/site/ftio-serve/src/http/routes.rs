//! The table of everything that can be asked. The router, the checks of roles and methods, and the OpenAPI
//! description come from it.

use super::context::{Context, Result};
use super::{api, compat, openapi, page, prometheus};
use crate::viewer::Role;

/// A way in.
#[derive(Clone, Copy)]
pub struct Route {
    pub method: Method,
    /// `{…}` stands for one part of the path.
    pub path: &'static str,
    /// Names of parameters; `?` after one that may be absent.
    pub parameters: &'static [&'static str],
    pub about: &'static str,
    /// The least that one must be allowed to.
    pub needs: Needs,
    /// It may take long: of each user, one such is worked on at a time.
    pub costly: bool,
    pub run: fn(&Context) -> Result,
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
    /// Whoever may scrape.
    Metrics,
    /// Whoever may push.
    Push,
    /// Whoever may look at jobs.
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

const fn get(
    path: &'static str,
    parameters: &'static [&'static str],
    about: &'static str,
    run: fn(&Context) -> Result,
) -> Route {
    Route { method: Method::Get, path, parameters, about, needs: Needs::Jobs, costly: false, run }
}

const fn change(
    path: &'static str,
    parameters: &'static [&'static str],
    about: &'static str,
    needs: Needs,
    run: fn(&Context) -> Result,
) -> Route {
    Route { method: Method::Change, path, parameters, about, needs, costly: false, run }
}

const fn with(method: Method, needs: Needs, route: Route) -> Route {
    Route { method, needs, ..route }
}

const fn costly(route: Route) -> Route {
    Route { costly: true, ..route }
}

/// Everything. The first part is the original's; see docs/serve.md.
pub const ROUTES: &[Route] = &[
    with(Method::Get, Needs::Nothing, get("/", &[], "The page", page::index)),
    with(
        Method::Get,
        Needs::Metrics,
        get("/metrics", &["job?"], "Prometheus' text format", prometheus::metrics),
    ),
    with(
        Method::Get,
        Needs::Metrics,
        get("/metrics/sd", &[], "Targets for Prometheus", prometheus::discovery),
    ),
    costly(get("/job", &["jobid?"], "A running job and its counters, or all of them", compat::jobs::job)),
    get(
        "/job/list",
        &[],
        "Descriptions of running jobs, then of the latest that have ended",
        compat::jobs::list,
    ),
    get("/queue/list", &[], "What squeue says", compat::jobs::queue),
    costly(get(
        "/queue/model",
        &["jobid"],
        "Measurements for a job that waits, by its comment",
        compat::jobs::queue_model,
    )),
    costly(get("/trace/list", &[], "Series that are kept", compat::traces::list)),
    costly(get("/trace/read", &["jobid", "filter?"], "A series as it is kept", compat::traces::read)),
    costly(get(
        "/trace/plot",
        &["jobid", "filter", "derivate?"],
        "Points of a metric over time",
        compat::traces::plot,
    )),
    with(
        Method::Post,
        Needs::Jobs,
        costly(get(
            "/trace/plot",
            &["jobid", "filter", "derivate?"],
            "The same by POST",
            compat::traces::plot,
        )),
    ),
    get("/trace/metrics", &["jobid"], "Names of the metrics of a job", compat::traces::metrics),
    costly(get("/trace/json", &["jobid"], "All metrics and their derivatives", compat::traces::json)),
    get("/trace/size", &["jobid"], "Bytes that a series takes, and may take", compat::traces::size),
    costly(get(
        "/trace/ftio",
        &["jobid", "metricid", "derivate?"],
        "The period of a metric",
        compat::ftio::metric,
    )),
    costly(get("/model/ftio", &["jobid"], "The period of every metric", compat::ftio::all)),
    costly(get("/profiles", &[], "Descriptions of finished jobs", compat::profiles::list)),
    get("/profiles/get", &["jobid"], "What a finished job came to", compat::profiles::profile),
    costly(get("/profiles/percmd", &[], "Finished jobs by command", compat::profiles::by_command)),
    costly(get("/profiles/extrap", &["jobid?"], "Measurements for Extra-P", compat::profiles::extra_p)),
    costly(get(
        "/profiles/points",
        &["jobid?"],
        "Measured values by number of ranks",
        compat::profiles::points,
    )),
    costly(get("/model/get", &["jobid?"], "Models: name, formula, residual", compat::models::list)),
    costly(get("/model/download", &["jobid?"], "Measurements for Extra-P", compat::profiles::extra_p)),
    costly(get(
        "/model/plot",
        &["jobid?", "metric", "start", "end", "step?"],
        "A model over numbers of ranks",
        compat::models::plot,
    )),
    with(
        Method::Post,
        Needs::Jobs,
        costly(get(
            "/model/plot",
            &["jobid?", "metric", "start", "end", "step?"],
            "The same by POST",
            compat::models::plot,
        )),
    ),
    costly(get(
        "/model/evaluate",
        &["jobid?", "metric", "size"],
        "A model at a number of ranks",
        compat::models::evaluate,
    )),
    get("/predict", &["jobid", "metric?"], "The last prediction of a job", compat::ftio::predict),
    get("/alarms", &[], "Alarms that stand, by job", compat::alarms::raised),
    get("/alarms/list", &[], "All thresholds, by job", compat::alarms::all),
    with(
        Method::Post,
        Needs::Admin,
        get(
            "/alarms/add",
            &["name", "target", "metric", "operation", "value"],
            "Set a threshold: operation is <, > or =",
            compat::alarms::add,
        ),
    ),
    change("/alarms/del", &["target", "name"], "Remove a threshold", Needs::Admin, compat::alarms::remove),
    change("/set", &["key", "value", "doc?", "job?"], "Set a gauge", Needs::Push, compat::values::set),
    change(
        "/accumulate",
        &["key", "value", "doc?", "job?"],
        "Add to a counter",
        Needs::Push,
        compat::values::accumulate,
    ),
    change("/push", &["key", "doc?", "job?"], "Declare a counter", Needs::Push, compat::values::declare),
    change("/join", &["to", "period?"], "Ask another server now and then", Needs::Admin, compat::tree::join),
    get("/join/list", &[], "Servers that are asked", compat::tree::joined),
    change(
        "/join/multiple",
        &["to?", "period?"],
        "Nothing: there is no tree",
        Needs::Admin,
        compat::tree::nothing,
    ),
    change("/pivot", &["from?"], "The address to join: this one", Needs::Admin, compat::tree::pivot),
    get("/topo", &[], "Parents and children: there is no tree", compat::tree::topology),
    change(
        "/remove",
        &["from?", "target?"],
        "Nothing: there is no tree",
        Needs::Admin,
        compat::tree::nothing,
    ),
    change("/leave", &["from?"], "Nothing: there is no tree", Needs::Admin, compat::tree::nothing),
    change("/disconnect", &["target?"], "Nothing: there is no tree", Needs::Admin, compat::tree::nothing),
    get("/period", &[], "Milliseconds between samples", compat::tree::period),
    get("/ftio/args", &[], "How periods are looked for", compat::ftio::args),
    with(
        Method::Post,
        Needs::Admin,
        get("/ftio/args", &[], "Refused: there is one way to find the period", compat::ftio::set_args),
    ),
    costly(get(
        "/ftio/modified_args",
        &["jobid", "metricid", "derivate?", "args?"],
        "The period of a metric, with other arguments",
        compat::ftio::modified,
    )),
    get("/ftio/logs", &[], "Nothing: no other process is asked", compat::ftio::logs),
    get("/ftio/port", &[], "Nothing: no other process is asked", compat::ftio::port),
    get("/is_admire_proxy.html", &[], "How the original recognises its like", compat::tree::is_proxy),
    // Our own.
    with(Method::Get, Needs::Nothing, get("/healthz", &[], "The service runs", api::site::health)),
    with(Method::Get, Needs::Nothing, get("/readyz", &[], "What is wrong, if anything", api::site::ready)),
    get("/api/v1/version", &[], "Version, and who asks", api::site::version),
    get("/api/v1/openapi.json", &[], "This description", openapi::document),
    get(
        "/api/v1/jobs",
        &[
            "state?",
            "origin?",
            "user?",
            "app?",
            "category?",
            "q?",
            "from?",
            "to?",
            "sort?",
            "order?",
            "limit?",
            "cursor?",
        ],
        "Jobs",
        api::jobs::list,
    ),
    get("/api/v1/jobs/{id}", &[], "A job: totals, period, next phase", api::jobs::job),
    get(
        "/api/v1/jobs/{id}/series",
        &["metric?", "from?", "to?", "points?"],
        "A metric over time",
        api::jobs::series,
    ),
    get("/api/v1/jobs/{id}/prediction", &[], "What is expected next", api::jobs::prediction),
    get(
        "/api/v1/jobs/{id}/predictions",
        &["limit?"],
        "What was expected, and what came",
        api::jobs::predictions,
    ),
    get("/api/v1/jobs/{id}/detection", &[], "Period, phases, evidence", api::jobs::detection),
    get("/api/v1/jobs/{id}/findings", &[], "What is wrong with its I/O", api::jobs::findings),
    costly(get("/api/v1/jobs/{id}/report.html", &[], "The report of ftio report", api::jobs::report)),
    costly(get("/api/v1/apps", &["limit?"], "Applications", api::apps::list)),
    costly(get("/api/v1/apps/profiles", &["app"], "Its runs", api::apps::profiles)),
    costly(get("/api/v1/apps/categories", &["app"], "Categories of its latest jobs", api::apps::categories)),
    costly(get("/api/v1/apps/points", &["app"], "Measured values by number of ranks", api::apps::points)),
    costly(get("/api/v1/apps/models", &["app", "all?"], "Its models", api::apps::models)),
    costly(get(
        "/api/v1/apps/evaluate",
        &["app", "metric", "ranks"],
        "A model at a number of ranks",
        api::apps::evaluate,
    )),
    costly(get(
        "/api/v1/apps/curve",
        &["app", "metric", "to?"],
        "A model and its interval",
        api::apps::curve,
    )),
    costly(get(
        "/api/v1/apps/expect",
        &["app", "ranks"],
        "What to expect of the next run",
        api::apps::expect,
    )),
    get("/api/v1/running", &[], "Running jobs with small pictures", api::site::running),
    costly(get("/api/v1/forecast", &["horizon?"], "Phases ahead, and where they meet", api::site::forecast)),
    costly(get("/api/v1/schedule", &[], "Sets and priorities of Set-10", api::site::schedule)),
    costly(get("/api/v1/site", &["days?"], "Who moves how much", api::site::site)),
    costly(get("/api/v1/site/categories", &["days?"], "Categories of jobs over time", api::site::categories)),
    costly(get(
        "/api/v1/site/series",
        &["metric?", "points?"],
        "The sum of all running jobs",
        api::site::series,
    )),
    costly(get(
        "/api/v1/quality",
        &["days?", "app?"],
        "How right predictions were, by weeks",
        api::site::quality,
    )),
    get("/api/v1/alarms", &["standing?"], "Alarms and rules", api::site::alarms),
    with(
        Method::Post,
        Needs::Admin,
        get(
            "/api/v1/alarms",
            &["name", "target", "metric", "operation", "value"],
            "Set a threshold",
            compat::alarms::add,
        ),
    ),
    with(
        Method::Delete,
        Needs::Admin,
        get("/api/v1/alarms", &["name", "target"], "Remove a threshold", compat::alarms::remove),
    ),
    with(Method::Post, Needs::Push, get(PUSH, &[], "Values of a job or a node", api::site::push)),
    with(
        Method::Post,
        Needs::Push,
        get(
            REMOTE_WRITE,
            &[],
            "Prometheus' remote write: samples with a label jobid or instance",
            api::site::remote_write,
        ),
    ),
    get("/api/v1/events", &[], "What happens, as server-sent events", api::site::events_are_elsewhere),
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

//! Every endpoint: status and shape, by the table of docs/serve.md, and by the OpenAPI document.

use crate::server::{Server, config, ioskel};
use serde_json::{Value, json};

/// A server with one finished job, one pushed job that runs, and a threshold.
fn filled() -> (Server, tempfile::TempDir, tempfile::TempDir) {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for ranks in [2, 4, 8, 16] {
        let trace = ioskel(ranks, &format!("done{ranks}"), "/bin/app x");
        std::fs::write(watched.path().join(format!("{ranks}")), trace).unwrap();
    }
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 4));
    let push = json!({"job": {"jobid": "live", "command": "/bin/app y", "size": 8},
        "metrics": {"written_bytes": [[1.0, 1e6], [2.0, 3e6]], "load": 0.5}});
    let (status, answer) = server.post("/api/v1/push", &push);
    assert_eq!((status, &answer["values"]), (200, &json!(3)), "{answer}");
    let alarm =
        json!({"name": "big", "target": "live", "metric": "written_bytes", "operation": ">", "value": 5});
    assert_eq!(
        server.post("/alarms/add", &alarm),
        (200, json!({"operation": "alarm big set on live", "success": true}))
    );
    (server, data, watched)
}

fn has(value: &Value, names: &[&str]) -> bool {
    names.iter().all(|name| value.get(name).is_some())
}

const DESC: [&str; 9] =
    ["jobid", "command", "size", "nodelist", "partition", "cluster", "run_dir", "start_time", "end_time"];
const MODEL: [&str; 11] = [
    "metric",
    "dominant_freq",
    "conf",
    "amp",
    "phi",
    "t_start",
    "t_end",
    "total_bytes",
    "ranks",
    "freq",
    "top_freq",
];

type Check = fn(&Value) -> bool;

/// Path, and what its answer must be like.
const TABLE: &[(&str, Check)] = &[
    ("/job", |v| {
        v.as_array().is_some_and(|all| all.len() == 2 && all.iter().all(|one| has(&one["desc"], &DESC)))
    }),
    ("/job/", |v| v[0]["desc"]["jobid"] == "main"),
    ("/job?job=live", |v| {
        v["desc"]["size"] == 8
            && v["counters"].as_array().is_some_and(|all| {
                all.iter().any(|c| c["name"] == "written_bytes" && c["ctype"]["Counter"]["value"] == 3e6)
                    && all.iter().any(|c| c["name"] == "load" && c["ctype"]["Gauge"]["hits"] == 1.0)
            })
    }),
    ("/job?jobid=main", |v| v["desc"]["jobid"] == "main"),
    ("/job/list", |v| {
        let ended =
            v.as_array().is_some_and(|all| all.len() == 6 && all[2..].iter().all(|job| job["end_time"] != 0));
        v[0]["jobid"] == "main" && v[1]["jobid"] == "live" && has(&v[1], &DESC) && ended
    }),
    ("/queue/list", |v| v["jobs"].is_object()),
    ("/trace/list", |v| {
        v.as_array()
            .is_some_and(|all| all.len() == 5 && all.iter().all(|t| has(t, &["desc", "size", "lastwrite"])))
    }),
    ("/trace/read?job=live", |v| {
        let all = &v["time_series"];
        has(&v["info"]["desc"], &DESC)
            && all["written_bytes"][2][1]["Counter"]["value"] == 3e6
            && all["load"][0][1]["Gauge"]["total"] == 0.5
    }),
    ("/trace/read?job=live&filter=written_bytes", |v| v["time_serie"][2][1]["Counter"]["value"] == 3e6),
    ("/trace/read?job=live&filter=load", |v| v["time_serie"][0][1]["Gauge"]["total"] == 0.5),
    ("/trace/plot?jobid=live&filter=written_bytes", |v| *v == json!([[1.0, 1e6], [2.0, 1e6], [3.0, 3e6]])),
    ("/trace/plot?jobid=live&filter=written_bytes&derivate=true", |v| {
        *v == json!([[0.0, 0.0], [1.0, 0.0], [2.0, 2e6]])
    }),
    ("/trace/metrics?job=live", |v| *v == json!(["load", "written_bytes"])),
    ("/trace/json?jobid=live", |v| {
        has(&v["metrics"], &["load", "deriv__load", "written_bytes", "deriv__written_bytes"])
    }),
    ("/trace/size?jobid=live", |v| v[1] == 262_144 && v[0].as_u64().is_some_and(|size| size > 0)),
    ("/trace/ftio?jobid=done4&metricid=written_bytes&derivate=deriv__", |v| has(v, &MODEL)),
    ("/model/ftio?jobid=done4", |v| has(&v["models"]["written_bytes"], &MODEL)),
    ("/profiles", |v| v.as_array().is_some_and(|all| all.len() == 4)),
    ("/profiles/get?jobid=done4", |v| {
        v["counters"].as_array().is_some_and(|all| all.iter().any(|c| c["name"] == "walltime"))
    }),
    ("/profiles/percmd", |v| v["/bin/app x"].as_array().is_some_and(|all| all.len() == 4)),
    ("/profiles/points?jobid=done4", |v| v["written_bytes"][1] == json!([4.0, 16_777_216.0])),
    ("/model/get?jobid=done4", |v| v[0].as_array().is_some_and(|row| row.len() == 3 && row[2].is_number())),
    ("/model/plot?jobid=done4&metric=written_bytes&start=2&end=9&step=3", |v| {
        v.as_array().is_some_and(|all| all.len() == 3)
    }),
    ("/model/evaluate?jobid=done4&metric=written_bytes&size=4", |v| {
        v["value"] == 16_777_216.0 && has(v, &["low", "high", "size"])
    }),
    ("/predict?job=done4", |v| has(v, &["period", "confidence", "next_phase"])),
    ("/alarms", |v| v["live"][0]["active"] == true && v["live"][0]["operator"] == json!({"More": 5.0})),
    ("/alarms/list", |v| has(&v["live"][0], &["name", "metric", "operator", "current", "active", "pretty"])),
    ("/join/list", |v| v.is_array()),
    ("/topo", |v| v[0].as_array().is_some_and(|pair| pair.len() == 2)),
    ("/period", |v| *v == json!({"operation": "1000", "success": true})),
    ("/ftio/args", |v| v["tol"] == 0.8),
    ("/ftio/modified_args?jobid=done4&metricid=written_bytes&args=%7B%22freq%22%3A20%7D", |v| has(v, &MODEL)),
    ("/ftio/logs", |v| v.is_string()),
    ("/ftio/port", |v| v.is_string()),
    ("/metrics/sd", |v| v[0]["targets"].is_array()),
    ("/api/v1/version", |v| v["you"]["role"] == "admin"),
    ("/api/v1/jobs?state=running", |v| {
        v["jobs"].as_array().is_some_and(|all| all.len() == 1 && all[0]["jobid"] == "live")
    }),
    ("/api/v1/jobs?limit=1&sort=written&order=asc", |v| {
        v["jobs"].as_array().is_some_and(|all| all.len() == 1) && v["cursor"].is_number()
    }),
    ("/api/v1/jobs/1", |v| has(v, &["totals", "metrics", "user", "has_trace"])),
    ("/api/v1/jobs/1/predictions", |v| v["predictions"].is_array()),
    ("/api/v1/jobs/1/detection", |v| has(v, &["period", "phases"])),
    ("/api/v1/apps/models?app=app%20x", |v| {
        v["runs"] == 4 && v["models"].as_array().is_some_and(|all| !all.is_empty())
    }),
    ("/api/v1/apps/evaluate?app=app%20x&metric=written_bytes&ranks=64", |v| v["value"] == 268_435_456.0),
    ("/api/v1/apps/curve?app=app%20x&metric=written_bytes", |v| {
        v["points"][0].as_array().is_some_and(|p| p.len() == 4)
    }),
    ("/api/v1/apps/expect?app=app%20x&ranks=64", |v| {
        v["expected"]["written_bytes"]["value"] == 268_435_456.0
    }),
    ("/api/v1/running", |v| v["jobs"][0]["spark"].is_array()),
    ("/api/v1/forecast?horizon=60", |v| v["phases"].is_array() && v["conflicts"].is_array()),
    ("/api/v1/schedule", |v| v["jobs"][0]["priority"].is_number()),
    ("/api/v1/site/series?points=30", |v| v["points"].as_array().is_some_and(|all| all.len() == 30)),
    ("/api/v1/quality", |v| v["quality"]["judged"] == 0),
    ("/api/v1/alarms", |v| v["thresholds"][0]["name"] == "big" && v["rules"].is_array()),
];

#[test]
fn every_endpoint_answers_in_its_shape() {
    let (server, _data, _watched) = filled();
    for (path, check) in TABLE {
        let value = server.json(path);
        assert!(check(&value), "{path}: {value}");
        // job and jobid are the same.
        let other = match path.contains("jobid=") {
            true => path.replace("jobid=", "job="),
            false => path.replace("job=", "jobid="),
        };
        assert_eq!(server.get(&other).0, 200, "{other}");
    }
    // By POST, with the same parameters in a body.
    let (status, points) =
        server.post("/trace/plot", &json!({"jobid": "live", "filter": "written_bytes", "derivate": true}));
    // What was there before the first value did not come in a moment.
    assert_eq!((status, &points[1]), (200, &json!([1.0, 0.0])));
    let plot = json!({"jobid": "done4", "metric": "written_bytes", "start": 1, "end": 3});
    assert_eq!(server.post("/model/plot", &plot).1.as_array().unwrap().len(), 2);

    // Values one by one.
    assert_eq!(server.post("/set", &json!({"key": "temperature", "value": "21.5", "job": "live"})).0, 200);
    assert_eq!(server.post("/accumulate", &json!({"key": "visits", "value": 2, "job": "live"})).0, 200);
    assert_eq!(server.post("/push", &json!({"key": "declared", "doc": "d", "job": "live"})).0, 200);
    let names = server.json("/trace/metrics?job=live");
    assert_eq!(names, json!(["declared", "load", "temperature", "visits", "written_bytes"]));

    // What is not there, and what is missing.
    for path in [
        "/job?job=nobody",
        "/trace/read?job=x",
        "/model/get?jobid=x",
        "/trace/plot?jobid=live&filter=x",
        "/nothing",
        "/api/v1/jobs/999",
        "/api/v1/jobs/x",
        "/trace/metrics?jobid=..%2F..%2Fetc%2Fpasswd",
    ] {
        let (status, body) = server.get(path);
        assert_eq!(status, 404, "{path}");
        let fault: Value = serde_json::from_str(&body).unwrap();
        assert!(fault["success"] == false && fault["error"].is_string(), "{path}: {body}");
    }
    for path in [
        "/trace/read",
        "/trace/plot?jobid=live",
        "/model/evaluate?jobid=done4&metric=written_bytes&size=x",
        "/model/evaluate?jobid=done4&metric=written_bytes",
        "/model/plot?jobid=done4&metric=written_bytes&start=1&end=1e12",
        "/model/plot?jobid=done4&metric=written_bytes&start=1&end=9&step=0",
        "/job?job=live&job=live",
        "/job?job=%ff",
        "/api/v1/jobs?sort=drop%20table",
        "/api/v1/jobs?limit=nan",
    ] {
        assert_eq!(server.get(path).0, 400, "{path}");
    }
    // The alarm goes again.
    let gone = json!({"name": "big", "target": "live"});
    assert_eq!(server.post("/alarms/del", &gone).0, 200);
    assert_eq!(server.post("/alarms/del", &gone).0, 404);
}

/// The description and the server agree: every path is there, needs what it says, and answers in that kind.
#[test]
fn the_description_is_true() {
    let (server, _data, _watched) = filled();
    let document = server.json("/api/v1/openapi.json");
    let usual = |name: &str| match name {
        "jobid" | "job" => "done4",
        "metric" | "metricid" | "filter" => "written_bytes",
        "app" => "app%20x",
        "size" | "ranks" | "end" => "8",
        "start" | "value" => "1",
        "operation" => "%3E",
        _ => "x",
    };
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 60, "{}", paths.len());
    let mut described = 0;
    for (path, methods) in paths {
        for (method, about) in methods.as_object().unwrap() {
            let all = about["parameters"].as_array().unwrap();
            // A counter and a gauge of one name would not go together.
            let value = |name: &str| match name {
                "key" => path.trim_start_matches('/').to_owned(),
                name => usual(name).to_owned(),
            };
            let given = |name: &str| format!("{name}={}", value(name));
            let is_needed = |one: &&Value| one["in"] == "query" && one["required"] == true;
            let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
            let wanted: Vec<String> = all.iter().filter(is_needed).map(|one| given(&name(one))).collect();
            // There are two applications: which?
            let job = all.iter().any(|one| one["name"] == "jobid" && one["required"] == false);
            let job: Vec<String> = job.then(|| given("jobid")).into_iter().collect();
            let url = |some: &[&String]| {
                let all: Vec<&str> = some.iter().copied().chain(&job).map(String::as_str).collect();
                format!("{}?{}", path.replace("{id}", "1"), all.join("&"))
            };
            let complete = url(&wanted.iter().collect::<Vec<_>>());
            if path == "/api/v1/events" {
                continue;
            }
            let (status, body) = match method.as_str() {
                "get" => server.get(&complete),
                "post" => server.with("POST", &complete, "Content-Type: application/json\r\n", ""),
                other => server.with(&other.to_uppercase(), &complete, "", ""),
            };
            // These want a body, a queue, or nothing at all; they are there all the same.
            let refuses = [
                "/queue/model",
                "/join",
                "/ftio/args",
                "/api/v1/push",
                "/api/v1/write",
                "/alarms/del",
                "/api/v1/alarms",
            ];
            let fine =
                status == 200 || (refuses.contains(&path.as_str()) && [400, 403, 404].contains(&status));
            assert!(fine, "{method} {complete}: {status} {body}");
            let kinds = about["responses"]["200"]["content"].as_object().unwrap();
            if status == 200 && kinds.contains_key("application/json") {
                let answer: Value =
                    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{complete}: {error}"));
                let mut schema = kinds["application/json"]["schema"].clone();
                if schema.is_object() {
                    // What it refers to.
                    schema["components"] = document["components"].clone();
                    if let Err(problem) = jsonschema::validate(&schema, &answer) {
                        let place = problem.instance_path();
                        panic!("{method} {complete}: {place}: {problem}: {answer}");
                    }
                    described += 1;
                }
            }
            // Without what it needs it says so.
            for one in &wanted {
                let url = url(&wanted.iter().filter(|other| *other != one).collect::<Vec<_>>());
                let (status, _) = match method.as_str() {
                    "get" => server.get(&url),
                    other => server.with(&other.to_uppercase(), &url, "", ""),
                };
                assert!([400, 403, 404].contains(&status), "{method} {url}: {status}");
            }
        }
    }
    assert!(described > 24, "{described} answers were compared with their description");
}

#[test]
fn prometheus_understands_the_metrics() {
    let (server, _data, _watched) = filled();
    let (status, text) = server.get("/metrics");
    assert_eq!(status, 200);
    assert!(text.contains("ftio_job_written_bytes_total{cluster=\"\",jobid=\"live\"} 3000000"), "{text}");
    assert!(text.contains("ftio_jobs{state=\"finished\"} 4"), "{text}");
    let promtool = std::process::Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let Ok(mut promtool) = promtool else {
        return test_data::skip("prometheus_understands_the_metrics", "promtool is not installed");
    };
    std::io::Write::write_all(&mut promtool.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.trim().is_empty(), "{said}");
}

/// Everything that runs and is known is in `/metrics`, and as Prometheus wants it.
#[test]
fn pushed_metrics_nodes_and_sums_are_metrics() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    for push in [
        json!({"job": {"jobid": "a", "nodelist": "n1,n2"}, "metrics": {"mpi___hits___send": 4.0, "load": 3.0},
            "kind": {"mpi___hits___send": "increment"}}),
        json!({"job": {"jobid": "b", "nodelist": "n3"}, "metrics": {"load": 5.0, "written_bytes": 7.0}}),
        json!({"node": "n1", "metrics": {"disk_total": 70.0, "temperature": 40.0}}),
        json!({"node": "n3", "metrics": {"temperature": 44.0}}),
    ] {
        assert_eq!(server.post("/api/v1/push", &push).0, 200);
    }
    let (_, all) = server.get("/metrics");
    let lines = [
        "ftio_job_pushed_total{cluster=\"\",jobid=\"a\",metric=\"mpi___hits___send\"} 4\n",
        "ftio_job_pushed{cluster=\"\",jobid=\"a\",metric=\"load\"} 3\n",
        "ftio_job_pushed{cluster=\"\",jobid=\"b\",metric=\"load\"} 5\n",
        "ftio_job_written_bytes_total{cluster=\"\",jobid=\"b\"} 7\n",
        "ftio_node_pushed_total{cluster=\"\",node=\"n1\",metric=\"disk_total\"} 70\n",
        "ftio_node_pushed{cluster=\"\",node=\"n1\",metric=\"temperature\"} 40\n",
        "ftio_node_pushed{cluster=\"\",node=\"n3\",metric=\"temperature\"} 44\n",
        "ftio_site_pushed_counts{cluster=\"\",metric=\"mpi___hits___send\"} 4\n",
    ];
    for line in lines {
        assert!(all.contains(line), "{line}{all}");
    }
    let has = |path: &str, job: &str| server.get(path).1.contains(&format!("jobid=\"{job}\""));
    assert!(has("/metrics?job=a", "a") && !has("/metrics?job=a", "b"));
    assert!(has("/metrics?node=n2", "a") && !has("/metrics?node=n2", "b"));
    let (_, node) = server.get("/metrics?node=n3");
    assert!(
        node.contains("node=\"n3\"") && !node.contains("node=\"n1\"") && node.contains("jobid=\"b\""),
        "{node}"
    );
    if std::process::Command::new("promtool").arg("--version").output().is_err() {
        return test_data::skip("pushed_metrics_nodes_and_sums_are_metrics", "no promtool");
    }
    for text in [all, node] {
        let file = data.path().join("metrics");
        std::fs::write(&file, text).unwrap();
        let check = std::process::Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(std::fs::File::open(file).unwrap())
            .output()
            .unwrap();
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    }
}

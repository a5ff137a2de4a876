//! What answers look like, for the OpenAPI description. A test compares them with what the server says.
//!
//! Written shortly: `s` is a text, `n` a number, `i` a whole one, `b` true or false, `*` anything, `[T]` a
//! list, `<T>` an object with names that are not known before, `{name:T,other?:T}` an object, of which
//! `other` may be absent. `T?` may be null. Words in capitals are in [`NAMED`].

use super::routes::Method;
use serde_json::{Map, Value, json};

/// Parts that are there more than once.
const NAMED: &[(&str, &str)] = &[
    (
        "JOB",
        "{id:i,jobid:s,command:s,size:i,nodelist:s,partition:s,cluster:s,run_dir:s,start_time:i,end_time:i,\
      start:n,end:n,state:s,origin:s,owner:i?,app:s,period:n?,confidence:n?,written_bytes:n,read_bytes:n,\
      io_share:n?,high_findings:i,categories:[s],user:s?}",
    ),
    (
        "BRIEF",
        "{id:i,jobid:s,origin:s,app:s,size:i,start:n,rate:n,written_bytes:n,read_bytes:n,period:n?,\
      confidence:n?,next_start:n?,next_end:n?,next_bytes:n?,known:n,lag:n,spark:[n]}",
    ),
    (
        "PREDICTION",
        "{id:i,job:i,made:n,start:n,low:n,high:n,end:n,bytes:n,period:n?,confidence:n,came:n?,hit:b?}",
    ),
    ("HITS", "{judged:i,hits:i,errors:i,median_error:n?}"),
    ("MOVED", "{name:s,jobs:n,written_bytes:n,read_bytes:n}"),
    ("TOTAL", "{kind:s,value:n,doc?:s,time:n,seen?:[n],first?:n,raw?:n,raw_time?:n}"),
    (
        "MODEL",
        "{name:s,metric:s,equation:s,rss:n?,smape:n?,smape_left_out:n?,runner_up:s?,points:i,notes:[s]}",
    ),
    ("VALUE", "{metric:s,size:n,value:n,formula_value:n,low:n?,high:n?,extrapolated:b}"),
    ("ALARM", "{id:i,rule:s,job:i,jobid:s,metric:s,value:n,message:s,since:n,until:n?}"),
    ("DONE", "{operation:s,success:b}"),
];

/// Method, path, answer.
const ANSWERS: &[(Method, &str, &str)] = &[
    (Method::Get, "/readyz", "{ready:b,problems:*,refused:[{what:s,user:s,count:i,reason:s}],damaged:*}"),
    (
        Method::Get,
        "/api/v1/version",
        "{version:s,you:{name:s,role:s,uid:i?},site:{cluster:s,capacity:n?,watch:i}}",
    ),
    (Method::Get, "/api/v1/openapi.json", "{openapi:s,info:*,paths:<*>,components:*}"),
    (Method::Get, "/api/v1/jobs", "{jobs:[JOB],cursor:i?}"),
    (
        Method::Get,
        "/api/v1/jobs/{id}",
        "JOB+{totals:<TOTAL>,metrics:[s],series_period:n,series_bytes:i,rhythms:[{direction:s,period:n,confidence:n}],series_damaged:b,has_trace:b}",
    ),
    (Method::Get, "/api/v1/jobs/{id}/series", "{metric:s,kind:s?,start:n,period:n,end:n,points:[[n]]}"),
    (
        Method::Get,
        "/api/v1/jobs/{id}/prediction",
        "{id:i,jobid:s,state:s,period:n?,confidence:n?,signal:*,next_phase:*,next_start:n?,next_end:n?}",
    ),
    (Method::Get, "/api/v1/jobs/{id}/predictions", "{predictions:[PREDICTION],quality:HITS}"),
    (Method::Get, "/api/v1/jobs/{id}/detection", "<*>?"),
    (Method::Get, "/api/v1/jobs/{id}/findings", "{id:i,findings:[<*>]}"),
    (
        Method::Get,
        "/api/v1/apps",
        "{apps:[{app:s,jobs:i,runs:i,scales:i,smallest:i,largest:i,last:n,written_bytes:n,read_bytes:n,period:n?}]}",
    ),
    (Method::Get, "/api/v1/apps/profiles", "{jobs:[JOB]}"),
    (Method::Get, "/api/v1/apps/categories", "{app:s,categories:[{category:s,jobs:i}]}"),
    (Method::Get, "/api/v1/apps/points", "<[[n]]>"),
    (Method::Get, "/api/v1/apps/models", "{app:s,runs:i,models:[MODEL]}"),
    (Method::Get, "/api/v1/apps/evaluate", "VALUE"),
    (Method::Get, "/api/v1/apps/curve", "{metric:s,points:[[n?]]}"),
    (Method::Get, "/api/v1/apps/expect", "{app:s,ranks:n,runs:i,expected:<VALUE?>}"),
    (Method::Get, "/api/v1/running", "{time:n,jobs:[BRIEF]}"),
    (
        Method::Get,
        "/api/v1/forecast",
        "{time:n,horizon:n,phases:[{job:i,jobid:s,start:n,end:n,bytes:n,confidence:n}],\
         conflicts:[{start:n,end:n,jobs:[s],rate:n,share:n?}]}",
    ),
    (Method::Get, "/api/v1/schedule", "{jobs:[{id:i,jobid:s,period:n?,set:i?,priority:n,stored:*}]}"),
    (
        Method::Get,
        "/api/v1/site",
        "{users:[MOVED],apps:[MOVED],days:[{day:n,jobs:n,written_bytes:n,read_bytes:n}]}",
    ),
    (
        Method::Get,
        "/api/v1/site/categories",
        "{days:n,step:i,categories:[{day:n,category:s,jobs:i,bytes:n}]}",
    ),
    (Method::Get, "/api/v1/site/series", "{time:n,capacity:n?,points:[[n]]}"),
    (Method::Get, "/api/v1/quality", "{days:n,quality:HITS,weeks:[{day:n,judged:i,hits:i}]}"),
    (
        Method::Get,
        "/api/v1/alarms",
        "{alarms:[ALARM],rules:[{name:s,metric:s,operation:s,value:n,for:n,site:b}],\
         thresholds:[{name:s,target:s,metric:s,operation:s,value:n}]}",
    ),
    (Method::Post, "/api/v1/alarms", "DONE"),
    (Method::Delete, "/api/v1/alarms", "DONE"),
    (Method::Post, "/api/v1/push", "{job:i,values:i,refused:i,success:b,reason?:s}"),
    (Method::Post, "/api/v1/write", "{values:i,refused:i,reason?:s}"),
];

/// The JSON Schema of an answer; `None` for those of the original, which docs/serve.md describes.
pub fn answer(method: Method, path: &str) -> Option<Value> {
    let (.., text) = ANSWERS.iter().find(|(of, at, _)| *of == method && *at == path)?;
    Some(schema(text))
}

/// The parts that are there more than once, for the components of the description.
pub fn named() -> Value {
    let all: Map<String, Value> =
        NAMED.iter().map(|(name, text)| ((*name).to_owned(), schema(text))).collect();
    Value::Object(all)
}

fn schema(text: &str) -> Value {
    match text.split_once('+') {
        // In one object, because neither part allows what the other has.
        Some((name, more)) => {
            let find = |(known, _): &&(&str, &str)| *known == name;
            let known = NAMED.iter().find(find).map_or("{}", |(_, text)| text);
            schema(&format!("{},{}", known.trim_end_matches('}'), &more[1..]))
        }
        None => {
            let mut rest = text;
            let found = read(&mut rest);
            debug_assert!(rest.is_empty(), "{text}: {rest}");
            found
        }
    }
}

/// One type from the beginning of the text.
fn read(text: &mut &str) -> Value {
    let first = text.chars().next().unwrap_or('*');
    let mut found = match first {
        '[' => {
            *text = &text[1..];
            let items = read(text);
            skip(text, "]");
            json!({"type": "array", "items": items})
        }
        '<' => {
            *text = &text[1..];
            let values = read(text);
            skip(text, ">");
            json!({"type": "object", "additionalProperties": values})
        }
        '{' => object(text),
        _ => {
            let end = text.find(|c: char| !c.is_ascii_alphabetic() && c != '*').unwrap_or(text.len());
            let word = &text[..end];
            *text = &text[end..];
            match word {
                "s" => json!({"type": "string"}),
                "n" => json!({"type": "number"}),
                "i" => json!({"type": "integer"}),
                "b" => json!({"type": "boolean"}),
                "*" => json!({}),
                name => json!({"$ref": format!("#/components/schemas/{name}")}),
            }
        }
    };
    if let Some(rest) = text.strip_prefix('?') {
        *text = rest;
        found = match found["type"].clone() {
            Value::String(kind) => {
                found["type"] = json!([kind, "null"]);
                found
            }
            _ => json!({"anyOf": [found, {"type": "null"}]}),
        };
    }
    found
}

fn object(text: &mut &str) -> Value {
    skip(text, "{");
    let (mut properties, mut required) = (Map::new(), Vec::new());
    while let Some((name, rest)) = text.split_once(':').filter(|_| !text.starts_with('}')) {
        let optional = name.ends_with('?');
        let name = name.trim_start_matches(',').trim_end_matches('?').to_owned();
        *text = rest;
        properties.insert(name.clone(), read(text));
        if !optional {
            required.push(name);
        }
    }
    skip(text, "}");
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn skip(text: &mut &str, what: &str) {
    debug_assert!(text.starts_with(what), "expected {what} at {text}");
    *text = text.strip_prefix(what).unwrap_or(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes::ROUTES;

    #[test]
    fn shorthand_becomes_a_schema() {
        let found = schema("{a:[n?],b?:<JOB>}");
        assert_eq!(found["properties"]["a"]["items"]["type"], json!(["number", "null"]));
        assert_eq!(found["required"], json!(["a"]));
        assert_eq!(
            found["properties"]["b"]["additionalProperties"]["$ref"],
            json!("#/components/schemas/JOB")
        );
        let job = answer(Method::Get, "/api/v1/jobs/{id}").unwrap();
        assert!(job["properties"]["jobid"].is_object() && job["properties"]["totals"].is_object());
    }

    /// All of ours that are JSON.
    #[test]
    fn every_answer_is_described() {
        for route in ROUTES.iter().filter(|route| route.path.starts_with("/api/v1")) {
            let other = ["/api/v1/events", "/api/v1/jobs/{id}/report.html"].contains(&route.path);
            assert!(other || answer(route.method, route.path).is_some(), "{route:?}");
        }
        for (method, path, _) in ANSWERS {
            assert!(ROUTES.iter().any(|route| route.path == *path && route.method == *method), "{path}");
        }
    }
}

//! The description of the interface, made from the table of routes.

use super::context::{Answer, Context, Result};
use super::routes::{Method, Needs, ROUTES, Route};
use serde_json::{Map, Value, json};

/// `/api/v1/openapi.json`.
pub fn document(_: &Context) -> Result {
    Ok(Answer::json(&description()))
}

/// The whole of it.
pub fn description() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let method = match route.method {
            Method::Get => "get",
            Method::Post | Method::Change => "post",
            Method::Delete => "delete",
        };
        let path = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        path[method] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ftio serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Jobs, their I/O, its period and its models. See docs/serve.md.",
            "license": {"name": "BSD-3-Clause"},
        },
        "paths": paths,
        "components": {
            "schemas": super::schemas::named(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(route: &Route) -> Value {
    let mut parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "integer"}}))
        .collect();
    parameters.extend(route.parameters.split_whitespace().map(|name| {
        let required = !name.ends_with('?');
        let name = name.trim_end_matches('?');
        json!({"name": name, "in": "query", "required": required, "schema": {"type": "string"}})
    }));
    let kind = match route.path {
        "/" | "/is_admire_proxy.html" => "text/html",
        "/metrics" | "/healthz" => "text/plain",
        "/api/v1/events" => "text/event-stream",
        "/profiles/extrap" | "/model/download" | "/queue/model" => "application/jsonl",
        path if path.ends_with(".html") => "text/html",
        _ => "application/json",
    };
    let mut content = Map::new();
    let schema = super::schemas::answer(route.method, route.path);
    content.insert(kind.into(), schema.map_or_else(|| json!({}), |schema| json!({"schema": schema})));
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "responses": {
            "200": {"description": "The answer", "content": content},
            "default": {
                "description": "What is wrong",
                "content": {"application/json": {"schema": {"type": "object", "required": ["error"]}}},
            },
        },
    });
    if route.needs != Needs::Nothing {
        operation["security"] = json!([{"token": []}, {}]);
    }
    operation
}

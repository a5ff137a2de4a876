//! What the original needs for its tree of proxies. There is none here: every node pushes to one server.

use crate::config::Listen;
use crate::http::context::{Answer, Context, Fault, Result};
use serde_json::{Value, json};

fn own(context: &Context) -> String {
    let address = context.service.config.listen.iter().find_map(|listen| match listen {
        Listen::Tcp(address) => Some(address.to_string()),
        Listen::Unix(_) => None,
    });
    address.unwrap_or_else(|| "localhost".into())
}

/// `/join`: only servers that the configuration names are asked, so that nobody makes us ask others.
pub fn join(context: &Context) -> Result {
    let to = context.need("to")?;
    match context
        .service
        .config
        .scrape
        .iter()
        .any(|known| known.trim_start_matches("http://").starts_with(&to))
    {
        true => Ok(Answer::done(format!("{to} is asked already"))),
        false => Err(Fault::new(403, "only servers that were given with --scrape are asked")),
    }
}

/// `/join/list`.
pub fn joined(context: &Context) -> Result {
    let known = context.service.config.scrape.iter();
    let all: Vec<Value> = known
        .map(|url| json!({"target_url": url, "ttype": "Prometheus", "period": 10_000, "last_scrape": 0}))
        .collect();
    Ok(Answer::json(&all))
}

/// What changes nothing.
pub fn nothing(_: &Context) -> Result {
    Ok(Answer::done("there is no tree: nothing to do"))
}

/// `/pivot`.
pub fn pivot(context: &Context) -> Result {
    Ok(Answer::done(own(context)))
}

/// `/topo`.
pub fn topology(context: &Context) -> Result {
    Ok(Answer::json(&[[own(context), own(context)]]))
}

/// `/period`.
pub fn period(_: &Context) -> Result {
    Ok(Answer::done("1000"))
}

/// `/is_admire_proxy.html`.
pub fn is_proxy(_: &Context) -> Result {
    Ok(Answer::text("text/html; charset=utf-8", "<!DOCTYPE html>\n<title>yes</title>\nyes\n"))
}

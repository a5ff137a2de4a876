//! `/alarms`: thresholds, and which of them are crossed.

use crate::alarms::SITE;
use crate::http::context::{Answer, Context, Result, absent, bad};
use crate::job::{LONGEST_NAME, clean};
use crate::store::RuleRow;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn operator(operation: &str, value: f64) -> Value {
    let name = match operation {
        ">" => "More",
        "<" => "Less",
        _ => "Equal",
    };
    json!({name: value})
}

/// The thresholds of jobs that one may see, and of all jobs together.
pub fn own_rules(context: &Context) -> Result<Vec<RuleRow>> {
    let viewer = context.viewer();
    let mut own = Vec::new();
    for rule in context.service.reader().rules()? {
        let sees = viewer.all || rule.target == SITE;
        if sees || context.service.find(&rule.target, &viewer)?.is_some() {
            own.push(rule);
        }
    }
    Ok(own)
}

/// All thresholds and their values now, by job.
fn thresholds(context: &Context) -> Result<BTreeMap<String, Vec<Value>>> {
    let viewer = context.viewer();
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for rule in own_rules(context)? {
        let totals = match rule.target.as_str() {
            SITE => context.service.main(&viewer).1,
            jobid => match context.service.find(jobid, &viewer)? {
                Some(row) => context.service.totals(row.id)?,
                None => Default::default(),
            },
        };
        let current = totals.get(&rule.metric).map_or(0.0, |total| total.value);
        let active = match rule.operation.as_str() {
            ">" => current > rule.value,
            "<" => current < rule.value,
            _ => current == rule.value,
        };
        let pretty =
            format!("{} : {} {} {} (current {current})", rule.name, rule.metric, rule.operation, rule.value);
        all.entry(rule.target.clone()).or_default().push(json!({
            "name": rule.name,
            "metric": rule.metric,
            "operator": operator(&rule.operation, rule.value),
            "current": current,
            "active": active,
            "pretty": pretty,
        }));
    }
    Ok(all)
}

/// `/alarms`: only those that are crossed.
pub fn raised(context: &Context) -> Result {
    let mut all = thresholds(context)?;
    all.values_mut().for_each(|alarms| alarms.retain(|alarm| alarm["active"] == true));
    all.retain(|_, alarms| !alarms.is_empty());
    Ok(Answer::json(&all))
}

/// `/alarms/list`.
pub fn all(context: &Context) -> Result {
    Ok(Answer::json(&thresholds(context)?))
}

/// `/alarms/add`.
pub fn add(context: &Context) -> Result {
    let operation = context.need("operation")?;
    if !["<", ">", "="].contains(&operation.as_str()) {
        return Err(bad("operation: expected <, > or ="));
    }
    let rule = RuleRow {
        name: clean(&context.need("name")?, LONGEST_NAME),
        target: clean(&context.need("target")?, LONGEST_NAME),
        metric: clean(&context.need("metric")?, LONGEST_NAME),
        operation,
        value: context.need_number("value")?,
    };
    context.service.writer().set_rule(&rule)?;
    Ok(Answer::done(format!("alarm {} set on {}", rule.name, rule.target)))
}

/// `/alarms/del`.
pub fn remove(context: &Context) -> Result {
    let target =
        context.get("target").or_else(|| context.get("targetjob")).ok_or_else(|| bad("target: missing"))?;
    let name = context.need("name")?;
    match context.service.writer().remove_rule(&target, &name)? {
        true => Ok(Answer::done(format!("alarm {name} removed from {target}"))),
        false => Err(absent("no such alarm")),
    }
}

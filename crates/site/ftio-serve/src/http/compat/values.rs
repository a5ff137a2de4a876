//! `/set`, `/accumulate`, `/push`: single values, of a job or of the server itself.

use crate::http::context::{Answer, Context, Fault, Result, bad};
use crate::ingest::push::{PushKind, apply, job};
use crate::job::{JobDesc, Origin};
use crate::service::now;
use crate::viewer::Role;

/// Values that name no job are those of this one.
const OWN: &str = "Node: server";

fn put(context: &Context, kind: PushKind, value: f64) -> Result<()> {
    let key = context.need("key")?;
    let jobid = context.jobid().unwrap_or_else(|| OWN.to_owned());
    let service = &context.service;
    let owner = context.who.uid;
    let desc = JobDesc { jobid: jobid.clone(), ..JobDesc::default() };
    let origin = if jobid == OWN { Origin::Node } else { Origin::Push };
    if context.who.role == Role::Agent && origin != Origin::Node {
        return Err(Fault::new(403, "an agent tells of its node only"));
    }
    let id = job(service, desc, origin, owner, None)?;
    let start = service.running().jobs.get(&id).map_or_else(now, |job| job.row.start);
    let doc = context.get("doc").unwrap_or_default();
    let values = std::iter::once((key.as_str(), kind, value));
    let applied = apply(service, id, now() - start, values, |_| doc.clone())?.settled(service)?;
    if applied.taken == 0 {
        Err(bad(format!("{key}: not taken: no number, or of another kind")))
    } else {
        Ok(())
    }
}

/// `/set`.
pub fn set(context: &Context) -> Result {
    put(context, PushKind::Gauge, context.need_number("value")?)?;
    Ok(Answer::done("set"))
}

/// `/accumulate`.
pub fn accumulate(context: &Context) -> Result {
    put(context, PushKind::Increment, context.need_number("value")?)?;
    Ok(Answer::done("accumulate"))
}

/// `/push`: a counter at 0.
pub fn declare(context: &Context) -> Result {
    put(context, PushKind::Increment, 0.0)?;
    Ok(Answer::done("push"))
}

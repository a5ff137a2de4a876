//! The endpoints of the original metric proxy, with its names and shapes. Times are seconds; `job` and
//! `jobid` mean the same everywhere; what changes something needs POST.

pub mod alarms;
pub mod ftio;
pub mod jobs;
pub mod models;
pub mod profiles;
pub mod traces;
pub mod tree;
pub mod values;

use crate::job::{Kind, Total, Totals};
use serde_json::{Value, json};

/// A value as the original has it.
pub fn ctype(total: &Total) -> Value {
    match total.kind {
        Kind::Counter => json!({"Counter": {"ts": (total.time * 1e6) as u64, "value": total.value}}),
        Kind::Gauge => {
            let [min, max, sum, hits] = total.seen.unwrap_or([total.value, total.value, total.value, 1.0]);
            json!({"Gauge": {"min": min, "max": max, "hits": hits, "total": sum}})
        }
    }
}

/// The counters of a profile; those that are 0 are left out.
pub fn counters(totals: &Totals) -> Value {
    let shown = totals.iter().filter(|(_, total)| total.value != 0.0);
    shown.map(|(name, total)| json!({"name": name, "doc": total.doc, "ctype": ctype(total)})).collect()
}

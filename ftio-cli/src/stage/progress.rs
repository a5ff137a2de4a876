//! A line at the bottom of the terminal: what is being copied, and when the next phase is expected.

use crate::terminal::status;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, percent, seconds};
use io_stage::plan::{Permission, Planner, Reason};
use std::io::IsTerminal;

/// The line, if standard error is a terminal.
#[derive(Debug)]
pub struct Progress {
    wanted: bool,
    shown: bool,
}

impl Progress {
    pub fn new() -> Self {
        Progress { wanted: std::io::stderr().is_terminal(), shown: false }
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Make room for a line of output.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            status::clear();
        }
    }

    pub fn show(&mut self, planner: &Planner, copied: u64, now: f64) {
        if self.wanted {
            status::show(&text(planner, copied, now));
            self.shown = true;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn text(planner: &Planner, copied: u64, now: f64) -> String {
    let (used, capacity) = planner.buffer();
    let full = capacity.map_or(String::new(), |capacity| {
        format!(", buffer {}", percent(used as f64 / (capacity as f64).max(1.0)))
    });
    let next = match planner.forecast().start.filter(|start| *start > now) {
        Some(start) => format!(", next phase in {}", seconds((start - now).round())),
        None => String::new(),
    };
    let doing = match planner.copying() {
        Some((copy, rests)) => {
            let name = copy.path.file_name().unwrap_or_default().to_string_lossy();
            let share = percent(copied as f64 / (copy.bytes as f64).max(1.0));
            let state = if rests { "suspended" } else { "copying" };
            format!("{state} {}: {share} of {}", printable(&name), bytes(copy.bytes as f64))
        }
        None => match planner.permission(now) {
            Permission::Until(..) => "nothing to copy".into(),
            Permission::Denied(Reason::Phase) => "waiting: a phase goes on".into(),
            Permission::Denied(Reason::NoPeriod) => "waiting: no period is known yet".into(),
            Permission::Denied(_) => "waiting".into(),
        },
    };
    format!("{doing}{full}{next}")
}

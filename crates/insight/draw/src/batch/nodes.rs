//! A simulation as a picture: nodes over time with the jobs as boxes, and the sum of their bandwidths.

use crate::canvas::axis::{Axis, Quantity};
use crate::canvas::curve::Curve;
use crate::canvas::frame::{Frame, Look, width};
use crate::canvas::sheet::{Anchor, Ink, Rectangle, Sheet};
use batch_sim::{Job, Outcome, Policy, bandwidth};

const WIDTH: f64 = 1000.0;
const NODES_HEIGHT: f64 = 380.0;
const BANDWIDTH_HEIGHT: f64 = 150.0;
const POINTS: usize = 3000;
/// Boxes of jobs that lie beside each other have different colours.
const INKS: [Ink; 5] = [Ink::Sampled, Ink::Phase, Ink::Next, Ink::Required, Ink::Exact];

/// Days, hours or seconds, whichever suits this many seconds; and how many seconds that is.
fn time_unit(span: f64) -> (Quantity, f64) {
    let (unit, length) = match span {
        span if span > 3.0 * 86_400.0 => ("d", 86_400.0),
        span if span > 3.0 * 3600.0 => ("h", 3600.0),
        _ => ("s", 1.0),
    };
    (Quantity { name: "time since the first submission", unit }, length)
}

const NODES: Quantity = Quantity { name: "nodes", unit: "" };
const BANDWIDTH: Quantity = Quantity { name: "bandwidth", unit: "B/s" };

/// A job on neighbouring nodes for some time.
struct Placed {
    job: usize,
    from: f64,
    to: f64,
    first: u32,
    count: u32,
}

/// Draw it.
pub fn sheet(jobs: &[Job], outcome: &Outcome, nodes: u32, policy: Policy, balance: bool) -> Sheet {
    let first = outcome.jobs.iter().map(|run| run.submit).fold(f64::INFINITY, f64::min);
    let last = outcome.jobs.iter().map(|run| run.end).fold(f64::NEG_INFINITY, f64::max);
    let top = 44.0;
    let height = top + NODES_HEIGHT + 70.0 + BANDWIDTH_HEIGHT + 54.0;
    let with = if balance { ", I/O in balance" } else { "" };
    let title = format!("{} jobs on {nodes} nodes under {}{with}", jobs.len(), policy.name());
    let mut sheet = Sheet::new(&title, WIDTH, height);
    let (name, unit) = time_unit(last - first);
    let time = Axis::linear(0.0, (last - first) / unit).widened();
    let place = |top: f64, height: f64| Rectangle { left: 84.0, top, width: WIDTH - 110.0, height };
    let upper = Frame { place: place(top, NODES_HEIGHT), x: time, y: Axis::linear(0.0, f64::from(nodes)) };
    upper.axes(name, NODES, &mut sheet);
    upper.heading(&title, &mut sheet);
    upper.clipped(&mut sheet, |sheet| {
        for box_ in placed(outcome) {
            draw(&box_, jobs, |time| (time - first) / unit, &upper, sheet);
        }
    });
    let mut curve = Curve::default();
    for (time, value) in bandwidth(jobs, outcome) {
        curve.x.push((time - first) / unit);
        curve.y.push(value);
    }
    let highest = curve.y.iter().copied().fold(0.0, f64::max);
    let lower = Frame {
        place: place(top + NODES_HEIGHT + 70.0, BANDWIDTH_HEIGHT),
        x: time,
        y: Axis::linear(0.0, highest).widened(),
    };
    lower.axes(name, BANDWIDTH, &mut sheet);
    let curve = curve.thinned(POINTS);
    lower.clipped(&mut sheet, |sheet| {
        lower.filled(&curve, Ink::Sampled, 0.35, sheet);
        sheet.line(lower.steps(&curve), Ink::Sampled, 1.2);
    });
    lower.legend(&[(Ink::Sampled, "sum of the running jobs' bandwidths", Look::Area)], &mut sheet);
    sheet
}

fn draw(placed: &Placed, jobs: &[Job], at: impl Fn(f64) -> f64, frame: &Frame, sheet: &mut Sheet) {
    let (left, bottom) = frame.at(at(placed.from), f64::from(placed.first));
    let (right, top) = frame.at(at(placed.to), f64::from(placed.first + placed.count));
    let ink = INKS[placed.job % INKS.len()];
    sheet.band(left, right, top, bottom, ink, 0.75);
    // A thin edge, where there is room for one.
    if right - left > 3.0 && bottom - top > 3.0 {
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        sheet.line(corners, Ink::Text, 0.4);
    }
    let name = jobs[placed.job].id.to_string();
    if right - left > width(&name, 10.0) + 4.0 && bottom - top > 12.0 {
        let middle = ((left + right) / 2.0, (top + bottom) / 2.0 + 3.5);
        sheet.text(middle, name, 10.0, Anchor::Middle, Ink::Text);
    }
}

/// Which nodes each job has: always the lowest that are free, and the highest of its own are given up first.
fn placed(outcome: &Outcome) -> Vec<Placed> {
    let mut steps: Vec<(f64, usize, u32)> = Vec::new();
    for (job, run) in outcome.jobs.iter().enumerate() {
        steps.extend(run.stretches().into_iter().map(|(from, _, nodes)| (from, job, nodes)));
        steps.push((run.end, job, 0));
    }
    let mut owned: Vec<Vec<u32>> = vec![Vec::new(); outcome.jobs.len()];
    let mut since: Vec<f64> = vec![0.0; outcome.jobs.len()];
    let mut free = std::collections::BTreeSet::new();
    let mut fresh = 0;
    let mut out = Vec::new();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    for same in steps.chunk_by(|a, b| a.0 == b.0) {
        // What becomes free at a moment can be used at that moment.
        for (time, job, nodes) in same
            .iter()
            .filter(|(_, job, nodes)| (*nodes as usize) < owned[*job].len())
            .copied()
            .collect::<Vec<_>>()
        {
            out.extend(boxes(job, since[job], time, &owned[job]));
            since[job] = time;
            free.extend(owned[job].split_off(nodes as usize));
        }
        for (time, job, nodes) in same {
            if (*nodes as usize) <= owned[*job].len() {
                continue;
            }
            out.extend(boxes(*job, since[*job], *time, &owned[*job]));
            since[*job] = *time;
            while owned[*job].len() < *nodes as usize {
                let node = free.pop_first().unwrap_or_else(|| {
                    fresh += 1;
                    fresh - 1
                });
                owned[*job].push(node);
            }
            owned[*job].sort_unstable();
        }
    }
    out
}

fn boxes(job: usize, from: f64, to: f64, nodes: &[u32]) -> Vec<Placed> {
    if to <= from {
        return Vec::new();
    }
    let runs = nodes.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| Placed { job, from, to, first: run[0], count: run.len() as u32 }).collect()
}

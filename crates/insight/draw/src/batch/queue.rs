//! How many jobs do I/O or wait for it, over time.

use crate::canvas::axis::{Axis, Quantity};
use crate::canvas::curve::Curve;
use crate::canvas::frame::{Frame, Look};
use crate::canvas::sheet::{Ink, Rectangle, Sheet};
use crate::units::counted;
use batch_sim::queue::Course;

/// A simulated course, and the mean in the long run.
pub fn sheet(course: &Course, jobs: usize, mean: f64) -> Sheet {
    let title = format!("I/O queue of {}", counted(jobs as u64, "job"));
    let mut sheet = Sheet::new(&title, 1000.0, 340.0);
    let highest = course.high.iter().copied().fold(1.0, f64::max);
    let last = course.time.last().copied().unwrap_or(1.0);
    let frame = Frame {
        place: Rectangle { left: 84.0, top: 56.0, width: 890.0, height: 230.0 },
        x: Axis::linear(0.0, last).widened(),
        y: Axis::linear(0.0, highest * 1.05),
    };
    frame.axes(
        Quantity { name: "time", unit: "s" },
        Quantity { name: "jobs in the queue", unit: "" },
        &mut sheet,
    );
    frame.heading(&title, &mut sheet);
    frame.clipped(&mut sheet, |sheet| {
        let curve = |values: &[f64]| frame.steps(&Curve { x: course.time.clone(), y: values.to_vec() });
        let points = curve(&course.low).into_iter().rev().chain(curve(&course.high)).collect();
        sheet.area(points, Ink::Sampled, 0.25);
        sheet.line(curve(&course.mean), Ink::Sampled, 1.8);
        sheet.line(vec![frame.at(0.0, mean), frame.at(last, mean)], Ink::Dominant, 1.5);
    });
    let entries = [
        (Ink::Sampled, "95 % of the simulations", Look::Area),
        (Ink::Sampled, "their mean", Look::Line),
        (Ink::Dominant, "mean in the long run", Look::Line),
    ];
    frame.legend(&entries, &mut sheet);
    sheet
}

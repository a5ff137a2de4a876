//! Models and rankings as tables, metric by metric.

use crate::terminal::style::Style;
use crate::terminal::table;
use crate::terminal::text::printable;
use crate::terminal::units::counted;
use draw::models::formula::{amount, formula, function, number};
use draw::models::is_zero;
use perf_model::{Experiment, Model, Models, Note, Prediction, Ranked, Reach};
use std::fmt::Write;

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub name: &'a str,
    /// Where the models are evaluated, and what comes out: a list for each model.
    pub points: &'a [Vec<f64>],
    pub predictions: &'a [Vec<Prediction>],
    /// The largest measured value of each parameter.
    pub largest: &'a [f64],
    pub level: f64,
    /// Also what is 0 everywhere.
    pub all: bool,
}

/// A formula that is off by this share of what to expect is worth a remark.
const WORTH_SAYING: f64 = 0.1;
/// An interval whose ends are no further apart than this factor leaves nothing to settle.
const EXACT: f64 = 1.1;

/// All models.
pub fn table(experiment: &Experiment, models: &Models, shown: &Shown<'_>, style: Style) -> String {
    let listed: Vec<(&Model, &[Prediction])> = models
        .models
        .iter()
        .zip(shown.predictions.iter().map(Vec::as_slice))
        .filter(|(model, _)| shown.all || !is_zero(model))
        .collect();
    let mut text = head(experiment, models, listed.len(), shown, style);
    for metric in metrics(listed.iter().map(|(model, _)| model.metric.as_str())) {
        let mut columns = vec![metric.to_owned(), "model".to_owned(), "error".to_owned()];
        for point in shown.points {
            columns.push(format!("at {}", place(&models.parameters, point)));
            columns.push(format!("{:.0} % of runs", 100.0 * shown.level));
        }
        columns.push(String::new());
        let rows = listed.iter().filter(|(model, _)| model.metric == metric);
        let rows = rows.map(|(model, told)| row(model, told, &models.parameters)).collect::<Vec<_>>();
        text.push('\n');
        aligned(columns, rows, style, &mut text);
    }
    foot(&listed, models, shown, style, &mut text);
    text
}

fn metrics<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn head(experiment: &Experiment, models: &Models, listed: usize, shown: &Shown<'_>, style: Style) -> String {
    let range = |i: usize| {
        let values = || experiment.coordinates.iter().filter_map(move |point| point.get(i)).copied();
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let name = &models.parameters[i];
        if low < high {
            format!("{name} {} to {}", number(low), number(high))
        } else {
            format!("{name} {}", number(low))
        }
    };
    let ranges: Vec<String> = (0..models.parameters.len()).map(range).collect();
    format!(
        "{}\n{}, {}, {}\n",
        style.bold(shown.name),
        ranges.join(", "),
        counted(experiment.coordinates.len() as u64, "scale"),
        counted(listed as u64, "model")
    )
}

fn row(model: &Model, predictions: &[Prediction], parameters: &[String]) -> Vec<String> {
    let error = model.leave_one_out.map_or_else(|| "?".into(), |costs| format!("{:.1} %", costs.smape));
    let mut row = vec![printable(&model.callpath).into_owned(), function(&model.function, parameters), error];
    for prediction in predictions {
        row.push(amount(prediction.value, &model.metric));
        row.push(prediction.interval.map_or_else(
            || "unknown".into(),
            |interval| {
                format!("{} to {}", amount(interval.low, &model.metric), amount(interval.high, &model.metric))
            },
        ));
    }
    row.push(remarks(model, parameters, predictions));
    row
}

/// What the reader should know of this model in particular.
fn remarks(model: &Model, parameters: &[String], predictions: &[Prediction]) -> String {
    let mut remarks = Vec::new();
    if let Some(other) = model.runner_up.as_ref().filter(|other| !other.distinguishable) {
        remarks.push(format!("or {}", formula(&other.formula, parameters)));
    }
    let special = |note: &&Note| !matches!(note, Note::FewPoints | Note::Ambiguous);
    remarks.extend(model.notes.iter().filter(special).map(|note| note.explanation().to_owned()));
    let differs = |one: &&Prediction| (one.value / one.formula_value - 1.0).abs() > WORTH_SAYING;
    let apart: Vec<String> = predictions
        .iter()
        .filter(differs)
        .map(|one| {
            format!("{} at {}", amount(one.formula_value, &model.metric), place(parameters, &one.point))
        })
        .collect();
    if !apart.is_empty() {
        remarks.push(format!("the formula alone: {}", apart.join(", ")));
    }
    if predictions.iter().any(|one| one.negative) {
        remarks.push("negative there".into());
    }
    remarks.join("; ")
}

fn foot(
    listed: &[(&Model, &[Prediction])],
    models: &Models,
    shown: &Shown<'_>,
    style: Style,
    text: &mut String,
) {
    let zero = models.models.len() - listed.len();
    let mut lines = Vec::new();
    for (index, point) in shown.points.iter().enumerate() {
        let inexact = |prediction: &Prediction| {
            prediction.interval.is_none_or(|interval| interval.high > EXACT * interval.low)
        };
        let doubtful = listed.iter().filter_map(|(_, told)| told.get(index)).any(inexact);
        lines.extend(distance(&models.parameters, point, shown.largest, doubtful));
    }
    let few = listed.iter().filter(|(model, _)| model.has(Note::FewPoints)).count();
    if few > 0 {
        let which = if few == listed.len() { "All models".into() } else { counted(few as u64, "model") };
        lines.push(format!("{which} from fewer than five scales: the exponents mean little."));
    }
    if zero > 0 {
        let are = if zero == 1 { "is" } else { "are" };
        lines.push(format!("{} {are} 0 at every scale: see --all.", counted(zero as u64, "more metric")));
    }
    if !lines.is_empty() {
        let _ = writeln!(text, "\n{}", style.dim(&lines.join("\n")));
    }
}

/// How far out a point is, how far off values may be there, and what a further run would change.
fn distance(parameters: &[String], point: &[f64], largest: &[f64], doubtful: bool) -> Option<String> {
    /// A run at this share of the scale is the best that can be measured short of it.
    const CLOSER: f64 = 2.0;
    let times = point.iter().zip(largest).map(|(at, largest)| at / largest).fold(0.0, f64::max);
    if !(times.is_finite() && times > CLOSER) {
        return None;
    }
    let here = Reach::at(times);
    let mut text = format!("{} is {} times ", place(parameters, point), factor(times));
    if times > Reach::CHECKED {
        text += "beyond the largest measured scale: no forecast was ever checked so far out.";
    } else {
        text += "the largest measured scale";
        if doubtful {
            text += ": expect to be off by a factor of ";
            let _ = write!(text, "{}, seldom by more than {}", factor(here.off), factor(here.seldom));
        }
        text.push('.');
    }
    if let ([at], true) = (point, doubtful) {
        let then = Reach::at(CLOSER);
        let (off, seldom) = (factor(then.off), factor(then.seldom));
        let _ = write!(text, " After a run at {}: {off}, seldom more than {seldom}.", number(at / CLOSER));
    }
    Some(text)
}

/// Two digits are enough to say how far off something may be.
fn factor(value: f64) -> String {
    match value {
        ..1.2 => format!("{value:.2}"),
        ..9.95 if value.fract() != 0.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// `Processes = 4096`.
fn place(parameters: &[String], point: &[f64]) -> String {
    let one = |(name, value): (&String, &f64)| format!("{name} = {}", number(*value));
    parameters.iter().zip(point).map(one).collect::<Vec<_>>().join(", ")
}

/// Which callpath takes most at a point.
pub fn ranking(
    ranked: &[Ranked],
    parameters: &[String],
    point: &[f64],
    largest: &[f64],
    all: bool,
    style: Style,
) -> String {
    let mut text = style.bold(&format!("At {}", place(parameters, point))) + "\n";
    let headings: Vec<String> = ranked.iter().map(heading).collect();
    for name in metrics(headings.iter().map(String::as_str)) {
        let of_heading = ranked.iter().zip(&headings).filter(|(_, heading)| *heading == name);
        let listed: Vec<&Ranked> =
            of_heading.map(|(one, _)| one).filter(|one| all || one.value != 0.0).collect();
        // Bandwidths and maxima have no shares.
        let shares = listed.iter().any(|one| one.share.is_some());
        let row = |one: &&Ranked| {
            let share = one.share.map(|share| format!("{:.1} %", 100.0 * share)).unwrap_or_default();
            let mut row = vec![
                format!("{:>3}  {}", one.rank, printable(&one.callpath)),
                amount(one.value, &one.metric),
            ];
            row.extend(shares.then(|| [amount(one.own, &one.metric), share]).into_iter().flatten());
            row.push(one.growth.map(|growth| format!("× {}", number(growth))).unwrap_or_default());
            row
        };
        let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
        if rows.is_empty() {
            continue;
        }
        let middle = if shares { &["itself", "share"][..] } else { &[] };
        let columns = [&[name, "predicted"], middle, &["since the largest measured"]].concat();
        let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
        text.push('\n');
        aligned(columns, rows, style, &mut text);
    }
    if let Some(line) = distance(parameters, point, largest, false) {
        let _ = writeln!(text, "\n{}", style.dim(&line));
    }
    text
}

/// The metric, and what of it is counted: phases and operations are both "Hits".
fn heading(one: &Ranked) -> String {
    one.counts().map_or_else(|| one.metric.clone(), |counts| format!("{}: {counts}", one.metric))
}

/// Columns below their names.
fn aligned(columns: Vec<String>, rows: Vec<Vec<String>>, style: Style, text: &mut String) {
    let last = columns.len() - 1;
    let name = columns.first().cloned().unwrap_or_default();
    // Formulas and what stands at the ends of a row read from the left, amounts from the right.
    let amounts = if columns.get(1).is_some_and(|second| second == "predicted") { 1 } else { 2 };
    let rows: Vec<Vec<String>> = std::iter::once(columns).chain(rows).collect();
    let lines = table::lines(&rows, 2, |column| column < amounts || column == last);
    let heading = lines.first().and_then(|line| line.strip_prefix(&name)).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}{}", style.bold(&name), style.dim(heading));
    for line in lines.iter().skip(1) {
        let _ = writeln!(text, "{line}");
    }
}

//! What an archive holds beside what the paper has found on Blue Waters in 2019.

use mosaic::Direction;
use mosaic::archive::Summary;
use mosaic::archive::view::{Table2, Table3, View};

/// Shares of applications and of all runs, in the archive and, where it has them, in the paper.
#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub shares: [f64; 2],
    pub paper: [&'static str; 2],
    /// A part of the row above.
    pub is_part: bool,
}

/// Rows about one question.
#[derive(Debug)]
pub struct Section {
    pub title: String,
    pub rows: Vec<Row>,
}

type Share<T> = fn(&T) -> f64;

/// Tables II and III, Figure 4 and section IV-D of the paper.
pub fn sections(summary: &Summary) -> Vec<Section> {
    let times = Direction::ALL.map(|direction| {
        let title = format!("When {}s happen (Table III)", direction.name());
        Section { title, rows: times(summary, direction) }
    });
    let periods = Direction::ALL.into_iter().flat_map(|direction| periods(summary, direction)).collect();
    let rest = [
        ("Periods (Table II)", periods),
        ("Metadata (Figure 4)", metadata(summary)),
        ("Of the first, share of the second (IV-D)", pairs(summary)),
    ];
    let rest = rest.map(|(title, rows)| Section { title: title.to_owned(), rows });
    times.into_iter().chain(rest).collect()
}

fn views(summary: &Summary) -> [&View; 2] {
    [&summary.unique, &summary.all_runs]
}

fn times(summary: &Summary, direction: Direction) -> Vec<Row> {
    let names_and_papers = match direction {
        Direction::Read => [
            ("insignificant", ["85 %", "27 %"]),
            ("on_start", ["9 %", "38 %"]),
            ("steady", ["2 %", "30 %"]),
            ("otherwise", ["4 %", "5 %"]),
        ],
        Direction::Write => [
            ("insignificant", ["87 %", "47 %"]),
            ("on_end", ["8 %", "14 %"]),
            ("steady", ["3 %", "37 %"]),
            ("otherwise", ["2 %", "2 %"]),
        ],
    };
    let shares = |t: &Table3| [t.insignificant, t.listed(direction), t.steady, t.otherwise(direction)];
    let [unique, all_runs] = views(summary).map(|view| shares(view.table_3.get(direction)));
    let shares = unique.into_iter().zip(all_runs);
    let row = |((name, paper), (unique, all_runs))| Row {
        name: format!("{}_{name}", direction.name()),
        shares: [unique, all_runs],
        paper,
        is_part: false,
    };
    names_and_papers.into_iter().zip(shares).map(row).collect()
}

fn periods(summary: &Summary, direction: Direction) -> Vec<Row> {
    let name = format!("{}_periodic", direction.name());
    let paper = if direction == Direction::Write { ["2 %", "8 %"] } else { ["", "< 2 %"] };
    let parts: [(&str, Share<Table2>); 4] = [
        ("second", |t| t.second),
        ("minute", |t| t.minute),
        ("hour", |t| t.hour),
        ("day_or_more", |t| t.day_or_more),
    ];
    let shares = |of: Share<Table2>| views(summary).map(|view| of(view.table_2.get(direction)));
    let whole = Row { name: name.clone(), shares: shares(|t| t.periodic), paper, is_part: false };
    let part = |(part, of)| Row {
        name: format!("{name}_{part}"),
        shares: shares(of),
        paper: ["", ""],
        is_part: true,
    };
    std::iter::once(whole).chain(parts.map(part)).collect()
}

fn metadata(summary: &Summary) -> Vec<Row> {
    let kinds = [
        ("high_spike", "60 %"),
        ("multiple_spikes", "45.9 %"),
        ("high_density", "13 %"),
        ("insignificant_load", ""),
    ];
    let row = |(kind, paper)| {
        let name = format!("metadata_{kind}");
        let share = |view: &View| {
            let count = view.categories.get(name.as_str()).copied().unwrap_or(0);
            if view.count == 0 { 0.0 } else { count as f64 / view.count as f64 }
        };
        Row { shares: views(summary).map(share), name, paper: ["", paper], is_part: false }
    };
    kinds.map(row).into()
}

fn pairs(summary: &Summary) -> Vec<Row> {
    let pairs = [
        ("read_insignificant", "write_insignificant", "95 %"),
        ("read_on_start", "write_on_end", "66 %"),
        ("write_periodic", "write_periodic_low_busy_time", "96 %"),
    ];
    let row = |(given, other, paper)| {
        let [unique, all_runs] = views(summary).map(|view| conditional(view, given, other));
        let name = format!("{given}: {}", other.trim_start_matches("write_periodic_"));
        Some(Row { name, shares: [unique?, all_runs?], paper: [paper, ""], is_part: false })
    };
    pairs.into_iter().filter_map(row).collect()
}

/// Of those of one category, the share that is of another; `None` if there are none of the first.
fn conditional(view: &View, given: &str, other: &str) -> Option<f64> {
    let place = |name: &str| view.jaccard.categories.iter().position(|category| *category == name);
    let row = view.conditional.get(place(given)?)?;
    Some(place(other).and_then(|place| row.get(place)).copied().unwrap_or(0.0))
}

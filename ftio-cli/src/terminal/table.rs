//! Rows of cells as columns, each as wide as its widest cell.

use crate::terminal::width::width;

/// Spaces between columns: at most `usual`, and fewer where the terminal is too narrow for them.
pub fn gap<const N: usize>(rows: &[[String; N]], usual: usize, columns: Option<usize>) -> usize {
    let needed: usize = widths(rows).iter().sum();
    columns.map_or(usual, |columns| (columns.saturating_sub(needed) / N).clamp(1, usual))
}

/// A line for each row; columns are aligned to the right, but for those that `left` names.
pub fn lines<R: AsRef<[String]>>(rows: &[R], gap: usize, left: impl Fn(usize) -> bool) -> Vec<String> {
    let widths = widths(rows);
    let line = |row: &R| {
        let cells = row.as_ref().iter().zip(&widths).enumerate().map(|(column, (cell, wide))| {
            let space = " ".repeat(wide - width(cell));
            if left(column) { format!("{cell}{space}") } else { format!("{space}{cell}") }
        });
        cells.collect::<Vec<_>>().join(&" ".repeat(gap)).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn widths<R: AsRef<[String]>>(rows: &[R]) -> Vec<usize> {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let widest =
        |column: usize| rows.iter().filter_map(|row| row.as_ref().get(column)).map(|cell| width(cell)).max();
    (0..columns).map(|column| widest(column).unwrap_or(0)).collect()
}

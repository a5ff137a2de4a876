//! `--tui`: a live picture of one trace after the other.

mod chart;
mod screen;
mod view;

use super::shown::Shown;
use anyhow::bail;
use screen::Screen;
use std::io::IsTerminal;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the countdown moves.
pub const TICK: Duration = Duration::from_millis(200);

/// The picture, and which trace it shows.
#[derive(Debug)]
pub struct Tui {
    screen: Screen,
    selected: usize,
    drawn: Option<Instant>,
}

impl Tui {
    /// Take the terminal; it is given back when this is dropped.
    pub fn open() -> anyhow::Result<Self> {
        if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
            bail!("--tui needs a terminal");
        }
        Ok(Tui { screen: Screen::take()?, selected: 0, drawn: None })
    }

    /// What to wait for in addition to files.
    pub fn keys(&self) -> BorrowedFd<'_> {
        self.screen.keys()
    }

    /// Take in keys. `true` if it should end.
    pub fn pressed(&mut self) -> bool {
        for key in self.screen.pressed() {
            match key {
                b'q' | b'Q' | 3 => return true,
                b'\t' | b'n' | b' ' => self.selected = self.selected.wrapping_add(1),
                b'p' => self.selected = self.selected.wrapping_sub(1),
                _ => {}
            }
        }
        false
    }

    /// Draw the signals of all traces; not more often than every [`TICK`] unless `force`.
    pub fn draw(&mut self, traces: &[(&Path, &[Shown])], force: bool) -> anyhow::Result<()> {
        if !force && self.drawn.is_some_and(|drawn| drawn.elapsed() < TICK) {
            return Ok(());
        }
        self.drawn = Some(Instant::now());
        let signals: Vec<&Shown> = traces.iter().flat_map(|(_, shown)| *shown).collect();
        let (columns, rows) = self.screen.size();
        let lines = match signals.len() {
            0 => {
                let names: Vec<String> = traces.iter().map(|(path, _)| path.display().to_string()).collect();
                view::waiting(&names, columns)
            }
            count => {
                let number = self.selected % count;
                view::lines(signals[number], (number, count), (columns, rows), Instant::now())
            }
        };
        self.screen.show(&lines)
    }
}

//! `--plot`: a picture of each result.

use super::output::{Output, Results};
use crate::exit::Exit;
use crate::picture::PictureFile;
use crate::terminal::text::error;
use anyhow::ensure;
use draw::plot;
use ftio_core::detect::Analysis;
use std::path::Path;

/// Draws them.
#[derive(Debug)]
pub struct Pictures {
    file: PictureFile,
    drawn: usize,
}

impl Pictures {
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        Ok(Pictures { file: PictureFile::open(path)?, drawn: 0 })
    }

    fn draw(&self, analysis: &Analysis, file: &PictureFile) -> anyhow::Result<()> {
        ensure!(
            !analysis.signal.samples.is_empty(),
            "{}: not drawn, there is no signal in {}",
            file.path().display(),
            analysis.detection.source
        );
        file.write(plot::draw(&[plot::picture(analysis, file.format())], file.format()))
    }
}

impl Output for Pictures {
    fn results(&mut self, results: Results<'_>) -> anyhow::Result<Exit> {
        let mut exit = Exit::Done;
        for analysis in results.analyses {
            self.drawn += 1;
            let file = if results.several { self.file.numbered(self.drawn) } else { self.file.clone() };
            if let Err(problem) = self.draw(analysis, &file) {
                error!("{problem:#}");
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    }
}

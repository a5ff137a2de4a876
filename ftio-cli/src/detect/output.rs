//! Where results go. A new output is a file with an [`Output`], and a line in [`open`].

use super::args::Args;
use super::csv::Csv;
use super::json::Json;
use super::pictures::Pictures;
use super::text::Text;
use crate::exit::Exit;
use ftio_core::detect::Analysis;
use ftio_core::source::OpenOptions;

/// What was found in one input.
#[derive(Clone, Copy, Debug)]
pub struct Results<'a> {
    /// The name of the input.
    pub name: &'a str,
    /// One, or one for each rank or file.
    pub analyses: &'a [Analysis],
    /// They are those of ranks or files.
    pub grouped: bool,
    /// There are results of other inputs, or of several ranks or files.
    pub several: bool,
}

/// Takes the results of one input after the other.
pub trait Output {
    /// An error ends the command; what should not end it is reported here, and changes the exit code.
    fn results(&mut self, results: Results<'_>) -> anyhow::Result<Exit>;
}

/// The outputs that are asked for, opened: one that cannot be opened is reported before the work begins.
pub fn open(args: &Args, reading: &OpenOptions) -> anyhow::Result<Vec<Box<dyn Output>>> {
    let mut outputs: Vec<Box<dyn Output>> = Vec::new();
    match args.csv {
        Some(what) => outputs.push(Box::new(Csv::open(what)?)),
        None if args.json => outputs.push(Box::new(Json::open())),
        None => outputs.push(Box::new(Text::open(args.quiet))),
    }
    if let Some(path) = &args.plot {
        outputs.push(Box::new(Pictures::open(path, reading)?));
    }
    Ok(outputs)
}

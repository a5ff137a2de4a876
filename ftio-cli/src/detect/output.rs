//! What an output of results does. A new one is a file with an [`Output`], and a line in `outputs`.

use crate::exit::Exit;
use ftio_core::detect::Analysis;

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

    /// That was the last input.
    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

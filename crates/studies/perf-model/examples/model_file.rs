//! Models a file: `model_file FILE [--compat] [--json] [--refining | --segmented]` prints one function, or
//! one JSON object, a line, and on standard error how long reading and modelling took.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use perf_model::output::json::Record;
use perf_model::output::print::{Print, print};
use perf_model::{Modeler, Options, input, model};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let Some(file) = arguments.iter().find(|argument| !argument.starts_with("--")) else {
        return Err("usage: model_file FILE [--compat] [--json] [--refining | --segmented]".into());
    };
    let mut options = if has("--compat") { Options::compat() } else { Options::default() };
    if has("--refining") {
        options.modeler = Modeler::Refining;
    } else if has("--segmented") {
        options.modeler = Modeler::Segmented;
    }
    let start = Instant::now();
    let experiment = input::read(Path::new(file), None)?;
    let read = start.elapsed();
    let models = model(&experiment, &options)?;
    let modelled = start.elapsed() - read;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if has("--json") {
        for model in &models.models {
            writeln!(out, "{}", Record::new(model, &models.parameters).line())?;
        }
    } else {
        out.write_all(print(&experiment, &models, &Print::parse("functions"))?.as_bytes())?;
    }
    out.flush()?;
    eprintln!("{} models: read {read:.1?}, modelled {modelled:.1?}", models.models.len());
    Ok(())
}

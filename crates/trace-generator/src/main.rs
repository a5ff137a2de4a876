//! `trace-generator DIRECTORY [--seeds FROM..TO] [--table NAME] [--list]`: writes the traces of the experiment, and the truth about them.
//!
//! For each setting a directory, in it one trace per seed (`SEED.trace`) and `truth.jsonl` with one object per line: `trace` and the fields of
//! the truth. `settings.json` lists the settings. Other formats: `ftio convert`.

use serde::Serialize;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use trace_generator::experiment::settings;
use trace_generator::generated::Truth;
use trace_generator::write::trace;

const USAGE: &str = "usage: trace-generator DIRECTORY [--seeds FROM..TO] [--table 8a|8b|8c|any|none|two]";

#[derive(Serialize)]
struct Line<'a> {
    trace: String,
    #[serde(flatten)]
    truth: &'a Truth,
}

#[derive(Serialize)]
struct Listed {
    table: &'static str,
    name: String,
    directory: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (mut directory, mut seeds, mut table) = (None, 0..100, None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => {
                println!("{USAGE}");
                return Ok(());
            }
            "--seeds" => {
                let value = args.next().ok_or(USAGE)?;
                let (from, to) = value.split_once("..").ok_or("expected --seeds FROM..TO")?;
                seeds = from.parse()?..to.parse()?;
            }
            "--table" => table = Some(args.next().ok_or(USAGE)?),
            _ if directory.is_none() && !arg.starts_with('-') => directory = Some(PathBuf::from(arg)),
            _ => return Err(USAGE.into()),
        }
    }
    let directory = directory.ok_or(USAGE)?;
    fs::create_dir_all(&directory)?;
    let mut listed = Vec::new();
    for setting in
        settings().into_iter().filter(|setting| table.as_ref().is_none_or(|table| table == setting.table))
    {
        let name = setting.name.replace([' ', ','], "_").replace("__", "_");
        let folder = directory.join(&name);
        fs::create_dir_all(&folder)?;
        let mut truths = BufWriter::new(File::create(folder.join("truth.jsonl"))?);
        for seed in seeds.clone() {
            let generated = setting.generate(seed);
            let file = format!("{seed}.trace");
            let mut out = BufWriter::new(File::create(folder.join(&file))?);
            trace(&generated, &mut out)?;
            out.flush()?;
            serde_json::to_writer(&mut truths, &Line { trace: file, truth: &generated.truth })?;
            writeln!(truths)?;
        }
        truths.flush()?;
        listed.push(Listed { table: setting.table, name: setting.name, directory: name });
    }
    serde_json::to_writer_pretty(File::create(directory.join("settings.json"))?, &listed)?;
    Ok(())
}

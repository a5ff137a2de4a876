//! Writes made-up traces, and the truth about them.
//!
//! For each setting or kind a directory, in it one file per seed (`SEED.trace`, a series of samples
//! `SEED.csv`) and `truth.jsonl` with one object per line: `trace` and the fields of the truth.
//! `settings.json` or `kinds.json` lists them. Other formats: `ftio convert`.

use serde::Serialize;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use trace_generator::experiment::settings;
use trace_generator::generated::Truth;
use trace_generator::kinds::{Recording, families};
use trace_generator::server_archive::write_archive;
use trace_generator::write::{ftio_json, recording, trace};

const USAGE: &str = "\
usage: trace-generator DIRECTORY [--seeds FROM..TO] [--table 8a|8b|8c|own|any|none|two]
       trace-generator DIRECTORY [--seeds FROM..TO] --kinds fitted|unseen|all|NAME,… [--ftio-json]
       trace-generator DIRECTORY --server-archive JOBS,DAYS
       trace-generator --list
Without --kinds: the settings of the paper's experiment. --list shows the kinds. --ftio-json: as the Python
FTIO reads them. --server-archive: a storage server's log and its job log, servers.csv and jobs.csv.";

#[derive(Serialize)]
struct Line<'a> {
    trace: String,
    #[serde(flatten)]
    truth: &'a Truth,
}

#[derive(Serialize)]
struct ListedSetting {
    table: &'static str,
    name: String,
    directory: String,
}

#[derive(Serialize)]
struct ListedKind {
    family: &'static str,
    fitted: bool,
    name: &'static str,
    what: &'static str,
    tolerance: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (mut directory, mut seeds, mut table, mut kinds, mut json) = (None, 0..100, None, None, false);
    let mut archive = None;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => {
                println!("{USAGE}");
                return Ok(());
            }
            "--list" => {
                list();
                return Ok(());
            }
            "--seeds" => {
                let value = args.next().ok_or(USAGE)?;
                let (from, to) = value.split_once("..").ok_or("expected --seeds FROM..TO")?;
                seeds = from.parse()?..to.parse()?;
            }
            "--server-archive" => archive = Some(args.next().ok_or(USAGE)?),
            "--table" => table = Some(args.next().ok_or(USAGE)?),
            "--ftio-json" => json = true,
            "--kinds" => kinds = Some(args.next().ok_or(USAGE)?),
            _ if directory.is_none() && !arg.starts_with('-') => directory = Some(PathBuf::from(arg)),
            _ => return Err(USAGE.into()),
        }
    }
    let directory = directory.ok_or(USAGE)?;
    fs::create_dir_all(&directory)?;
    if let Some(wanted) = archive {
        let (jobs, days) = wanted.split_once(',').ok_or("expected --server-archive JOBS,DAYS")?;
        let made = write_archive(&directory, jobs.parse()?, days.parse()?, 2014)?;
        println!("{} jobs of {} applications in {days} days", made.jobs, made.applications);
        return Ok(());
    }
    match kinds {
        Some(kinds) => write_kinds(&directory, &seeds, &kinds, json),
        None => write_settings(&directory, &seeds, table.as_deref()),
    }
}

fn list() {
    for (family, fitted, kinds) in families() {
        println!("{family}{}", if fitted { "" } else { " (not fitted on)" });
        for kind in kinds {
            println!("  {:<24} {}", kind.name, kind.what);
        }
    }
}

fn write_settings(directory: &Path, seeds: &Range<u64>, table: Option<&str>) -> Result<(), Box<dyn Error>> {
    let mut listed = Vec::new();
    for setting in settings().into_iter().filter(|setting| table.is_none_or(|table| table == setting.table)) {
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
        listed.push(ListedSetting { table: setting.table, name: setting.name, directory: name });
    }
    serde_json::to_writer_pretty(File::create(directory.join("settings.json"))?, &listed)?;
    Ok(())
}

fn write_kinds(directory: &Path, seeds: &Range<u64>, wanted: &str, json: bool) -> Result<(), Box<dyn Error>> {
    let mut listed = Vec::new();
    for (family, fitted, kinds) in families() {
        for kind in kinds {
            let chosen = match wanted {
                "all" => true,
                "fitted" => fitted,
                "unseen" => !fitted,
                names => names.split(',').any(|name| name == kind.name),
            };
            if !chosen {
                continue;
            }
            let folder = directory.join(kind.name);
            fs::create_dir_all(&folder)?;
            let mut truths = BufWriter::new(File::create(folder.join("truth.jsonl"))?);
            for seed in seeds.clone().take(usize::try_from(kind.at_most).unwrap_or(usize::MAX)) {
                let made = kind.generate(seed);
                let ending = match made.recording {
                    _ if json => "json",
                    Recording::Requests { .. } => "trace",
                    Recording::Samples { .. } | Recording::Readings { .. } => "csv",
                };
                let file = format!("{seed}.{ending}");
                let mut out = BufWriter::new(File::create(folder.join(&file))?);
                if json {
                    ftio_json(&made.recording, &mut out)?;
                } else {
                    recording(&made.recording, &mut out)?;
                }
                out.flush()?;
                serde_json::to_writer(&mut truths, &Line { trace: file, truth: &made.truth })?;
                writeln!(truths)?;
            }
            truths.flush()?;
            let (name, what, tolerance) = (kind.name, kind.what, kind.tolerance);
            listed.push(ListedKind { family, fitted, name, what, tolerance });
        }
    }
    if listed.is_empty() {
        return Err(format!("no kind is called {wanted:?}; --list shows them").into());
    }
    serde_json::to_writer_pretty(File::create(directory.join("kinds.json"))?, &listed)?;
    Ok(())
}

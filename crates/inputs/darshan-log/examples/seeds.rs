//! Writes a log of every format, byte order and compression to a folder: seeds for fuzzing, samples for other
//! readers.
//!
//! ```text
//! cargo run -p darshan-log --example seeds -- FOLDER
//! ```

#[path = "../tests/support/samples.rs"]
mod samples;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(std::path::PathBuf::from) else {
        eprintln!("usage: seeds FOLDER");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&folder)?;
    let logs = samples::all_logs();
    for (name, bytes) in &logs {
        std::fs::write(folder.join(name.replace(' ', "-").to_lowercase() + ".darshan"), bytes)?;
    }
    eprintln!("{} logs in {}", logs.len(), folder.display());
    Ok(())
}

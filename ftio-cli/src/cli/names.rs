//! The names by which the command may be called: `predictor`, `ioplot` and `ioparse` are subcommands of
//! `ftio`, as the Python FTIO has them.

use std::ffi::OsString;
use std::path::Path;

const NAMES: [(&str, &str); 3] = [("predictor", "predict"), ("ioplot", "plot"), ("ioparse", "scale")];

/// The arguments with the subcommand in its place, if the program's name asks for one.
pub fn with_subcommand(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if let Some(subcommand) = args.first().and_then(|program| subcommand(program)) {
        args.insert(1, subcommand.into());
        if subcommand == "scale" && !args.iter().any(is_output) {
            args.insert(2, "--as-ioparse".into());
        }
    }
    args
}

/// Does an argument say where the result goes?
fn is_output(arg: &OsString) -> bool {
    arg.to_str().is_some_and(|text| text.starts_with("-o") || text.starts_with("--output"))
}

fn subcommand(program: &OsString) -> Option<&'static str> {
    let name = Path::new(program).file_name()?.to_str()?;
    NAMES.into_iter().find(|(other, _)| *other == name).map(|(_, subcommand)| subcommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_subcommands() {
        let with = |args: &[&str]| with_subcommand(args.iter().map(OsString::from));
        assert_eq!(with(&["/usr/bin/ioplot", "a"]), ["/usr/bin/ioplot", "plot", "a"]);
        assert_eq!(with(&["predictor"]), ["predictor", "predict"]);
        assert_eq!(with(&["ioparse", "a"]), ["ioparse", "scale", "--as-ioparse", "a"]);
        assert_eq!(with(&["ioparse", "a", "-o", "b"]), ["ioparse", "scale", "a", "-o", "b"]);
        assert_eq!(with(&["ftio", "a"]), ["ftio", "a"]);
        assert_eq!(with(&[]), [""; 0]);
    }
}

//! The names by which the command may be called: `predictor`, `ioplot` and `ioparse` are subcommands of `ftio`, as the
//! Python FTIO has them.

use clap::Command;
use std::ffi::OsString;
use std::path::Path;

const NAMES: [(&str, &str); 3] = [("predictor", "predict"), ("ioplot", "plot"), ("ioparse", "scale")];

/// The arguments with the subcommand in its place, if the program's name asks for one.
pub fn with_subcommand(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if let Some(subcommand) = args.first().and_then(|program| subcommand(program)) {
        args.insert(1, subcommand.into());
    }
    args
}

/// The subcommand that is asked for but that this version does not have.
pub fn missing(args: &[OsString], command: &Command) -> Option<&'static str> {
    let asked = args.get(1)?.to_str()?;
    NAMES
        .into_iter()
        .map(|(_, subcommand)| subcommand)
        .find(|subcommand| *subcommand == asked && command.find_subcommand(subcommand).is_none())
        // A trace of that name may be analysed.
        .filter(|subcommand| !Path::new(subcommand).exists())
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
        assert_eq!(with(&["ftio", "a"]), ["ftio", "a"]);
        assert_eq!(with(&[]), [""; 0]);
    }

    #[test]
    fn only_what_does_not_exist_is_missing() {
        let args: Vec<OsString> = ["ftio", "scale"].map(OsString::from).into();
        assert_eq!(missing(&args, &Command::new("ftio")), Some("scale"));
        assert_eq!(missing(&args, &Command::new("ftio").subcommand(Command::new("scale"))), None);
        assert_eq!(missing(&["ftio".into(), "t".into()], &Command::new("ftio")), None);
    }
}

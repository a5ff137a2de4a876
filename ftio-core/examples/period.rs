//! The period of each input: `period FILE…`.

use ftio_core::detect::{Options, detect};
use sources::{Input, OpenOptions, open};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        for opened in open(&Input::new(path.as_ref()), &OpenOptions::default())? {
            let name = opened.name.clone();
            let found = detect(&name, opened.into_source()?, &Options::default())?.detection;
            match found.period {
                Some(period) => println!("{name}: {period:.3} s, {:.0} %", 100.0 * found.confidence),
                None => println!("{name}: no period; {}", found.reasons.join("; ")),
            }
        }
    }
    Ok(())
}

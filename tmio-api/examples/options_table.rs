//! Prints the table of options as it stands in `docs/options.md`.

fn main() {
    print!("{}", tmio_api::options::markdown());
}

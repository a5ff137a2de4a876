//! The service alone, without the rest of `ftio`, to work on its page: `page DATA PORT [WATCHED]`.

use ftio_serve::{Config, Listen};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, data, port, watched @ ..] = args.as_slice() else {
        anyhow::bail!("usage: page DATA PORT [WATCHED]");
    };
    let mut config = Config::new(Path::new(data));
    config.listen = vec![Listen::Tcp(format!("127.0.0.1:{port}").parse()?)];
    config.watch = watched.iter().map(PathBuf::from).collect();
    config.capacity = Some(50e9);
    config.cluster = "example".into();
    ftio_serve::run(config, &Arc::new(AtomicBool::new(false)), |addresses| {
        eprintln!("ftio serve: listening on {}", addresses.join(", "));
    })
}

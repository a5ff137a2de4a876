//! Python loads MPI with `RTLD_LOCAL`, where ordinary symbol lookup does not find it.

use crate::harness::{installed_mpis, skip};
use crate::traced::{Scratch, info, traced};
use std::path::Path;

#[test]
fn mpi4py() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/mpi_io.py");
    for mpi in installed_mpis() {
        let Some(python) = mpi.python() else { continue };
        let scratch = Scratch::new();
        let job = mpi.job(2, &python).args([&script, &scratch.data()]);
        if job.run().stderr.contains("No module named 'mpi4py'") {
            skip(&format!("{} has no mpi4py", mpi.name));
            continue;
        }
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let info = info(&scratch.trace());
        for (class, ops, bytes) in
            [("write_sync", 26, 23_000), ("read_sync", 20, 20_000), ("write_async", 10, 1000)]
        {
            assert_eq!(info[class]["ops"], ops, "{}: {class}", mpi.name);
            assert_eq!(info[class]["bytes"], bytes, "{}: {class}", mpi.name);
        }
        assert_eq!(info["complete"], true, "{}", mpi.name);
        assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    }
}

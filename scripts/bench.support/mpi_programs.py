"""What the measurements of the tracer share: building the programs of mpi-tests and launching them, traced or
not."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
LIBRARY = TARGET / "release/libtmio.so"
FTIO = TARGET / "release/ftio"
OUT = TARGET / "bench"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
DEFAULT_MPI = "openmpi" if shutil.which("mpicc.openmpi") else "mpich"


class Programs:
    """The programs of mpi-tests, built with one MPI, and a directory in memory for what they write."""

    def __init__(self, mpi):
        if not LIBRARY.exists():
            sys.exit(f"{LIBRARY} is missing: run cargo build --release first")
        self.mpi = mpi
        self.build = OUT / f"programs-{mpi}"
        self.build.mkdir(parents=True, exist_ok=True)
        compiler = f"mpicc.{mpi}"
        source = ROOT / "mpi-tests/bench"
        run = lambda *command: subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        run(compiler, "-O2", str(source / "calls.c"), "-o", str(self.build / "calls"))
        for name, library in (("null_wrapper", "null"), ("stub_below", "stub")):
            run(
                compiler,
                "-O2",
                "-shared",
                "-fPIC",
                str(source / f"{name}.c"),
                "-o",
                str(self.build / f"{library}.so"),
                "-ldl",
            )
        workload = ROOT / "mpi-tests/programs/workload.c"
        run(
            compiler,
            "-O2",
            "-I",
            str(ROOT / "c-headers"),
            str(workload),
            "-o",
            str(self.build / "workload"),
            "-lm",
            "-ldl",
            "-lpthread",
        )
        self.directory = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.trace = pathlib.Path(self.directory.name) / "trace.msgpack"

    def settings(self, preload=None, below=None, **settings):
        """The environment of a rank; `below`: a library between the preloaded one and MPI."""
        if preload == LIBRARY:
            settings = {"TMIO_OUTPUT": str(self.trace), **settings}
        libraries = [str(library) for library in (preload, below) if library]
        return {**settings, "LD_PRELOAD": ":".join(libraries)} if libraries else settings

    def launch(self, ranks, program, preload=None, below=None, **settings):
        """Runs a program and returns what it printed, line by line, as JSON."""
        settings = self.settings(preload, below, **settings)
        if self.mpi == "openmpi":
            command = ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks)]
            command += [word for name, value in settings.items() for word in ("-x", f"{name}={value}")]
        else:
            command = ["mpirun.mpich", "-n", str(ranks)]
            command += [word for name, value in settings.items() for word in ("-env", name, value)]
        command += [str(self.build / program[0]), *map(str, program[1:])]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **AS_ROOT})
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

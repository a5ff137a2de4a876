"""What measurements of turns share: the file system of a fixed bandwidth, arbiters, jobs, and the metrics."""

import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from mpi_programs import FTIO, LIBRARY, OUT, ROOT, TARGET

MIB = 1 << 20
RATE = 30 * MIB
CHUNK = 128 << 10
BUILD = OUT / "iosets"


def build(mpi, nodes):
    """Compiles the programs, also that of many nodes if it is needed."""
    BUILD.mkdir(parents=True, exist_ok=True)
    run = lambda *command: subprocess.run([str(word) for word in command], check=True)
    run("cc", "-O2", "-pthread", "-o", BUILD / "throttled_fs", HERE.parent / "throttled_fs.c")
    run("cc", "-O2", "-o", BUILD / "clients", HERE / "clients.c")
    run(f"mpicc.{mpi}", "-O2", "-o", BUILD / "takes_turns", ROOT / "mpi-tests/programs/takes_turns.c")
    if nodes:
        workspace = ("--manifest-path", ROOT / "Cargo.toml", "-p", "io-sets")
        run("cargo", "build", "--quiet", "--release", *workspace, "--example", "many_nodes")
    # Every rank writes its own part of a collective call. A rank that waits for another one inside MPI spins,
    # and with sixteen jobs on two cores it is the processor that would be measured.
    (BUILD / "hints").write_text("romio_cb_write disable\n")


class FileSystem:
    """A file system whose bandwidth all who use it share, exactly."""

    def __init__(self, place, rate=RATE):
        self.mount = place / "mnt"
        self.mount.mkdir()
        command = [str(BUILD / "throttled_fs"), str(self.mount), str(rate)]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=hurry)
        if self.server.stdout.readline() != "mounted\n":
            sys.exit("this needs root and /dev/fuse")

    def end(self):
        self.server.terminate()
        self.server.wait()


def hurry():
    """Servers go before those they serve: what is measured is not who gets the processor."""
    try:
        os.nice(-10)
    except OSError:
        pass


class Arbiter:
    """A running `ftio arbiter`."""

    def __init__(self, listen, *options, prefix=()):
        self.listen = listen
        command = [*prefix, str(FTIO), "arbiter", "--listen", listen, *map(str, options)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hurry)
        line = self.process.stderr.readline()
        if not line.startswith("listening at "):
            sys.exit(f"{' '.join(command)}: {line}")

    def seconds(self):
        """Processor time so far."""
        words = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, with_signal=signal.SIGTERM):
        self.process.send_signal(with_signal)
        self.process.wait()
        self.process.stderr.close()


class Job:
    """A program of two ranks that computes and writes, under the tracer."""

    def __init__(self, name, place, directory, arguments, mpi, address=None, prefix=(), **more):
        environment = dict(os.environ, LD_PRELOAD=str(LIBRARY), IOSETS_JOB_ID=name)
        environment["TMIO_OUTPUT"] = f"{place}/trace-{name}"
        environment["ROMIO_HINTS"] = str(BUILD / "hints")
        if address:
            environment["TMIO_IOSETS"] = address
        environment.update(more)
        self.log, self.errors = place / f"log-{name}", place / f"errors-{name}"
        launcher = [*prefix, f"mpiexec.{mpi}", "-n", "2"]
        if mpi == "openmpi":
            launcher += ["--oversubscribe", "--allow-run-as-root"]
        program = [str(BUILD / "takes_turns"), str(directory), f"job-{name}", *map(str, arguments)]
        with open(self.log, "w") as log, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                launcher + program, stdin=subprocess.DEVNULL, stdout=log, stderr=errors, env=environment,
                start_new_session=True,
            )

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def phases(self):
        """When it said it began, and its phases, all in seconds of the monotonic clock."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        begun = [float(line[1]) for line in lines if line[:1] == ["start"] and len(line) == 2]
        whole = [line for line in lines if line[:1] == ["phase"] and len(line) == 3]
        return begun[0] if begun else None, [(float(line[1]), float(line[2])) for line in whole]


def metrics(jobs, courses, frame, alone):
    """Inria RR-9537, section 4.3. A phase that had not ended with the jobs lasts to the end of the frame."""
    begin, end = frame
    within = lambda a, b: max(0.0, min(b, end) - max(a, begin))
    stretches, slowdowns, computed = [], [], 0.0
    for (compute, size, delay), phases in zip(jobs, courses):
        since = phases[-1][1] + compute if phases else delay + compute
        io, busy = 0.0, 0.0
        for a, b in phases:
            busy += within(a, b)
            io += size / alone * (within(a, b) / (b - a) if b > a else 0.0)
        if since < end:
            busy += within(since, end)
        cpu = (end - begin) - busy
        computed += cpu
        if cpu + io <= 0:
            raise RuntimeError("a job got nothing done in the whole frame: fewer executions at a time")
        stretches.append((end - begin) / (cpu + io))
        if io > 0:
            slowdowns.append(busy / io)
    mean = lambda values: math.exp(statistics.fmean(map(math.log, values)))
    return {
        "stretch_max": max(stretches),
        "stretch": mean(stretches),
        "slowdown": mean(slowdowns),
        "utilisation": computed / ((end - begin) * len(jobs)),
    }


def interval(values):
    """Mean, and half of the 95 % interval of the mean (Student)."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan
    quantiles = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
    quantile = quantiles[min(len(values) - 2, len(quantiles) - 1)]
    return mean, quantile * statistics.stdev(values) / math.sqrt(len(values))


def place():
    """A directory in memory; its name is short enough for a socket."""
    return tempfile.TemporaryDirectory(dir="/dev/shm", prefix="turns-")


def wait_until(moment):
    time.sleep(max(0.0, moment - time.time()))

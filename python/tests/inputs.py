"""Inputs that tests share: made here, converted by the command, or taken from the repository."""

import os
import subprocess
import tempfile
from pathlib import Path

import ftio_rs

ROOT = Path(__file__).resolve().parent.parent.parent
DARSHAN = ROOT / "crates" / "inputs" / "darshan-log" / "tests" / "reference"
FOLDER = Path(tempfile.mkdtemp(prefix="ftio-python-test-"))

PERIOD, PHASES, RANKS = 7.5, 16, 4


def rows():
    """Every 7.5 s, four ranks write for half a second; some reads in between."""
    for phase in range(PHASES):
        for rank in range(RANKS):
            start = PERIOD * phase + 0.01 * rank + 1.0
            yield rank, start, start + 0.5, 1 << 20, "write_sync"
        yield 0, PERIOD * phase + 4.0, PERIOD * phase + 4.1, 4096, "read_sync"


def columns():
    """The same by column."""
    rank, start, end, size, kind = zip(*rows())
    return {
        "rank": list(rank),
        "start": list(start),
        "end": list(end),
        "bytes": list(size),
        "kind": list(kind),
    }


def csv():
    """As a table of requests."""
    path = FOLDER / "requests.csv"
    if not path.exists():
        lines = (f"{rank},{start},{end},{size},{kind}" for rank, start, end, size, kind in rows())
        path.write_text("rank,start,end,bytes,op\n" + "\n".join(lines) + "\n")
    return path


def converted(name, target):
    """The table, converted by the command."""
    path = FOLDER / name
    if not path.exists():
        ftio_rs.run("convert", csv(), "-o", path, "--to", target)
    return path


def own_trace():
    return converted("own.msgpack", "msgpack")


def jsonl():
    return converted("tmio.jsonl", "tmio-jsonl")


def samples():
    """A table of samples."""
    path = FOLDER / "samples.csv"
    if not path.exists():
        path.write_text("time,bandwidth\n" + "".join(f"{i},{1e6 if i % 20 < 3 else 0}\n" for i in range(400)))
    return path


def darshan():
    """Logs that have times."""
    logs = []
    for path in sorted(DARSHAN.glob("*.darshan")):
        if command("--json", path)[0] == 0:
            logs.append(path)
    return logs


def command(*words):
    """Exit status and output of the command, run as users run it."""
    done = subprocess.run([ftio_rs.find_ftio(), *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout


def shared(name):
    """A file of the shared test data, or None. See crates/testing/test-data."""
    named = os.environ.get("FTIO_SHARED")
    for folder in [Path(named)] if named else [parent / "shared" for parent in ROOT.parents]:
        if (folder / name).exists():
            return folder / name
    return None

"""The Python FTIO 0.0.9, to compare with: where it is installed, and what it finds in traces."""

import json
import pathlib
import subprocess
import sys

PROGRAM = r"""
import contextlib, io, json, sys
from ftio.cli.ftio_core import main
for line in sys.stdin:
    path, options = json.loads(line)
    period, confidence = None, 0.0
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found, _ = main(["ftio", path, "-e", "no", "-m", "write_sync", *options])
        found = found[-1] if isinstance(found, list) else found
        if len(found.dominant_freq):
            best = max(range(len(found.dominant_freq)), key=lambda i: found.conf[i])
            period, confidence = 1 / float(found.dominant_freq[best]), float(found.conf[best])
    except Exception:
        pass
    print(json.dumps({"source": path, "period": period, "confidence": confidence}), flush=True)
"""


def installed(place, narrate):
    """The Python of an environment with ftio-hpc 0.0.9, made at `place` if need be; None if that cannot be
    done."""
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        narrate("installing the Python FTIO")
        try:
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "ftio-hpc==0.0.9"], check=True)
        except subprocess.CalledProcessError:
            narrate("it cannot be installed here")
            return None
        (place / "complete").touch()
    return python


def detections(python, traces, folder):
    """What it finds: `traces` are pairs of a file and its options. By file; one that it cannot read has no
    period."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = "".join(json.dumps([str(file), options]) + "\n" for file, options in traces)
    output = subprocess.run(
        [str(python), "-c", PROGRAM],
        input=asked,
        check=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {pathlib.Path(one["source"]): one for one in found}

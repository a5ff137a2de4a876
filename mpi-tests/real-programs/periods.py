#!/usr/bin/env python3
"""The period that ftio finds in programs without MPI-IO, against the program's own account: h5py, numpy,
sqlite3 and LAMMPS with dumps by C streams. Each is run under `ftio trace`.

usage: periods.py TARGET; scripts/certificate installs what is needed and calls it.
Exit status: 0 all within 1 %, 1 not.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TARGET = pathlib.Path(sys.argv[1]).resolve()
FTIO, LIBRARY = TARGET / "release/ftio", TARGET / "release/libtmio.so"
PYTHON = "/usr/bin/python3"

# Phases begin by the clock, so that a busy machine delays one and not all that follow.
LOOP = """
import sys, time
PERIOD, PHASES = 0.5, 16
def phases():
    began = time.monotonic()
    for phase in range(PHASES):
        while time.monotonic() < began + phase * PERIOD:
            time.sleep(0.001)
        print(time.monotonic(), flush=True)
        yield phase
"""
H5PY = """
import h5py, numpy
with h5py.File('steps.h5', 'w') as file:
    data = file.create_dataset('x', (PHASES, 1 << 17), dtype='f8', chunks=(1, 1 << 17))
    for phase in phases():
        data[phase] = phase
        file.flush()
"""
NUMPY = """
import numpy
state = numpy.arange(1 << 20, dtype=float)
for phase in phases():
    numpy.save(f'checkpoint{phase % 2}.npy', state + phase)
"""
SQLITE = """
import sqlite3
base = sqlite3.connect('test.db')
base.execute('create table t (a, b)')
for phase in phases():
    base.executemany('insert into t values (?, ?)', [(i, 'x' * 200) for i in range(2000)])
    base.commit()
"""
LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
dump 1 all custom 25 dump.custom id type x y z vx vy vz
thermo 500
run 500
"""


def of_clock(text):
    times = [float(line) for line in text.splitlines()]
    return (times[-1] - times[0]) / (len(times) - 1)


def of_lammps(text):
    seconds, steps = re.search(r"Loop time of ([\d.]+) on .* for (\d+) steps", text).groups()
    return 25 * float(seconds) / int(steps)


PROGRAMS = [
    ("h5py, a step every 0.5 s", [PYTHON, "-c", LOOP + H5PY], of_clock),
    ("numpy, a checkpoint every 0.5 s", [PYTHON, "-c", LOOP + NUMPY], of_clock),
    ("sqlite3, a commit every 0.5 s", [PYTHON, "-c", LOOP + SQLITE], of_clock),
    ("LAMMPS, a dump every 25 steps", ["lmp", "-in", "in.melt", "-log", "none"], of_lammps),
]


def main():
    wrong = 0
    print("| program | layer | its own account | ftio | confidence |")
    print("|---|---|---|---|---|")
    for name, command, account in PROGRAMS:
        with tempfile.TemporaryDirectory(dir=TARGET / "tmp") as work:
            (pathlib.Path(work) / "in.melt").write_text(LAMMPS)
            trace = f"{work}/t.msgpack"
            line = [FTIO, "trace", "-o", trace, "--library", LIBRARY, "--", *command]
            environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            done = subprocess.run(line, cwd=work, capture_output=True, text=True, env=environment, check=True)
            shown = subprocess.run([FTIO, "--json", "-m", "write", trace], capture_output=True, check=True)
        found, truth = json.loads(shown.stdout), account(done.stdout)
        period = found["period"]
        good = period is not None and abs(period / truth - 1) < 0.01
        wrong += not good
        told = f"{period:.4f} s" if period else "none"
        cells = [name, found.get("layer"), f"{truth:.4f} s", told, f"{found['confidence']:.2f}"]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    sys.exit(bool(wrong))


main()

"""scripts/compare-darshan: bytes and operations per file, as the kernel, libtmio.so and Darshan see them."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

darshan, built, work = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PYTHON = "/usr/bin/python3"

LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
dump 1 all atom 20 dump.atom
dump 2 all custom 50 dump.custom id type x y z vx vy vz
restart 40 restart.*
thermo 50
run 200
"""
NUMPY = """
import numpy as np
data = np.arange(1 << 19, dtype=float)
for step in range(10):
    np.save(f'state{step % 2}.npy', data)
np.load('state0.npy')
data.tofile('raw')
"""
H5PY = """
import h5py, numpy as np
with h5py.File('steps.h5', 'w') as file:
    data = file.create_dataset('x', (10, 1 << 17), dtype='f8', chunks=(1, 1 << 17))
    for step in range(10):
        data[step] = step
        file.flush()
with h5py.File('steps.h5') as file:
    file['x'][3:5]
"""
SQL = """create table t (a, b);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
insert into t select i, hex(randomblob(50)) from n;
update t set b = a where a % 10 = 0;"""

SOURCES = "mkdir src; for i in 1 2 3 4 5; do head -c 900000 /dev/zero > src/$i; done"

# Name, what is prepared, command.
PROGRAMS = [
    ("dd, writing", "", ["dd", "if=/dev/zero", "of=f", "bs=1M", "count=32", "conv=fsync"]),
    ("dd, reading", "head -c 20000000 /dev/zero > f", ["dd", "if=f", "of=/dev/null", "bs=64k"]),
    ("cp -r", SOURCES, ["cp", "-r", "src", "dst"]),
    ("tar", SOURCES, ["tar", "cf", "out.tar", "src"]),
    ("sqlite3", "", ["sqlite3", "test.db", SQL]),
    ("numpy", "", [PYTHON, "-c", NUMPY]),
    ("h5py", "", [PYTHON, "-c", H5PY]),
    ("C: every call, streams, threads, fork, AIO", "", [work / "posix_io"]),
    ("LAMMPS, POSIX dumps", "", ["lmp", "-in", "in.melt", "-log", "none"]),
]
if shutil.which("ior"):
    flags = "-a POSIX -w -r -e -t 256k -b 2m -s 2 -i 3 -o testfile".split()
    PROGRAMS.append(("IOR -a POSIX", "", [shutil.which("ior"), *flags]))


def counts():
    """By file: bytes read, bytes written, reads, writes."""
    return collections.defaultdict(lambda: [0, 0, 0, 0])


class Failed(Exception):
    """A program did not succeed."""


def run(command, directory, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TMIO_", "DARSHAN_"))}
    clean |= dict.fromkeys(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"], "1")
    clean["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [str(word) for word in command],
        cwd=directory,
        env=clean | {k: str(v) for k, v in environment.items()},
        capture_output=True,
        timeout=300,
    )
    if done.returncode:
        raise Failed(f"{command[0]} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")


CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)")
ONE = {"read": 0, "pread64": 0, "readv": 0, "preadv": 0, "preadv2": 0}
ONE |= {"write": 1, "pwrite64": 1, "writev": 1, "pwritev": 1, "pwritev2": 1}
TWO = {"sendfile": (1, 0), "copy_file_range": (0, 1)}


def of_kernel(directory, scratch, command):
    # A file for each process and thread: calls are not interrupted by those of others.
    calls = ",".join([*ONE, *TWO])
    strace = ["strace", "-ff", "-y", "-s", "0", "-e", f"trace={calls}", "-o", scratch / "calls"]
    run([*strace, *command], directory)
    found = counts()
    for log in scratch.glob("calls.*"):
        for line in log.read_text(errors="replace").splitlines():
            call = CALL.match(line)
            if not call or int(call[3]) < 0:
                continue
            files = re.findall(r"\b\d+<([^>]*)>", call[2])
            ways = [ONE[call[1]]] if call[1] in ONE else TWO[call[1]]
            for path, way in zip(files, ways):
                found[path][way] += int(call[3])
                found[path][2 + way] += 1
    return found


def of_tmio(directory, scratch, command):
    trace = scratch / "t.msgpack"
    run([built / "ftio", "trace", "-o", trace, "--library", built / "libtmio.so", "--", *command], directory)
    shown = subprocess.run([built / "ftio", "info", "--json", trace], capture_output=True, check=True)
    info = json.loads(shown.stdout)
    assert info["complete"], info["notes"]
    found = counts()
    for file in info["files"]:
        here = found[file["name"]]
        here[0] += file["bytes_read"]
        here[1] += file["bytes_written"]
        # A call of a stream may stand for several of the system.
        here[2] = None if file["layer"] == "stdio" or here[2] is None else here[2] + file["ops"]
    return found


def of_darshan(directory, scratch, command):
    logs = scratch / "logs"
    logs.mkdir()
    run(
        command,
        directory,
        LD_PRELOAD=darshan / "lib/libdarshan.so",
        DARSHAN_ENABLE_NONMPI=1,
        DARSHAN_LOGPATH=logs,
        DARSHAN_MODMEM=64,
    )
    found = counts()
    names = {"BYTES_READ": 0, "BYTES_WRITTEN": 1, "READS": 2, "WRITES": 3}
    for log in logs.glob("**/*.darshan"):
        parser = [darshan / "bin/darshan-parser", "--show-incomplete", log]
        text = subprocess.run(parser, capture_output=True, text=True, errors="replace").stdout
        for line in text.splitlines():
            words = line.split("\t")
            if line.startswith(("POSIX\t", "STDIO\t")) and words[3].split("_", 1)[1] in names:
                found[words[5]][names[words[3].split("_", 1)[1]]] += int(words[4])
    return found


def inside(found, directory):
    """Files of the program, by their names in its directory."""
    root = f"{directory.resolve()}/"
    kept = {path.removeprefix(root): of for path, of in found.items() if path.startswith(root)}
    return {path.replace("/./", "/"): of for path, of in kept.items() if any(of[:2])}


def total(found, way):
    return sum(of[way] for of in found.values())


def verdict(found, truth):
    if found is None:
        return "the program crashes"
    if all(found.get(name, [0, 0])[:2] == truth.get(name, [0, 0])[:2] for name in {*found, *truth}):
        return "equal"
    differ = sum(found.get(name, [0, 0])[:2] != truth.get(name, [0, 0])[:2] for name in {*found, *truth})
    return f"{differ} files differ: {total(found, 0):,} read, {total(found, 1):,} written"


def calls_differ(ours, truth):
    """Files that were not used by streams, and whose calls are not as many as the kernel's."""
    differs = lambda calls, of: calls is not None and calls != of[2] + of[3]
    return [name for name, of in truth.items() if differs(ours[name][2], of)]


def main():
    failed = False
    print("| program | files | bytes read (calls) | bytes written (calls) | libtmio.so | Darshan |")
    print("|---|---|---|---|---|---|")
    for name, prepare, command in PROGRAMS:
        seen = {}
        for who, look in [("kernel", of_kernel), ("tmio", of_tmio), ("darshan", of_darshan)]:
            with tempfile.TemporaryDirectory(dir=work) as data, tempfile.TemporaryDirectory() as scratch:
                data, scratch = pathlib.Path(data), pathlib.Path(scratch)
                (data / "in.melt").write_text(LAMMPS) if command[0] == "lmp" else None
                subprocess.run(["sh", "-ec", prepare or ":"], cwd=data, check=True)
                try:
                    seen[who] = inside(look(data, scratch, command), data)
                except Failed:
                    if who != "darshan":
                        raise
                    seen[who] = None
        truth = seen["kernel"]
        read, written = (f"{total(truth, way):,} ({total(truth, 2 + way):,})" for way in (0, 1))
        ours = verdict(seen["tmio"], truth)
        if ours == "equal" and calls_differ(seen["tmio"], truth):
            ours = f"calls differ: {calls_differ(seen['tmio'], truth)}"
        failed |= ours != "equal"
        cells = [name, len(truth), read, written, ours, verdict(seen["darshan"], truth)]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        if ours != "equal":
            for file in sorted({*truth, *seen["tmio"]}):
                line = f"    {file}: kernel {truth.get(file)}, libtmio.so {seen['tmio'].get(file)}"
                print(line, file=sys.stderr)
    sys.exit(failed)


main()

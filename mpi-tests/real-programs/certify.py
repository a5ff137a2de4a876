#!/usr/bin/env python3
"""Runs real programs with and without libtmio.so and says whether anybody could tell the difference: exit
code, output and files are compared, and the traced bytes with the files. Writes a certificate per MPI,
target/certificate-MPI.md.

usage: certify.py TARGET [MPI...]; scripts/certificate installs what is needed and calls it.
Exit status: 0 all the same, 1 something differs or failed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(sys.argv[1]).resolve()
LIBTMIO = TARGET / "release/libtmio.so"
FTIO = TARGET / "release/ftio"
TIMES_PROGRAM_RUNS = 900  # seconds, on a loaded machine


@dataclass
class Mpi:
    name: str
    launcher: list
    compiler: list
    libraries: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    give: str = "-env"  # how a variable reaches the ranks

    def launch(self, ranks, variables, command):
        line = [*self.launcher, "-n", str(ranks)]
        for name, value in variables.items():
            line += ["-x", f"{name}={value}"] if self.give == "-x" else ["-env", name, str(value)]
        return line + command


def environment(name):
    return TARGET / "mpi" / name


def mpis():
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    o, m, i = environment("openmpi"), environment("mpich"), environment("impi")
    intel = {"I_MPI_ROOT": str(i), "I_MPI_FABRICS": "shm", "LD_LIBRARY_PATH": f"{i}/lib"}
    known = [
        Mpi("openmpi", ["mpirun.openmpi", "--oversubscribe"], ["mpicc.openmpi"], environment=root, give="-x"),
        Mpi("mpich", ["mpirun.mpich"], ["mpicc.mpich"]),
        Mpi(
            "openmpi-5",
            [f"{o}/bin/mpirun", "--oversubscribe"],
            [f"{o}/bin/mpicc"],
            # Without it, every program says that a network is missing.
            environment={**root, "OMPI_MCA_osc": "^ucx"},
            give="-x",
        ),
        Mpi("mpich-5", [f"{m}/bin/mpiexec"], [f"{m}/bin/mpicc"]),
        Mpi("mpich-5-abi", [f"{m}/bin/mpiexec"], [f"{m}/bin/mpicc_abi"]),
        Mpi("intel", [f"{i}/bin/mpiexec.hydra"], [f"{i}/bin/mpicc"], environment=intel),
        Mpi(
            "intel-abi",
            [f"{i}/bin/mpiexec.hydra"],
            ["gcc", f"-I{i}/abi-include", "-idirafter", f"{i}/include"],
            [f"-L{i}/lib", f"-Wl,-rpath,{i}/lib", "-lmpi_abi"],
            intel,
        ),
    ]
    return [mpi for mpi in known if shutil.which(mpi.launcher[0])]


@dataclass
class Program:
    """`command` gets a build directory; `steady` are the lines of its output that two runs have in common."""

    name: str
    on: list
    command: object
    ranks: int = 4
    steady: str = "."
    # Files all of whose bytes are written once, by MPI-IO: the trace must have exactly so many.
    exact: str = r"(?!)"


def compiled(source, *flags):
    def command(mpi, build):
        binary = build / (Path(source).stem + "-" + mpi.name)
        extra = [flag.replace("MPI", mpi.name) for flag in flags]
        line = [
            *mpi.compiler,
            "-O2",
            "-Wno-stringop-overflow",
            f"-I{HERE.parent.parent}/c-headers",
            str(HERE / source),
            *extra,
            *mpi.libraries,
            "-lm",
            "-ldl",
            "-lpthread",
            "-o",
            str(binary),
        ]
        subprocess.run(line, check=True, env={**os.environ, **mpi.environment})
        return [str(binary)]

    return command


def workload(*options):
    build_it = compiled("../programs/workload.c")

    def command(mpi, build):
        fixed = ["--compute", "0", "--iterations", "5", "--keep", "--layout", "per-process", "--dir", "."]
        return [*build_it(mpi, build), *fixed, *options]

    return command


def mpi4py_suite(mpi, build):
    python = (
        environment({"openmpi-5": "openmpi", "mpich-5": "mpich", "intel": "impi"}[mpi.name]) / "bin/python"
    )
    source = next((TARGET / "mpi").glob("mpi4py-src/mpi4py-*/test/main.py"))
    return [str(python), str(source), "-q", "-i", "test_io"]


ALL = ["openmpi", "mpich", "openmpi-5", "mpich-5", "mpich-5-abi", "intel", "intel-abi"]
HDF5 = ["-I/usr/include/hdf5/MPI", "-L/usr/lib/x86_64-linux-gnu/hdf5/MPI", "-lhdf5"]
# The workload's own account has times in it; what it verified and how much it did is the same in every run.
ACCOUNT = r'"verified": true'
# What a suite says in the end. Two ranks may write into one line, even without a tracer, so words are looked
# for, not lines.
VERDICT = r"OK|FAILED|ERROR|Ran \d+ tests"
PROGRAMS = [
    Program("workload, blocking", ALL, workload("--read"), steady=ACCOUNT, exact=r"workload_.*\.dat"),
    Program(
        "workload, collective with a derived datatype",
        ALL,
        workload("--access", "collective", "--datatype", "vector"),
        steady=ACCOUNT,
        exact=r"workload_.*\.dat",
    ),
    Program(
        "workload, nonblocking",
        ALL,
        workload("--access", "nonblocking", "--read"),
        steady=ACCOUNT,
        exact=r"workload_.*\.dat",
    ),
    Program(
        "LAMMPS: dumps and restarts by MPI-IO",
        ["openmpi"],
        lambda mpi, build: ["lmp", "-in", str(HERE / "lammps.in"), "-log", "none"],
        steady=r"^ +\d+ +-?\d+\.|^Created",
        exact=r"dump\..*",
    ),
    Program(
        "h5py on parallel HDF5",
        ["openmpi"],
        lambda mpi, build: ["/usr/bin/python3", str(HERE / "h5py_datasets.py")],
    ),
    Program(
        "HDF5 from C, file closed by MPI_Finalize", ["openmpi", "mpich"], compiled("hdf5_steps.c", *HDF5)
    ),
    Program("PnetCDF from C", ["openmpi"], compiled("pnetcdf_steps.c", "-lpnetcdf")),
    Program(
        "mpi4py's own tests of MPI-IO",
        ["openmpi-5", "mpich-5", "intel"],
        mpi4py_suite,
        ranks=2,
        steady=VERDICT,
    ),
]


def steady(program, text):
    if program.steady == VERDICT:
        return re.findall(VERDICT, text)
    lines = [re.sub(r" in [\d.]+s$", "", line) for line in text.splitlines()]
    lines = [line for line in lines if re.search(program.steady, line)]
    if program.steady == ACCOUNT:
        lines = [
            re.sub(
                r"_\d+_\d+_",
                "_",
                re.sub(r'"\w*(time|period|starts|ends)": (\[[^]]*\]|[\d.e+-]+|null),? ?', "", line),
            )
            for line in lines
        ]
    return lines


def files(directory):
    """Relative names, without the process number and time that the workload puts into them, and contents."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            found[re.sub(r"_\d+_\d+_", "_", str(path.relative_to(directory)))] = path.read_bytes()
    return found


def run(mpi, program, command, scratch, traced):
    directory = scratch / ("with" if traced else "without")
    directory.mkdir()
    trace = scratch / "trace.msgpack"
    variables = (
        {"LD_PRELOAD": LIBTMIO, "TMIO_OUTPUT": trace, "PYTHONDONTWRITEBYTECODE": "1"} if traced else {}
    )
    done = subprocess.run(
        mpi.launch(program.ranks, variables, command),
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=TIMES_PROGRAM_RUNS,
        env={**os.environ, **mpi.environment},
    )
    return done, files(directory), trace


def certify(mpi, program, build):
    """The cells of a row, and what is wrong."""
    command = program.command(mpi, build)
    with tempfile.TemporaryDirectory(dir=TARGET / "tmp") as scratch:
        scratch = Path(scratch)
        without, files_without, _ = run(mpi, program, command, scratch, False)
        with_it, files_with, trace = run(mpi, program, command, scratch, True)
        wrong = []
        if without.returncode != 0:
            wrong.append(f"fails without libtmio, too: {without.stderr[-2000:]}")
        if without.returncode != with_it.returncode:
            wrong.append(
                f"exit code {without.returncode}, traced {with_it.returncode}: {with_it.stderr[-2000:]}"
            )
        outputs = [steady(program, done.stdout + done.stderr) for done in (without, with_it)]
        # Ranks' lines come in any order.
        if sorted(outputs[0]) != sorted(outputs[1]) or not outputs[0]:
            wrong.append(f"output: {outputs[0]}, traced {outputs[1]}")
        differing = [
            name
            for name in {**files_without, **files_with}
            if files_without.get(name) != files_with.get(name)
        ]
        if differing:
            wrong.append(f"files differ: {differing}")
        info, bytes_text = {}, "no trace"
        if not trace.is_file():
            wrong.append("there is no trace")
        else:
            shown = subprocess.run(
                [FTIO, "info", "--json", trace], capture_output=True, text=True, check=True
            )
            info = json.loads(shown.stdout)
            if not info["complete"]:
                wrong.append("the trace is not complete")
            traced_bytes = {}
            for entry in info["files"]:
                name = re.sub(r"_\d+_\d+_", "_", Path(entry["name"]).name)
                traced_bytes[name] = traced_bytes.get(name, 0) + entry["bytes_written"]
            for name, content in files_with.items():
                if re.fullmatch(program.exact, name) and traced_bytes.get(name) != len(content):
                    wrong.append(f"{name} has {len(content)} bytes, traced {traced_bytes.get(name)}")
            exact = [name for name in files_with if re.fullmatch(program.exact, name)]
            if program.exact != r"(?!)" and not exact:
                wrong.append("none of the files is there whose bytes the trace should have")
            written = info["write_sync"]["bytes"] + info["write_async"]["bytes"]
            operations = sum(info[c]["ops"] for c in ("write_sync", "read_sync", "write_async", "read_async"))
            size = sum(map(len, files_with.values()))
            if not operations:
                wrong.append("nothing was traced")
            bytes_text = f"{operations} operations, {written} bytes written, files of {size}"
    same = lambda good: "same" if good else "**different**"
    row = [
        program.name,
        f"{with_it.returncode} ({same(without.returncode == with_it.returncode)})",
        same(sorted(outputs[0]) == sorted(outputs[1])),
        f"{len(files_without)}, {same(not differing)}",
        bytes_text,
    ]
    return row, wrong


def main():
    wanted = sys.argv[2:] or ALL
    (TARGET / "tmp").mkdir(exist_ok=True)
    there = mpis()
    missing = set(wanted) - {mpi.name for mpi in there}
    for name in sorted(missing):
        print(f"{name}: {'is not installed' if name in ALL else 'there is no such MPI'}", flush=True)
    failed = bool(missing)
    for mpi in [mpi for mpi in there if mpi.name in wanted]:
        rows, problems = [], []
        with tempfile.TemporaryDirectory() as build:
            for program in [program for program in PROGRAMS if mpi.name in program.on]:
                row, wrong = certify(mpi, program, Path(build))
                rows.append(row)
                problems += [f"{program.name}: {what}" for what in wrong]
                print(f"{mpi.name}: {program.name}: {'; '.join(wrong) or 'same'}", flush=True)
        lines = [
            f"# Harmlessness: {mpi.name}",
            "",
            "Each program was run without and with `libtmio.so` preloaded. Of the output, lines with times are left out;",
            "files are compared byte by byte.",
            "",
            "| program | exit code | output | files | traced |",
            "|---|---|---|---|---|",
        ]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        lines += [""] + [f"- {problem}" for problem in problems] if problems else []
        (TARGET / f"certificate-{mpi.name}.md").write_text("\n".join(lines) + "\n")
        failed |= bool(problems)
    sys.exit(failed)


main()

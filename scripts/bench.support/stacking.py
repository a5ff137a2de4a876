"""scripts/stacking for one MPI: the workload under tmio and another tool, in both orders; all counts against
the program's own."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

mpi, tools, tmio, ftio = (
    sys.argv[1],
    pathlib.Path(sys.argv[2]),
    os.path.abspath(sys.argv[3]),
    os.path.abspath(sys.argv[4]),
)
WORKLOAD = ["--compute", "0", "--iterations", "3", "--requests", "50", "--size", "1000", "--read"]


def run(preload, directory):
    """The program's own account."""
    data = directory / "data"
    data.mkdir()
    variables = {
        "LD_PRELOAD": ":".join(map(str, preload)),
        "TMIO_OUTPUT": directory / "t.msgpack",
        "DARSHAN_LOGFILE": directory / "t.darshan",
        "MPIP": f"-f {directory}",
    }
    launch = (
        ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"] if mpi == "openmpi" else ["mpirun.mpich"]
    )
    for name, value in variables.items():
        launch += ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, str(value)]
    command = [*launch, "-n", "2", tools / "workload", *WORKLOAD, "--dir", data]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"the program ended with {done.returncode}: {done.stderr}")
    # mpiP prints about itself, too.
    total = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))["total"]
    return {"write": total["write_sync"]["ops"], "read": total["read_sync"]["ops"]}


def of_tmio(directory):
    found = json.loads(
        subprocess.run(
            [ftio, "info", "--json", directory / "t.msgpack"], capture_output=True, check=True
        ).stdout
    )
    assert found["complete"], found["notes"]
    return {"write": found["write_sync"]["ops"], "read": found["read_sync"]["ops"]}


def of_darshan(directory):
    found = json.loads(
        subprocess.run(
            [ftio, "info", "--json", directory / "t.darshan"], capture_output=True, check=True
        ).stdout
    )
    module = next(found["modules"][name] for name in ("MPI-IO", "MPIIO") if name in found["modules"])
    return {"write": module["writes"], "read": module["reads"]}


def of_mpip(directory):
    (report,) = directory.glob("*.mpiP")
    sums = {"write": 0, "read": 0}
    # The last table: name, site, rank, count; a star for the sum over ranks.
    for line in report.read_text().splitlines():
        found = re.match(
            r"File_(write|read)_at(?:_all)?\s+\d+\s+(\d+)\s+(\d+)\s+[\d.e+-]+\s+[\d.e+-]+\s+[\d.e+-]+\s+[\d.]+\s+[\d.]+$",
            line,
        )
        if found:
            sums[found[1]] += int(found[3])
    return sums


def main():
    failed = False
    for name, library, counts in [("Darshan", "libdarshan.so", of_darshan), ("mpiP", "libmpiP.so", of_mpip)]:
        tool = tools / "lib" / library
        for preload in ([tmio, tool], [tool, tmio]):
            with tempfile.TemporaryDirectory() as directory:
                directory = pathlib.Path(directory)
                try:
                    truth, ours, theirs = run(preload, directory), of_tmio(directory), counts(directory)
                    outcome = "ok" if truth == ours == theirs else "FAILED"
                    detail = f"program {truth}, tmio {ours}, {name} {theirs}"
                except Exception as error:  # the others are still tried
                    outcome, detail = "FAILED", repr(error)
            failed = failed or outcome != "ok"
            order = " before ".join("tmio" if path == tmio else name for path in preload)
            print(f"{outcome}: {mpi}, {order}: {detail}", flush=True)
    return 1 if failed else 0


sys.exit(main())

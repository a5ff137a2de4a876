"""What the Python FTIO says about the traces in a folder: ask_ftio.py FOLDER > ftio.json

Each record has the file, the arguments, the exit status (`rc`) and, if it is 0, what FTIO found.
"""

import contextlib
import io
import json
import os
import re
import sys
import tempfile

# Made up by `ftio-core/examples/reference_inputs.rs`, but the last two, which are runs of mpi-tests'
# workload.
TRACES = {
    "regular_4.json": {},
    "made_for_ftio_4.json": {},
    "nested_4.jsonl": {},
    "late_8.msgpack": {},
    "noisy_4.msgpack": {},
    "spread_4.msgpack": {},
    "poisson_1.msgpack": {},
    # At 10 Hz a single sample of this window is not 0: its spectrum is flat, and rounding decides.
    "blocking_4.jsonl": {"window": ["-f", "37.5", "-ts", "4.5", "-te", "15"]},
    "nonblocking_4.msgpack": {"window": ["-ts", "4.5", "-te", "15"], "mode": ["-m", "write_async"]},
}
ARGUMENTS = [
    [],
    ["-f", "1"],
    ["-f", "37.5"],
    ["-au"],
    ["-np"],
    ["-n", "5"],
    ["-t", "0.45"],
    ["--outlier", "dbscan"],
    ["--outlier", "lof"],
    ["-o", "peak"],
    ["-m", "read_sync"],
]
LOGS = [
    ("heatmap_4.darshan", ["-x", "POSIX"]),
    ("heatmap_4.darshan", ["-x", "POSIX", "-au"]),
    ("segments_4.darshan", ["-x", "DXT_POSIX"]),
    ("segments_4.darshan", ["-x", "DXT_POSIX", "-f", "25"]),
]


def cases():
    for file, details in TRACES.items():
        window = details.get("window", ["-ts", "25", "-te", "95"])
        for arguments in [*ARGUMENTS, window, [*window, "-au"]]:
            yield file, arguments if "-m" in arguments else details.get("mode", []) + arguments
    yield from LOGS


def numbers(values):
    return [float(value) for value in values]


def record(found, printed):
    error = re.search(r"Abstraction error:\s*([-+.\deE]+)", printed)
    record = {
        "n_samples": int(found.n_samples),
        "sampling_freq": float(found.freq),
        "t_start": float(found.t_start),
        "t_end": float(found.t_end),
        "ranks": int(found.ranks),
        "total_bytes": int(found.total_bytes),
        "abstraction_error": float(error.group(1)) if error else None,
        "freq": None,
        "period": None,
        "confidence": None,
    }
    if len(found.dominant_freq) > 0:
        frequency, confidence = found.get_dominant_freq_and_conf()
        record.update(freq=float(frequency), period=1 / float(frequency), confidence=float(confidence))
        record["all_dominant_freq"] = numbers(found.dominant_freq)
    if len(found.top_freqs.get("freq", [])) > 0:
        record["top_freqs"] = {"freq": numbers(found.top_freqs["freq"])}
    return record


def ask(path, arguments):
    from ftio.cli.ftio_core import main

    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            found, _ = main(["ftio", path, "-e", "no", "-v", *arguments])
    except (Exception, SystemExit) as failure:
        return {"rc": 1, "error": type(failure).__name__}
    found = found[-1] if isinstance(found, list) and found else found
    if not found or not getattr(found, "n_samples", 0):
        return {"rc": 0, "n_samples": None}
    return {"rc": 0, **record(found, printed.getvalue())}


def main():
    folder = os.path.abspath(sys.argv[1])
    # FTIO leaves a file in its working directory.
    os.chdir(tempfile.mkdtemp())
    records = []
    for file, arguments in cases():
        answer = ask(os.path.join(folder, file), arguments)
        records.append({"file": file, "args": arguments, **answer})
        print(f"{file} {' '.join(arguments)}: {answer.get('period', answer.get('error'))}", file=sys.stderr)
    print("[")
    print(",\n".join(json.dumps(record) for record in records))
    print("]")


main()

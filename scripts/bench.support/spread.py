"""An archive on one process, an array of eight tasks, and four Dask workers of which one is killed.

Runs inside of the environment of scripts/python-test, which has the Python package and Dask. Prints a line of
JSON for each way: logs, CPU seconds of all processes that read them, and whether the results are the same to
the last byte.

usage: spread.py ARCHIVE FOLDER
"""

import hashlib
import json
import os
import signal
import sys
from pathlib import Path

import ftio_rs

ROOT = Path(__file__).resolve().parents[2]
# Workers have the search path of this process.
sys.path.insert(0, str(ROOT / "python" / "examples"))

TASKS, WORKERS, SHARDS = 8, 4, 32


def reader(archive, part, shard=None):
    """A process of its own that reads the archive, or a shard of it, and its CPU seconds."""
    code = f"import ftio_rs; ftio_rs.categorize({archive!r}, {part!r}, shard={shard!r}, threads=1)"
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", code])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{part}: status {status}")
    return usage.ru_utime + usage.ru_stime


def idle():
    """CPU seconds of a process that only loads the package."""
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import ftio_rs"])
    usage = os.wait4(pid, 0)[2]
    return usage.ru_utime + usage.ru_stime


def merged(parts, folder):
    lines = Path(folder) / "lines.jsonl"
    summary = ftio_rs.merge(parts, lines=lines)
    text = lines.read_bytes() + json.dumps(summary, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest(), len(lines.read_bytes())


def cpu_seconds():
    """Of this process so far. Asked on a worker."""
    usage = os.times()
    return usage.user + usage.system


def measured_shard(archive, part, shard):
    """As in the example. CPU seconds go to a file: what a killed worker had done is not forgotten."""
    import dask_categorize

    began = cpu_seconds()
    dask_categorize.categorize_shard(archive, part, shard)
    with open(f"{part}.seconds", "a") as file:
        print(cpu_seconds() - began, file=file)
    return part


def with_dask(archive, folder, kill):
    import distributed

    parts = [str(Path(folder) / f"dask-{kill}-{i}.part") for i in range(SHARDS)]
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None, "processes": True}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        given = [(archive, part, f"{i}/{SHARDS}") for i, part in enumerate(parts)]
        work = [client.submit(measured_shard, *one, pure=False, retries=5) for one in given]
        if kill:
            for done, _ in enumerate(distributed.as_completed(work), 1):
                if done == SHARDS // 2:
                    break
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        client.gather(work)
    seconds = [float(line) for part in parts for line in Path(f"{part}.seconds").read_text().split()]
    return parts, sum(seconds)


def main():
    archive, folder = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    whole = str(Path(folder) / "whole.part")
    start = min(idle() for _ in range(3))
    alone = reader(archive, whole) - start
    logs = sum(1 for _ in Path(archive).rglob("*.darshan"))
    expected, size = merged([whole], folder)
    rows = [{"way": "one process", "cpu_seconds": alone, "same": True}]
    parts = [str(Path(folder) / f"task-{i}.part") for i in range(TASKS)]
    tasks = sum(reader(archive, part, f"{i}/{TASKS}") - start for i, part in enumerate(parts))
    rows.append({"way": "an array of 8", "cpu_seconds": tasks, "same": merged(parts, folder)[0] == expected})
    for kill, way in ((False, "4 Dask workers"), (True, "4 Dask workers, one killed")):
        parts, seconds = with_dask(archive, folder, kill)
        rows.append({"way": way, "cpu_seconds": seconds, "same": merged(parts, folder)[0] == expected})
    for row in rows:
        row |= {"logs": logs, "rate": logs / row["cpu_seconds"], "of_one": alone / row["cpu_seconds"]}
        row |= {"part_bytes": Path(whole).stat().st_size, "line_bytes": size}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

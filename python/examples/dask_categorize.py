#!/usr/bin/env python3
"""Categories of an archive of Darshan logs, on a Dask cluster.

usage: dask_categorize.py ARCHIVE PARTS [SCHEDULER]

ARCHIVE is a folder of logs and PARTS a folder for intermediate results; all workers must see both. There
the results are in the end: logs.jsonl, a line for each log, and with pyarrow logs.parquet. SCHEDULER is the
address of a running scheduler; without it, workers are started here. With dask-jobqueue:

    from dask_jobqueue import SLURMCluster
    cluster = SLURMCluster(cores=1, memory="2GB", walltime="01:00:00")
    cluster.scale(32)
    client = Client(cluster)

A shard whose worker is killed is given to another one, which goes on where the first has stopped. The result
is that of one process, to the last byte.
"""

import json
import sys
from pathlib import Path

import ftio_rs


def categorize_shard(archive, part, shard):
    """What a worker does: one shard into one part."""
    ftio_rs.categorize(archive, part, shard=shard, threads=1)
    return part


def submit(client, archive, parts, shards):
    """All shards as futures. Many more shards than workers keep all of them busy until the end."""
    Path(parts).mkdir(parents=True, exist_ok=True)
    work = [(str(archive), str(Path(parts) / f"{i}.part"), f"{i}/{shards}") for i in range(shards)]
    # Writing a part is not repeatable by two workers at once: retries only after the first has gone.
    return [client.submit(categorize_shard, *one, pure=False, retries=5) for one in work]


def to_parquet(lines):
    """Lines of JSON as a table beside them, for pandas, polars, DuckDB and Spark; None without pyarrow."""
    try:
        import pyarrow.json
        import pyarrow.parquet
    except ImportError:
        return None
    # A line is longer than the blocks that are read by default.
    blocks = pyarrow.json.ReadOptions(block_size=1 << 26)
    table = Path(lines).with_suffix(".parquet")
    pyarrow.parquet.write_table(pyarrow.json.read_json(lines, read_options=blocks), table)
    return table


def main():
    from distributed import Client, LocalCluster

    archive, parts, *scheduler = sys.argv[1:]
    if scheduler:
        client = Client(scheduler[0])
    else:
        client = Client(LocalCluster(threads_per_worker=1))
    shards = 4 * max(1, len(client.scheduler_info()["workers"]))
    files = client.gather(submit(client, archive, parts, shards))
    lines = Path(parts) / "logs.jsonl"
    summary = ftio_rs.merge(files, lines=lines)
    to_parquet(lines)
    print(json.dumps({name: summary[name] for name in ("ok", "invalid")}))
    client.close()


if __name__ == "__main__":
    main()

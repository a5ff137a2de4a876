#!/usr/bin/env python3
"""The periods of many traces on a Dask cluster, from a Parquet table to a Parquet table. Needs pyarrow.

usage: dask_periods.py TRACES RESULTS [SCHEDULER]

TRACES is a Parquet file with a column `path`, RESULTS the one that is written: a row for each trace, in the
same order, with what is known of its period, or why there is none. SCHEDULER is the address of a running
scheduler; without it, workers are started here.
"""

import sys

import ftio_rs

COLUMNS = ("path", "period", "confidence", "phases", "bytes", "error")


def periods(paths):
    """What a worker does: some traces, a row for each. One that cannot be read does not stop the others."""
    rows = []
    for path in paths:
        row = dict.fromkeys(COLUMNS)
        row["path"] = path
        try:
            found = ftio_rs.detect(path)
            row["period"], row["confidence"] = found.period, found.confidence
            row["phases"], row["bytes"] = len(found.phases), found.total_bytes
        except (ftio_rs.FtioError, OSError) as error:
            row["error"] = str(error)
        rows.append(row)
    return rows


def analyse(client, traces, results, at_once=50):
    """From one table to the other; `at_once` traces are a task."""
    import pyarrow
    import pyarrow.parquet

    paths = pyarrow.parquet.read_table(traces, columns=["path"]).column("path").to_pylist()
    parts = [paths[i : i + at_once] for i in range(0, len(paths), at_once)]
    rows = [row for part in client.gather(client.map(periods, parts, pure=False, retries=5)) for row in part]
    kinds = [pyarrow.string(), pyarrow.float64(), pyarrow.float64(), pyarrow.int64(), pyarrow.int64()]
    schema = pyarrow.schema(zip(COLUMNS, [*kinds, pyarrow.string()]))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), results)
    return rows


def main():
    from distributed import Client, LocalCluster

    traces, results, *scheduler = sys.argv[1:]
    client = Client(scheduler[0]) if scheduler else Client(LocalCluster(threads_per_worker=1))
    rows = analyse(client, traces, results)
    known = sum(row["period"] is not None for row in rows)
    print(f"{known} of {len(rows)} traces have a period: {results}")
    client.close()


if __name__ == "__main__":
    main()

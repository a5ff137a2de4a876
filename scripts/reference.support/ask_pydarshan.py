"""What PyDarshan reads in the logs of a folder: ask_pydarshan.py FOLDER > pydarshan.json

Counters are summed over the records of a module. A log that PyDarshan cannot read has only `error`.
"""

import json
import os
import sys

import darshan

darshan.enable_experimental()


def counters(report, module):
    frames = report.records[module].to_df()
    integers, floats = frames["counters"], frames["fcounters"]
    sums = {"num_records": len(integers), "shared_records": int((integers["rank"] == -1).sum())}
    for name in integers.columns.drop(["id", "rank"]):
        sums[name] = int(integers[name].astype("int64").sum())
    for name in floats.columns.drop(["id", "rank"]):
        total = 0.0
        for value in floats[name]:
            total += float(value)
        sums[name] = total
    return sums


def segments(report, module):
    found = {
        "num_records": 0,
        "write_segments": 0,
        "read_segments": 0,
        "write_length_sum": 0,
        "read_length_sum": 0,
    }
    starts, ends, hosts = [], [], set()
    for record in report.records[module].to_df():
        found["num_records"] += 1
        hosts.add(record["hostname"])
        for direction in ("write", "read"):
            frame = record[f"{direction}_segments"]
            found[f"{direction}_segments"] += len(frame)
            if len(frame) > 0:
                found[f"{direction}_length_sum"] += int(frame["length"].sum())
                starts += list(frame["start_time"])
                ends += list(frame["end_time"])
    found.update(first_start=min(starts), last_start=max(starts), last_end=max(ends), hostnames=len(hosts))
    return found


def heatmaps(report):
    found = {}
    for layer, heatmap in report.heatmaps.items():
        read, written = heatmap.to_df(ops=["read"]), heatmap.to_df(ops=["write"])
        found[layer] = {
            "nbins": written.shape[1],
            "bin_width_seconds": float(heatmap._bin_width_seconds),
            "num_recs": int(heatmap._num_recs),
            "n_ranks": len(heatmap._ranks),
            "total_read": int(read.to_numpy().sum()),
            "total_written": int(written.to_numpy().sum()),
        }
    return found


def ask(path):
    try:
        report = darshan.DarshanReport(path, read_all=True)
    except Exception as failure:
        return {"error": f"{type(failure).__name__}: {failure}"}
    job = report.metadata["job"]
    answer = {
        "job": {key: job[key] for key in job if key != "metadata"},
        "job_metadata": job.get("metadata", {}),
        "exe": report.metadata["exe"],
        "nmounts": len(report.mounts),
        "n_name_records": len(report.name_records),
        "modules": {
            name: {
                "len": int(module["len"]),
                "ver": int(module["ver"]),
                "partial_flag": bool(module["partial_flag"]),
            }
            for name, module in report.modules.items()
        },
    }
    for module in ("POSIX", "MPI-IO", "STDIO"):
        if module in report.records:
            answer[module] = counters(report, module)
    for module in ("DXT_POSIX", "DXT_MPIIO"):
        if module in report.records:
            answer[module] = segments(report, module)
    answer["HEATMAP"] = heatmaps(report)
    return answer


def main():
    folder = sys.argv[1]
    logs = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".darshan"):
            logs[name] = ask(os.path.join(folder, name))
            print(f"{name}: {logs[name].get('error', 'read')}", file=sys.stderr)
    about = f"sums of the counters that PyDarshan {darshan.__version__} reads"
    print(json.dumps({"_about": about, "logs": logs}, indent=1))


main()

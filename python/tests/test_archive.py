"""Archives: the same result in one process, in shards, after a killed worker, and by the command."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import ftio_rs
import inputs

try:
    import distributed
except ImportError:
    distributed = None
try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

sys.path.insert(0, str(inputs.ROOT / "python" / "examples"))
CLUSTER = {"n_workers": 4, "threads_per_worker": 1, "dashboard_address": None, "processes": True}


def archive(copies):
    """A folder with the logs of the repository, several times."""
    folder = inputs.FOLDER / f"archive-{copies}"
    if not folder.exists():
        for copy in range(copies):
            (folder / str(copy)).mkdir(parents=True)
            for log in inputs.DARSHAN.glob("*.darshan"):
                shutil.copy(log, folder / str(copy))
    return folder


class Archive(unittest.TestCase):
    def merged(self, parts):
        lines = inputs.FOLDER / "lines.jsonl"
        summary = ftio_rs.merge(parts, lines=lines)
        return summary, lines.read_bytes()

    def test_shards(self):
        folder = archive(3)
        whole = inputs.FOLDER / "whole.part"
        read = ftio_rs.categorize(folder, whole)
        self.assertGreater(read, 10)
        self.assertEqual(ftio_rs.categorize(folder, whole), 0)
        expected = self.merged([whole])
        parts = [inputs.FOLDER / f"{i}.part" for i in range(4)]
        for i, part in enumerate(parts):
            ftio_rs.categorize(folder, part, shard=f"{i}/4")
        self.assertEqual(self.merged(parts), expected)
        summary = inputs.FOLDER / "summary.json"
        status, out = inputs.command("categorize", folder, "--json", "--summary", summary)
        self.assertEqual(out.encode(), expected[1])
        self.assertEqual(json.loads(summary.read_text()), expected[0])
        with self.assertRaises(ftio_rs.FtioError):
            ftio_rs.merge(parts[:3])
        with self.assertRaises(ValueError):
            ftio_rs.categorize(folder, whole, shard="5")

    def test_a_killed_worker(self):
        folder = archive(40)
        whole, part = inputs.FOLDER / "all.part", inputs.FOLDER / "killed.part"
        ftio_rs.categorize(folder, whole)
        code = f"import ftio_rs; ftio_rs.categorize({str(folder)!r}, {str(part)!r})"
        child = subprocess.Popen([sys.executable, "-c", code])
        while child.poll() is None and not (part.exists() and part.stat().st_size > 1000):
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
        ftio_rs.categorize(folder, part)
        self.assertEqual(self.merged([part]), self.merged([whole]))

    @unittest.skipUnless(distributed, "no dask.distributed")
    def test_dask(self):
        import dask_categorize

        folder, whole = archive(40), inputs.FOLDER / "one.part"
        ftio_rs.categorize(folder, whole)
        expected = self.merged([whole])
        parts = inputs.FOLDER / "dask"
        with distributed.LocalCluster(**CLUSTER) as cluster, distributed.Client(cluster) as client:
            done = dask_categorize.submit(client, folder, parts, shards=16)
            distributed.wait(done, return_when="FIRST_COMPLETED")
            victim = next(iter(client.run(os.getpid).values()))
            os.kill(victim, signal.SIGKILL)
            files = client.gather(done)
        self.assertEqual(self.merged(files), expected)

    @unittest.skipUnless(pyarrow, "no pyarrow")
    def test_results_as_parquet(self):
        import dask_categorize

        whole = inputs.FOLDER / "table.part"
        ftio_rs.categorize(archive(3), whole)
        summary, lines = self.merged([whole])
        table = pyarrow.parquet.read_table(dask_categorize.to_parquet(inputs.FOLDER / "lines.jsonl"))
        wanted = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual(table.column("source").to_pylist(), [one["source"] for one in wanted])
        self.assertEqual(table.column("categories").to_pylist(), [one["categories"] for one in wanted])

    @unittest.skipUnless(distributed and pyarrow, "no dask.distributed and pyarrow")
    def test_periods_from_parquet_to_parquet(self):
        import dask_periods

        paths = [str(inputs.own_trace()), "/not/there", str(inputs.jsonl())] * 20
        traces, results = inputs.FOLDER / "traces.parquet", inputs.FOLDER / "periods.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"path": paths}), traces)
        with distributed.LocalCluster(**CLUSTER) as cluster, distributed.Client(cluster) as client:
            dask_periods.analyse(client, traces, results, at_once=7)
        rows = pyarrow.parquet.read_table(results).to_pylist()
        self.assertEqual([row["path"] for row in rows], paths)
        for row in rows[:3]:
            if row["path"] == "/not/there":
                self.assertIsNone(row["period"])
                self.assertIn("/not/there", row["error"])
            else:
                self.assertEqual(row["period"], ftio_rs.detect(row["path"]).period)
                self.assertIsNone(row["error"])
        self.assertEqual(rows[:3], rows[3:6])


if __name__ == "__main__":
    unittest.main()

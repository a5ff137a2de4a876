"""How it behaves in the hands of users: mistakes, threads, processes, notebooks, other libraries."""

import gzip
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import ftio_rs
import inputs
from ftio_rs import _native


def installed(name):
    try:
        return __import__(name)
    except ImportError:
        return None


numpy, pandas, polars, pyarrow = map(installed, ("numpy", "pandas", "polars", "pyarrow"))


def python(code, **options):
    """Run code in another interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, **options
    )


class Mistakes(unittest.TestCase):
    def refused(self, error, function, *arguments, **options):
        with self.assertRaises(ftio_rs.FtioError) as caught:
            function(*arguments, **options)
        self.assertIsInstance(caught.exception, error)
        return str(caught.exception)

    def test_no_such_file(self):
        for name in ("detect", "requests", "phases", "predict", "model", "report"):
            function = getattr(ftio_rs, name)
            text = self.refused(FileNotFoundError, function, "/does/not/exist.msgpack")
            self.assertIn("/does/not/exist.msgpack", text)

    def test_bad_content(self):
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "empty.msgpack"
            empty.write_bytes(b"")
            self.assertIn("is empty", self.refused(ftio_rs.FtioError, ftio_rs.detect, empty))
            nothing = tempfile.mkdtemp(dir=folder)
            self.assertIn("no trace", self.refused(ftio_rs.FtioError, ftio_rs.detect_all, nothing))
        self.assertIn("is empty", self.refused(ftio_rs.FtioError, ftio_rs.detect, b""))
        self.assertIn(
            "unknown format", self.refused(ftio_rs.FtioError, ftio_rs.detect, b"\0\1\2 what is this")
        )
        trace = inputs.own_trace().read_bytes()
        for cut in range(0, len(trace), max(1, len(trace) // 40)):
            changed = bytearray(trace)
            changed[cut] ^= 0xFF
            for content in (trace[:cut], bytes(changed)):
                try:
                    ftio_rs.detect(content)
                except ftio_rs.FtioError:
                    pass

    def test_wrong_arguments(self):
        path = inputs.csv()
        for options in (
            {"mode": "wirte"},
            {"freq": 0},
            {"freq": float("nan")},
            {"ts": 5, "te": 1},
            {"tol": 2},
            {"outlier": "best"},
            {"layer": "none"},
            {"compat": True, "paper": True},
            {"rate": "maybe"},
            {"min_period": -1},
        ):
            self.refused(ValueError, ftio_rs.detect, path, **options)
        self.refused(ValueError, ftio_rs.detect)
        self.refused(ValueError, ftio_rs.detect, 17)
        self.refused(ValueError, ftio_rs.detect, "a\0b")
        self.refused(ValueError, ftio_rs.detect, start=[1.0], bytes=[1])
        self.refused(ValueError, ftio_rs.detect, start=["a"], end=[1], bytes=[1])
        self.refused(ValueError, ftio_rs.detect, start=[0], end=[1], bytes=[1], kind="both")
        self.refused(ftio_rs.FtioError, ftio_rs.detect, start=[1.0, 2.0], end=[1.0], bytes=[1])
        self.refused(ValueError, ftio_rs.predict, path, window="some")
        self.refused(ValueError, ftio_rs.predict, path, timeout=-1)
        self.refused(ValueError, ftio_rs.model, [1, 2], [1])
        self.refused(ValueError, ftio_rs.model, [1, 2, 4, 8, 16], [1, 2, 3, 4, 5], evaluate="q=3")
        with self.assertRaises(TypeError):
            ftio_rs.detect(path, frequency=3)
        with self.assertRaises(TypeError):
            ftio_rs.detect_all(path, frequency=3)

    def test_a_defect_is_an_exception(self):
        with self.assertRaises(ftio_rs.FtioInternalError) as caught:
            _native._panics()
        self.assertIn("asked for", str(caught.exception))
        self.assertAlmostEqual(ftio_rs.detect(inputs.csv()).period, inputs.PERIOD, delta=0.05)

    def test_what_is_left_out_is_said(self):
        found = ftio_rs.detect(start=[0, float("nan"), 20, 30], end=[1, 11, 21, 31], bytes=[5, 5, 5, 5])
        self.assertTrue(any("left out" in note for note in found.notes), found.notes)
        if numpy:
            text = b"start,end,bytes\n0,1,5\nx,2,5\n3,4,5\n"
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(ftio_rs.requests(text).count, 2)
            self.assertTrue(any(issubclass(one.category, ftio_rs.FtioWarning) for one in caught))


class Sources(unittest.TestCase):
    def test_files_bytes_and_paths_are_the_same(self):
        path = inputs.csv()
        expected = ftio_rs.detect(path).period
        with path.open("rb") as binary, path.open() as text:
            for source in (
                str(path),
                path.read_bytes(),
                bytearray(path.read_bytes()),
                memoryview(path.read_bytes()),
                binary,
                text,
                io.BytesIO(gzip.compress(path.read_bytes())),
            ):
                self.assertEqual(ftio_rs.detect(source).period, expected)

    def test_a_growing_table_is_followed(self):
        path = inputs.FOLDER / "growing.csv"
        lines = inputs.csv().read_text().splitlines(True)
        path.write_text(lines[0])
        predictions = ftio_rs.predict(path, follow=True, timeout=60.0, poll=0.02)
        found = []
        for i in range(1, len(lines), 20):
            with path.open("a") as out:
                out.write("".join(lines[i : i + 20]))
            found.append(next(predictions))
        self.assertEqual([one.n for one in found], list(range(1, len(found) + 1)))
        self.assertAlmostEqual(found[-1].period, inputs.PERIOD, delta=0.1)
        self.assertLess(found[0].t, found[-1].t)

    def test_waiting_ends(self):
        path = inputs.csv()
        waited = ftio_rs.predict(path, follow=True, timeout=0.2, poll=0.02)
        self.assertEqual([one.n for one in waited], [one.n for one in ftio_rs.predict(path)])

    def test_a_file_that_is_not_there_yet(self):
        path = inputs.FOLDER / "later.csv"
        predictions = ftio_rs.predict(path, follow=True, timeout=60.0, poll=0.05)
        threading.Timer(0.3, lambda: path.write_text(inputs.csv().read_text())).start()
        self.assertTrue(next(predictions).t > 0)


class Processes(unittest.TestCase):
    def test_other_threads_go_on(self):
        steps = 0
        worker = threading.Thread(target=_native._sleeps, args=(0.5,))
        worker.start()
        while worker.is_alive():
            steps += 1
            time.sleep(0.001)
        self.assertGreater(steps, 20)

    def test_many_threads(self):
        found = []
        work = lambda: found.append(ftio_rs.detect(inputs.csv()).period)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(found)), 1)
        self.assertEqual(len(found), 8)

    def test_interrupt(self):
        code = "import ftio_rs._native as n, sys; print('ready', flush=True); n._sleeps(60)"
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=20)
        self.assertIn("KeyboardInterrupt", said)

    def test_interrupt_while_waiting_for_a_trace(self):
        code = (
            "import ftio_rs; print('ready', flush=True); list(ftio_rs.predict('/no/such/file', follow=True))"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=20)
        self.assertIn("KeyboardInterrupt", said)

    def test_fork_after_use(self):
        # Threads of the parent are not there in the child.
        scales = [2**i for i in range(7)]
        ftio_rs.model(scales, scales)
        ftio_rs.detect(inputs.csv())
        child = os.fork()
        if child == 0:
            good = ftio_rs.detect(inputs.csv()).period and ftio_rs.model(scales, scales)
            os._exit(0 if good else 1)
        ended = time.time() + 60
        done = (0, 0)
        while done[0] == 0 and time.time() < ended:
            done = os.waitpid(child, os.WNOHANG)
            time.sleep(0.02)
        if done[0] == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.assertEqual(done, (child, 0))

    def test_results_go_to_other_processes(self):
        found = ftio_rs.detect(inputs.csv())
        again = pickle.loads(pickle.dumps(found))
        self.assertEqual(again, found)
        self.assertEqual(len(again.bandwidth), len(found.bandwidth))
        self.assertEqual(pickle.loads(pickle.dumps(found.phases[0])), found.phases[0])
        with self.assertRaises(ftio_rs.FtioNotFoundError) as caught:
            ftio_rs.detect("/no/such/file")
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))
        if numpy:
            table = ftio_rs.requests(inputs.csv())
            again = pickle.loads(pickle.dumps(table))
            self.assertTrue((again["start"] == table["start"]).all() and again.files == table.files)

    def test_the_command_and_the_tracer(self):
        done = subprocess.run([sys.executable, "-m", "ftio_rs", "--version"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn(ftio_rs.__version__, done.stdout)
        trace = inputs.FOLDER / "traced.msgpack"
        code = (
            "import os, time\nf = os.open('data', os.O_CREAT | os.O_WRONLY)\n"
            "for i in range(6):\n    os.write(f, b'x' * 100000); time.sleep(0.05)\nos.close(f)\n"
        )
        environment = ftio_rs.preload(output=trace)
        self.assertIn("libtmio.so", environment["LD_PRELOAD"])
        traced = subprocess.run(
            [ftio_rs.find_ftio(), "trace", "-o", str(trace), "--", sys.executable, "-c", code],
            cwd=inputs.FOLDER,
            capture_output=True,
            text=True,
        )
        self.assertEqual(traced.returncode, 0, traced.stderr)
        self.assertEqual(ftio_rs.detect(trace).total_bytes, 600000)

    def test_without_numpy(self):
        code = (
            "import sys; sys.modules['numpy'] = None\nimport ftio_rs\n"
            f"found = ftio_rs.detect({str(inputs.csv())!r})\nassert found._repr_html_()\n"
            f"try:\n    ftio_rs.requests({str(inputs.csv())!r})\n"
            "except ImportError as problem:\n    print(problem)\n"
        )
        done = python(code)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pip install numpy", done.stdout)


class Notebooks(unittest.TestCase):
    def test_html(self):
        found = ftio_rs.detect(inputs.csv())
        shown = found._repr_html_()
        self.assertIn("<svg", shown)
        self.assertIn("7.5", shown)
        self.assertLess(len(shown), 40000)
        self.assertIn("<table", ftio_rs.phases(inputs.csv())._repr_html_())
        self.assertIn("<svg", found.plot()._repr_svg_())
        evil = inputs.FOLDER / "<script>.csv"
        evil.write_text(inputs.csv().read_text())
        self.assertNotIn("<script>", ftio_rs.detect(evil)._repr_html_())

    def test_help(self):
        self.assertIn("start", ftio_rs.detect.__doc__)
        for name in ftio_rs.__all__:
            self.assertTrue(getattr(getattr(ftio_rs, name), "__doc__"), name)


@unittest.skipUnless(numpy, "no numpy")
class Tables(unittest.TestCase):
    def setUp(self):
        self.table = ftio_rs.requests(inputs.own_trace())

    def test_arrays_can_be_changed(self):
        self.table["start"] += 1
        self.assertTrue(self.table["start"].flags.writeable)
        self.assertIn("<table", self.table._repr_html_())

    @unittest.skipUnless(pandas, "no pandas")
    def test_pandas(self):
        frame = self.table.to_pandas()
        self.assertTrue(numpy.shares_memory(frame["start"].to_numpy(), self.table["start"]))
        self.assertEqual(frame["class"].value_counts()["write_sync"], inputs.PHASES * inputs.RANKS)
        self.assertEqual(len(pandas.DataFrame(self.table)), self.table.count)
        writes = frame[frame["class"] == "write_sync"]
        self.assertAlmostEqual(ftio_rs.detect(writes).period, inputs.PERIOD, delta=0.05)

    @unittest.skipUnless(polars, "no polars")
    def test_polars(self):
        frame = self.table.to_polars()
        self.assertEqual(
            frame.filter(polars.col("class") == "write_sync").height, inputs.PHASES * inputs.RANKS
        )
        self.assertEqual(polars.DataFrame(dict(self.table)).height, self.table.count)
        self.assertAlmostEqual(ftio_rs.detect(frame).period, inputs.PERIOD, delta=0.05)

    @unittest.skipUnless(pyarrow, "no pyarrow")
    def test_arrow(self):
        table = self.table.to_arrow()
        self.assertEqual(table.num_rows, self.table.count)
        address = table["start"].chunk(0).buffers()[1].address
        self.assertEqual(address, self.table["start"].__array_interface__["data"][0])
        self.assertEqual(pyarrow.table(dict(self.table)).num_rows, self.table.count)


if __name__ == "__main__":
    unittest.main()

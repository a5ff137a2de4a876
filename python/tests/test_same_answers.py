"""Every function gives what the command gives."""

import csv
import io
import json
import unittest

import ftio_rs
import inputs

try:
    import numpy
except ImportError:
    numpy = None


def lines(*words):
    status, out = inputs.command(*words)
    assert status in (0, 3), (words, status)
    return [json.loads(line) for line in out.splitlines()]


def all_inputs():
    given = [inputs.csv(), inputs.own_trace(), inputs.jsonl(), inputs.samples(), *inputs.darshan()]
    for name in ("traces/ftio/384.msgpack", "traces/ftio/8.jsonl", "traces/ftio/custom.json"):
        given += [path for path in [inputs.shared(name)] if path]
    return given


class SameAnswers(unittest.TestCase):
    def test_detect(self):
        compared = 0
        for path in all_inputs():
            for options, words in [
                ({}, []),
                ({"mode": "read"}, ["-m", "read"]),
                ({"ts": 0, "te": 60.0, "freq": 5}, ["--ts", "0", "--te", "60", "-f", "5"]),
                ({"autocorrelation": True, "top": 3}, ["-c", "-n", "3"]),
                ({"compat": True}, ["--compat"]),
                ({"over_time": True, "outlier": "zscore,lof"}, ["--over-time", "--outlier", "zscore,lof"]),
            ]:
                expected = lines("--json", *words, path)
                found = [one.to_dict() for one in ftio_rs.detect_all(path, **options)]
                self.assertEqual(found, expected, (path, words))
                compared += len(found)
        self.assertGreater(compared, 30)

    def test_the_period_is_right(self):
        for path in (inputs.csv(), inputs.own_trace(), inputs.jsonl()):
            found = ftio_rs.detect(path)
            self.assertAlmostEqual(found.period, inputs.PERIOD, delta=0.05)
            self.assertGreater(found.confidence, 0.9)

    def test_by_rank(self):
        expected = lines("--json", "--per-rank", inputs.own_trace())
        found = ftio_rs.detect_all(inputs.own_trace(), by="rank")
        self.assertEqual([one.to_dict() for one in found], expected)
        self.assertEqual([one.rank for one in found], [0, 1, 2, 3])

    def test_phases(self):
        for path in all_inputs():
            for expected, found in zip(lines("--json", path), ftio_rs.detect_all(path)):
                self.assertEqual([phase.to_dict() for phase in found.phases], expected["phases"])
        found = ftio_rs.phases(inputs.csv())
        self.assertEqual(len(found), inputs.PHASES)
        self.assertEqual(found.columns()["bytes"][0], found[0].bytes)

    def test_predict(self):
        for path in (inputs.own_trace(), inputs.jsonl(), inputs.csv(), inputs.samples()):
            expected = lines("predict", "--json", "--until-complete", "--timeout", "0.3", path)
            found = [one.to_dict() for one in ftio_rs.predict(path)]
            self.assertEqual(found, expected, path)
            self.assertTrue(found, path)

    def test_model(self):
        measured = inputs.FOLDER / "scale.jsonl"
        with measured.open("w") as out:
            for p in (1, 2, 4, 8, 16, 32):
                for metric, value in (("Time (s)", 3 * p), ("Size (B)", 1e6)):
                    record = {
                        "params": {"Processes": p},
                        "callpath": "write",
                        "metric": metric,
                        "value": value,
                    }
                    out.write(json.dumps(record) + "\n")
        expected = lines("model", "--json", "--evaluate", "Processes=4096", measured)
        for source in (measured, measured.read_bytes(), measured.open("rb")):
            found = ftio_rs.model(source, evaluate=4096)
            self.assertEqual([one.to_dict() for one in found], expected)
        self.assertAlmostEqual(found[0].predictions[0].value, 3 * 4096)
        of_arrays = ftio_rs.model([1, 2, 4, 8, 16, 32], [3, 6, 12, 24, 48, 96], evaluate={"p": 64})
        self.assertAlmostEqual(of_arrays[0].predictions[0].value, 192)

    @unittest.skipUnless(numpy, "no numpy")
    def test_requests(self):
        for path in (inputs.csv(), inputs.own_trace(), inputs.jsonl(), *inputs.darshan()):
            status, out = inputs.command("convert", path, "-o", "-", "--to", "csv")
            if status != 0:  # A log that has bins and no requests.
                continue
            found = ftio_rs.requests(path)
            moves = [
                row
                for row in csv.DictReader(io.StringIO(out))
                if "write" in row["kind"] or "read" in row["kind"]
            ]
            expected = sorted(
                (int(row["rank"]), float(row["start"]), float(row["end"]), int(row["bytes"]), row["file"])
                for row in moves
            )
            names = [found.files[number] if number >= 0 else "" for number in found["file"]]
            ranks = found["rank"].clip(0)
            ends = numpy.maximum(found["start"], found["end"])
            got = sorted(
                zip(ranks.tolist(), found["start"].tolist(), ends.tolist(), found["bytes"].tolist(), names)
            )
            self.assertEqual(got, expected, path)

    def test_report(self):
        expected = inputs.command("report", "--json", "-o", "-", inputs.own_trace())[1]
        self.assertEqual(ftio_rs.report(inputs.own_trace(), format="json"), expected)
        out = inputs.FOLDER / "report.html"
        page = ftio_rs.report(inputs.own_trace(), out)
        self.assertEqual(out.read_text(), page)
        self.assertIn("<html", page)


class Arrays(unittest.TestCase):
    def same(self, found, path):
        expected = ftio_rs.detect(path).to_dict()
        got = found.to_dict()
        for one in (expected, got):
            del one["source"]
        self.assertEqual(got, expected)

    def test_lists(self):
        self.same(ftio_rs.detect(**inputs.columns()), inputs.csv())
        table = inputs.columns()
        table["class"] = table.pop("kind")
        self.same(ftio_rs.detect(table), inputs.csv())
        times = list(range(400))
        values = [1e6 if i % 20 < 3 else 0 for i in times]
        self.same(ftio_rs.detect(times, values), inputs.samples())

    @unittest.skipUnless(numpy, "no numpy")
    def test_numpy(self):
        columns = {name: numpy.array(column) for name, column in inputs.columns().items()}
        self.same(ftio_rs.detect(**columns), inputs.csv())
        self.same(ftio_rs.detect(ftio_rs.requests(inputs.csv())), inputs.csv())
        times = numpy.arange(400)
        self.same(ftio_rs.detect(times, numpy.where(times % 20 < 3, 1e6, 0)[:]), inputs.samples())
        # Every second value of a longer array, and 32-bit numbers.
        twice = numpy.repeat(times.astype("f4"), 2)[::2]
        self.same(ftio_rs.detect(twice, numpy.where(times % 20 < 3, 1e6, 0)), inputs.samples())
        dates = numpy.datetime64("2026-01-01") + times.astype("timedelta64[s]")
        found = ftio_rs.detect(dates, numpy.where(times % 20 < 3, 1e6, 0))
        self.assertAlmostEqual(found.period, 20, delta=0.1)
        self.assertTrue(found.start_time.startswith("2026-01-01T00:00:00"), found.start_time)

    @unittest.skipUnless(numpy, "no numpy")
    def test_the_signal_holds_all_bytes(self):
        found = ftio_rs.detect(inputs.csv())
        signal = found.bandwidth
        self.assertAlmostEqual(signal.values.sum() * signal.step, found.total_bytes, delta=1)
        self.assertEqual(len(signal.times), found.n_samples)
        frequencies, shares = found.spectrum
        self.assertEqual(len(frequencies), len(shares))

    @unittest.skipUnless(numpy, "no numpy")
    def test_of_nothing_there_is_no_spectrum(self):
        found = ftio_rs.detect(start=[0, 10, 20], end=[1, 11, 21], bytes=[5, 5, 5], mode="read")
        self.assertIsNone(found.frequency_resolution)
        self.assertEqual([len(part) for part in found.spectrum], [0, 0])


if __name__ == "__main__":
    unittest.main()

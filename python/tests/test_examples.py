"""Every example runs, and the notebook too."""

import subprocess
import sys
import unittest

import inputs

try:
    import numpy
except ImportError:
    numpy = None
try:
    import ipykernel
    import nbclient
    import nbformat
except ImportError:
    nbclient = None

EXAMPLES = inputs.ROOT / "python" / "examples"


class Examples(unittest.TestCase):
    def runs(self, name, *arguments):
        command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_find_period(self):
        self.assertIn("every 7.5", self.runs("find_period.py", inputs.own_trace()))

    def test_act_before_phase(self):
        self.assertIn("bytes in", self.runs("act_before_phase.py", inputs.jsonl()))

    @unittest.skipUnless(numpy, "no numpy")
    def test_arrays(self):
        out = self.runs("arrays.py")
        self.assertIn("samples: 60.0 s", out)
        self.assertIn("requests: 30.0 s, 20 phases", out)

    def test_scaling(self):
        self.assertIn("at 4096", self.runs("scaling.py"))

    @unittest.skipUnless(nbclient and numpy, "no nbclient, ipykernel and numpy")
    def test_notebook(self):
        notebook = nbformat.read(EXAMPLES / "periods.ipynb", as_version=4)
        nbformat.validate(notebook)
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
        shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
        self.assertTrue(any("<svg" in page for page in pages))


if __name__ == "__main__":
    unittest.main()

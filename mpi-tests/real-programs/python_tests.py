#!/usr/bin/env python3
"""Runs Python's own tests of files, the system and processes with and without libtmio.so, with all layers
recorded, and says whether every test ended the same way. A test that ends differently is run again both ways:
some depend on the load of the machine.

usage: python_tests.py TARGET [TEST...]; scripts/certificate installs what is needed and calls it.
Exit status: 0 all the same, 1 something differs.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

TARGET = pathlib.Path(sys.argv[1]).resolve()
TESTS = sys.argv[2:] or ["test_io", "test_file", "test_fileio", "test_os", "test_posix", "test_subprocess"]
# Which has the tests.
PYTHON = next(
    path
    for path in [sys.executable, "/usr/bin/python3"]
    if subprocess.run([path, "-c", "import test.test_io"], capture_output=True).returncode == 0
)
LINE = re.compile(r"^(\w+) \(([\w.]+)\).*? \.\.\. (ok|FAIL|ERROR|skipped .*|expected failure)", re.MULTILINE)


def outcomes(test, traced):
    with tempfile.TemporaryDirectory() as work:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TMIO_", "LD_PRELOAD"))}
        if traced:
            environment |= {
                "LD_PRELOAD": str(TARGET / "release/libtmio.so"),
                "TMIO_LAYERS": "posix,stdio",
                "TMIO_OUTPUT": f"{work}/t.msgpack",
                "TMIO_MIN_BYTES": "0",
            }
        (cwd := pathlib.Path(work) / "cwd").mkdir()
        command = [PYTHON, "-m", "test", "-v", "-u", "all,-largefile,-network,-gui", test]
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=1800)
        # The trace, or its parts while some process of the test still runs.
        traces = [*pathlib.Path(work).glob("t*.msgpack"), *pathlib.Path(work).glob("t*.msgpack.parts/*")]
        wrote = sum(file.stat().st_size for file in traces)
    lines = LINE.findall(done.stdout + done.stderr)
    found = {f"{name} ({where})": how.split(" ")[0] for name, where, how in lines}
    return done.returncode, found, wrote


def main():
    different = 0
    print("| test | outcomes | same with libtmio.so | recorded |")
    print("|---|---|---|---|")
    for test in TESTS:
        for attempt in range(2):
            code, plain, _ = outcomes(test, False)
            traced_code, traced, wrote = outcomes(test, True)
            differ = sorted(name for name in {*plain, *traced} if plain.get(name) != traced.get(name))
            if not differ and code == traced_code and plain:
                break
        same = not differ and code == traced_code and plain and wrote
        different += not same
        print(f"| {test} | {len(plain)} | {'yes' if same else 'NO'} | {wrote} bytes |", flush=True)
        for name in differ[:20]:
            print(f"    {name}: {plain.get(name)}, with libtmio.so {traced.get(name)}")
    sys.exit(bool(different))


main()

#!/usr/bin/env python3
"""The period of a trace, a log or a table, and its phases. usage: find_period.py FILE..."""

import sys

import ftio_rs

for path in sys.argv[1:]:
    try:
        found = ftio_rs.detect(path)
    except ftio_rs.FtioError as problem:
        print(problem, file=sys.stderr)
        continue
    if found.period is None:
        print(f"{path}: no period ({'; '.join(found.reasons)})")
        continue
    print(f"{path}: every {found.period:.3f} s, with a confidence of {100 * found.confidence:.0f} %")
    for phase in found.phases[:5]:
        print(f"    {phase.start:10.3f} s to {phase.end:10.3f} s  {phase.bytes} bytes")

#!/usr/bin/env python3
"""Do something shortly before the next I/O phase of a running job.

usage: act_before_phase.py TRACE    the name that the trace of the job has, or will have
"""

import sys

import ftio_rs

for prediction in ftio_rs.predict(sys.argv[1]):
    next_phase = prediction.next_phase
    if next_phase is None or prediction.confidence < 0.8:
        continue
    left = next_phase.start - prediction.t
    # This is where other traffic would be held back, a burst buffer drained, or a checkpoint moved.
    print(f"at {prediction.t:.2f} s: {next_phase.bytes} bytes in {left:.2f} s")

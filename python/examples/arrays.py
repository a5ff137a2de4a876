#!/usr/bin/env python3
"""The period of what is in memory already: samples, requests, a data frame. Needs NumPy."""

import numpy

import ftio_rs

# A bandwidth that somebody has sampled once a second.
times = numpy.arange(600.0)
bandwidth = numpy.where(times % 60 < 8, 2.0e9, 1.0e7)
found = ftio_rs.detect(times, bandwidth)
print(f"samples: {found.period:.1f} s")

# Requests: when each began and ended, and how many bytes it moved.
start = numpy.repeat(30.0 * numpy.arange(20), 4) + numpy.tile([0.0, 0.1, 0.2, 0.3], 20)
found = ftio_rs.detect(
    start=start, end=start + 1.5, bytes=numpy.full(80, 1 << 28), rank=numpy.tile(range(4), 20)
)
print(f"requests: {found.period:.1f} s, {len(found.phases)} phases")

# How regular is the bandwidth that was analysed?
signal = found.bandwidth
print(f"signal: {len(signal)} samples, {signal.values.max() / 1e9:.2f} GB/s at most")

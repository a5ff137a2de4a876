#!/usr/bin/env python3
"""How do I/O volume and time grow with the number of processes?

usage: scaling.py TRACE...    one trace per run, at different scales; without any, measurements made up here
"""

import sys

import ftio_rs

if sys.argv[1:]:
    models = ftio_rs.model(ftio_rs.run("scale", *sys.argv[1:]).encode(), evaluate="Processes=4096")
else:
    processes = [16, 32, 64, 128, 256, 512]
    seconds = [1.1, 1.3, 1.8, 2.6, 4.4, 8.1]
    models = ftio_rs.model(processes, seconds, evaluate=4096)
for model in models:
    there = model.predictions[0]
    print(f"{model.callpath}, {model.metric}: {model.model}; at 4096: {there.value:.4g}")

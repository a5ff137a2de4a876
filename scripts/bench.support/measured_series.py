"""Real series for models: what small jobs of Python's library cost at growing sizes, measured here.

Prints a line of JSON for each measurement, as `ftio model` reads them. Sizes double eight times; the largest
takes some tenths of a second. A value is the least CPU time of three runs, and between these all other sizes
run, since a machine is slower for a while when others work on it.

usage: measured_series.py > series.jsonl
"""

import base64
import bisect
import bz2
import collections
import copy
import csv
import decimal
import difflib
import hashlib
import heapq
import io
import itertools
import json
import lzma
import math
import pickle
import random
import re
import sqlite3
import tempfile
import threading
import time
import xml.etree.ElementTree
import zlib

SCALES = [2**power for power in range(9)]
RANDOM = random.Random(1)


def text(count):
    return "".join(RANDOM.choices("abcdefgh \n", k=count))


def numbers(count):
    return [RANDOM.random() for _ in range(count)]


def matrix_product(n):
    a, b = [numbers(n) for _ in range(n)], [numbers(n) for _ in range(n)]
    return lambda: [[sum(map(lambda x, y: x * y, row, column)) for column in zip(*b)] for row in a]


def shortest_paths(n):
    distances = [numbers(n) for _ in range(n)]

    def run():
        for k in range(n):
            row = distances[k]
            for one in distances:
                via = one[k]
                one[:] = [min(direct, via + rest) for direct, rest in zip(one, row)]

    return run


def sieve(n):
    def run():
        flags = bytearray([1]) * n
        for i in range(2, math.isqrt(n) + 1):
            if flags[i]:
                flags[i * i :: i] = bytes(len(range(i * i, n, i)))

    return run


def common_subsequence(n):
    a, b = text(n), text(n)

    def run():
        before = [0] * (n + 1)
        for x in a:
            row = [0]
            for j, y in enumerate(b):
                row.append(before[j] + 1 if x == y else max(before[j + 1], row[-1]))
            before = row

    return run


def table(n):
    rows = [(i, RANDOM.random(), text(12)) for i in range(n)]

    def run():
        with sqlite3.connect(":memory:") as base:
            base.execute("create table t (a integer, b real, c text)")
            base.executemany("insert into t values (?, ?, ?)", rows)
            base.execute("create index i on t (c)")
            base.execute("select sum(b) from t group by c").fetchall()

    return run


def queues(n):
    values = numbers(n)

    def run():
        heap = []
        for value in values:
            heapq.heappush(heap, value)
        while heap:
            heapq.heappop(heap)

    return run


def sorted_list(n):
    values = numbers(n)

    def run():
        kept = []
        for value in values:
            bisect.insort(kept, value)

    return run


def files(n):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            for i in range(n):
                with open(f"{folder}/{i}", "wb") as file:
                    file.write(b"x" * 4096)

    return run


def root(n):
    def run():
        with decimal.localcontext() as context:
            context.prec = n
            return decimal.Decimal(2).sqrt() * decimal.Decimal(3).sqrt() / decimal.Decimal(7)

    return run


def permutations(n):
    return sum(1 for _ in itertools.islice(itertools.permutations(range(10)), 40 * n))


def threads(count):
    made = [threading.Thread(target=sum, args=(range(100),)) for _ in range(count)]
    for one in made:
        one.start()
    for one in made:
        one.join()


def of(make, run):
    """What is made for a size, and what is measured with it."""

    def prepare(n):
        made = make(n)
        return lambda: run(made)

    return prepare


def encoded(n):
    return text(n).encode()


def two_texts(n):
    return text(n), text(n)


def records(n):
    return [{"a": x, "b": [1, 2, 3]} for x in numbers(n)]


# Name: size at the smallest scale, and what prepares a run of a size.
JOBS = {
    "sort": (2000, of(numbers, sorted)),
    "insert into a sorted list": (200, sorted_list),
    "heap": (800, queues),
    "count words": (6000, of(text, lambda made: collections.Counter(made.split()))),
    "regular expression": (6000, of(text, lambda made: re.findall(r"[aeiou]+[^aeiou]", made))),
    "differences": (60, of(two_texts, lambda two: difflib.SequenceMatcher(None, *two).ratio())),
    "common subsequence": (4, common_subsequence),
    "matrix product": (1, matrix_product),
    "shortest paths": (1, shortest_paths),
    "primes": (40000, sieve),
    "zlib": (8000, of(encoded, zlib.compress)),
    "bzip2": (4000, of(encoded, bz2.compress)),
    "xz": (1500, of(encoded, lzma.compress)),
    "sha256": (200000, of(lambda n: bytes(n), lambda made: hashlib.sha256(made).digest())),
    "base64": (60000, of(encoded, lambda made: base64.b64decode(base64.b64encode(made)))),
    "json": (150, of(records, lambda made: json.loads(json.dumps(made)))),
    "pickle": (800, of(records, lambda made: pickle.loads(pickle.dumps(made)))),
    "deep copy": (60, of(lambda n: [[x, {"b": x}] for x in numbers(n)], copy.deepcopy)),
    "csv": (800, of(lambda n: "1,two,3.5\n" * n, lambda made: list(csv.reader(io.StringIO(made))))),
    "xml": (300, of(lambda n: "<a>" + "<b c='1'>d</b>" * n + "</a>", xml.etree.ElementTree.fromstring)),
    "table": (200, table),
    "large product": (1000, of(lambda n: RANDOM.getrandbits(8 * n), lambda made: made * made)),
    "factorial": (150, of(lambda n: n, math.factorial)),
    "power": (2, of(lambda n: RANDOM.getrandbits(8 * n) | 1, lambda made: pow(3, made, made))),
    "root": (100, root),
    "permutations": (40, of(lambda n: n, permutations)),
    "pairs": (5, of(range, lambda made: sum(a * b for a, b in itertools.product(made, made)))),
    "files": (3, files),
    "threads": (2, of(lambda n: n, threads)),
}


def seconds(run):
    began = time.process_time()
    run()
    return time.process_time() - began


def main():
    for name, (size, prepare) in JOBS.items():
        runs = {scale: prepare(size * scale) for scale in SCALES}
        values = {scale: [] for scale in SCALES}
        for _ in range(2):
            times = {scale: math.inf for scale in SCALES}
            for _ in range(3):
                for scale, run in runs.items():
                    times[scale] = min(times[scale], seconds(run))
            for scale, least in times.items():
                values[scale].append(least)
        for scale in SCALES:
            record = {"params": {"n": scale}, "callpath": name, "metric": "time", "value": values[scale]}
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()

"""Measurements on which Extra-P is asked for models: make_measurements.py FOLDER

Made up from formulas, partly with noise; the same numbers every time. Names say what they are made from.
"""

import json
import math
import os
import random
import sys

POINTS = {5: [4, 8, 16, 32, 64], 7: [4, 8, 16, 32, 64, 128, 256], 10: [36 * node for node in range(1, 11)]}
SHAPES = {
    "constant": lambda p: 17.0,
    "linear": lambda p: 3.0 + 0.25 * p,
    "through_zero": lambda p: 2.0 * p,
    "square_root": lambda p: 5.0 + 1.5 * math.sqrt(p),
    "square": lambda p: 1.0 + 0.01 * p**2,
    "logarithm": lambda p: 2.0 + 3.0 * math.log2(p),
    "log_squared": lambda p: 2.0 + 0.5 * math.log2(p) ** 2,
    "n_log_n": lambda p: 4.0 + 0.125 * p * math.log2(p),
    "off_the_grid": lambda p: 1.0 + 0.3 * p**0.61,
    "two_terms": lambda p: 10.0 + 0.01 * p**2 + 4.0 * math.log2(p),
    "falling": lambda p: 2.0 + 500.0 / p,
    "falling_linear": lambda p: 1000.0 - 0.75 * p,
    "bytes": lambda p: 1e12 + 1048576.0 * p,
}
PAIRS = {
    "sum": lambda x, y: 3.0 + 2.0 * x + 0.5 * y * math.log2(y),
    "product": lambda x, y: 1.0 + 0.5 * x * math.sqrt(y),
    "sum_and_product": lambda x, y: 4.0 + 3.0 * x + 0.1 * x * y**2,
    "first_only": lambda x, y: 6.0 + 0.2 * x**1.5,
    "neither": lambda x, y: 9.0,
}
TRIPLES = {
    "product": lambda x, y, z: 2.0 + 0.01 * x * y * math.log2(z),
    "sum": lambda x, y, z: 2.0 + 0.3 * x + 0.2 * y**2 + 5.0 * math.log2(z),
    "pair_and_one": lambda x, y, z: 1.0 + 0.1 * x * y + 2.0 * z,
}


def line(params, values, **names):
    return json.dumps({"params": params, **names, "value": values if len(values) > 1 else values[0]})


def repeated(value, noise, rng, count):
    return [value * (1.0 + noise * rng.gauss(0.0, 1.0)) for _ in range(count)] if noise else [value]


def grid(axes):
    points = [()]
    for axis in axes:
        points = [point + (value,) for point in points for value in axis]
    return points


def cross(axes):
    """One line of points for each parameter, through the smallest values of the others."""
    first = tuple(axis[0] for axis in axes)
    lines = [first[:i] + (value,) + first[i + 1 :] for i, axis in enumerate(axes) for value in axis]
    return sorted(set(lines))


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)

    def write(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)

    for shape, formula in SHAPES.items():
        for count, points in POINTS.items():
            for noise in (0.0, 0.05):
                if noise and count == 7:
                    continue
                # A string as a seed gives the same numbers in every version of Python.
                rng = random.Random(f"{shape} {count}")
                lines = [line({"p": p}, repeated(formula(p), noise, rng, 4)) for p in points]
                write(f"{shape}_{count}{'_noise' if noise else ''}.jsonl", "\n".join(lines) + "\n")

    for layout, select in (("grid", grid), ("cross", cross)):
        for shape, formula in PAIRS.items():
            for noise in (0.0, 0.02):
                rng = random.Random(f"{layout} {shape}")
                points = select([[4, 8, 16, 32, 64], [10, 20, 30, 40, 50]])
                lines = [line({"x": x, "y": y}, repeated(formula(x, y), noise, rng, 3)) for x, y in points]
                write(f"two_{layout}_{shape}{'_noise' if noise else ''}.jsonl", "\n".join(lines) + "\n")
    for shape, formula in TRIPLES.items():
        points = cross([[4, 8, 16, 32, 64], [10, 20, 30, 40, 50], [2, 4, 8, 16, 32]]) + [(64, 50, 32)]
        lines = [line({"x": x, "y": y, "z": z}, [formula(x, y, z)]) for x, y, z in points]
        write(f"three_{shape}.jsonl", "\n".join(lines) + "\n")

    rng = random.Random("callpaths")
    lines = []
    for number, shape in enumerate(["linear", "n_log_n", "constant", "square_root"]):
        for p in POINTS[5]:
            for metric in ("time", "hits"):
                value = (
                    SHAPES[shape](p) if metric == "hits" else SHAPES[shape](p) * (1 + 0.01 * rng.gauss(0, 1))
                )
                lines.append(line({"Processes": p}, [value], callpath=f"main->step{number}", metric=metric))
    write("callpaths.jsonl", "\n".join(lines) + "\n")
    # Extra-P refuses a file in which one series lacks a point.
    write("ragged.jsonl", "\n".join(lines[:-1]) + "\n")

    points = POINTS[5]
    series = {"main": {"time": [{"point": [p], "values": [SHAPES["linear"](p)] * 2} for p in points]}}
    write("document.json", json.dumps({"parameters": ["p"], "measurements": series}))
    text = ["PARAMETER p", "POINTS " + " ".join(f"({p})" for p in points), "METRIC time", "REGION solve"]
    text += [
        "DATA " + " ".join(repr(value) for value in repeated(SHAPES["n_log_n"](p), 0.01, rng, 3))
        for p in points
    ]
    write("text.txt", "\n".join(text) + "\n")
    talpas = [
        json.dumps(
            {"parameters": {"p": p}, "callpath": "main", "metric": "time", "value": SHAPES["square"](p)}
        )
        for p in points
    ]
    write("talpas.txt", "\n".join(entry.replace(", ", ";") for entry in talpas) + "\n")

    steps = {
        "bend": lambda p: float(p**2) if p <= 12 else 100.0 + p,
        "jump": lambda p: 5.0 + p if p <= 12 else 500.0 + 20.0 * p,
        "smooth": lambda p: 3.0 * p,
    }
    for name, formula in steps.items():
        lines = [line({"p": p}, [formula(p)]) for p in range(2, 24, 2)]
        write(f"segments_{name}.jsonl", "\n".join(lines) + "\n")


main()

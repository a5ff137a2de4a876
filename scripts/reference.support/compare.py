"""Compares two folders of reference data: compare.py COMMITTED MADE

JSON answers may differ in the last digits of numbers, as they do from machine to machine. Everything else has
to be the same bytes. Prints a line `DIFFERS …` for each difference and ends with status 1 if there is one.
"""

import json
import math
import os
import re
import sys

NUMBER = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")


def close(a, b):
    return a == b or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)


def same_text(a, b):
    """Formulas have numbers in them."""
    if a == b:
        return True
    numbers = [list(map(float, NUMBER.findall(text))) for text in (a, b)]
    words = NUMBER.sub("", a) == NUMBER.sub("", b)
    return words and len(numbers[0]) == len(numbers[1]) and all(map(close, *numbers))


def differences(a, b, place):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a.keys() | b.keys():
            yield from differences(a.get(key), b.get(key), f"{place}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (one, other) in enumerate(zip(a, b)):
            yield from differences(one, other, f"{place}[{i}]")
    elif type(a) in (int, float) and type(b) in (int, float):
        if not close(a, b):
            yield f"{place}: {a} was committed, {b} is found now"
    elif isinstance(a, str) and isinstance(b, str):
        if not same_text(a, b):
            yield f"{place}: {a!r} was committed, {b!r} is found now"
    elif a != b:
        yield f"{place}: {a!r} was committed, {b!r} is found now"


def files(folder):
    found = set()
    for parent, _, names in os.walk(folder):
        found |= {os.path.relpath(os.path.join(parent, name), folder) for name in names}
    return found


def is_answer(name):
    return os.sep not in name and name.endswith(".json")


def main():
    committed, made = sys.argv[1:3]
    different = 0
    for name in sorted(files(committed) | files(made)):
        paths = [os.path.join(folder, name) for folder in (committed, made)]
        if not all(map(os.path.exists, paths)):
            found = [f"{name}: is in one of {committed} and what was made now"]
        elif is_answer(name):
            found = list(differences(*(json.load(open(path)) for path in paths), name))
        else:
            contents = [open(path, "rb").read() for path in paths]
            found = [] if contents[0] == contents[1] else [f"{name}: other bytes"]
        for difference in found:
            print(f"DIFFERS {difference}")
        different += len(found)
    if different == 0:
        print(f"{committed}: the same")
    sys.exit(1 if different else 0)


main()

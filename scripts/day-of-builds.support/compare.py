"""What two runs of a task have in common: output, exit codes, files; and the table of all days."""

import hashlib
import os
import pathlib
import re
import stat

# Names of a test, and how it ended; what else Python's tests print is times.
OUTCOME = re.compile(r"^(\w+ \([\w.]+\)).*? \.\.\. (ok|FAIL|ERROR|skipped|expected failure)", re.MULTILINE)
WITH_US = ("preloaded", "recorded")


def files_of(directory, only=None):
    """Every file below a directory: kind, permissions, and a hash of what is in it."""
    found = {}
    for path in sorted(pathlib.Path(directory).rglob("*")):
        name = str(path.relative_to(directory))
        if only and name not in only:
            continue
        about = path.lstat()
        kind = stat.S_IFMT(about.st_mode)
        if kind == stat.S_IFREG:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        elif kind == stat.S_IFLNK:
            content = os.readlink(path)
        else:
            content = ""
        found[name] = (about.st_mode, content)
    return found


def forms(text):
    """A text in forms of which each says less: as it is, without numbers, the outcomes of tests alone."""
    outcomes = OUTCOME.findall(text)
    yield text
    yield re.sub(r"\d+", "#", text)
    if outcomes:
        yield "\n".join(sorted(f"{name} {how}" for name, how in outcomes))


def differences_of_text(alone, again, other):
    """Lines in which a text differs, in the first form in which two runs alone agree; None: in no form."""
    for one, two, third in zip(forms(alone), forms(again), forms(other)):
        if one == two:
            lines = set(one.splitlines()) ^ set(third.splitlines())
            return [] if one == third else sorted(lines) or ["the order of its lines"]
    return None


def differences(task, days, name):
    """Everything in which a day with the library differs, and how many files were compared."""
    alone, again, other = (days[day][task] for day in ("alone", "again", name))
    found = []
    if alone["code"] == again["code"] != other["code"]:
        found.append(f"exit code {other['code']}, not {alone['code']}")
    varies = []
    for what in ("stdout", "stderr"):
        lines = differences_of_text(alone[what], again[what], other[what])
        if lines is None:
            varies.append(what)
        else:
            found += [f"{what}: {line}" for line in lines[:8]]
    same = {path for path, about in alone["files"].items() if again["files"].get(path) == about}
    chance = alone["files"].keys() ^ again["files"].keys()
    for path in sorted(same | (other["files"].keys() - alone["files"].keys() - chance)):
        about = other["files"].get(path)
        if path in same and about is None:
            found.append(f"file {path} is missing")
        elif path in same and about != alone["files"][path]:
            found.append(f"file {path} differs")
        # A name that has a number in it may be new in every run.
        elif path not in same and re.sub(r"\d+", "#", path) not in {
            re.sub(r"\d+", "#", one) for one in alone["files"] | again["files"]
        }:
            found.append(f"file {path} is new")
    found += [f"left running: {process}" for process in other["left"]]
    return found, len(same), len(alone["files"]), varies


def compared(days):
    """Prints the table; the exit status."""
    tasks = [task for task in days["alone"] if task != "(library)"]
    wrong = []
    width = max(map(len, [*tasks, "CPU seconds"]))
    heads = "".join(f"{day:>11}" for day in days)
    print(f"{'CPU seconds':{width}}{heads}  {'code':>4}  {'files the same in two runs alone':32}  verdict")
    for task in tasks:
        times = "".join(f"{days[day][task]['cpu']:>11.1f}" for day in days)
        verdicts, notes = [], ""
        for name in WITH_US:
            found, same, of, varies = differences(task, days, name)
            notes = f"{same} of {of}" + (f", {' and '.join(varies)} vary" if varies else "")
            verdicts.append("same" if not found else f"{len(found)} differ")
            wrong += [f"{task}, {name}: {line}" for line in found]
        code = days["alone"][task]["code"]
        print(f"{task:{width}}{times}  {code:>4}  {notes:32}  {', '.join(verdicts)}")
    for name in days:
        library = days[name]["(library)"]
        expected = name in WITH_US
        if library["loaded"] != expected:
            wrong.append(f"{name}: the library is {'' if library['loaded'] else 'not '}loaded")
        if (library["bytes"] > 0) != (name == "recorded"):
            wrong.append(f"{name}: {library['bytes']} bytes of trace")
    library = days["recorded"]["(library)"]
    print(f"\nrecorded: {library['files']} files, {library['bytes'] / 1e6:.1f} MB of trace")
    for line in wrong[:200]:
        print(line)
    print(f"{len(wrong)} differences" if wrong else "everything is the same")
    return 1 if wrong else 0

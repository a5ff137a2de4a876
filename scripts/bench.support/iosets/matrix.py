"""Mixes of jobs, with and without an arbiter; several run at a time, each on a file system of its own."""

import concurrent.futures
import json
import math
import pathlib
import random
import subprocess
import time

from rig import BUILD, CHUNK, FTIO, RATE, Arbiter, FileSystem, Job, interval, metrics, place, wait_until

SCALE = 20
SHORT, LONG = (18.0, 128 / 110), (360.0, 2560 / 110)
POLICIES = ("fair", "turns")
# Milliseconds between collective calls: such jobs do not fill the file system.
THINKS = {"own": 0, "all": 8}


def published(draw):
    """One job that writes every 19.2 s and fifteen that write every 384 s; all begin together."""
    return [(compute, io, draw.random()) for compute, io in [SHORT] + [LONG] * 15]


def random_starts(load):
    def jobs(draw):
        mix = [SHORT] + [LONG] * 15
        part = load / sum(io / (compute + io) for compute, io in mix)
        periods = [(compute + io, io / (compute + io) * part) for compute, io in mix]
        return [(all * (1 - io), all * io, draw.random() * all) for all, io in periods]

    return jobs


def mixed(draw):
    """Periods of 10 to 1000 s, all shares of I/O."""
    parts = [draw.random() for _ in range(16)]
    jobs = []
    for part in parts:
        period, io = 10 ** (1 + 2 * draw.random()), min(0.9, 0.8 * part / sum(parts))
        jobs.append((period * (1 - io), period * io, draw.random() * period))
    return jobs


# Name: jobs (seconds of computing, of I/O alone, and until it begins), frame, how they write, how many of the
# last ones do not ask; the most that stretch and slowdown, and the least that utilisation may be of what they
# are without turns.
MIXES = {
    "published experiment": (published, (400, 3200), "own", 0, (0.64, 0.18, 1.60)),
    "random starts, 97 %": (random_starts(0.97), (800, 2000), "own", 0, (1.01, 0.40, 0.99)),
    "random starts, 80 %": (random_starts(0.80), (800, 2000), "own", 0, (1.01, 0.50, 0.99)),
    "mixed periods, 80 %": (mixed, (800, 2000), "own", 0, (1.01, 0.90, 0.99)),
    "collective writes": (published, (400, 1200), "all", 0, (1.01, 1.01, 0.99)),
    "half of the jobs outside": (published, (400, 2000), "own", 8, (1.01, 1.01, 0.99)),
}


# Seconds that it takes to launch the jobs of one execution.
LAUNCH = 3.5
# A round in which other guests of the host had more of the processor than this is not counted, whatever it
# shows, and run again; this many times as many rounds at most.
MOST_STOLEN, MOST_ROUNDS = 0.03, 3


def execute(jobs, frame, how, policy, outside, mpi, scale, start=None):
    """Runs the jobs; gives the phases of each, in seconds since the common start."""
    with place() as directory:
        directory = pathlib.Path(directory)
        system = FileSystem(directory)
        arbiter = None
        if policy == "turns":
            arbiter = Arbiter(f"unix:{directory}/a", "--time-scale", scale)
        start = start or time.time() + 4 + 0.3 * len(jobs)
        running = []
        for number, (compute, size, delay) in enumerate(jobs, 1):
            writes = max(1, round(size / 2 / CHUNK))
            arguments = [how, 100000, writes, round(size / 2 / writes), round(1e3 * compute), THINKS[how]]
            arguments.append(f"{start + delay:.3f}")
            asks = arbiter and number <= len(jobs) - outside
            address = arbiter.listen if asks else None
            running.append(Job(str(number), directory, system.mount, arguments, mpi, address))
        late = time.time() - start
        wait_until(start + frame[1] + 0.5)
        for job in running:
            job.kill()
        if arbiter:
            arbiter.end()
        system.end()
        if late > 0:
            raise RuntimeError(f"the jobs took {late:.1f} s too long to begin: fewer at a time")
        courses = []
        for job, (_, _, delay) in zip(running, jobs):
            begun, phases = job.phases()
            if begun is None:
                raise RuntimeError(f"a job never began: {job.errors.read_text()}")
            courses.append([(a - begun + delay, b - begun + delay) for a, b in phases])
        return courses


def alone(how, mpi, seconds=6):
    """Bytes per second of one job without any other: the best of three."""
    size = RATE // 4

    def once():
        courses = execute([(0.2, size, 0.0)], (0, seconds), how, "fair", 0, mpi, 1)
        times = [b - a for a, b in courses[0]]
        return size / (sum(times) / len(times))

    return max(once() for _ in range(3))


def one(name, policy, repetition, mpi, scale, speed, start):
    make, frame, how, outside, _ = MIXES[name]
    draw = random.Random(repetition)
    jobs = [(compute / scale, io / scale * speed, begins / scale) for compute, io, begins in make(draw)]
    frame = tuple(seconds / scale for seconds in frame)
    courses = execute(jobs, frame, how, policy, outside, mpi, scale, start)
    return name, policy, repetition, metrics(jobs, courses, frame, speed)


def simulated():
    """The published experiment in `ftio simulate turns`, on a file system that one job can fill."""
    command = [str(FTIO), "simulate", "turns", "--capacity", "110", "--json", "--repetitions", "10"]
    command += ["--policies", "fair_share,set10_clairvoyant"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rename = {"stretch_geomean": "stretch", "io_slowdown": "slowdown", "utilisation": "utilisation"}
    pick = lambda policy: {new: answer["policies"][policy][old] for old, new in rename.items()}
    return {"fair": pick("fair_share"), "turns": pick("set10_clairvoyant")}


def run(names, repetitions, parallel, mpi, scale, say):
    """All mixes, in rounds: launching jobs takes the processor from those that run, so all executions of a
    round begin at the same moment. Both policies of a repetition are in one round, on the same draw."""
    speeds = {"own": RATE, "all": alone("all", mpi)}
    say(f"one job alone: {speeds['all'] / RATE:.2f} of the file system with collective writes")
    rows = {name: {policy: {} for policy in POLICIES} for name in names}
    tasks = [(name, policy, r) for r in range(repetitions) for name in names for policy in POLICIES]
    # Executions of a round take equally long.
    tasks.sort(key=lambda task: -MIXES[task[0]][1][1])
    failed, counted_disturbed = [], set()
    parallel = max(2, parallel // 2 * 2)
    rounds = [tasks[first : first + parallel] for first in range(0, len(tasks), parallel)]
    left = MOST_ROUNDS * len(rounds)
    while rounds:
        part, left = rounds.pop(0), left - 1
        before = processor()
        start = time.time() + 8 + LAUNCH * len(part)
        with concurrent.futures.ThreadPoolExecutor(len(part)) as pool:
            rest = [(mpi, scale, speeds[MIXES[name][2]], start) for name, _, _ in part]
            running = [pool.submit(one, *task, *rest) for task, rest in zip(part, rest)]
            done, errors = [], []
            for task in running:
                try:
                    done.append(task.result())
                except RuntimeError as error:
                    errors.append(str(error))
        stolen, whole = (after - then for after, then in zip(processor(), before))
        disturbed = stolen > MOST_STOLEN * whole
        if disturbed and left >= len(rounds) + 1:
            say(f"not counted: others had {100 * stolen / whole:.0f} % of the processor")
            rounds.append(part)
            continue
        if disturbed:
            say(f"counted: others had {100 * stolen / whole:.0f} % of the processor, but no round is left")
            counted_disturbed.update((name, repetition) for name, _, repetition in part)
        failed += errors
        for error in errors:
            say(f"FAILED: {error}")
        for name, policy, repetition, row in done:
            rows[name][policy][repetition] = row
            say(
                f"{name:26} {policy:6} {repetition}: stretch {row['stretch']:.3f} "
                f"(max {row['stretch_max']:.3f}), slowdown {row['slowdown']:.2f}, "
                f"utilisation {row['utilisation']:.3f}"
            )
    results = {name: compare(rows[name]) for name in names}
    for name in names:
        results[name]["disturbed"] = sum(1 for other, _ in counted_disturbed if other == name)
    return results, failed


def processor():
    """Ticks of all cores that other guests of the host have had so far, and all ticks."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return ticks[7], sum(ticks)


def compare(rows):
    """Means with intervals, and the changes by repetition."""
    both = sorted(set(rows["fair"]) & set(rows["turns"]))
    result = {"repetitions": len(both)}
    for key in ("stretch", "slowdown", "utilisation", "stretch_max"):
        for policy in POLICIES:
            values = [rows[policy][r][key] for r in both]
            result[f"{key}_{policy}"] = interval(values) if values else (math.nan, math.nan)
        changes = [rows["turns"][r][key] / rows["fair"][r][key] for r in both]
        result[f"{key}_change"] = interval(changes) if changes else (math.nan, math.nan)
    return result

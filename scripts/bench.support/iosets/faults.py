"""Kills, stops and cuts: how long anybody waits, and whether a job fails."""

import os
import pathlib
import random
import signal
import subprocess
import time

from costs import CLIENTS, PORT, Namespaces
from rig import BUILD, Arbiter, Job, place

# What an arbiter of the test lets nobody wait for longer than, and after which silence it counts as gone.
PATIENCE = 5.0
SILENT = 1.0
# Two cores do not wake up everybody at once.
LATE = 0.5


def ranks(directory):
    """The ranks of jobs that write there, by job."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/takes_turns") and words[1] == os.fsencode(directory):
            found.setdefault(words[2].decode().removeprefix("job-"), []).append(int(process.name))
    return found


def kills(number, pause, mpi, say, seed=1):
    """Kills the arbiter or a rank of a job again and again. Two jobs are never killed: they have to end as if
    nothing had happened. Four others come and go."""
    draw = random.Random(seed)
    with place() as directory:
        directory = pathlib.Path(directory)
        data = directory / "data"
        data.mkdir()
        listen = f"unix:{directory}/a"
        options = ("--leases", "1", "--patience", PATIENCE)
        arbiter = Arbiter(listen, *options)
        arguments = ["own", 100000, 5, 4096, 20, 2]
        # As many phases as fit, and then some: they are told to stop by a file.
        keep = [Job(f"kept-{i}", directory, data, arguments, mpi, listen, TMIO_LOG="info") for i in range(2)]
        victims = {}
        killed = {"arbiter": 0, "job": 0}
        began = time.time()
        while sum(killed.values()) < number:
            for name in [f"victim-{i}" for i in range(4)]:
                if name not in victims or victims[name].process.poll() is not None:
                    if name in victims:
                        victims[name].kill()
                    victims[name] = Job(name, directory, data, arguments, mpi, listen)
            time.sleep(draw.uniform(0.5, 1.5) * pause)
            alive = [pid for name, pids in ranks(data).items() if name.startswith("victim") for pid in pids]
            if alive and draw.random() < 0.5:
                os.kill(draw.choice(alive), signal.SIGKILL)
                killed["job"] += 1
            else:
                arbiter.end(signal.SIGKILL)
                killed["arbiter"] += 1
                time.sleep(draw.uniform(0, pause))
                arbiter = Arbiter(listen, *options)
        seconds = time.time() - began
        for job in victims.values():
            job.kill()
        lost = [job for job in keep if job.process.poll() is not None]
        longest, phases = 0.0, 0
        for job in keep:
            _, done = job.phases()
            job.kill()
            phases += len(done)
            gaps = [b[1] - a[1] for a, b in zip(done, done[1:])]
            longest = max([longest, *gaps])
        arbiter.end()
    say(f"{number} kills in {seconds:.0f} s ({killed}): {phases} phases, the longest took {longest:.2f} s")
    bound = PATIENCE + SILENT + LATE
    return {**killed, "phases": phases, "longest": longest, "bound": bound, "failed": len(lost)}


def waiting_job(directory, arbiter, holder, mpi, prefix=()):
    """A job that waits, because somebody else holds the only lease and does not let go."""
    data = directory / "data"
    data.mkdir(exist_ok=True)
    arguments = ["own", 4, 3, 4096, 200, 0]
    address = f"{arbiter.listen},secret={directory}/secret"
    return Job("waits", directory, data, arguments, mpi, address, prefix=prefix)


def longest(job):
    """The longest phase of a job that has ended, or `None` if it failed."""
    job.process.wait()
    _, phases = job.phases()
    right = job.log.read_text().endswith("right\n")
    return max(b - a for a, b in phases) if right and phases else None


def faults(mpi, say):
    """What is done to a job that waits, or to the arbiter that makes it wait, and its longest phase."""
    results = {}
    what = ["arbiter stopped", "arbiter killed", "network cut", "holder stopped", "holder killed"]
    for fault in what:
        with place() as directory:
            directory = pathlib.Path(directory)
            (directory / "secret").write_text("open sesame\n")
            (directory / "secret").chmod(0o600)
            # The holder is of a heavier set: it would hold for as long as it likes.
            (directory / "priorities/holder").mkdir(parents=True)
            (directory / "priorities/holder/priority").write_text("1000000000\n")
            spaces = Namespaces(os.getpid()) if fault == "network cut" else None
            here, there = (spaces.inside(0), spaces.inside(1)) if spaces else ((), ())
            listen = f"tcp:10.98.76.1:{PORT}" if spaces else f"unix:{directory}/a"
            options = ("--leases", "1", "--priorities", directory / "priorities")
            arbiter = Arbiter(listen, "--secret", directory / "secret", *options, prefix=here)
            command = [*here, CLIENTS, "hold", listen, "open sesame", "60"]
            holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            holder.stdout.readline()
            time.sleep(1.5)
            job = waiting_job(directory, arbiter, holder, mpi, there)
            time.sleep(1.5)
            waited = len(job.phases()[1]) == 0
            began = time.monotonic()
            if fault == "arbiter stopped":
                arbiter.process.send_signal(signal.SIGSTOP)
            elif fault == "arbiter killed":
                arbiter.process.send_signal(signal.SIGKILL)
            elif fault == "network cut":
                spaces.plug("down")
            else:
                holder.send_signal(signal.SIGSTOP if fault == "holder stopped" else signal.SIGKILL)
            while not job.phases()[1] and time.monotonic() - began < 30:
                time.sleep(0.005)
            after = time.monotonic() - began
            right = longest(job) is not None
            arbiter.process.send_signal(signal.SIGCONT)
            arbiter.end(signal.SIGKILL)
            holder.kill()
            holder.wait()
            if spaces:
                spaces.end()
        results[fault] = {"went_on_after": after, "right": right, "waited": waited}
        say(f"{fault:16} the job that waited went on after {after:.2f} s" + ("" if right else ": IT FAILED"))
    return results

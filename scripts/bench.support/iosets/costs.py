"""What asking costs: a question, a job that is alone, and many nodes."""

import json
import os
import pathlib
import resource
import statistics
import subprocess

from rig import BUILD, TARGET, Arbiter, Job, place

CLIENTS = str(BUILD / "clients")
PORT = 47110


class Namespaces:
    """Two network namespaces with a cable between them: two hosts, as far as TCP is concerned."""

    def __init__(self, number):
        self.names = [f"turns-{number}-a", f"turns-{number}-b"]
        self.cable = [f"tu{number % 100000}a", f"tu{number % 100000}b"]
        ip = lambda *words: subprocess.run(["ip", *words], check=True)
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", self.cable[0], "netns", self.names[0], "type", "veth", "peer", "name",
           self.cable[1], "netns", self.names[1])
        for side, name in enumerate(self.names):
            ip("-n", name, "address", "add", f"10.98.76.{side + 1}/24", "dev", self.cable[side])
            ip("-n", name, "link", "set", self.cable[side], "up")
            ip("-n", name, "link", "set", "lo", "up")

    def inside(self, side):
        """What a command has to begin with to run there."""
        return ["ip", "netns", "exec", self.names[side]]

    def plug(self, state):
        """`down`: nothing gets through any more, and nobody is told."""
        subprocess.run(["ip", "-n", self.names[0], "link", "set", self.cable[0], state], check=True)

    def end(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def client(*words, prefix=()):
    command = [*prefix, CLIENTS, *map(str, words)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def question(questions):
    """On one host, by TCP between namespaces, and what two processes take that do nothing; microseconds."""
    bare = client("bare", "-", "-", questions)
    with place() as directory:
        arbiter = Arbiter(f"unix:{directory}/a")
        local = client("ask", arbiter.listen, "-", questions)
        arbiter.end()
        secret = pathlib.Path(directory) / "secret"
        secret.write_text("open sesame\n")
        secret.chmod(0o600)
        spaces = Namespaces(os.getpid())
        try:
            listen = f"tcp:10.98.76.1:{PORT}"
            arbiter = Arbiter(listen, "--secret", secret, prefix=spaces.inside(0))
            remote = client("ask", listen, "open sesame", questions, prefix=spaces.inside(1))
            arbiter.end()
        finally:
            spaces.end()
    return {"one_host": local, "tcp": remote, "bare": bare}


def job_alone(repetitions, mpi):
    """The time of a job with an arbiter, relative to that without: by turns, the median of both."""
    times = {False: [], True: []}
    with place() as directory:
        directory = pathlib.Path(directory)
        (directory / "data").mkdir()
        arbiter = Arbiter(f"unix:{directory}/a")
        for repetition in range(2 * repetitions):
            asks = repetition % 2 == 0
            arguments = ["own", 20, 100, 65536, 50, 0]
            address = arbiter.listen if asks else None
            job = Job("alone", directory, directory / "data", arguments, mpi, address)
            job.process.wait()
            begun, phases = job.phases()
            times[asks].append(phases[-1][1] - begun)
        arbiter.end()
    with_turns, without = (statistics.median(times[asks]) for asks in (True, False))
    changes = [a / b for a, b in zip(times[True], times[False])]
    return {"ratio": with_turns / without, "ratios": changes}


def many_nodes(seconds):
    """1,000 jobs with as many nodes as there are descriptors for, over sockets; then 100 nodes each without
    sockets, which shows what the rules take."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    nodes = max(1, min(100, (most - 500) // 1000))
    with place() as directory:
        arbiter = Arbiter(f"unix:{directory}/a", "--leases", "4")
        answer = client("load", arbiter.listen, "-", 1000, nodes, seconds, 20, 0.1)
        answer["nodes"] = nodes
        # Connecting counts too: it is an upper bound.
        answer["cores"] = arbiter.seconds() / seconds
        arbiter.end()
    command = [str(TARGET / "release/examples/many_nodes")]
    rules = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return {"sockets": answer, "rules": rules}

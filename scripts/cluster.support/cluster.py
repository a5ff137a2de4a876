"""Hosts and a Slurm for the checks of scripts/cluster-test. Hosts h1 and h2 run the ranks; h3 serves the
network file system and is the login node."""

import json
import pathlib
import subprocess
import time

HOSTS = ["h1", "h2", "h3"]
RUNNER = str(pathlib.Path(__file__).with_name("hosts"))
SSH = "/run/tmio-cluster/ssh"
CHECKS = []


def check(function):
    """A check: a function that raises if something is not as it should be."""
    CHECKS.append(function)
    return function


class Cluster:
    def __init__(self, shared):
        self.shared = pathlib.Path(shared)
        self.bin = self.shared / "bin"
        self.ftio_path = str(self.bin / "ftio")
        self.number = 0

    def start(self, host, *command, **more):
        return subprocess.Popen(
            [RUNNER, "on", host, *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def on(self, host, *command, code=0, limit=180):
        """Runs a command on a host; `code` None: however it ends. Returns (standard output, standard
        error)."""
        process = self.start(host, *command)
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"on {host}: {command} takes longer than {limit} s") from None
        if code is not None and process.returncode != code:
            raise AssertionError(
                f"on {host}: {command} ended with {process.returncode}, not {code}\n{out}\n{err}"
            )
        return out, err

    def ftio(self, host, *arguments, code=0):
        return self.on(host, self.ftio_path, *arguments, code=code)

    def info(self, host, trace):
        return json.loads(self.ftio(host, "info", "--json", trace)[0])

    def fresh(self, name):
        """A directory on the network file system, and one for the ranks' own counts."""
        self.number += 1
        directory = f"/tmp/net/{name}{self.number}"
        self.on("h1", "mkdir", "-p", directory)
        counts = self.shared / "counts" / f"{name}{self.number}"
        counts.mkdir()
        return directory, counts

    def mpirun(self, program, arguments, environment, hosts="h1:2,h2:2", ranks=4):
        """The command that runs a program of Open MPI on several hosts by ssh."""
        exported = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
        return [
            "env",
            "OMPI_ALLOW_RUN_AS_ROOT=1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
            "mpirun.openmpi",
            "--mca",
            "plm_rsh_agent",
            SSH,
            "--mca",
            "btl_tcp_if_include",
            "10.77.0.0/24",
            "--mca",
            "oob_tcp_if_include",
            "10.77.0.0/24",
            "--mca",
            "btl",
            "self,tcp",
            "--host",
            hosts,
            "-n",
            str(ranks),
            *exported,
            self.bin / f"{program}.openmpi",
            *arguments,
        ]

    def traced(self, output, **more):
        return {"LD_PRELOAD": self.bin / "libtmio.so", "TMIO_OUTPUT": output, **more}

    def end_ranks(self, program, helpers=False):
        """kill -9 to all ranks at once, on both hosts, and to the helpers of the tracer; then the launcher ends
        by itself."""
        names = f"bin/{program}" + ("|libtmio_recorder" if helpers else "")
        for host in ("h1", "h2"):
            # On that host only: each has its own processes.
            self.on(host, "pkill", "-9", "-f", names, code=None)

    def helpers(self):
        """The helpers of the tracer that run on both hosts."""
        found = [self.on(host, "pgrep", "-f", "libtmio_recorder", code=None)[0] for host in ("h1", "h2")]
        return "".join(found).split()


def completed(counts):
    """What the ranks themselves have counted, by rank."""
    return {int(path.name): int.from_bytes(path.read_bytes()[:8], "little") for path in counts.iterdir()}


def wait_until(condition, what, limit=60):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"not within {limit} s: {what}"
        time.sleep(0.02)


CONFIGURATION = """ClusterName=box
SlurmctldHost=h1(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/ctld.pid
SlurmdPidFile={dir}/%n.pid
SlurmctldLogFile={dir}/log/ctld.log
SlurmdLogFile={dir}/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=pmix
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
KillWait=2
OverTimeLimit=0
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/linux
TaskProlog={dir}/task_prolog
Epilog={dir}/epilog
NodeName=h[1-2] NodeAddr=10.77.0.[1-2] CPUs=4 State=UNKNOWN
PartitionName=p Nodes=h[1-2] Default=YES MaxTime=INFINITE OverSubscribe=YES State=UP
"""


class Slurm:
    """slurmctld on h1, a slurmd on h1 and h2; TaskProlog and Epilog as docs/site.md has them."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.dir = cluster.shared / "slurm"
        if (self.dir / "slurm.conf").exists():
            return
        for name in ["state", "log", "spool/h1", "spool/h2"]:
            (self.dir / name).mkdir(parents=True)
        (self.dir / "slurm.conf").write_text(CONFIGURATION.format(dir=self.dir))
        prolog = self.dir / "task_prolog"
        prolog.write_text(
            f'#!/bin/sh\n[ -n "${{TMIO_SITE-}}" ] || exit 0\n'
            f'echo "export LD_PRELOAD={cluster.bin}/libtmio.so${{LD_PRELOAD:+:$LD_PRELOAD}}"\n'
            f'echo "export TMIO_OUTPUT=$TMIO_SITE"\n'
        )
        epilog = self.dir / "epilog"
        epilog.write_text(
            f"#!/bin/sh\n{cluster.ftio_path} clean >> {self.dir}/log/epilog_$(hostname) 2>&1\n"
            f"touch {self.dir}/log/over_$(hostname)_$SLURM_JOB_ID\nexit 0\n"
        )
        for script in (prolog, epilog):
            script.chmod(0o755)
        self.run("slurmctld", "-f", self.dir / "slurm.conf")
        for host in ("h1", "h2"):
            self.run("slurmd", "-f", self.dir / "slurm.conf", "-N", host, host=host)
        wait_until(lambda: "idle 2" in self.run("sinfo", "-h", "-o", "%t %D")[0], "two idle nodes")

    def run(self, *command, host="h1", code=0, environment=None, limit=180):
        words = [f"{name}={value}" for name, value in (environment or {}).items()]
        return self.cluster.on(
            host,
            "env",
            f"SLURM_CONF={self.dir}/slurm.conf",
            "OMPI_ALLOW_RUN_AS_ROOT=1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
            "OMPI_MCA_btl=self,tcp",
            *words,
            *command,
            code=code,
            limit=limit,
        )

    def batch(self, lines, *options, environment=None):
        """Hands in a batch job; returns its id."""
        script = self.dir / "job.sh"
        script.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
        out, _ = self.run("sbatch", "--parsable", "-D", "/tmp", *options, script, environment=environment)
        return out.strip().split(";")[0]

    def wait_for_epilogs(self, job):
        wait_until(
            lambda: all((self.dir / "log" / f"over_{host}_{job}").exists() for host in ("h1", "h2")),
            f"the epilogs of {job}",
            limit=150,
        )

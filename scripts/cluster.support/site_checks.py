"""What docs/site.md and docs/archives.md recommend to a site, under Slurm: requeued and heterogeneous jobs,
the tracer always on, an archive as a job array, and the service that sees all of it."""

import json
import pathlib
import shutil
import sys
import time

from cluster import Slurm, check, completed, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "crates/inputs/darshan-log/tests/reference"


def names(cluster, directory):
    """The traces in a directory of the network file system, and below it."""
    found = cluster.on("h3", "find", directory, "-name", "*.msgpack")[0].split()
    return sorted(found)


@check
def requeued_job(cluster):
    """A job that is requeued, none of whose environment but Slurm's own goes to its tasks: the trace of its
    second run is whole, and that of the first is not lost."""
    slurm = Slurm(cluster)
    directory, counts = cluster.fresh("requeue")
    for run in ("first", "again"):
        (counts / run).mkdir()
    # The first run goes on until it is requeued, the second ends.
    site = f"TMIO_SITE={directory}/t_%j.msgpack"
    program = f"srun --mpi=pmi2 --export={site} {cluster.bin}/counts_completed.mpich /tmp"
    lines = [f'if [ -z "$SLURM_RESTART_COUNT" ]; then {program} {counts}/first 0 200']
    lines += [f"else {program} {counts}/again 300; fi"]
    options = ["--requeue", "--export=NONE", "-N1", "-n2", "-w", "h1", "-o", f"{slurm.dir}/log/requeue"]
    job = slurm.batch(lines, *options)
    first, again = counts / "first", counts / "again"
    wait_until(lambda: len(completed(first)) == 2 and min(completed(first).values()) > 50, "writes", 90)
    slurm.run("scontrol", "requeue", job)
    # After a requeue, Slurm waits for two minutes; an administrator need not.
    time.sleep(3)
    slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now", code=None)
    wait_until(lambda: sum(completed(again).values()) == 600, "the second run", 200)
    whole = lambda: [cluster.info("h3", name) for name in names(cluster, directory)]
    wait_until(lambda: any(one["complete"] for one in whole()), "a whole trace", 60)
    seen = sorted(one["write_sync"]["ops"] for one in whole() if one["complete"])
    assert seen == [600], (seen, names(cluster, directory))
    cluster.ftio("h1", "recover", "--host")
    left = cluster.on("h3", "ls", directory)[0].split()
    killed = [name for name in left if name.endswith(".parts")]
    assert len(killed) == 1, left
    found = cluster.info("h3", f"{directory}/{killed[0]}")["write_sync"]["ops"]
    truth = sum(completed(first).values())
    assert truth <= found <= truth + 2, (found, truth, left)


@check
def heterogeneous_job(cluster):
    """A heterogeneous job: each component has a trace of its own, with all that its ranks did."""
    slurm = Slurm(cluster)
    directory, counts = cluster.fresh("het")
    for component in ("0", "1"):
        (counts / component).mkdir()
    program = f"{cluster.bin}/counts_completed.mpich /tmp {counts}"
    lines = ["#SBATCH -N1 -n1 -w h1", "#SBATCH hetjob", "#SBATCH -N1 -n2 -w h2"]
    lines += [f"srun --mpi=pmi2 --het-group=0 {program}/0 150 &"]
    lines += [f"srun --mpi=pmi2 --het-group=1 {program}/1 250 &", "wait"]
    environment = {"TMIO_SITE": f"{directory}/t_%j_%p.msgpack"}
    slurm.batch(lines, "-o", f"{slurm.dir}/log/het", environment=environment)
    wait_until(lambda: len(names(cluster, directory)) == 2, "two traces", 120)
    found = [cluster.info("h3", name) for name in names(cluster, directory)]
    assert all(one["complete"] for one in found), found
    assert sorted(one["write_sync"]["ops"] for one in found) == [150, 500], found


SITE = """locked output = {logs}/%u/%e_%j_%n.msgpack
locked mode = 0640
exclude_programs = workload*
"""


@check
def always_on(cluster):
    """The library preloaded for every task, and a site's file: who does I/O by MPI has a trace in the central
    directory; excluded programs and those without I/O leave nothing."""
    slurm = Slurm(cluster)
    directory, counts = cluster.fresh("logs")
    cluster.on("h1", "chmod", "1777", directory)
    config = cluster.shared / "tmio.conf"
    config.write_text(SITE.format(logs=directory))
    for host in ("h1", "h2"):
        # Of this host alone: the machine's own /etc stays as it is.
        overlay = "mkdir -p /run/etc/up /run/etc/work && mount -t overlay overlay"
        options = "-o lowerdir=/etc,upperdir=/run/etc/up,workdir=/run/etc/work /etc"
        mounted = f"{overlay} {options} && install -m 644 -o root {config} /etc/tmio.conf"
        cluster.on(host, "sh", "-c", mounted)
    preload = f"LD_PRELOAD={cluster.bin}/libtmio.so"
    common = ["srun", "-D", "/tmp", "-N1", "-n2", "--mpi=pmi2", f"--export=ALL,{preload}"]
    slurm.run(*common, cluster.bin / "counts_completed.mpich", "/tmp", counts, 100)
    excluded = ["--iterations", "2", "--compute", "0.1", "--dir", "/tmp"]
    slurm.run(*common, cluster.bin / "workload.mpich", *excluded)
    slurm.run(*common, "sh", "-c", "hostname; ls /etc > /dev/null; date")
    (trace,) = names(cluster, directory)
    assert "/0/counts_completed" in trace, trace
    assert cluster.info("h3", trace)["write_sync"]["ops"] == 200, trace
    for host in ("h1", "h2"):
        cluster.on(host, "umount", "-l", "/etc")


ARRAY = """set -eu
{ftio} categorize {logs} --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --threads 1 \\
    -o {parts}/part-$SLURM_ARRAY_TASK_ID
"""


@check
def archive_as_a_job_array(cluster):
    """docs/archives.md: eight tasks, and a job that merges them when they are done. The same bytes as one
    process."""
    slurm = Slurm(cluster)
    directory, _ = cluster.fresh("archive")
    logs = cluster.shared / "logs"
    for copy in range(12):
        (logs / str(copy)).mkdir(parents=True)
        for log in LOGS.glob("*.darshan"):
            shutil.copy(log, logs / str(copy))
    lines = ARRAY.format(ftio=cluster.ftio_path, logs=logs, parts=directory).splitlines()
    job = slurm.batch(lines, "--array=0-7", "-n1", "-o", f"{slurm.dir}/log/shard_%a")
    merge = f"{cluster.ftio_path} categorize merge {directory}/part-* --json"
    results = f"--summary {directory}/summary.json > {directory}/lines.jsonl"
    lines = [f"{merge} {results} && touch {directory}/done"]
    after = f"--dependency=afterok:{job}"
    slurm.batch(lines, after, "-n1", "-o", f"{slurm.dir}/log/merge")
    wait_until(lambda: "done" in cluster.on("h1", "ls", directory)[0].split(), "the merge", 180)
    one = [cluster.ftio_path, "categorize", logs, "--json", "--summary", f"{directory}/one.json"]
    expected, _ = cluster.on("h3", *one)
    found, _ = cluster.on("h3", "cat", f"{directory}/lines.jsonl")
    assert found == expected and len(found.splitlines()) >= 60, len(found.splitlines())
    cluster.on("h3", "cmp", f"{directory}/one.json", f"{directory}/summary.json")


ASK = """import urllib.request
question = urllib.request.Request("http://10.77.0.3:1337/api/v1/jobs?limit=500")
question.add_header("Authorization", "Bearer of-the-test-and-long-enough")
print(urllib.request.urlopen(question).read().decode())
"""


@check
def service_that_sees_all(cluster):
    """`ftio serve` on the login node watches the network file system: jobs of both compute nodes, as they run
    and when they are over."""
    slurm = Slurm(cluster)
    directory, counts = cluster.fresh("served")
    # Whoever asks from another machine needs a token.
    access = "umask 077; echo of-the-test-and-long-enough operator test > /dev/shm/access"
    cluster.on("h3", "sh", "-c", access)
    words = ["serve", "--listen", "10.77.0.3:1337", "--data", "/dev/shm/ftio-data", "--watch", "/tmp/net"]
    words += ["--access", "/dev/shm/access"]
    service = cluster.start("h3", cluster.ftio_path, *words)
    try:
        asks = lambda: cluster.on("h1", sys.executable, "-c", ASK, code=None)[0]
        wait_until(lambda: "jobs" in asks(), "an answer", 60)
        # Long enough to be seen while it runs.
        line = f"srun --mpi=pmix {cluster.bin}/counts_completed.openmpi /tmp {counts} 60000 200"
        environment = {"TMIO_SITE": f"{directory}/t_%j.msgpack", "TMIO_FLUSH": "interval:0.5"}
        job = slurm.batch([line], "-N2", "-n2", "-o", f"{slurm.dir}/log/served", environment=environment)
        jobs = lambda: json.loads(asks())["jobs"]
        mine = lambda: {one["state"] for one in jobs() if one["jobid"].split(".")[0] == job}
        wait_until(lambda: mine() == {"running"}, "the running job", 60)
        wait_until(lambda: sum(completed(counts).values()) == 120_000, "the end of the job", 180)
        wait_until(lambda: mine() == {"finished"}, "that it has ended", 60)
    finally:
        cluster.on("h3", "pkill", "-f", "ftio serve", code=None)
        service.communicate(timeout=30)

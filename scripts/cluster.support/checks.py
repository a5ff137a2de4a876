"""The checks of scripts/cluster-test: traces of jobs on several hosts, whole, killed, and under Slurm."""

import argparse
import os
import random
import re
import sys
import time

from cluster import CHECKS, HOSTS, SSH, Cluster, Slurm, check, completed, wait_until


def run_and_kill(cluster, output, counts, after, helpers=True, **environment):
    """A job on two hosts that is killed when every rank has done `after` writes, as a rule with its helpers:
    batch systems do so. Returns the ranks' own counts."""
    job = cluster.start(
        "h1",
        *cluster.mpirun("counts_completed", ["/tmp", counts, 0, 200], cluster.traced(output, **environment)),
    )
    wait_until(lambda: len(completed(counts)) == 4 and min(completed(counts).values()) >= after, "writes")
    cluster.end_ranks("counts_completed", helpers)
    job.communicate(timeout=60)
    return completed(counts)


def same(found, counts, ranks=4):
    """Every completed write is there, and at most one more per rank, which was under way."""
    low, high = sum(counts.values()), sum(counts.values()) + ranks
    assert low <= found <= high, f"{found} operations, but the ranks have counted {low}: {counts}"


@check
def whole_job(cluster):
    """A job on two hosts that ends: one trace, two nodes, clocks aligned, exact counts."""
    directory, counts = cluster.fresh("whole")
    output = f"{directory}/t.msgpack"
    cluster.on("h1", *cluster.mpirun("counts_completed", ["/tmp", counts, 500], cluster.traced(output)))
    info = cluster.info("h3", output)
    assert info["complete"] and info["write_sync"]["ops"] == 2000, info
    assert info["clock"]["nodes"] == 2 and info["clock"]["max_error"] < 1.0, info["clock"]
    assert 0 <= info["t_end"] < 100, info["t_end"]
    assert cluster.on("h3", "ls", "-A", directory)[0].split() == ["t.msgpack"]


@check
def overhead(cluster):
    """What tracing costs a job on two hosts, beside the same job untraced (only printed)."""
    directory, counts = cluster.fresh("overhead")
    times = {}
    for name, environment in [("untraced", {}), ("traced", cluster.traced(f"{directory}/t.msgpack"))]:
        began = time.monotonic()
        cluster.on("h1", *cluster.mpirun("counts_completed", ["/tmp", counts, 500], environment))
        times[name] = time.monotonic() - began
    cost = cluster.info("h1", f"{directory}/t.msgpack")["overhead"]
    print(
        f"    {times['untraced']:.2f} s untraced, {times['traced']:.2f} s traced; the trace says {cost['time']:.3f} s "
        f"over 4 ranks, {cost['largest']:.3f} s at most"
    )


def joins(cluster, first, second):
    directory, counts = cluster.fresh("joins")
    output = f"{directory}/t.msgpack"
    truth = run_and_kill(cluster, output, counts, 100)
    cluster.ftio(first, "recover", output)
    partial = cluster.info(first, output)
    other = {"h1": "h2", "h2": "h1"}[first]
    assert partial["missing_hosts"] == [other], (partial["missing_hosts"], other)
    assert not partial["complete"]
    text = cluster.ftio(first, output, code=None)
    assert other in text[0] + text[1], text
    cluster.ftio(second, "recover", output)
    for host in HOSTS:
        info = cluster.info(host, output)
        same(info["write_sync"]["ops"], truth)
        assert info["missing_ranks"] == [] and info["missing_hosts"] == [], info
        assert info["clock"]["nodes"] == 2 and not info["complete"]


@check
def helpers_write_what_killed_ranks_have_left(cluster):
    """Where the helpers are not killed, nothing is left to recover on the hosts."""
    directory, counts = cluster.fresh("helpers")
    output = f"{directory}/t.msgpack"
    truth = run_and_kill(cluster, output, counts, 50, helpers=False)
    wait_until(lambda: not cluster.helpers(), "helpers that end")
    info = cluster.info("h3", output)
    assert info["missing_hosts"] == [], info
    same(info["write_sync"]["ops"], truth)


@check
def parts_join_in_order(cluster):
    """A killed job recovered on h1, then on h2: one trace with everything."""
    joins(cluster, "h1", "h2")


@check
def parts_join_in_the_other_order(cluster):
    """The same, on h2 first."""
    joins(cluster, "h2", "h1")


@check
def login_node_names_the_hosts(cluster):
    """Of a job that was killed at once, a login node says on which hosts the records are, and after `ftio
    clean` there it has them all."""
    directory, counts = cluster.fresh("login")
    output = f"{directory}/t.msgpack"
    truth = run_and_kill(cluster, output, counts, 50)
    for arguments in [["info", output], [output], ["--json", output]]:
        out, err = cluster.ftio("h3", *arguments, code=None)
        assert "records are still on h1, h2:" in err + out and "ftio recover --host" in err + out, (
            arguments,
            out,
            err,
        )
    for host in ("h2", "h1"):
        cluster.ftio(host, "recover", "--host")
        left = cluster.on(host, "sh", "-c", "find /dev/shm -name '*tmio*' -o -path '*/tmio-*'")[0]
        assert not left, (host, left)
    info = cluster.info("h3", output)
    same(info["write_sync"]["ops"], truth)
    assert info["missing_hosts"] == [] and info["missing_ranks"] == [], info


@check
def a_rank_without_io_or_host_is_named(cluster):
    """h2 dies as a whole with its memory: the ranks that were there are named wherever there is a result."""
    directory, counts = cluster.fresh("died")
    output = f"{directory}/t.msgpack"
    run_and_kill(cluster, output, counts, 50)
    cluster.on("h2", "sh", "-c", "rm -rf /dev/shm/tmio-*")
    cluster.ftio("h1", "recover", "--host")
    info = cluster.info("h3", output)
    assert info["missing_hosts"] == ["h2"], info["missing_hosts"]
    for arguments in [["info", output], [output], ["--json", output]]:
        out, err = cluster.ftio("h3", *arguments, code=None)
        assert "records are still on h2:" in out + err, (out, err)


@check
def old_records_leave_the_node(cluster):
    """What is older than TMIO_MAX_AGE is read without any of the job's hosts."""
    directory, counts = cluster.fresh("age")
    output = f"{directory}/t.msgpack"
    job = cluster.start(
        "h1",
        *cluster.mpirun(
            "counts_completed", ["/tmp", counts, 0, 1000], cluster.traced(output, TMIO_MAX_AGE=1)
        ),
    )
    wait_until(lambda: len(completed(counts)) == 4 and min(completed(counts).values()) >= 100, "writes")
    before = completed(counts)
    time.sleep(4)
    cluster.end_ranks("counts_completed", True)
    job.communicate(timeout=60)
    found = cluster.info("h3", output)["write_sync"]["ops"]
    assert found >= sum(before.values()), (found, before)
    for host in ("h1", "h2"):
        cluster.ftio(host, "recover", "--host")
    same(cluster.info("h3", output)["write_sync"]["ops"], completed(counts))


@check
def spool_on_the_network_is_not_used(cluster):
    """TMIO_SPOOL on FUSE: the spool is in memory all the same, and the records of a killed job are kept."""
    directory, counts = cluster.fresh("spool")
    output = f"{directory}/t.msgpack"
    environment = cluster.traced(output, TMIO_SPOOL=directory, TMIO_FLUSH="interval:0.2")
    job = cluster.start("h1", *cluster.mpirun("counts_completed", ["/tmp", counts, 0, 1000], environment))
    wait_until(lambda: len(completed(counts)) == 4 and min(completed(counts).values()) >= 100, "writes")
    before = completed(counts)
    time.sleep(3)
    cluster.end_ranks("counts_completed")
    job.communicate(timeout=60)
    assert not cluster.on("h1", "find", directory, "-name", "*.spool")[0].strip(), "a spool on the network"
    assert cluster.info("h3", output)["write_sync"]["ops"] >= sum(before.values())


@check
def one_name_in_two_containers(cluster):
    """Two hosts that look like containers of one kernel (one boot id) write the same TMIO_OUTPUT at the same
    time: both traces are kept."""
    directory, counts = cluster.fresh("containers")
    other = cluster.shared / "counts" / "containers-other"
    other.mkdir()
    output = f"{directory}/t.msgpack"
    boot = "mount --bind /run/tmio-cluster/h1/boot_id /proc/sys/kernel/random/boot_id"
    jobs = []
    for host, mine, writes in [("h1", counts, 1500), ("h2", other, 500)]:
        words = [f"{name}={value}" for name, value in cluster.traced(output).items()]
        program = [cluster.bin / "counts_completed.mpich", "/tmp", mine, writes, 2000]
        jobs.append(
            cluster.start(host, "unshare", "-m", "sh", "-c", f'{boot}; exec env "$@"', "sh", *words, *program)
        )
        wait_until(lambda directory=mine: any(completed(directory).values()), "a write")
    for job in jobs:
        out, err = job.communicate(timeout=120)
        assert job.returncode == 0, (out, err)
    names = sorted(cluster.on("h1", "ls", directory)[0].split())
    found = sorted(cluster.info("h3", f"{directory}/{name}")["write_sync"]["ops"] for name in names)
    assert found == [500, 1500], (names, found)


# Slurm.

@check
def srun_with_a_task_prolog(cluster):
    """TaskProlog turns tracing on; Open MPI by PMIx on two nodes, MPICH by PMI-2 on one (MPICH 4.0.2 hangs in
    MPI_Finalize on two hosts, untraced as well)."""
    slurm = Slurm(cluster)
    for mpi, plugin, nodes in [("openmpi", "pmix", 2), ("mpich", "pmi2", 1)]:
        directory, counts = cluster.fresh(f"srun-{mpi}")
        output = f"{directory}/t_%j.msgpack"
        slurm.run(
            "srun",
            "-D",
            "/tmp",
            f"-N{nodes}",
            "-n4",
            f"--mpi={plugin}",
            f"--export=ALL,TMIO_SITE={output}",
            cluster.bin / f"counts_completed.{mpi}",
            "/tmp",
            counts,
            300,
        )
        (name,) = cluster.on("h1", "ls", directory)[0].split()
        info = cluster.info("h3", f"{directory}/{name}")
        assert info["complete"] and info["write_sync"]["ops"] == 1200 and info["clock"]["nodes"] == nodes, (
            mpi,
            info,
        )
        assert re.fullmatch(r"t_\d+\.\d+\.msgpack", name), name


@check
def srun_that_mpi_does_not_understand(cluster):
    """Tasks whose MPI makes a job of its own of each of them, or refuses to start: they say the same and end
    in the same way with the tracer, and all that they did is in traces, once."""
    slurm = Slurm(cluster)
    and_its_end = ["sh", "-c", '"$@"; echo "exit code $?"', "sh"]
    for mpi, plugin, nodes in [
        ("openmpi", "none", 1),
        ("openmpi", "none", 2),
        ("mpich", "none", 1),
        ("mpich", "none", 2),
        ("openmpi", "pmi2", 1),
        ("mpich", "pmix", 1),
    ]:
        directory, _ = cluster.fresh(f"mistaken-{mpi}-{plugin}")
        srun = ["srun", "-D", "/tmp", f"-N{nodes}", "-n4", f"--mpi={plugin}"]
        program = [cluster.bin / f"tells_its_world.{mpi}", "/tmp", 50]
        plain, _ = slurm.run(*and_its_end, *srun, *program)
        site = f"--export=ALL,TMIO_SITE={directory}/t.msgpack"
        said, err = slurm.run(*and_its_end, *srun, site, *program)
        assert sorted(said.split("\n")) == sorted(plain.split("\n")), (mpi, plugin, plain, said, err)
        requests = sum(map(int, re.findall(r": (\d+) requests", said)))
        names = cluster.on("h1", "ls", directory)[0].split()
        infos = [cluster.info("h3", f"{directory}/{name}") for name in names]
        found = sum(info["write_sync"]["ops"] for info in infos)
        assert all(info["complete"] for info in infos) and found == requests, (mpi, plugin, names, found, requests)
        worlds, end = said.count("rank 0 of"), re.search(r"exit code \d+", said)[0]
        print(
            f"    {mpi}, --mpi={plugin}, {nodes} nodes: {end}, {worlds} jobs, {requests} requests in {len(names)} traces"
        )


@check
def ftio_trace_with_srun(cluster):
    """`ftio trace -- srun --export=…` traces whatever the list says, or says that it cannot."""
    slurm = Slurm(cluster)
    for export in ["--export=NONE", "--export=PATH", "--export=ALL", None]:
        directory, counts = cluster.fresh("export")
        options = [word for word in [export] if word]
        out, err = slurm.run(
            cluster.ftio_path,
            "trace",
            "-o",
            f"{directory}/t.msgpack",
            "--library",
            cluster.bin / "libtmio.so",
            "--",
            "srun",
            "-D",
            "/tmp",
            *options,
            "-N2",
            "-n2",
            "--mpi=pmix",
            cluster.bin / "counts_completed.openmpi",
            "/tmp",
            counts,
            100,
            code=None,
        )
        names = cluster.on("h1", "ls", directory)[0].split()
        assert names == ["t.msgpack"], (export, names, out, err)
        assert cluster.info("h3", f"{directory}/t.msgpack")["write_sync"]["ops"] == 200, export


@check
def job_array(cluster):
    """Every task of an array gets a trace of its own."""
    slurm = Slurm(cluster)
    directory, counts = cluster.fresh("array")
    for task in (1, 2, 3):
        (counts / str(task)).mkdir()
    line = f"srun --mpi=pmi2 {cluster.bin}/counts_completed.mpich /tmp {counts}/$SLURM_ARRAY_TASK_ID 100"
    slurm.batch(
        [line],
        "--array=1-3",
        "-N1",
        "-n2",
        "-o",
        f"{slurm.dir}/log/array_%a",
        environment={"TMIO_SITE": f"{directory}/t_%j.msgpack"},
    )
    wait_until(
        lambda: (
            len([name for name in cluster.on("h1", "ls", directory)[0].split() if name.endswith(".msgpack")])
            == 3
        ),
        "three traces",
        limit=150,
    )
    for name in cluster.on("h1", "ls", directory)[0].split():
        info = cluster.info("h3", f"{directory}/{name}")
        assert info["complete"] and info["write_sync"]["ops"] == 200, (name, info)


@check
def time_limit(cluster):
    """A job on two nodes that runs into its time limit: after the epilogs a login node has everything."""
    slurm = Slurm(cluster)
    directory, counts = cluster.fresh("limit")
    line = f"srun --mpi=pmix {cluster.bin}/counts_completed.openmpi /tmp {counts} 0 500"
    job = slurm.batch(
        [line],
        "-N2",
        "-n4",
        "-t",
        "00:01",
        "-o",
        f"{slurm.dir}/log/limit",
        environment={"TMIO_SITE": f"{directory}/t.msgpack"},
    )
    wait_until(lambda: len(completed(counts)) == 4, "writes", limit=60)
    slurm.run("scontrol", "update", f"JobId={job}", "TimeLimit=00:00:05", code=None)
    slurm.wait_for_epilogs(job)
    info = cluster.info("h3", f"{directory}/t.msgpack")
    same(info["write_sync"]["ops"], completed(counts))
    assert info["missing_hosts"] == [] and info["missing_ranks"] == [] and not info["complete"], info
    cluster.ftio("h3", "recover", f"{directory}/t.msgpack")
    same(cluster.info("h3", f"{directory}/t.msgpack")["write_sync"]["ops"], completed(counts))


def kills(cluster, jobs, two_hosts):
    seed = random.randrange(1 << 30)
    generator = random.Random(seed)
    killed = operations = extra = 0
    for number in range(jobs):
        directory, counts = cluster.fresh("kill")
        # On the host's own disk, if there is one host.
        output = f"{directory}/t.msgpack" if two_hosts else f"/tmp/kill{cluster.number}.msgpack"
        more = {} if generator.random() < 0.5 else {"TMIO_FLUSH": "interval:0.01"}
        buffer = generator.choice(["64K", "256K", "4M"])
        environment = cluster.traced(output, TMIO_BUFFER=buffer, **more)
        if two_hosts:
            job = cluster.start("h1", *cluster.mpirun("counts_completed", ["/tmp", counts], environment))
            ranks = 4
        else:
            words = [f"{name}={value}" for name, value in environment.items()]
            job = cluster.start("h1", "env", *words, cluster.bin / "counts_completed.mpich", "/tmp", counts)
            ranks = 1
        wait_until(lambda: len(completed(counts)) == ranks and all(completed(counts).values()), "a write")
        time.sleep(generator.random() * 0.3)
        # Batch systems kill the helpers, too.
        cluster.end_ranks("counts_completed", generator.random() < 0.5)
        job.communicate(timeout=60)
        # Helpers that are left write what killed ranks have left, and end.
        wait_until(lambda: not cluster.helpers(), "helpers that end")
        hosts = ["h1", "h2"] if two_hosts else ["h1"]
        generator.shuffle(hosts)
        for host in hosts:
            if generator.random() < 0.5:
                cluster.ftio(host, "recover", "--host")
            else:
                cluster.ftio(host, "recover", output)
        truth = completed(counts)
        info = cluster.info("h3" if two_hosts else "h1", output)
        found, lost = info["write_sync"]["ops"], info["lost"]
        low, high = sum(truth.values()), sum(truth.values()) + ranks
        # What is lost is told, and adds up; nothing may be lost.
        assert low <= found + lost <= high, (seed, number, buffer, found, lost, truth)
        assert lost == 0, (seed, number, buffer, found, lost, truth)
        killed += ranks
        operations += found
        extra += found - low
        cluster.on("h1", "sh", "-c", f"rm -rf {output} {output}.parts /tmp/some_*")
        cluster.on("h2", "sh", "-c", "rm -f /tmp/some_*")
    print(
        f"    {jobs} jobs, {killed} processes killed: {operations} operations, of which {extra} were under way; none lost"
    )


def report(failed, count):
    print(f"{count - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shared")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    cluster = Cluster(arguments.shared)

    def random_kills_on_one_host(cluster):
        """Killed at random on one host, nothing is lost."""
        kills(cluster, arguments.kills, False)

    def random_kills_on_two_hosts(cluster):
        """Killed at random on two hosts, nothing is lost."""
        kills(cluster, arguments.kills, True)

    import site_checks  # these come after the others

    checks = CHECKS + [random_kills_on_one_host, random_kills_on_two_hosts]
    wanted = [name for name in arguments.only.split(",") if name]
    unknown = set(wanted) - {function.__name__ for function in checks}
    if unknown:
        sys.exit(f"there is no check {', '.join(sorted(unknown))}")
    for host in HOSTS:
        cluster.on(
            host,
            "sh",
            "-c",
            f"mkdir -p /tmp/net && sshfs -F /run/tmio-cluster/ssh_config -o ssh_command={SSH},"
            f"allow_other,cache=no,direct_io,sshfs_sync h3:{cluster.shared}/export /tmp/net",
        )
    failed = []
    chosen = [function for function in checks if not wanted or function.__name__ in wanted]
    for function in chosen:
        began = time.monotonic()
        try:
            function(cluster)
            outcome = "ok"
        except Exception as error:  # one that fails does not end the others
            failed.append(function.__name__)
            outcome = f"FAILED: {error}"
            cluster.end_ranks("counts_completed")
        print(f"{function.__name__}: {outcome} ({time.monotonic() - began:.1f} s)", flush=True)
    return report(failed, len(chosen))


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    sys.exit(main())

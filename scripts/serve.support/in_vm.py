#!/usr/bin/env python3
"""What scripts/serve-test does inside a virtual machine (scripts/vm): usage: in_vm.py PART PROGRAM

  power  the power fails: everything that was written to the disk is recorded in order (dm-log-writes), and at
         many moments the disk is what it was then. The service starts on it; what was answered is there, but
         for the last moments
  nfs    data on NFS are refused by name; traces that another machine puts below a watched NFS directory are
         seen
  clock  the clock is set years ahead and back while jobs run: nothing ends, nothing is forgotten
"""

import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

TRACE = pathlib.Path(__file__).resolve().parents[2] / "crates/trace/tmio-trace/tests/fixtures/version-2.msgpack"
# A flush begins every second and takes as long as the disk does; here processors are emulated.
MOST_LOST = 5.0
POINTS = 12
LOAD_SECONDS = 25


def check(holds, what):
    print(f"  {'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        raise SystemExit(1)


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, **more)


class Service:
    program = None

    def __init__(self, data, *args, folder="/tmp"):
        command = [self.program, "serve", "--listen", "127.0.0.1:0", "--data", data, *args]
        self.process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True, cwd=folder)
        self.said, self.port = [], None
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                break
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()

    def ask(self, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if body is None:
            connection.request("GET", path)
        else:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def get(self, path):
        status, text = self.ask(path)
        if status != 200:
            check(False, f"{path}: {status} {text[:200]}")
        return json.loads(text)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()


def until(what, ask, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = ask()
        if found:
            return found
        time.sleep(0.3)
    check(False, what)


# The power fails


class Log:
    """What was written to a disk, in order (drivers/md/dm-log-writes.c)."""

    FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8

    def __init__(self, path):
        self.file = open(path, "rb")
        magic, version, self.count, self.unit = struct.unpack("<QQQI", self.file.read(28))
        check((magic, version) == (0x6A736677736872, 1), "the log of writes can be read")

    def entries(self):
        """Where on the disk, its bytes, flags and text of a mark."""
        place = self.unit
        for _ in range(self.count):
            self.file.seek(place)
            head = self.file.read(self.unit)
            sector, sectors, flags, length = struct.unpack_from("<QQQQ", head)
            place += self.unit
            data = b""
            if not flags & self.DISCARD:
                data = self.file.read(sectors * self.unit)
                place += sectors * self.unit
            mark = head[32 : 32 + length].decode() if flags & self.MARK else None
            yield sector * self.unit, data, flags, mark


def load(service, marks, ended):
    """Pushes values of some jobs, ends others, and puts a mark into the log when that was answered."""
    begun, number = time.monotonic(), 0
    while time.monotonic() - begun < LOAD_SECONDS:
        number += 1
        for job in range(4):
            body = {"job": {"jobid": f"job{job}", "command": "/bin/app", "size": 4},
                    "metrics": {"written_bytes": number * 1000}}  # fmt: skip
            status, text = service.ask("/api/v1/push", body)
            if status != 200:
                check(False, f"a push is taken: {status} {text}")
        if number % 3 == 0:
            name = f"short{number}"
            body = {"job": {"jobid": name, "size": 4}, "metrics": {"written_bytes": 5}, "end": True}
            if service.ask("/api/v1/push", body)[0] == 200:
                ended[name] = number
        marks[number] = time.monotonic() - begun
        run("dmsetup", "message", "logged", "0", f"mark answered-{number}")


def power():
    disk, log, copy = "/dev/vda", "/dev/vdb", "/dev/vdc"
    sectors = int(run("blockdev", "--getsz", disk, capture_output=True, text=True).stdout)
    table = f"0 {sectors} log-writes {disk} {log}"
    # There is nobody who makes names of devices.
    os.environ["DM_DISABLE_UDEV"] = "1"
    run("dmsetup", "create", "logged", "--table", table)
    logged = "/dev/mapper/logged"
    run("mkfs.ext4", "-q", logged)
    place = pathlib.Path("/run/disk")
    place.mkdir()
    run("mount", logged, place)
    data, marks, ended = place / "data", {}, {}
    service = Service(data)
    load(service, marks, ended)
    service.end(signal.SIGKILL)
    run("umount", place)
    run("dmsetup", "remove", "logged")
    entries = list(Log(log).entries())
    first = next(i for i, entry in enumerate(entries) if entry[3] == "answered-5")
    last = max(i for i, entry in enumerate(entries) if entry[3])
    flushes = [i for i in range(first, last) if entries[i][2] & Log.FLUSH]
    points = set(random.sample(range(first, last), POINTS // 2)) | set(
        random.sample(flushes, min(len(flushes), POINTS // 2))
    )
    print(f"  {len(entries)} writes, {len(flushes)} flushes, {max(marks)} rounds of pushes", flush=True)
    worst, answered = 0.0, 0
    with open(copy, "r+b", buffering=0) as target:
        for i, (where, content, flags, mark) in enumerate(entries[: last + 1]):
            if content:
                target.seek(where)
                target.write(content)
            if mark and mark.startswith("answered-"):
                answered = int(mark.split("-")[1])
            if i in points:
                os.fsync(target.fileno())
                worst = max(worst, look_after_failure(copy, marks, ended, answered))
    check(worst <= MOST_LOST, f"the power failed at {len(points)} moments: at most {worst:.2f} s of answers are lost")


def look_after_failure(disk, marks, ended, answered):
    """Starts the service on what the disk was. How many seconds of answers are lost."""
    image, place = pathlib.Path("/run/image"), pathlib.Path("/run/after")
    shutil.copyfile(disk, image)
    place.mkdir(exist_ok=True)
    run("mount", "-o", "loop", image, place)
    try:
        service = Service(place / "data")
        if not service.port:
            check(False, "the service starts: " + "".join(service.said)[-300:])
        running = {job["jobid"]: job["written_bytes"] for job in service.get("/api/v1/running")["jobs"]}
        finished = {job["jobid"] for job in service.get("/api/v1/jobs?state=finished&limit=500")["jobs"]}
        damaged = [line for line in service.said if "damaged" in line and "not finished" not in line]
        if damaged:
            check(False, f"nothing is damaged: {damaged}")
        service.end()
        now = marks[answered]

        def is_there(number):
            values = all(running.get(f"job{job}", 0) >= number * 1000 for job in range(4))
            return values and all(name in finished for name, end in ended.items() if end <= number)

        kept = max((number for number in marks if number <= answered and is_there(number)), default=None)
        return now - (marks[kept] if kept else 0.0)
    finally:
        run("umount", place)


# A network file system


def nfs():
    run("mkfs.ext4", "-q", "/dev/vda")
    served, seen = pathlib.Path("/run/served"), pathlib.Path("/run/seen")
    for folder in (served, seen, pathlib.Path("/var/lib/nfs/v4recovery")):
        folder.mkdir(parents=True, exist_ok=True)
    run("mount", "/dev/vda", served)
    run("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
    run("exportfs", "-o", "rw,no_root_squash,fsid=0,insecure", f"127.0.0.1:{served}")
    run("rpc.nfsd", "--no-nfs-version", "3", "--no-udp", "2")
    run("rpc.mountd", "--no-nfs-version", "3")
    run("mount", "-t", "nfs4", "-o", "actimeo=1", "127.0.0.1:/", seen)
    (served / "data").mkdir()
    (served / "traces").mkdir()
    refused = Service(seen / "data")
    refused.process.wait()
    text = "".join(refused.said)
    check(refused.port is None and "network file system" in text, "data on NFS are refused by name")
    service = Service("/run/data", "--watch", seen / "traces")
    shutil.copy(TRACE, served / "traces")
    until("a trace of another machine is seen", lambda: service.get("/api/v1/jobs")["jobs"])
    check(True, "a trace that another machine wrote is seen over NFS")
    service.end()
    check(service.process.returncode == 0, "the service ends")


# The clock


def clock():
    service = Service("/run/data", "--keep", "30")
    value = 0

    def push(jobid="sim", **more):
        nonlocal value
        value += 1000
        body = {"job": {"jobid": jobid, "size": 4}, "metrics": {"written_bytes": value}, **more}
        return service.ask("/api/v1/push", body)[0]

    check(push() == 200 and push("over", end=True) == 200, "values are taken")
    for years in (+3, -6, +3):
        run("date", "-s", f"@{int(time.time() + years * 365 * 86_400)}", stdout=subprocess.DEVNULL)
        time.sleep(3)
        check(push() == 200, f"values are taken after the clock went {years:+} years")
        time.sleep(2)
        running = [job["jobid"] for job in service.get("/api/v1/running")["jobs"]]
        check(running == ["sim"], f"the job still runs: {running}")
        over = [job["jobid"] for job in service.get("/api/v1/jobs?state=finished")["jobs"]]
        check(over == ["over"], f"the ended one is not forgotten: {over}")
    sums = [job["written_bytes"] for job in service.get("/api/v1/running")["jobs"]]
    check(sums == [value], f"sums are exact: {sums}, {value}")
    service.end()
    check(service.process.returncode == 0, "the service ends")


def main():
    part, Service.program = sys.argv[1], sys.argv[2]
    {"power": power, "nfs": nfs, "clock": clock}[part]()


if __name__ == "__main__":
    main()

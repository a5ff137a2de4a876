"""A chroot made of an overlay mount over /, with the library named in its /etc/ld.so.preload."""

import os
import pathlib
import resource
import shutil
import subprocess
import time

# How long a process that was left may take to end.
PATIENCE = 60


class Chroot:
    """All days have it at one path, one after the other."""

    def __init__(self, work, name, library, keep):
        self.base, self.name, self.library, self.keep = work, name, library, keep
        self.root, self.layer = work / "chroot", work / f"layer-{name}"
        self.mounted = []

    def mount(self, *words):
        subprocess.run(["mount", *words[:-1], str(words[-1])], check=True)
        self.mounted.append(words[-1])

    def __enter__(self):
        self.layer.mkdir()
        self.root.mkdir(exist_ok=True)
        # Not in a directory of /, which would be above and below at once.
        self.mount("-t", "tmpfs", "-o", "size=6G,mode=755", "tmpfs", self.layer)
        upper, inner = self.layer / "upper", self.layer / "work"
        upper.mkdir()
        inner.mkdir()
        self.mount(
            "-t", "overlay", "-o", f"lowerdir=/,upperdir={upper},workdir={inner}", "overlay", self.root
        )
        self.mount("-t", "proc", "proc", self.root / "proc")
        self.mount("--rbind", "/dev", self.root / "dev")
        subprocess.run(["mount", "--make-rslave", str(self.root / "dev")], check=True)
        (self.root / "day").mkdir()
        (self.root / "traces").mkdir(mode=0o777)
        if self.library:
            place = self.root / "opt/tmio/lib"
            place.mkdir(parents=True)
            # What lies beside it belongs to it.
            for file in self.library.resolve().parent.glob("libtmio*.so*"):
                shutil.copy2(file, place)
            (self.root / "etc/ld.so.preload").write_text("/opt/tmio/lib/libtmio.so\n")
        return self

    def __exit__(self, *_):
        if self.keep:
            return
        for path in reversed(self.mounted):
            for attempt in range(20):
                if subprocess.run(["umount", "-R", str(path)], capture_output=True).returncode == 0:
                    break
                time.sleep(0.5)
            else:
                subprocess.run(["umount", "-R", "-l", str(path)])

    def command(self, words, directory, environment):
        settings = {
            "HOME": "/day",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "SOURCE_DATE_EPOCH": "1700000000",
            "FORCE_UNSAFE_CONFIGURE": "1",
            **environment,
        }
        assigned = [f"{name}={value}" for name, value in settings.items()]
        inside = ["chroot", str(self.root), "/usr/bin/env", "-i", "-C", directory, *assigned, *words]
        return inside

    def run(self, script, directory, environment):
        """Runs a script with a shell: what it said, its exit code and CPU seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        done = subprocess.run(
            self.command(["/bin/sh", "-c", script], directory, environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {
            "code": done.returncode,
            "stdout": done.stdout,
            "stderr": done.stderr,
            "cpu": spent,
            "wall": time.monotonic() - began,
        }

    def inhabitants(self):
        """Processes that have this root directory."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "root") == str(self.root):
                    found.append((int(entry.name), (entry / "comm").read_text().strip()))
            except OSError:
                pass
        return found

    def processes_that_stay(self):
        end = time.monotonic() + PATIENCE
        while (left := self.inhabitants()) and time.monotonic() < end:
            time.sleep(0.1)
        for pid, _ in left:
            os.kill(pid, 9)
        return [name for _, name in left]

    def loaded(self, environment):
        """Whether the library is in a process of this chroot, and how much trace there is."""
        maps = self.run("cat /proc/self/maps", "/", environment)["stdout"]
        files = [file for file in (self.root / "traces").rglob("*") if file.is_file()]
        return {
            "loaded": "libtmio" in maps,
            "files": len(files),
            "bytes": sum(file.stat().st_size for file in files),
        }

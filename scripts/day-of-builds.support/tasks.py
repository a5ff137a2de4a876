"""What is done on a day: a script for each task, and what lies in its directory before."""

import dataclasses
import pathlib
import shutil

HERE = pathlib.Path(__file__).resolve().parent

# Targets after `make`; documentation is not made, as not everybody has the programs for it.
PACKAGES = {
    "hello": "make check && make install DESTDIR=$PWD/installed",
    "gzip": "make check MAKEINFO=true",
    "sed": "make install MAKEINFO=true DESTDIR=$PWD/installed",
}
BUILT = {"hello": ["hello"], "gzip": ["gzip", "lib/libgzip.a"], "sed": ["sed/sed", "lib/libsed.a"]}
PYTHON = "test_os test_posix test_io test_fileio test_subprocess test_tempfile test_fcntl test_pty test_mmap"

GIT = """
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
# What several threads find to pack together depends on which is faster.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=pack.threads GIT_CONFIG_VALUE_0=1
git init -q -b main one && cd one || exit 1
for i in 1 2 3 4 5 6 7 8; do
    mkdir -p d$i; seq $((i * 2000)) > d$i/numbers; cp -r /usr/share/common-licenses d$i/
    git add -A && git commit -qm "change $i" || exit 1
done
git checkout -qb other HEAD~3 && echo more > more && git add more && git commit -qm other
git checkout -q main && git merge -q -m merged other && git gc -q && git fsck --no-progress
cd .. && git clone -q one two && git -C two log --format='%H %s' && git -C two status --short
git -C two rm -q -r d1 && git -C two commit -qm removed && git -C one pull -q ../two main
git -C one log -1 --format=%H
tar -C one --exclude=.git -cf - . | tar -tf - | sort | wc -l
"""

RSYNC = """
mkdir from && cp -r /usr/share/common-licenses /usr/include/linux from/ && seq 300000 > from/numbers
rsync -a from/ to/ && diff -r from to && echo same
echo more >> from/numbers && touch -d @1700000500 from/numbers && rm -r from/linux/netfilter
rsync -aO --delete --itemize-changes from/ to/ | sort
rsync -a --checksum --compress --partial --inplace from/ third/ && diff -r from third && echo same
rsync -a --link-dest=$PWD/to from/ fourth/ && stat -c %h fourth/numbers
rsync -a from/nothing to/; echo $?
"""

SHELL = """
for i in $(seq 200); do echo "int f$i(int x) { return x + $i; }" > a$i.c; done
find . -name 'a*.c' | sort | xargs cat | md5sum; seq 200000 | sort -rn | head -n 3
seq 100000 | awk '{ s += $1 } END { print s }'
tar --sort=name --mtime=@1700000000 --owner=0 --group=0 -cf all.tar a*.c && tar -tf all.tar | wc -l
gzip -n -k all.tar && gunzip -c all.tar.gz | cmp - all.tar && echo cmp
bzip2 -k all.tar 2> /dev/null; xz -k all.tar 2> /dev/null
dd if=/dev/zero of=zeros bs=64k count=64 status=none && split -b 100k zeros part.
cat part.* | cmp - zeros && echo cmp
sed -i 's/x +/x -/' a*.c && cat a*.c | md5sum
cp -a . ../copy-of-shell && diff -r . ../copy-of-shell && rm -r ../copy-of-shell
perl -e 'open F, ">", "p"; print F "x" x 1000 for 1 .. 2000; close F; print -s "p", "\\n"'
printf 'all: m\\nm: %s main.o\\n\\tcc -o m $^\\n' "$(for i in $(seq 30); do printf "a$i.o "; done)" > Makefile
echo 'int main(void) { return 0; }' > main.c; make > /dev/null && ./m; echo $?; (exit 4); echo $?; kill -9 $$
"""


@dataclasses.dataclass
class Task:
    name: str
    script: str
    files: tuple = ()
    parallel: str = ""
    built: tuple = ()

    def prepare(self, root, trees):
        place = root / "day" / self.name
        if self.name in trees:
            shutil.copytree(trees[self.name], place, symlinks=True)
        else:
            place.mkdir()
        for file in self.files:
            shutil.copy2(HERE / file, place)


def package(name, then):
    # How fine the times of files are, configure finds out by waiting: that depends on the load.
    known = "am_cv_filesystem_timestamp_resolution=0.1"
    build = f"./configure {known} && make MAKEINFO=true && {then}"
    again = "make clean > /dev/null && make -j2 MAKEINFO=true > /dev/null 2> /dev/null"
    return Task(name, build, parallel=again, built=tuple(BUILT[name]))


def all_tasks(quick):
    """In the order in which they are done."""
    tests = "test_os test_fileio" if quick else PYTHON
    python = f"/usr/bin/python3 -m test -v -u all,-largefile,-network,-gui,-cpu {tests}"
    tasks = [package(name, then) for name, then in PACKAGES.items()]
    if quick:
        tasks = tasks[:1]
    return [
        *tasks,
        Task("python", python),
        Task("node", "node work.js", ("work.js",)),
        Task("java", "javac Work.java && java -Xmx256m -XX:-UsePerfData Work", ("Work.java",)),
        Task("git", GIT),
        Task("rsync", RSYNC),
        Task("shell", SHELL),
    ]

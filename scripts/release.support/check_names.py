#!/usr/bin/env python3
"""What must be in dist, by name: usage: check_names.py DIST VERSION

Exit status 1 if a file that every release has is missing, or an archive holds a path that leads out of it.
"""

import pathlib
import sys
import tarfile


def main():
    dist, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    wanted = [
        "THIRD-PARTY-LICENSES.txt", "SHA256SUMS", f"tmio-{version}.cdx.json",
        f"tmio-{version}-linux-*.tar.gz", f"tmio-{version}.tar.gz", f"tmio_{version}-1_*.deb",
        f"tmio-{version}-1.*.rpm",
    ]
    problems = [f"{pattern} is missing" for pattern in wanted if not list(dist.glob(pattern))]
    for path in dist.glob("*.tar.*"):
        with tarfile.open(path) as archive:
            for member in archive:
                top = path.name.removesuffix(".gz").removesuffix(".xz").removesuffix(".tar")
                top = top.removesuffix("-vendored")
                if not member.name.startswith(f"{top}/") and member.name not in (top, "pax_global_header"):
                    problems.append(f"{path.name}: {member.name} is not below {top}")
                    break
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()

#!/usr/bin/env python3
"""The licences of everything in the binaries, in one file: usage: licences.py PLATFORM OUTPUT [MUSL-COPYRIGHT]

Exit status 1 if a crate names no licence. A crate that names one and brings no text is listed with its name;
the text is that of another crate under the same licence.
"""

import pathlib
import subprocess
import sys

from shipped import licence_files, metadata, shipped


def main():
    platform, output = sys.argv[1:3]
    packages, _ = shipped(metadata(platform))
    others = [package for package in packages if package["source"]]
    nameless = [package["name"] for package in others if not (package["license"] or package["license_file"])]
    if nameless:
        sys.exit(f"no licence is named by {', '.join(nameless)}")

    texts = {}  # the text, and who brings it
    silent = []
    for package in others:
        name = f"{package['name']} {package['version']}"
        files = licence_files(package)
        if not files:
            silent.append(name)
        for path in files:
            text = path.read_text(errors="replace").strip()
            texts.setdefault(text, []).append(name)
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True)
    rust = pathlib.Path(sysroot.stdout.strip(), "share/doc/rust/COPYRIGHT")
    if rust.exists():
        texts.setdefault(rust.read_text().strip(), []).append("the standard library of Rust")
    for path in sys.argv[3:]:
        texts.setdefault(pathlib.Path(path).read_text().strip(), []).append("musl libc")

    lines = ["libtmio.so, libtmio_recorder.so and ftio contain the work of others, under the licences below.", ""]
    width = max(len(f"{package['name']} {package['version']}") for package in others)
    for package in others:
        name = f"{package['name']} {package['version']}"
        mark = "  (brings no text)" if name in silent else ""
        lines.append(f"{name:<{width}}  {package['license'] or 'see its text'}{mark}")
    lines.append(f"{'Rust standard library':<{width}}  MIT OR Apache-2.0")
    lines.append(f"{'musl libc (in ftio)':<{width}}  MIT")
    for text, names in sorted(texts.items(), key=lambda entry: entry[1][0]):
        lines += ["", "-" * 78, ", ".join(sorted(set(names))), "", text]
    pathlib.Path(output).write_text("\n".join(lines) + "\n")
    print(f"{len(others)} crates, {len(texts)} texts, {len(silent)} without a text", file=sys.stderr)


main()

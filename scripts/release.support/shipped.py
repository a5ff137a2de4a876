"""The crates that are in libtmio.so, its recorder and ftio, from `cargo metadata`; no network."""

import json
import pathlib
import subprocess

ROOTS = ("tmio-preload", "ftio-cli")


def metadata(platform):
    """What cargo knows about the crates that are built for a platform, such as x86_64-unknown-linux-gnu."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version=1"]
    command += [f"--filter-platform={platform}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def shipped(data):
    """The crates that the binaries are made of and built with, and what each of them needs.

    Dependencies of tests are left out. A dependency of a build script is in: it may write code.
    """
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    todo = [id for id, package in packages.items() if package["name"] in ROOTS]
    needs = {}
    while todo:
        id = todo.pop()
        if id in needs:
            continue
        needs[id] = [
            dependency["pkg"]
            for dependency in nodes[id]["deps"]
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
        ]
        todo += needs[id]
    order = sorted(needs, key=lambda id: (packages[id]["name"], packages[id]["version"]))
    return [packages[id] for id in order], needs


def licence_files(package):
    """The files of a crate that hold its licence or a notice."""
    folder = pathlib.Path(package["manifest_path"]).parent
    names = ("license", "licence", "copying", "unlicense", "notice", "copyright")
    found = [path for path in folder.iterdir() if path.is_file() and path.name.lower().startswith(names)]
    return sorted(path for path in found if path.suffix.lower() not in (".rs", ".toml", ".html"))

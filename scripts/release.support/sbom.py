#!/usr/bin/env python3
"""What the binaries are made of, as CycloneDX 1.5 JSON: usage: sbom.py PLATFORM OUTPUT"""

import datetime
import json
import os
import pathlib
import re
import sys
import tomllib
import uuid

from shipped import ROOTS, metadata, shipped


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def licences(package):
    if not package["license"]:
        return []
    # Older crates write "MIT/Apache-2.0" for what SPDX calls "MIT OR Apache-2.0".
    return [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]


def component(package, checksums):
    entry = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package["description"]:
        entry["description"] = " ".join(package["description"].split())
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if licences(package):
        entry["licenses"] = licences(package)
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def main():
    platform, output = sys.argv[1:3]
    packages, needs = shipped(metadata(platform))
    by_id = {package["id"]: package for package in packages}
    lock = tomllib.loads(pathlib.Path("Cargo.lock").read_text())
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock["package"]}
    version = next(package["version"] for package in packages if package["name"] == "ftio-cli")
    made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    roots = [package for package in packages if package["name"] in ROOTS]
    components = [component(package, checksums) for package in packages]
    dependencies = [
        {"ref": reference(by_id[id]), "dependsOn": sorted({reference(by_id[need]) for need in needs[id]})}
        for id in sorted(needs, key=lambda id: reference(by_id[id]))
    ]
    top = f"pkg:generic/tmio@{version}"
    dependencies.insert(0, {"ref": top, "dependsOn": sorted(reference(package) for package in roots)})
    content = {"components": components, "dependencies": dependencies}
    # The same components have the same number.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": top,
                "name": "tmio",
                "version": version,
                "licenses": [{"expression": "BSD-3-Clause"}],
                "properties": [{"name": "tmio:platform", "value": platform}],
            },
        },
        **content,
    }
    pathlib.Path(output).write_text(json.dumps(document, indent=2) + "\n")
    print(f"{len(components)} components", file=sys.stderr)


main()

#!/usr/bin/env python3
"""Puts the sources of the site together: usage: pages.py FTIO DIRECTORY

Pages keep their places, so that links between them work as in the repository. Reference pages are made here:
the commands from `ftio … --help`, the fields of JSON from `ftio schema`, the metrics from the code.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

METRICS = {
    "ftio predict --prometheus": "crates/insight/emit/src/predictions.rs",
    "ftio serve, at /metrics": "crates/site/ftio-serve/src/http/prometheus.rs",
    "ftio stage --prometheus": "ftio-cli/src/stage/metrics.rs",
    "ftio top --prometheus": "ftio-cli/src/top.rs",
}
CONFIGURATION = """[book]
title = "tmio and ftio"
authors = ["The tmio and ftio developers"]
language = "en"
src = "src"

[output.html]
no-section-label = true
# Found by the search of mdBook, without a server.
[output.html.search]
limit-results = 20
"""


def ask(ftio, *words):
    return subprocess.run([ftio, *words], check=True, capture_output=True, text=True).stdout.rstrip()


def commands(ftio):
    text = "# Commands\n\nWhat `--help` says, of every command.\n"
    for line in ["", *ask(ftio, "man", "--list").splitlines()]:
        words = line.split()
        text += f"\n## {' '.join(['ftio', *words])}\n\n```text\n{ask(ftio, *words, '--help')}\n```\n"
    return text


def kind(field):
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[-1]
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    either = field.get("anyOf") or field.get("oneOf")
    if either:
        return " or ".join(kind(one) for one in either)
    kinds = field.get("type", "any")
    text = " or ".join(kinds) if isinstance(kinds, list) else kinds
    return f"{text} of {kind(field['items'])}" if "items" in field else text


def rows(part, prefix=""):
    properties = part.get("properties", {})
    # In the order in which they are printed; then what may be absent.
    names = part.get("required", [])
    for name in [*names, *sorted(properties.keys() - set(names))]:
        field = properties[name]
        about = field.get("description", "").replace("|", "\\|").replace("\n", " ")
        yield f"| `{prefix}{name}` | {kind(field)} | {about} |"
        inner = field.get("items", field)
        if "properties" in inner:
            yield from rows(inner, f"{prefix}{name}{'[]' if 'items' in field else ''}.")


def fields(ftio, folder):
    text = "# Fields of JSON results\n\nFrom `ftio schema`, which prints them as JSON Schema.\n"
    folder.mkdir()
    for line in ask(ftio, "schema").splitlines():
        name = line.split()[0]
        schema = json.loads(ask(ftio, "schema", name))
        file = folder / f"{name.replace('/', '-')}.json"
        file.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")
        about = f"{schema['description']} [Schema](../schemas/{file.name})."
        text += f"\n## {name}\n\n{about}\n\n| field | type | meaning |\n|---|---|---|\n"
        for part, of in {"": schema, **schema.get("$defs", {})}.items():
            prefix = f"{part}: " if part else ""
            text += "".join(f"{row}\n" for row in rows(of, prefix))
    return text


def metrics():
    text = "# Metrics\n\nFor Prometheus, from the code.\n"
    for command, path in METRICS.items():
        code = pathlib.Path(path).read_text().split("#[cfg(test)]")[0]
        found = re.findall(r'"(ftio_\w+)"[^;]{0,80}?"([A-Z][^"]+)"', code)
        found += re.findall(r"# HELP (ftio_\w+) ([^\\\"]+)", code)
        if not found:
            sys.exit(f"{path}: no metrics found")
        text += f"\n## `{command}`\n\n| metric | meaning |\n|---|---|\n"
        text += "".join(f"| `{name}` | {help.strip()} |\n" for name, help in sorted(set(found)))
    return text


def main():
    ftio, out = sys.argv[1], pathlib.Path(sys.argv[2])
    source = out / "src"
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    for name in listed.stdout.split("\n"):
        path = pathlib.Path(name)
        wanted = path.parts[:1] == ("docs",) or path.suffix == ".md" or name in ("LICENSE", "CITATION.cff")
        if name and wanted and path.is_file() and name != "docs/SUMMARY.md":
            copy = source / path.with_name(path.name.replace("README.md", "index.md"))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    summary = pathlib.Path("docs/SUMMARY.md").read_text()
    summary = re.sub(r"\]\(([^)]+)\)", lambda match: f"](docs/{match[1]})", summary).replace("docs/../", "")
    (source / "SUMMARY.md").write_text(summary)
    reference = source / "docs/reference"
    reference.mkdir(parents=True, exist_ok=True)
    (reference / "commands.md").write_text(commands(ftio))
    (reference / "json-fields.md").write_text(fields(ftio, source / "docs/schemas"))
    (reference / "metrics.md").write_text(metrics())
    # What marks console blocks is for scripts/check-docs.
    for page in source.rglob("*.md"):
        text = re.sub(r"^<!-- (not run: .*|prepare|status: \d+) -->\n", "", page.read_text(), flags=re.M)
        # mdBook calls such a page index.html and leaves links to it as they are.
        page.write_text(re.sub(r"(\]\([^)\s]*)README\.md", r"\1index.md", text))
    # Files of the sources that pages link to.
    for page in list(source.rglob("*.md")):
        here = page.parent.relative_to(source)
        for target in re.findall(r"\]\(([^)\s#:]+)\)", page.read_text()):
            path = pathlib.Path(os.path.normpath(here / target))
            if path.is_file() and not (source / path).exists() and path.suffix != ".md":
                (source / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, source / path)
    # The fonts of the reader's system.
    (out / "theme/fonts").mkdir(parents=True)
    (out / "theme/fonts/fonts.css").write_text("")
    (out / "book.toml").write_text(CONFIGURATION)


main()

#!/usr/bin/env python3
"""Checks the pages of a site: usage: links.py DIRECTORY

- Every link to a file or to a place in a page leads there.
- No page loads anything from a network.
- Every page of docs/ is in the table of contents.
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places.update(filter(None, [values.get("id"), values.get("name")]))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        loaded = values.get("src") or (values.get("href") if tag == "link" else None)
        if loaded:
            self.loads.append(loaded)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {}
    for path in root.rglob("*.html"):
        if path.name in ("print.html", "toc.html", "404.html"):
            continue
        pages[path] = Page()
        pages[path].feed(path.read_text())
    problems, count = [], 0
    for path, page in sorted(pages.items()):
        name = path.relative_to(root)
        for target in page.loads:
            if "://" in target or target.startswith("//"):
                problems.append(f"{name}: loads {target} from the network")
        for target in page.links + page.loads:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or target.startswith("//"):
                continue
            count += 1
            found = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
            if found.is_dir():
                continue
            if not found.exists():
                problems.append(f"{name}: {target} leads nowhere")
            elif parts.fragment and found in pages and urllib.parse.unquote(parts.fragment) not in pages[found].places:
                problems.append(f"{name}: {target}: there is no such place")
    for source in pathlib.Path("docs").rglob("*.md"):
        if source.name != "SUMMARY.md" and not (root / source.with_suffix(".html")).exists():
            problems.append(f"{source} is not in docs/SUMMARY.md")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(pages)} pages, {count} links", file=sys.stderr)
    sys.exit(1 if problems else 0)


main()

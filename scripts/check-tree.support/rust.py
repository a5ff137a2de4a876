"""Rust sources as lines of code: what is left without comments, blank lines and unit tests."""

import pathlib
import re

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<raw>\b(?:b|c)?r(?P<hashes>\#*)".*?"(?P=hashes))
    |(?P<string>\b[bc]?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*")
    |(?P<letter>'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])')""",
    re.S | re.X,
)
TEST = re.compile(r"#\[cfg\((?:test|all\(test\b[^\n]*)\)\]")


def without(text, keep_strings):
    """The text with comments blanked out, and strings too unless they are kept. Lines stay where they are."""

    def blank(match):
        whole = match[0]
        if match["comment"]:
            return re.sub(r"[^\n]", " ", whole)
        return whole if keep_strings else '"' + "s" * bool(whole[1:-1]) + re.sub(r"[^\n]", "", whole) + '"'

    return TOKEN.sub(blank, text)


def test_lines(text):
    """The numbers (from 0) of the lines that are compiled for unit tests only."""
    plain = without(text, keep_strings=False)
    out = set()
    for match in TEST.finditer(plain):
        depth, at = 0, match.end()
        while at < len(plain):
            letter = plain[at]
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(letter, 0)
            ends_item = letter == "}" and depth == 0 or letter in ";," and depth == 0 or depth < 0
            at += 1
            if ends_item:
                break
        out.update(range(plain.count("\n", 0, match.start()), plain.count("\n", 0, at) + 1))
    return out


def test_files(files):
    """Of the files of a crate those that are modules for unit tests only: `#[cfg(test)] mod name;`."""
    out = set()
    for path in files:
        folder = path.parent if path.stem in ("mod", "lib", "main") else path.with_suffix("")
        text = without(path.read_text(), keep_strings=False)
        for name in re.findall(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);", text):
            out.update(other for other in files if other == folder / f"{name}.rs" or folder / name in other.parents)
    return out


class Lines:
    """A file: lines of code (number from 0, text without comments), and how many have a comment with `//`."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text()
        tests = test_lines(text)
        kept = without(text, keep_strings=True).split("\n")
        self.code = [(n, line.strip()) for n, line in enumerate(kept) if line.strip() and n not in tests]
        comments = set()
        for match in TOKEN.finditer(text):
            if match["comment"] and re.match(r"//(?![/!])", match["comment"]):
                comments.add(text.count("\n", 0, match.start()))
        self.comments = len(comments - tests)


def product_files(files):
    """Files below src/ that are not for tests."""
    files = [path for path in files if path.suffix == ".rs"]
    tests = test_files(files)
    return [p for p in files if p not in tests and p.stem != "tests" and "tests" not in p.parts]

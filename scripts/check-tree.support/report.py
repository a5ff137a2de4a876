"""What `scripts/check-tree --report` prints."""

import collections
import pathlib
import re
import subprocess

from rust import Lines, product_files

# Neither product: what is measured and tested with, and the programs that test.
NO_PRODUCT = ("crates/testing", "mpi-tests", "fuzz")
# A copy is at least so many lines that are the same.
COPY_LINES = 6


def crates(tracked):
    """Folders of crates with their product files."""
    out = {}
    for manifest in tracked("*Cargo.toml"):
        crate = str(manifest.parent)
        if crate != "." and not crate.startswith(NO_PRODUCT):
            files = product_files(tracked(f"{crate}/src/*.rs", f"{crate}/build.rs"))
            if files:
                out[crate] = files
    return out


def option_names(page):
    """The options that a help page lists."""
    return re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+|-\w\b)", page, re.M)


def help_options(binary):
    """Pages of help, and the options on all of them."""
    pages, options, waiting = 0, 0, [()]
    while waiting:
        words = waiting.pop()
        page = subprocess.run([binary, *words, "--help"], capture_output=True, text=True).stdout
        pages += 1
        options += len(option_names(page))
        listed = re.search(r"^Commands:\n((?: .*\n|\n(?= ))+)", page, re.M)
        names = re.findall(r"^  ([a-z][\w-]*)(?: |$)", listed[1], re.M) if listed else []
        waiting += [(*words, name) for name in names if name != "help"]
    return pages, options


def clap_options(tracked):
    """Options as they are declared, each once however many commands share it."""
    sources = [path.read_text() for path in product_files(tracked("ftio-cli/src/*.rs"))]
    return sum(len(re.findall(r"#\[arg\([^\]]*?\b(?:long|short)\b", text)) for text in sources)


def copies(lines):
    """Pairs of places with COPY_LINES or more same lines of code, imports and lines without words left out.

    Every window of so many lines is looked up by its text; windows that begin on the line after another pair
    of windows are part of the same copy. Text that is at more than 20 places is boilerplate of the language.
    """
    places, texts = collections.defaultdict(list), {}
    for path, one in lines.items():
        words = [(n, t) for n, t in one.code if re.search(r"\w{2}", t) and not re.match(r"(pub )?use |mod ", t)]
        texts[path] = [text for _, text in words]
        for i in range(len(words) - COPY_LINES + 1):
            places["\n".join(texts[path][i : i + COPY_LINES])].append((path, i))
    pairs = set()
    for found in places.values():
        if 1 < len(found) <= 20:
            pairs.update((a, b) for k, a in enumerate(found) for b in found[k + 1 :])
    before = {((p, i + 1), (q, j + 1)) for (p, i), (q, j) in pairs}
    # A place does not overlap itself.
    begins = [(a, b) for a, b in pairs - before if a[0] != b[0] or abs(a[1] - b[1]) >= COPY_LINES]
    return len(begins)


def report(tracked, circles_of):
    lines = {}
    total_code = total_comments = total_circles = 0
    print(f"{'room':34} {'lines':>7} {'// share':>9} {'circles':>8}")
    for crate, files in crates(tracked).items():
        of_crate = {path: Lines(path) for path in files}
        lines.update(of_crate)
        code = sum(len(one.code) for one in of_crate.values())
        comments = sum(one.comments for one in of_crate.values())
        circles = len(circles_of(pathlib.Path(crate)))
        total_code, total_comments = total_code + code, total_comments + comments
        total_circles += circles
        print(f"{crate:34} {code:7} {100 * comments / max(code, 1):8.1f}% {circles:8}")
    share = 100 * total_comments / max(total_code, 1)
    print(f"{'all':34} {total_code:7} {share:8.1f}% {total_circles:8}")
    binary = pathlib.Path("target/debug/ftio")
    if binary.exists():
        pages, options = help_options(binary)
        print(f"options: {options} on {pages} help pages of {binary}")
    else:
        print(f"options: {clap_options(tracked)} declared ({binary} is not built: help pages were not counted)")
    print(f"copies: {copies(lines)} pairs of places with {COPY_LINES} or more same lines")

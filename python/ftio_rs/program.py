"""The command and the tracer that come with this package, and what only the command can do."""

import os
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from .errors import FtioError, FtioNotFoundError

PathLike = Union[str, "os.PathLike[str]"]


def _places() -> Iterable[Path]:
    """Prefixes below which pip may have put `bin/ftio` and `lib/libtmio.so`."""
    # What only some calls need is not imported before: `import ftio_rs` is quick.
    import sysconfig

    yield Path(sysconfig.get_path("data"))
    if os.name == "posix":
        yield Path(sysconfig.get_path("data", "posix_user"))
    # pip install --target DIR, and pip install --prefix DIR
    yield Path(__file__).resolve().parent.parent
    yield from list(Path(__file__).resolve().parents)[3:5]


def find_ftio() -> str:
    """The path of the `ftio` command of this package; else of the one in PATH."""
    import shutil

    chosen = os.environ.get("FTIO_RS_BIN")
    if chosen:
        return chosen
    for place in _places():
        if (place / "bin" / "ftio").is_file():
            return str(place / "bin" / "ftio")
    found = shutil.which("ftio")
    if found:
        return found
    raise FtioNotFoundError("there is no ftio command beside this package, and none in PATH")


def library() -> str:
    """The path of `libtmio.so`, the tracer; `libtmio_recorder.so` is beside it."""
    chosen = os.environ.get("TMIO_LIBRARY")
    if chosen:
        return chosen
    for place in [Path(find_ftio()).resolve().parent.parent, *_places()]:
        found = place / "lib" / "libtmio.so"
        if found.is_file() and (found.resolve().parent / "libtmio_recorder.so").is_file():
            return str(found)
    raise FtioNotFoundError(
        "there is no libtmio.so with libtmio_recorder.so beside this package; TMIO_LIBRARY may name one"
    )


def preload(
    environment: Optional[Mapping[str, str]] = None,
    *,
    output: Optional[PathLike] = None,
    flush: Optional[str] = None,
    **settings: Any,
) -> Dict[str, str]:
    """The environment in which a program is traced: `subprocess.run([...], env=ftio_rs.preload())`.

    output: where the trace goes. flush: when it is written out besides the end ("interval:1").
    Other settings become TMIO_* variables: `preload(layers="mpiio")` sets TMIO_LAYERS.
    For a program that mpirun or srun starts on other nodes, `ftio trace -- mpirun …` is the easier way.
    """
    traced = dict(os.environ if environment is None else environment)
    others = [one for one in traced.get("LD_PRELOAD", "").replace(" ", ":").split(":") if one]
    tracer = library()
    traced["LD_PRELOAD"] = ":".join([tracer, *(one for one in others if one != tracer)])
    if output is not None:
        traced["TMIO_OUTPUT"] = os.path.abspath(os.fspath(output))
    if flush is not None:
        traced["TMIO_FLUSH"] = flush
    for name, value in settings.items():
        traced["TMIO_" + name.upper()] = str(value)
    return traced


def run(*arguments: Any, input: Optional[bytes] = None) -> str:
    """Run the `ftio` command and return what it prints. `run("info", "--json", path)`.

    An exit status other than 0 (and 3: "not periodic") raises FtioError with what the command said.
    """
    import subprocess

    words = [os.fspath(one) if isinstance(one, os.PathLike) else str(one) for one in arguments]
    stdin = subprocess.DEVNULL if input is None else None
    done = subprocess.run(
        [find_ftio(), *words],
        stdin=stdin,
        input=input,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode not in (0, 3):
        said = done.stderr.decode(errors="replace").strip()
        raise FtioError(said or f"ftio {' '.join(words)}: exit status {done.returncode}")
    return done.stdout.decode(errors="replace")


def picture(path: str) -> str:
    """The SVG of `ftio --plot`."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ftio-") as folder:
        drawn = Path(folder) / "plot.svg"
        run("--quiet", "--plot", drawn, "--", path)
        return drawn.read_text()


class Page(str):
    """An HTML page. Notebooks show it in a frame."""

    def _repr_html_(self) -> str:
        import html

        shape = 'width="100%" height="600" style="border:0"'
        return f'<iframe srcdoc="{html.escape(str(self))}" {shape}></iframe>'


def report(
    source: Any,
    output: Optional[PathLike] = None,
    *,
    format: str = "html",
    options: Iterable[Any] = (),
) -> Page:
    """The report about a job, or one that compares several: cost, phases, files, ranks, findings.

    source: a path, or a list of paths. output: a file that it is written to as well.
    format: "html", "text" or "json". options: further arguments of `ftio report`.
    This runs the `ftio report` command of this package, because the pages are part of the command.
    """
    paths: List[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError("report() takes paths: write the data to a file first")
        if not os.path.exists(path) and not os.path.exists(os.fspath(path) + ".parts"):
            raise FtioNotFoundError(f"{os.fspath(path)}: No such file or directory")
    page = run("report", "--format", format, "-o", "-", *options, "--", *paths)
    if output is not None:
        Path(output).write_text(page)
    return Page(page)

"""Periods of the I/O of parallel applications: what the `ftio` command does, from Python.

    import ftio_rs

    found = ftio_rs.detect("run.msgpack")        # any input that ftio reads; also arrays and open files
    print(found.period, found.confidence)
    for prediction in ftio_rs.predict("run.msgpack"):
        print(prediction.t, prediction.next_phase)

Every function calls the same code as the command, and gives the same answer. Times are seconds of job time.
"""

import json
import os
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import _native, inputs, results
from .detection import SVG, Bandwidth, Detection, Phases, Prediction
from .errors import (
    FtioError,
    FtioInternalError,
    FtioNotFoundError,
    FtioSystemError,
    FtioValueError,
    FtioWarning,
)
from .program import Page, PathLike, find_ftio, library, preload, report, run
from .results import Evaluation, ModelFields, Phase
from .table import Requests

__version__: str = _native.__version__


class Model(ModelFields):
    """A formula that was found in measurements. The fields are those of `ftio model --json`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Model of {self.callpath}, {self.metric}: {self.model}>"

    def _repr_html_(self) -> str:
        from .detection import table

        error = "" if self.smape_loo is None else f"{self.smape_loo:.3g} %"
        rows = [("Callpath", self.callpath), ("Metric", self.metric), ("Model", self.model)]
        rows += [("Error at points left out", error)] if error else []
        return table(rows)


def detect(
    source: Any = None,
    values: Any = None,
    *,
    start: Any = None,
    end: Any = None,
    bytes: Any = None,
    rank: Any = None,
    kind: Any = None,
    quantity: str = "bandwidth",
    mode: Optional[str] = None,
    freq: Union[float, str, None] = None,
    ts: Optional[float] = None,
    te: Optional[float] = None,
    min_period: Optional[float] = None,
    max_period: Optional[float] = None,
    outlier: Union[str, Sequence[str], None] = None,
    tol: Optional[float] = None,
    psd: bool = True,
    autocorrelation: bool = False,
    skip_first_phase: bool = False,
    top: int = 0,
    reconstruct: Optional[int] = None,
    over_time: bool = False,
    compat: bool = False,
    paper: bool = False,
    layer: Optional[str] = None,
    metric: Optional[str] = None,
    rate: Optional[str] = None,
    pattern: Optional[PathLike] = None,
) -> Detection:
    """Find the period of the I/O phases in one input.

    What may be given:

    * `detect(path)`: a file or folder that is one input, of any format that `ftio` reads;
    * `detect(bytes)`, `detect(open_file)`: the content of such a file;
    * `detect(times, bandwidth)`: samples in bytes per second; `quantity="load"` for anything else;
    * `detect(start=…, end=…, bytes=…)`: requests, as arrays or lists; also rank, and kind, which is one name
      for all ("write_sync", "read_sync", …) or one for each;
    * `detect(table)`: a dictionary or data frame with these columns, such as what `requests` returns.

    Times are in seconds; those that count from 1970, and dates, become times since the first.

    The options are those of the command: mode (-m), freq in Hz or "auto" (-f), ts, te, min_period,
    max_period, outlier (-o), tol (-t), psd=False (--no-psd), autocorrelation (-c), skip_first_phase,
    top (-n), reconstruct, over_time, compat (as the Python FTIO 0.0.9 does), paper (as the method was
    printed), layer, metric, rate, pattern.

    Raises FtioError, if there is nothing to analyse or there are several inputs (see `detect_all`).
    """
    given = _arrays(source, values, start, end, bytes, rank, kind, quantity)
    asked = _asked(locals())
    found = _detect([given], asked)
    if len(found) == 1:
        return found[0]
    if not found:
        raise FtioError("no requests to analyse")
    names = ", ".join(one.source for one in found[:5])
    raise FtioError(f"holds {len(found)} inputs ({names}): choose one with metric=, or use detect_all()")


def detect_all(
    sources: Any,
    *,
    by: Optional[str] = None,
    merge: bool = False,
    **options: Any,
) -> List[Detection]:
    """Find the periods of several inputs: of a list of them, a folder, the metrics of a table.

    by="rank" and by="file" give one result for each. merge=True takes all inputs together as parts of one
    job. The other options are those of `detect`. An input that cannot be read raises FtioError.
    """
    allowed = set(_OPTIONS) | {"psd", "pattern"}
    unknown = set(options) - allowed
    if unknown:
        raise TypeError(f"detect_all() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    asked = _asked({"psd": True, **options})
    asked.update({"by": by} if by else {})
    asked.update({"merge": True} if merge else {})
    return _detect(inputs.several(sources), asked)


def phases(source: Any = None, values: Any = None, **options: Any) -> Phases:
    """The I/O phases of an input: a list of objects with start, end (seconds of job time) and bytes.

    Takes what `detect` takes. With a period they are the phases that have it; else all that were found.
    """
    found = detect(source, values, **options)
    return Phases(found.phases)


def requests(
    source: Any,
    *,
    required: bool = False,
    merge: bool = False,
    layer: Optional[str] = None,
    metric: Optional[str] = None,
    pattern: Optional[PathLike] = None,
) -> Requests:
    """All requests of an input as a dictionary of NumPy arrays: rank, start, end, bytes, class, file.

    pandas.DataFrame, polars.DataFrame and pyarrow.table take it as it is; `to_pandas()`, `to_polars()` and
    `to_arrow()` also put names for the codes of class and file. It takes some 33 bytes for each request.

    required=True: nonblocking requests end when they had to be complete, rather than when they were.
    """
    asked = _asked({"psd": True, "layer": layer, "metric": metric, "pattern": pattern})
    asked.update({"required": True} if required else {})
    asked.update({"merge": True} if merge else {})
    columns = _native.requests(inputs.several(source), json.dumps(asked))
    _warn(columns["warnings"])
    return Requests(columns)


class predict(Iterator[Prediction]):
    """Follow a trace that is being written, or replay one that is finished: one prediction for each flush.

        for prediction in ftio_rs.predict("run.msgpack"):
            ...

    A trace of tmio is followed until its job has ended, or is dead. Files that others append to (JSON Lines,
    tables) do not say when they are complete: all that is there is replayed. follow=True waits for more,
    also for a file that does not exist yet, until nothing was added for `timeout` seconds (None: for ever).
    `poll` is how often files are looked at, in seconds.

    window: how far back to look: "hits:3", "periods:K", "seconds:S", "change" or "all". The other options
    are those of `detect`. Ctrl-C ends the waiting.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        follow: Optional[bool] = None,
        timeout: Optional[float] = None,
        poll: float = 0.25,
        window: Optional[str] = None,
        mode: Optional[str] = None,
        freq: Union[float, str, None] = None,
        ts: Optional[float] = None,
        min_period: Optional[float] = None,
        max_period: Optional[float] = None,
        outlier: Optional[str] = None,
        tol: Optional[float] = None,
        psd: bool = True,
        autocorrelation: bool = False,
        skip_first_phase: bool = False,
        metric: Optional[str] = None,
        rate: Optional[str] = None,
        pattern: Optional[PathLike] = None,
    ) -> None:
        asked = _asked({**locals(), "autocorrelation": autocorrelation})
        if window is not None:
            asked["window"] = window
        if not isinstance(path, (str, os.PathLike)):
            raise FtioValueError("predict() follows a file: expected a path")
        self._following = _native.Predictions(os.fspath(path), _json(asked), follow, timeout, poll)

    def __iter__(self) -> "predict":
        return self

    def __next__(self) -> Prediction:
        line = self._following.next()
        _warn(self._following.warnings())
        if line is None:
            raise StopIteration
        return Prediction(json.loads(line))


Point = Union[float, str, Mapping[str, float]]


def model(
    source: Any,
    values: Any = None,
    *,
    evaluate: Union[Point, Sequence[Point], None] = None,
    modeler: Optional[str] = None,
    measure: Optional[str] = None,
    compat: bool = False,
    callpath: Optional[str] = None,
    metric: Optional[str] = None,
) -> List[Model]:
    """Find the formula behind measurements at several scales (performance model normal form, as Extra-P).

    * `model(path)`, `model(bytes)`, `model(open_file)`: JSON lines as `ftio model --points` keeps them, or
      Extra-P's JSON or text. `model(ftio_rs.run("scale", *traces).encode())` goes from runs to formulas;
    * `model(scales, values)`: one parameter, called p; a value may be a list of repetitions;
    * `model({"p": […], "n": […]}, values)`: several parameters.

    evaluate: a point, or several, at which to evaluate: 4096, "Processes=4096" or {"p": 64, "n": 1e6}. Each
    model then has `predictions` with intervals of 95 %. The other options are those of `ftio model`.
    """
    asked: Dict[str, Any] = inputs.options(locals(), ["modeler", "measure", "compat", "callpath", "metric"])
    asked["evaluate"] = [_point(one) for one in _list(evaluate)]
    if values is not None:
        names = list(source) if isinstance(source, Mapping) else ["p"]
        columns = [list(source[name]) for name in names] if isinstance(source, Mapping) else [list(source)]
        points = [[float(number) for number in point] for point in zip(*columns)]
        measured = [[float(number) for number in _list(value)] for value in values]
        lengths = {len(column) for column in columns} | {len(measured)}
        if len(lengths) > 1:
            raise FtioValueError("expected as many values as scales")
        lines, skipped = _native.model_series(names, points, measured, ("values", "value"), _json(asked))
    else:
        given = inputs.prepared(source)
        path, content = given.get("path"), given.get("content")
        lines, skipped = _native.model(path, content, str(given.get("name", path)), _json(asked))
    _warn(skipped)
    return [Model(json.loads(line)) for line in lines]


def categorize(
    paths: Union[PathLike, Iterable[PathLike]],
    part: PathLike,
    *,
    shard: Optional[str] = None,
    threads: int = 1,
) -> int:
    """Read an archive of Darshan logs, or one shard of it, into the file `part`, for `merge`.

    shard: "I/N" takes only the logs of one of N shards, so that N processes, on any machines, share the work.
    A part that is there is continued: whoever repeats the call of a process that was killed loses little.
    threads: 0 for one on each core. Returns how many logs were read now.
    """
    read, problems = _native.categorize(_paths(paths), os.fspath(part), shard, threads)
    _warn(problems)
    return read


def merge(
    parts: Union[PathLike, Iterable[PathLike]],
    *,
    lines: Optional[PathLike] = None,
    partial: bool = False,
) -> Dict[str, Any]:
    """Join the parts that `categorize` has made: the summary, as a dictionary.

    Its fields are those of `ftio schema ftio.categorize.summary/1`. It is the same, however many shards
    there were. lines: a file for one JSON object per log.
    partial=True merges what there is, even if shards are missing or unfinished.
    """
    to = None if lines is None else os.fspath(lines)
    summary: Dict[str, Any] = json.loads(_native.merge(_paths(parts), partial, to))
    return summary


_OPTIONS = [
    "mode",
    "freq",
    "ts",
    "te",
    "min_period",
    "max_period",
    "outlier",
    "tol",
    "autocorrelation",
    "skip_first_phase",
    "top",
    "reconstruct",
    "over_time",
    "compat",
    "paper",
    "layer",
    "metric",
    "rate",
]


def _asked(given: Dict[str, Any]) -> Dict[str, Any]:
    """Options as the native half takes them."""
    asked = inputs.options(given, _OPTIONS)
    if asked.get("freq") in ("auto", -1):
        del asked["freq"]
        asked["auto_freq"] = True
    if "outlier" in asked:
        asked["outlier"] = inputs.outliers(asked["outlier"])
    if not given.get("psd", True):
        asked["psd"] = False
    if given.get("pattern") is not None:
        asked["pattern"] = os.fspath(given["pattern"])
    return asked


def _json(asked: Dict[str, Any]) -> str:
    def plain(value: Any) -> Any:
        # NumPy's numbers
        if hasattr(value, "item"):
            return value.item()
        raise TypeError(f"{value!r} is not a number or a text")

    try:
        return json.dumps(asked, allow_nan=False, default=plain)
    except (TypeError, ValueError) as problem:
        raise FtioValueError(str(problem)) from None


def _detect(given: List[Dict[str, Any]], asked: Dict[str, Any]) -> List[Detection]:
    results = _native.detect(given, _json(asked))
    return [
        Detection(json.loads(text), (begins, step, samples, is_quantity), spectrum)
        for text, begins, step, samples, spectrum, is_quantity in results
    ]


def _arrays(
    source: Any, values: Any, start: Any, end: Any, size: Any, rank: Any, kind: Any, quantity: str
) -> Any:
    columns = {"start": start, "end": end, "bytes": size}
    if any(one is not None for one in (start, end, size, rank, kind)):
        missing = [name for name, one in columns.items() if one is None]
        if missing or source is not None or values is not None:
            raise FtioValueError("requests are given as start=, end= and bytes=, and nothing before them")
        return inputs.requests_of(start, end, size, rank, kind)
    if source is None:
        raise FtioValueError("expected an input: a path, bytes, an open file, or arrays")
    if values is not None:
        return inputs.samples_of(source, values, quantity)
    return inputs.prepared(source)


def _point(point: Point) -> str:
    if isinstance(point, Mapping):
        return ",".join(f"{name}={float(value)!r}" for name, value in point.items())
    return point if isinstance(point, str) else repr(float(point))


def _list(some: Any) -> List[Any]:
    if some is None:
        return []
    if isinstance(some, (str, Mapping)) or not hasattr(some, "__iter__"):
        return [some]
    return list(some)


def _paths(paths: Any) -> List[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _warn(problems: Iterable[str]) -> None:
    for problem in problems:
        warnings.warn(problem, FtioWarning, stacklevel=3)


__all__ = [
    "Bandwidth",
    "Detection",
    "Evaluation",
    "FtioError",
    "FtioInternalError",
    "FtioNotFoundError",
    "FtioSystemError",
    "FtioValueError",
    "FtioWarning",
    "Model",
    "Page",
    "Phase",
    "Phases",
    "Prediction",
    "Requests",
    "SVG",
    "categorize",
    "detect",
    "detect_all",
    "find_ftio",
    "library",
    "merge",
    "model",
    "phases",
    "predict",
    "preload",
    "report",
    "requests",
    "results",
    "run",
]

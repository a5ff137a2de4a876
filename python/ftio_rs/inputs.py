"""What may be given as an input: paths, bytes, open files, arrays, and tables of them."""

# NumPy, which need not be there, knows its types.
# mypy: disable-error-code="no-any-return"

import array
import os
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .errors import FtioValueError

# In the order of the codes that the native half knows.
CLASSES = ["write_sync", "read_sync", "write_async", "read_async"]
CODES = {name: code for code, name in enumerate(CLASSES)}
CODES.update({"write": 0, "w": 0, "read": 1, "r": 1, "iwrite": 2, "iread": 3})


def prepared(source: Any) -> Dict[str, Any]:
    """An input as the native half takes it."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if "\0" in os.fsdecode(path):
            raise FtioValueError("a path cannot hold a null character")
        return {"path": os.fsdecode(path)}
    if isinstance(source, (bytes, bytearray, memoryview)):
        return {"content": bytes(source), "name": "bytes"}
    if callable(getattr(source, "read", None)):
        content = source.read()
        if isinstance(content, str):
            content = content.encode()
        return {"content": content, "name": str(getattr(source, "name", "file"))}
    if is_table(source):
        known = {"start": "start", "end": "end", "bytes": "bytes", "rank": "rank", "class": "kind"}
        return requests_of(**{name: source[column] for column, name in known.items() if has(source, column)})
    raise FtioValueError(
        "expected a path, bytes, an open file, or a table with the columns start, end and bytes; "
        f"found {type(source).__name__}"
    )


def has(table: Any, name: str) -> bool:
    """Does a dictionary or a data frame have a column? An Arrow table has columns without names."""
    if hasattr(table, "column_names"):
        return name in table.column_names
    return name in list(table.columns if hasattr(table, "columns") else table)


def is_table(source: Any) -> bool:
    """A dictionary or a data frame with the columns of requests?"""
    if not isinstance(source, Mapping) and not hasattr(source, "columns"):
        return False
    return all(has(source, name) for name in ("start", "end", "bytes"))


def several(sources: Any) -> List[Dict[str, Any]]:
    """One input, or each of a list."""
    if isinstance(sources, (list, tuple)):
        return [prepared(source) for source in sources]
    return [prepared(sources)]


def samples_of(times: Any, values: Any, quantity: str) -> Dict[str, Any]:
    """Samples as the native half takes them."""
    return {"times": doubles(times), "values": doubles(values), "quantity": quantity, "name": "arrays"}


def requests_of(start: Any, end: Any, bytes: Any, rank: Any = None, kind: Any = None) -> Dict[str, Any]:
    """Requests by column as the native half takes them."""
    columns = {"start": doubles(start), "end": doubles(end), "bytes": doubles(bytes), "name": "arrays"}
    if rank is not None:
        columns["rank"] = integers(rank)
    if kind is not None:
        columns["class"] = codes(kind, len(columns["start"]) // 8)
    return columns


def doubles(values: Any) -> bytes:
    """Numbers as the bytes of 64-bit floating point numbers. Dates become seconds since 1970."""
    if hasattr(values, "__array__") or hasattr(values, "to_numpy"):
        import numpy

        values = values.to_numpy() if hasattr(values, "to_numpy") else numpy.asarray(values)
        if values.dtype.kind in "Mm":
            unit = "datetime64[ns]" if values.dtype.kind == "M" else "timedelta64[ns]"
            values = values.astype(unit).astype("int64") / 1e9
        if values.ndim != 1:
            raise FtioValueError(f"expected an array of one dimension, found {values.ndim}")
        try:
            return numpy.ascontiguousarray(values, dtype="<f8").tobytes()
        except (TypeError, ValueError) as problem:
            raise FtioValueError(f"expected an array of numbers: {problem}") from None
    try:
        return _little(array.array("d", values))
    except (TypeError, OverflowError) as problem:
        raise FtioValueError(f"expected a sequence of numbers: {problem}") from None


def integers(values: Any) -> bytes:
    """Whole numbers as the bytes of 64-bit integers."""
    if hasattr(values, "__array__") or hasattr(values, "to_numpy"):
        import numpy

        values = values.to_numpy() if hasattr(values, "to_numpy") else numpy.asarray(values)
        return numpy.ascontiguousarray(values, dtype="<i8").tobytes()
    try:
        return _little(array.array("q", values))
    except (TypeError, OverflowError) as problem:
        raise FtioValueError(f"expected a sequence of whole numbers: {problem}") from None


def codes(kinds: Any, length: int) -> bytes:
    """Classes as codes: one name for all requests, or a name or a code for each."""
    if isinstance(kinds, str):
        return bytes([code(kinds)]) * length
    if hasattr(kinds, "dtype") and getattr(kinds.dtype, "kind", "") in ("i", "u"):
        import numpy

        return numpy.ascontiguousarray(kinds, dtype="u1").tobytes()
    known: Dict[Any, int] = {}
    written = bytearray()
    for kind in kinds:
        if kind not in known:
            known[kind] = code(kind)
        written.append(known[kind])
    return bytes(written)


def code(kind: Any) -> int:
    if isinstance(kind, int) and 0 <= kind < len(CLASSES):
        return kind
    if kind in CODES:
        return CODES[kind]
    raise FtioValueError(f"expected one of {', '.join(CLASSES)}, read or write; found {kind!r}")


def _little(numbers: "array.array[Any]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def options(given: Dict[str, Any], names: Sequence[str]) -> Dict[str, Any]:
    """Only what was given."""
    found = {name: given.get(name) for name in names}
    # Not by equality: 0 is a number that may be asked for.
    return {name: value for name, value in found.items() if value is not None and value is not False}


def outliers(outlier: Optional[Any]) -> Optional[List[str]]:
    """One method or two, also as `zscore,dbscan`."""
    if outlier is None:
        return None
    return outlier.split(",") if isinstance(outlier, str) else list(outlier)

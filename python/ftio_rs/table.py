"""The requests of an input by column."""

from typing import Any, Dict, List, Optional

TYPES = {"rank": "<i4", "start": "<f8", "end": "<f8", "bytes": "<u8", "class": "u1", "file": "<i4"}


class Requests(Dict[str, Any]):
    """Requests as a dictionary of NumPy arrays, which pandas, polars and pyarrow take as it is.

    Columns: rank (-1: not known), start and end (seconds of job time), bytes, class (a code: its name is
    `classes[code]`), file (a number: its name is `files[number]`; -1: not known).
    """

    def __init__(self, columns: Dict[str, Any]) -> None:
        try:
            import numpy
        except ImportError:
            raise ImportError("requests() gives NumPy arrays: pip install numpy") from None
        super().__init__((name, numpy.frombuffer(columns[name], dtype=kind)) for name, kind in TYPES.items())
        #: Names of classes, by their code.
        self.classes: List[str] = list(columns["classes"])
        #: Names of files, by their number.
        self.files: List[str] = columns["files"]
        #: Ranks of the job, where the input tells.
        self.ranks: Optional[int] = columns["ranks"]

    @property
    def count(self) -> int:
        """The number of requests (`len` is the number of columns: this is a dictionary)."""
        return len(self["start"])

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, with class and file as categories; numbers are not copied."""
        import pandas

        columns = dict(self)
        columns["class"] = pandas.Categorical.from_codes(self["class"], self.classes)
        columns["file"] = pandas.Categorical.from_codes(self["file"], self.files)
        return pandas.DataFrame(columns, copy=False)

    def to_polars(self) -> Any:
        """A polars.DataFrame, with class and file as names."""
        import polars

        frame = polars.DataFrame(dict(self))
        names = {"class": self.classes, "file": self.files}
        for name, known in names.items():
            words = polars.Series(known, dtype=polars.String)
            codes = polars.col(name).cast(polars.Int64)
            chosen = polars.when(codes >= 0).then(codes)
            frame = frame.with_columns(chosen.alias(name))
            frame = frame.with_columns(words.gather(frame[name]).alias(name))
        return frame

    def to_arrow(self) -> Any:
        """A pyarrow.Table, with class and file as dictionaries; numbers are not copied."""
        import pyarrow

        columns = dict(self)
        columns["class"] = pyarrow.DictionaryArray.from_arrays(pyarrow.array(self["class"]), self.classes)
        unknown = self["file"] < 0
        file = pyarrow.array(self["file"], mask=unknown if unknown.any() else None)
        names = pyarrow.array(self.files, type=pyarrow.string())
        columns["file"] = pyarrow.DictionaryArray.from_arrays(file, names)
        return pyarrow.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """For whoever takes Arrow's PyCapsule interface (polars, pandas 3, DuckDB). Needs pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> Any:
        columns: Dict[str, Any] = {name: bytearray(self[name].tobytes()) for name in TYPES}
        columns.update(classes=self.classes, files=self.files, ranks=self.ranks)
        return Requests, (columns,)

    def __repr__(self) -> str:
        return f"<Requests: {self.count} of {len(self.files)} files, columns {', '.join(self)}>"

    def _repr_html_(self) -> str:
        rows = []
        shown = min(self.count, 10)
        for i in range(shown):
            file = self["file"][i]
            rows.append(
                f"<tr><td>{self['rank'][i]}</td><td>{self['start'][i]:g}</td><td>{self['end'][i]:g}</td>"
                f"<td>{self['bytes'][i]}</td><td>{self.classes[self['class'][i]]}</td>"
                f"<td>{_escaped(self.files[file]) if file >= 0 else ''}</td></tr>"
            )
        head = "".join(f"<th>{name}</th>" for name in TYPES)
        more = f"<p>{shown} of {self.count} requests</p>"
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>{more}"


def _escaped(text: str) -> str:
    import html

    return html.escape(text)

"""The results of `detect` and `predict`, and how notebooks show them."""

import array
import html
import sys
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from .results import DetectionFields, Phase, PredictionFields

if TYPE_CHECKING:
    import numpy
    import numpy.typing

WIDTH, HEIGHT = 720, 120


class Bandwidth:
    """The signal that was analysed: the mean bandwidth of each bin, in bytes per second."""

    __slots__ = ("start", "step", "_samples", "unit")

    def __init__(self, start: float, step: float, samples: bytes, is_quantity: bool) -> None:
        #: Start of the first bin, in seconds of job time.
        self.start = start
        #: Width of a bin in seconds.
        self.step = step
        #: "B/s", or "" for another quantity.
        self.unit = "" if is_quantity else "B/s"
        self._samples = samples

    def __len__(self) -> int:
        return len(self._samples) // 8

    @property
    def values(self) -> "numpy.typing.NDArray[numpy.float64]":
        """The samples as a NumPy array. It is a view and cannot be written to."""
        import numpy

        return numpy.frombuffer(self._samples, dtype="<f8")

    @property
    def times(self) -> "numpy.typing.NDArray[numpy.float64]":
        """The start of each bin, in seconds of job time, as a NumPy array."""
        import numpy

        return numpy.asarray(self.start + self.step * numpy.arange(len(self)), dtype=numpy.float64)

    def columns(self, count: int) -> List[float]:
        """The highest sample of each of so many equal parts, for a picture. Needs no NumPy."""
        samples = array.array("d", self._samples)
        if sys.byteorder == "big":
            samples.byteswap()
        count = min(count, len(samples))
        edges = [len(samples) * i // count for i in range(count + 1)] if count else []
        return [max(samples[a:b]) for a, b in zip(edges, edges[1:])]

    def __repr__(self) -> str:
        return f"<Bandwidth of {len(self)} samples, {self.step:g} s apart>"


class Detection(DetectionFields):
    """What was found in one input. The fields are those of `ftio --json`."""

    __slots__ = ("_signal", "_spectrum")

    def __init__(self, json: Any, signal: Optional[Tuple[Any, ...]] = None, spectrum: bytes = b"") -> None:
        super().__init__(json)
        self._signal = signal
        self._spectrum = spectrum

    @property
    def bandwidth(self) -> Bandwidth:
        """The signal that was analysed."""
        return Bandwidth(*(self._signal or (0.0, 1.0, b"", False)))

    @property
    def spectrum(self) -> "Tuple[numpy.typing.NDArray[Any], numpy.typing.NDArray[Any]]":
        """Frequencies in Hz, and the share of the power of each, as NumPy arrays."""
        import numpy

        shares = numpy.frombuffer(self._spectrum, dtype="<f8")
        # Where nothing was sampled there is no resolution, and nothing to multiply it with.
        return (self.frequency_resolution or 0.0) * (1 + numpy.arange(len(shares))), shares

    def __getstate__(self) -> Any:
        return self._json, self._signal, self._spectrum

    def __setstate__(self, state: Any) -> None:
        self._json, self._signal, self._spectrum = state

    def __repr__(self) -> str:
        return f"<Detection of {self.source}: {_answer(self)}>"

    def _repr_html_(self) -> str:
        rows = [
            ("Input", self.source),
            ("Analysed", f"{self.mode}: {amount(self.total_bytes)} in {self.requests} requests"),
            ("Window", f"{self.t_start:g} s to {self.t_end:g} s"),
            ("Period", _answer(self)),
            ("Signal", "; ".join([self.signal, *self.reasons])),
        ]
        if self.next_phase is not None:
            next_phase = self.next_phase
            when = f"{next_phase.start:g} s to {next_phase.end:g} s"
            rows.append(("Next phase", f"{when}, {amount(next_phase.bytes)}"))
        rows += [("Note", note) for note in self.notes]
        return table(rows) + str(self.sketch())

    def sketch(self) -> "SVG":
        """The bandwidth over time, with the phases marked. `plot()` draws more."""
        return SVG(sketch(self.bandwidth, [(phase.start, phase.end) for phase in self.phases]))

    def plot(self) -> "SVG":
        """The picture of `ftio --plot`. Only for an input that was a path: the command reads it again."""
        from .program import picture

        return SVG(picture(self.source))


class Prediction(PredictionFields):
    """What is expected next, as of a flush. The fields are those of `ftio predict --json`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Prediction {self.n} at {self.t:g} s: {_answer(self)}>"

    def _repr_html_(self) -> str:
        rows = [("Input", self.source), ("Known until", f"{self.t:g} s"), ("Period", _answer(self))]
        if self.next_phase is not None:
            rows.append(("Next phase", f"{self.next_phase.start:g} s to {self.next_phase.end:g} s"))
        return table(rows)


class Phases(List[Phase]):
    """The I/O phases, in the order of time: a list that notebooks show as a table."""

    def columns(self) -> "dict[str, List[float]]":
        """By column: start, end, bytes. For pandas.DataFrame(phases.columns()) and the like."""
        return {name: [phase[name] for phase in self] for name in ("start", "end", "bytes")}

    def _repr_html_(self) -> str:
        head = "<tr><th>start (s)</th><th>end (s)</th><th>bytes</th></tr>"
        cells = (f"<td>{one.start:g}</td><td>{one.end:g}</td><td>{one.bytes}</td>" for one in self)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table>{head}{body}</table>"


class SVG(str):
    """A picture that notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def _answer(found: Any) -> str:
    if found.period is None:
        return "no period"
    return f"{found.period:.4g} s, with a confidence of {100 * found.confidence:.1f} %"


def amount(count: float) -> str:
    """Bytes in words."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} PB"


def table(rows: List[Tuple[str, str]]) -> str:
    """An HTML table of names and values."""
    left = "style='text-align:left'"
    cells = (f"<tr><th {left}>{html.escape(k)}</th><td {left}>{html.escape(v)}</td></tr>" for k, v in rows)
    return f"<table>{''.join(cells)}</table>"


def sketch(signal: Bandwidth, phases: List[Tuple[float, float]]) -> str:
    """The bandwidth as an outline, phases as bars below it."""
    columns = signal.columns(WIDTH)
    if not columns:
        return ""
    highest = max(columns) or 1.0
    length = signal.step * len(signal)
    base = HEIGHT - 30
    points = " ".join(
        f"{WIDTH * i / len(columns):.1f},{base - (base - 12) * max(value, 0) / highest:.1f}"
        for i, value in enumerate(columns)
    )
    # More bars than this could not be told apart.
    bars = "".join(
        f'<rect x="{WIDTH * (start - signal.start) / length:.1f}" y="{base + 2}" height="5" '
        f'width="{max(1.0, WIDTH * (end - start) / length):.1f}" fill="#b5651d"/>'
        for start, end in phases[:WIDTH]
    )
    peak = f"max {amount(highest)}/s" if signal.unit else f"max {highest:.4g}"
    right = f"{signal.start + length:g} s"
    text = 'font-family="sans-serif" font-size="11" fill="#666"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img"><title>bandwidth over time</title>'
        f'<polygon points="0,{base} {points} {WIDTH},{base}" fill="#4a7fb5"/>{bars}'
        f'<text x="2" y="10" {text}>{peak}</text>'
        f'<text x="2" y="{HEIGHT - 6}" {text}>{signal.start:g} s</text>'
        f'<text x="{WIDTH - 2}" y="{HEIGHT - 6}" text-anchor="end" {text}>{right}</text></svg>'
    )

"""Classes of results. Written by scripts/python-results from `ftio schema`: do not edit.

An object is a view of the JSON that the `ftio` command prints: `to_dict()` has all of it.
Times are in seconds of job time, sizes in bytes, bandwidths in bytes per second.
"""

# What the JSON holds is what the schemas say: tests of the command check that.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, List, Optional

from .view import View


class Candidate(View):
    """A frequency that stands out."""

    @property
    def frequency(self) -> float:
        """A frequency of the spectrum, k/Δt."""
        return self._json["frequency"]

    @property
    def confidence(self) -> float:
        """c_k."""
        return self._json["confidence"]

    @property
    def power(self) -> float:
        """Share of the power of the signal (without its mean)."""
        return self._json["power"]

    @property
    def z(self) -> float:
        """The Z-score."""
        return self._json["z"]


class Characterization(View):
    """The numbers of the table above. What needs a period is None without one."""

    @property
    def sigma_vol(self) -> Optional[float]:
        """How much the volume differs from period to period, 0 to ½."""
        return self._json["sigma_vol"]

    @property
    def sigma_time(self) -> Optional[float]:
        """How much the share of I/O time differs from period to period, 0 to ½."""
        return self._json["sigma_time"]

    @property
    def periodicity_score(self) -> Optional[float]:
        """1 if all periods are alike."""
        return self._json["periodicity_score"]

    @property
    def r_io(self) -> Optional[float]:
        """Share of the time with substantial I/O, from the first phase to the last."""
        return self._json["r_io"]

    @property
    def r_io_of_job(self) -> Optional[float]:
        """The same of the whole window, idle time before and after included."""
        return self._json["r_io_of_job"]

    @property
    def b_io(self) -> Optional[float]:
        """Bandwidth of the substantial I/O."""
        return self._json["b_io"]

    @property
    def bytes_per_period(self) -> Optional[float]:
        """Bytes in a period."""
        return self._json["bytes_per_period"]


class NextPhase(View):
    """The expected next phase."""

    @property
    def start(self) -> float:
        """Expected start, in seconds of job time."""
        return self._json["start"]

    @property
    def end(self) -> float:
        """Expected end, in seconds of job time."""
        return self._json["end"]

    @property
    def bytes(self) -> int:
        """Expected bytes."""
        return self._json["bytes"]

    @property
    def start_low(self) -> float:
        """The start lies between this …"""
        return self._json["start_low"]

    @property
    def start_high(self) -> float:
        """… and this with a probability of 80 %."""
        return self._json["start_high"]

    @property
    def provisional(self) -> bool:
        """There is no period yet: a guess from the phases so far."""
        return self._json["provisional"]

    @property
    def end_time(self) -> Optional[str]:
        """The end likewise."""
        return self._json.get("end_time", None)

    @property
    def end_timestamp(self) -> Optional[float]:
        """The end likewise."""
        return self._json.get("end_timestamp", None)

    @property
    def start_time(self) -> Optional[str]:
        """The start as a date and time of day."""
        return self._json.get("start_time", None)

    @property
    def start_timestamp(self) -> Optional[float]:
        """The start in seconds since 1970, where the clock is known."""
        return self._json.get("start_timestamp", None)


class AutocorrelationResult(View):
    """The period by autocorrelation."""

    @property
    def period(self) -> float:
        """The mean distance of its peaks."""
        return self._json["period"]

    @property
    def confidence(self) -> float:
        """c_a."""
        return self._json["confidence"]

    @property
    def similarity(self) -> Optional[float]:
        """c_s: how similar its distances and the period of the spectrum are, if there is one."""
        return self._json["similarity"]


class TopFrequency(View):
    """A wave of the spectrum."""

    @property
    def frequency(self) -> float:
        """A frequency of the spectrum, k/Δt."""
        return self._json["frequency"]

    @property
    def amplitude(self) -> float:
        """Amplitude of the cosine in bytes per second."""
        return self._json["amplitude"]

    @property
    def phase(self) -> float:
        """Phase in radians at the start of the window."""
        return self._json["phase"]

    @property
    def power(self) -> float:
        """Share of the power of the signal (without its mean)."""
        return self._json["power"]


class Phase(View):
    """One I/O phase."""

    @property
    def start(self) -> float:
        """When it begins, in seconds of job time."""
        return self._json["start"]

    @property
    def end(self) -> float:
        """When it ends."""
        return self._json["end"]

    @property
    def bytes(self) -> int:
        """Bytes from its start to the start of the next phase, but for what leads into that one after a
        silence.
        """
        return self._json["bytes"]

    @property
    def end_time(self) -> Optional[str]:
        """The end likewise."""
        return self._json.get("end_time", None)

    @property
    def start_time(self) -> Optional[str]:
        """The start as a date and time of day, where the clock is known."""
        return self._json.get("start_time", None)


class Evidence(View):
    """What led to the answer."""

    @property
    def method(self) -> Optional[str]:
        """Where the period comes from: phases (the distances of their starts) or spectrum; None without
        one.
        """
        return self._json["method"]

    @property
    def phases(self) -> int:
        """Phases counted."""
        return self._json["phases"]

    @property
    def first_start(self) -> Optional[float]:
        """Start of the first one, in seconds of job time."""
        return self._json["first_start"]

    @property
    def last_start(self) -> Optional[float]:
        """Start of the last one."""
        return self._json["last_start"]

    @property
    def mean_distance(self) -> Optional[float]:
        """Mean distance of their starts, whether or not it is called a period."""
        return self._json["mean_distance"]

    @property
    def distance_variation(self) -> Optional[float]:
        """Coefficient of variation of the distances."""
        return self._json["distance_variation"]

    @property
    def volume_variation(self) -> Optional[float]:
        """Coefficient of variation of the volumes."""
        return self._json["volume_variation"]

    @property
    def irregularity(self) -> Optional[float]:
        """How uneven the phases are, relative to phases at random instants: 1 and more is no period."""
        return self._json["irregularity"]

    @property
    def octaves(self) -> float:
        """Octaves of time scales over which this number of phases is seen."""
        return self._json["octaves"]

    @property
    def rival(self) -> float:
        """The probability of the next best period, relative to that of the best."""
        return self._json["rival"]

    @property
    def inner(self) -> Optional[Inner]:
        """The finer level: regular bursts inside each phase."""
        return Inner._of(self._json["inner"])

    @property
    def spectrum_period(self) -> Optional[float]:
        """The period that the spectrum alone gives, if one frequency stands out."""
        return self._json["spectrum_period"]

    @property
    def spectrum_confidence(self) -> float:
        """How far that frequency stands out: c_d of the paper."""
        return self._json["spectrum_confidence"]

    @property
    def autocorrelation(self) -> Optional[float]:
        """The autocorrelation one period later."""
        return self._json["autocorrelation"]

    @property
    def repetition(self) -> Optional[float]:
        """The share of the signal's variance that repeats every period, beyond what it would by chance.
        """
        return self._json["repetition"]

    @property
    def hypotheses(self) -> List[Weighed]:
        """The hypotheses that were weighed, most probable first."""
        return [Weighed(one) for one in self._json["hypotheses"]]

    @property
    def no_period(self) -> Optional[float]:
        """The probability that there is no period; None where nothing was weighed."""
        return self._json["no_period"]


class Inner(View):
    """Regular bursts inside each phase."""

    @property
    def bursts(self) -> int:
        """How many there are in all: the usual number in a phase, for each phase."""
        return self._json["bursts"]

    @property
    def mean_distance(self) -> float:
        """Mean distance of the starts of those of one phase, in seconds."""
        return self._json["mean_distance"]


class Weighed(View):
    """A hypothesis that was weighed."""

    @property
    def form(self) -> str:
        """Its form."""
        return self._json["form"]

    @property
    def period(self) -> float:
        """The period in seconds."""
        return self._json["period"]

    @property
    def probability(self) -> float:
        """Its probability, with that of all others of this period."""
        return self._json["probability"]

    @property
    def phases(self) -> int:
        """Phases that are members of the rhythm."""
        return self._json["phases"]

    @property
    def for_(self) -> List[str]:
        """What speaks for it, compared to the next (the best to the second, each other to the best),
        strongest first.
        """
        return self._json["for"]

    @property
    def against(self) -> List[str]:
        """What speaks against it."""
        return self._json["against"]


class FirstPhase(View):
    """A first phase unlike the others."""

    @property
    def start(self) -> float:
        """Its start, in seconds of job time."""
        return self._json["start"]

    @property
    def end(self) -> float:
        """Its end."""
        return self._json["end"]

    @property
    def bytes(self) -> float:
        """Its bytes."""
        return self._json["bytes"]

    @property
    def times_as_long(self) -> float:
        """How many times as long as the others it is."""
        return self._json["times_as_long"]

    @property
    def times_as_large(self) -> float:
        """How many times as large."""
        return self._json["times_as_large"]


class OverTime(View):
    """When which period holds."""

    @property
    def segments(self) -> List[Segment]:
        """Parts of the window, each with one behaviour, in the order of time and without gaps."""
        return [Segment(one) for one in self._json["segments"]]

    @property
    def window(self) -> Optional[float]:
        """Length in seconds of the windows of the short-time Fourier transform; None if the signal is too
        short.
        """
        return self._json["window"]

    @property
    def windows(self) -> List[Segment]:
        """What holds in each of these windows."""
        return [Segment(one) for one in self._json["windows"]]


class Segment(View):
    """A part of the window."""

    @property
    def start(self) -> float:
        """Start in seconds of job time."""
        return self._json["start"]

    @property
    def end(self) -> float:
        """End in seconds of job time."""
        return self._json["end"]

    @property
    def period(self) -> Optional[float]:
        """The period in seconds; None if not periodic."""
        return self._json["period"]

    @property
    def confidence(self) -> float:
        """How sure that is; 0 if not periodic."""
        return self._json["confidence"]


class PeriodOf(View):
    """A period, and the phases that have it."""

    @property
    def period(self) -> float:
        """The period in seconds."""
        return self._json["period"]

    @property
    def phases(self) -> int:
        """How many phases have it."""
        return self._json["phases"]

    @property
    def first_start(self) -> float:
        """Start of the first of them, in seconds of job time."""
        return self._json["first_start"]

    @property
    def last_start(self) -> float:
        """Start of the last of them."""
        return self._json["last_start"]

    @property
    def bytes(self) -> float:
        """Bytes of all of them."""
        return self._json["bytes"]

    @property
    def confidence(self) -> float:
        """Probability that it is right."""
        return self._json["confidence"]

    @property
    def from_(self) -> float:
        """When it holds, in seconds of job time: from the start of the first phase …"""
        return self._json["from"]

    @property
    def to(self) -> float:
        """… to the end of the last."""
        return self._json["to"]

    @property
    def mode(self) -> Optional[str]:
        """Of which requests it is, where writes and reads each have a rhythm."""
        return self._json.get("mode", None)


class Provisional(View):
    """An answer while there is no period yet."""

    @property
    def period(self) -> Optional[float]:
        """Mean distance of the starts so far; None after one phase."""
        return self._json["period"]

    @property
    def low(self) -> float:
        """The interval that holds the period with a probability of 80 %, in seconds; after one phase the
        time since its start.
        """
        return self._json["low"]

    @property
    def high(self) -> Optional[float]:
        """Its upper end; None after one phase."""
        return self._json["high"]

    @property
    def phases(self) -> int:
        """Phases seen."""
        return self._json["phases"]


class Reconstruction(View):
    """The mean bandwidth and some cosine waves."""

    @property
    def mean(self) -> float:
        """The constant part."""
        return self._json["mean"]

    @property
    def waves(self) -> List[TopFrequency]:
        """The strongest waves, strongest first."""
        return [TopFrequency(one) for one in self._json["waves"]]

    @property
    def power(self) -> float:
        """Share of the power of the signal (without its mean) that they hold: 1 if nothing is missing.
        """
        return self._json["power"]

    @property
    def samples(self) -> List[float]:
        """The sum of mean and waves, one value per sample of the signal."""
        return self._json["samples"]


class DetectionFields(View):
    """What was found in one input: `ftio --json`."""

    @property
    def schema(self) -> str:
        """The name of the schema."""
        return self._json["schema"]

    @property
    def source(self) -> str:
        """The trace, as the user named it."""
        return self._json["source"]

    @property
    def mode(self) -> str:
        """What was analysed."""
        return self._json["mode"]

    @property
    def ranks(self) -> Optional[int]:
        """Ranks of the job, where the input tells."""
        return self._json["ranks"]

    @property
    def total_bytes(self) -> int:
        """Bytes transferred in the window."""
        return self._json["total_bytes"]

    @property
    def t_start(self) -> float:
        """Start of the window."""
        return self._json["t_start"]

    @property
    def t_end(self) -> float:
        """End of the window."""
        return self._json["t_end"]

    @property
    def sampling_frequency(self) -> Optional[float]:
        """Samples per second; None without a signal."""
        return self._json["sampling_frequency"]

    @property
    def n_samples(self) -> int:
        """Number of samples N."""
        return self._json["n_samples"]

    @property
    def abstraction_error(self) -> float:
        """Relative difference between the volume of the sampled signal and that of the requests."""
        return self._json["abstraction_error"]

    @property
    def periodic(self) -> bool:
        """Was a period found?"""
        return self._json["periodic"]

    @property
    def period(self) -> Optional[float]:
        """The distance at which phases recur; None if not periodic."""
        return self._json["period"]

    @property
    def frequency(self) -> Optional[float]:
        """1/period."""
        return self._json["frequency"]

    @property
    def confidence(self) -> float:
        """Probability that the period is right (score); 0 if not periodic. With compat, c_d: how far the
        dominant frequency stands out.
        """
        return self._json["confidence"]

    @property
    def refined_confidence(self) -> Optional[float]:
        """(c_d + c_a + c_s)/3, if the autocorrelation was asked for and found a period."""
        return self._json["refined_confidence"]

    @property
    def candidates(self) -> List[Candidate]:
        """The frequencies that stand out, without harmonics, strongest first."""
        return [Candidate(one) for one in self._json["candidates"]]

    @property
    def signal(self) -> str:
        """What kind of signal it is."""
        return self._json["signal"]

    @property
    def characterization(self) -> Characterization:
        """How the I/O behaves."""
        return Characterization(self._json["characterization"])

    @property
    def next_phase(self) -> Optional[NextPhase]:
        """The phase expected next; None before the second phase."""
        return NextPhase._of(self._json["next_phase"])

    @property
    def complete(self) -> bool:
        """Did the job reach its end, and could all of the trace be read?"""
        return self._json["complete"]

    @property
    def requests(self) -> Optional[int]:
        """Requests in the window, or samples of a quantity; None for a heat map, which does not count them.
        """
        return self._json["requests"]

    @property
    def frequency_resolution(self) -> Optional[float]:
        """Distance of neighbouring frequencies of the spectrum, 1/Δt; None without a signal."""
        return self._json["frequency_resolution"]

    @property
    def harmonics(self) -> List[float]:
        """Candidates that are multiples of others."""
        return self._json["harmonics"]

    @property
    def autocorrelation(self) -> Optional[AutocorrelationResult]:
        """The period by autocorrelation, if asked for and found."""
        return AutocorrelationResult._of(self._json["autocorrelation"])

    @property
    def top_frequencies(self) -> List[TopFrequency]:
        """The strongest waves, if asked for."""
        return [TopFrequency(one) for one in self._json["top_frequencies"]]

    @property
    def reasons(self) -> List[str]:
        """Why the answer is what it is."""
        return self._json["reasons"]

    @property
    def notes(self) -> List[str]:
        """What the reader should know about the data."""
        return self._json["notes"]

    @property
    def phases(self) -> List[Phase]:
        """The phases that have the period, or all that were found if there is none. Empty with compat.
        """
        return [Phase(one) for one in self._json["phases"]]

    @property
    def evidence(self) -> Optional[Evidence]:
        """What led to the answer; None with compat."""
        return Evidence._of(self._json.get("evidence", None))

    @property
    def file(self) -> Optional[str]:
        """The file, if the files were analysed one by one."""
        return self._json.get("file", None)

    @property
    def first_phase(self) -> Optional[FirstPhase]:
        """The first phase, if it is unlike the others."""
        return FirstPhase._of(self._json.get("first_phase", None))

    @property
    def layer(self) -> Optional[str]:
        """The layer whose requests were analysed ("mpiio", "posix", "stdio", …), where the input has
        several.
        """
        return self._json.get("layer", None)

    @property
    def occupancy(self) -> Optional[float]:
        """The share of the slots of the period that hold a phase: less than 1 if phases are missing."""
        return self._json.get("occupancy", None)

    @property
    def over_time(self) -> Optional[OverTime]:
        """When which period holds, if asked for."""
        return OverTime._of(self._json.get("over_time", None))

    @property
    def period_mean_distance(self) -> Optional[float]:
        """Mean distance of the starts of the phases: longer than the period if phases are missing."""
        return self._json.get("period_mean_distance", None)

    @property
    def periods(self) -> List[PeriodOf]:
        """All periods: the one above; or two that hold at once, the one with the larger volume first; or
        two that follow one another, in which case there is no single one above. Empty with compat.
        """
        return [PeriodOf(one) for one in self._json.get("periods", [])]

    @property
    def provisional(self) -> Optional[Provisional]:
        """An answer while there is no period: the mean distance of the phases so far, with its 80 %
        interval.
        """
        return Provisional._of(self._json.get("provisional", None))

    @property
    def rank(self) -> Optional[int]:
        """The rank, if the ranks were analysed one by one."""
        return self._json.get("rank", None)

    @property
    def reconstruction(self) -> Optional[Reconstruction]:
        """The signal made of its strongest waves, if asked for."""
        return Reconstruction._of(self._json.get("reconstruction", None))

    @property
    def start_time(self) -> Optional[str]:
        """Job time 0 as a date and time of day, where the clock is known."""
        return self._json.get("start_time", None)


class Interval(View):
    """Periods that were predicted alike."""

    @property
    def low(self) -> float:
        """The shortest of them, in seconds."""
        return self._json["low"]

    @property
    def high(self) -> float:
        """The longest of them, in seconds."""
        return self._json["high"]

    @property
    def probability(self) -> float:
        """Share of all predictions so far."""
        return self._json["probability"]

    @property
    def probability_if_periodic(self) -> float:
        """Share of those predictions so far that found a period."""
        return self._json["probability_if_periodic"]

    @property
    def frequencies(self) -> List[float]:
        """The frequencies: 1/high and 1/low."""
        return self._json["frequencies"]


class Trend(View):
    """The period over the last predictions."""

    @property
    def slope(self) -> float:
        """Seconds by which the period grows in a second."""
        return self._json["slope"]

    @property
    def direction(self) -> str:
        """In a word."""
        return self._json["direction"]


class Change(View):
    """A change of behaviour."""

    @property
    def t(self) -> float:
        """When it was noticed, in seconds of job time."""
        return self._json["t"]

    @property
    def before(self) -> float:
        """The period until then."""
        return self._json["before"]

    @property
    def after(self) -> Optional[float]:
        """The period since then; None if the I/O is not periodic any more."""
        return self._json["after"]


class PredictionFields(View):
    """What is expected next: `ftio predict --json`."""

    @property
    def schema(self) -> str:
        """The name of the schema."""
        return self._json["schema"]

    @property
    def source(self) -> str:
        """What is followed, as the user named it."""
        return self._json["source"]

    @property
    def t(self) -> float:
        """Up to when everything was known: the time of the flush."""
        return self._json["t"]

    @property
    def period(self) -> Optional[float]:
        """The period; None if there is none in the window."""
        return self._json["period"]

    @property
    def confidence(self) -> float:
        """Probability that the period is right; 0 without a period."""
        return self._json["confidence"]

    @property
    def window(self) -> List[float]:
        """What was looked at, from and to."""
        return self._json["window"]

    @property
    def next_phase(self) -> Optional[NextPhase]:
        """The phase expected next; None without a period."""
        return NextPhase._of(self._json["next_phase"])

    @property
    def intervals(self) -> List[Interval]:
        """Which periods were predicted so far, and how often."""
        return [Interval(one) for one in self._json["intervals"]]

    @property
    def changed(self) -> bool:
        """Did the behaviour change, so that the window was reset?"""
        return self._json["changed"]

    @property
    def n(self) -> int:
        """The number of this prediction, from 1."""
        return self._json["n"]

    @property
    def frequency(self) -> Optional[float]:
        """1/period."""
        return self._json["frequency"]

    @property
    def refined_confidence(self) -> Optional[float]:
        """With a second opinion from the autocorrelation, if asked for and found."""
        return self._json["refined_confidence"]

    @property
    def probability_periodic(self) -> float:
        """Share of the predictions so far that found a period."""
        return self._json["probability_periodic"]

    @property
    def trend(self) -> Optional[Trend]:
        """Where the period is going; None with fewer than three."""
        return Trend._of(self._json["trend"])

    @property
    def change(self) -> Optional[Change]:
        """What changed, if the behaviour did."""
        return Change._of(self._json["change"])

    @property
    def hits(self) -> int:
        """Periods found since the window was last shortened or reset."""
        return self._json["hits"]

    @property
    def mode(self) -> str:
        """What is analysed."""
        return self._json["mode"]

    @property
    def signal(self) -> str:
        """What kind of signal the window holds."""
        return self._json["signal"]

    @property
    def total_bytes(self) -> int:
        """Bytes transferred since the beginning."""
        return self._json["total_bytes"]

    @property
    def characterization(self) -> Characterization:
        """How the I/O behaves in the window."""
        return Characterization(self._json["characterization"])


class Term(View):
    """One term."""

    @property
    def coefficient(self) -> Optional[float]:
        """Its coefficient."""
        return self._json["coefficient"]

    @property
    def factors(self) -> List[Factor]:
        """Its factors."""
        return [Factor(one) for one in self._json["factors"]]


class Factor(View):
    """One factor."""

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self._json["parameter"]

    @property
    def exponent(self) -> str:
        """Exponent as text, such as 3/4; 0 for a pure logarithm."""
        return self._json["exponent"]

    @property
    def log_exponent(self) -> Optional[float]:
        """Exponent of the binary logarithm; whole unless refined."""
        return self._json["log_exponent"]


class Range(View):
    """The measured range of one parameter."""

    @property
    def parameter(self) -> str:
        """Name of the parameter."""
        return self._json["parameter"]

    @property
    def from_(self) -> Optional[float]:
        """Least measured value."""
        return self._json["from"]

    @property
    def to(self) -> Optional[float]:
        """Greatest measured value."""
        return self._json["to"]


class Noise(View):
    """An estimate of the scatter of a single run."""

    @property
    def kind(self) -> str:
        """Whether the level is a share of the value or a quantity."""
        return self._json["kind"]

    @property
    def level(self) -> Optional[float]:
        """Standard deviation of one run: a share of the value (0.05 for 5 %), or in the unit of the metric.
        """
        return self._json["level"]

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the estimate: repetitions beyond the first, over all points."""
        return self._json["degrees"]


class RunnerUp(View):
    """The next best model."""

    @property
    def model(self) -> str:
        """Its function as text."""
        return self._json["model"]

    @property
    def smape(self) -> Optional[float]:
        """Its SMAPE."""
        return self._json["smape"]

    @property
    def odds(self) -> Optional[float]:
        """How many times likelier the chosen model is."""
        return self._json["odds"]

    @property
    def distinguishable(self) -> bool:
        """Whether the data can tell the two apart."""
        return self._json["distinguishable"]


class Evaluation(View):
    """The value of a model at a point, with what a reader should know. This is what --evaluate shows."""

    @property
    def point(self) -> List[Optional[float]]:
        """The point, one value per parameter."""
        return self._json["point"]

    @property
    def value(self) -> Optional[float]:
        """What to expect: the value of the formula; beyond the largest scale that was measured, what all
        curves and the course of the last points foretell.
        """
        return self._json["value"]

    @property
    def formula_value(self) -> Optional[float]:
        """Value of the formula."""
        return self._json["formula_value"]

    @property
    def interval(self) -> Optional[ValueInterval]:
        """Where the next run should lie; None where there are no more points than coefficients."""
        return ValueInterval._of(self._json["interval"])

    @property
    def extrapolated(self) -> bool:
        """The point lies outside of what was measured."""
        return self._json["extrapolated"]

    @property
    def negative(self) -> bool:
        """The value is negative though no measured one was."""
        return self._json["negative"]


class ValueInterval(View):
    """A range that should contain the target with some probability."""

    @property
    def low(self) -> Optional[float]:
        """Lower end."""
        return self._json["low"]

    @property
    def high(self) -> Optional[float]:
        """Upper end."""
        return self._json["high"]


class ModelSegment(View):
    """One of two segments."""

    @property
    def from_(self) -> Optional[float]:
        """From here on; null for the lower segment."""
        return self._json["from"]

    @property
    def to(self) -> Optional[float]:
        """Up to here; null for the upper segment."""
        return self._json["to"]

    @property
    def model(self) -> str:
        """The formula as text."""
        return self._json["model"]

    @property
    def constant(self) -> Optional[float]:
        """Its constant."""
        return self._json["constant"]

    @property
    def terms(self) -> List[Term]:
        """Its terms."""
        return [Term(one) for one in self._json["terms"]]


class ModelFields(View):
    """A formula that was found in measurements: `ftio model --json`."""

    @property
    def schema(self) -> str:
        """The name of the schema."""
        return self._json["schema"]

    @property
    def callpath(self) -> str:
        """Where."""
        return self._json["callpath"]

    @property
    def metric(self) -> str:
        """What."""
        return self._json["metric"]

    @property
    def model(self) -> str:
        """The function as text."""
        return self._json["model"]

    @property
    def constant(self) -> Optional[float]:
        """The constant; of the upper segment if there are two."""
        return self._json["constant"]

    @property
    def terms(self) -> List[Term]:
        """The terms, in Extra-P's order; of the upper segment if there are two."""
        return [Term(one) for one in self._json["terms"]]

    @property
    def rss(self) -> Optional[float]:
        """Residual sum of squares."""
        return self._json["rss"]

    @property
    def smape(self) -> Optional[float]:
        """Symmetric mean absolute percentage error."""
        return self._json["smape"]

    @property
    def adjusted_r2(self) -> Optional[float]:
        """Adjusted R²."""
        return self._json["adjusted_r2"]

    @property
    def relative_error(self) -> Optional[float]:
        """Mean relative error."""
        return self._json["relative_error"]

    @property
    def points(self) -> int:
        """Number of points."""
        return self._json["points"]

    @property
    def rss_loo(self) -> Optional[float]:
        """Residual sum of squares at points left out of the fit."""
        return self._json["rss_loo"]

    @property
    def smape_loo(self) -> Optional[float]:
        """SMAPE at points left out of the fit."""
        return self._json["smape_loo"]

    @property
    def ranges(self) -> List[Range]:
        """Least and greatest measured value of each parameter."""
        return [Range(one) for one in self._json["ranges"]]

    @property
    def noise(self) -> Optional[Noise]:
        """Scatter of a run, from repetitions."""
        return Noise._of(self._json["noise"])

    @property
    def runner_up(self) -> Optional[RunnerUp]:
        """The next best model."""
        return RunnerUp._of(self._json["runner_up"])

    @property
    def notes(self) -> List[str]:
        """What a reader should know."""
        return self._json["notes"]

    @property
    def predictions(self) -> List[Evaluation]:
        """Predictions that were asked for."""
        return [Evaluation(one) for one in self._json.get("predictions", [])]

    @property
    def segments(self) -> List[ModelSegment]:
        """Both segments, if there are two."""
        return [ModelSegment(one) for one in self._json.get("segments", [])]


__all__ = [
    "AutocorrelationResult", "Candidate", "Change", "Characterization", "DetectionFields", "Evaluation",
    "Evidence", "Factor", "FirstPhase", "Inner", "Interval", "ModelFields", "ModelSegment", "NextPhase",
    "Noise", "OverTime", "PeriodOf", "Phase", "PredictionFields", "Provisional", "Range", "Reconstruction",
    "RunnerUp", "Segment", "Term", "TopFrequency", "Trend", "ValueInterval", "Weighed",
]

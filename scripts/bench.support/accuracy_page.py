"""docs/accuracy.md and its pictures, from the results of scripts/bench accuracy."""

MUST = {
    "t_cpu": "≤ 0.1 %",
    "noise": "≤ 0.3 %",
    "desynchronisation 5 s": "≤ 0.5 %",
    "desynchronisation 11 s": "≤ 0.5 %",
    "desynchronisation 22 s": "≤ 0.5 %",
    "desynchronisation 33 s": "≤ 2 %",
    "jitter 0.25": "≤ 0.5 %",
    "jitter 0.5": "≤ 1 %",
    "jitter 1": "≤ 2 %",
    "jitter 2": "≤ 2 %",
}
COLOURS = {"ftio -f 1": "#1668b8", "ftio": "#5aa469", "ftio --compat": "#b0762b", "Python FTIO": "#a33a3a"}
TITLES = {
    "8a": "Figure 8a: phases and computing times of different length, without and with other traffic",
    "8b": "Figure 8b: desynchronised ranks, t_cpu = 11 s",
    "8c": "Figure 8c: computing times that vary, σ/μ of t_cpu, μ = 11 s",
    "any": "Applications of every kind: all parameters by chance, 4 to 60 phases",
}


def percent(value):
    if value is None:
        return "–"
    return f"{100 * value:.3f} %" if value < 0.0995 else f"{100 * value:.1f} %"


def line(setting, method, one):
    text = f"{setting:32} {method:14} {one['traces']:4} traces"
    if "mean" in one:
        return text + (f"  mean {percent(one['mean']):>9}  median {percent(one['median']):>9}  third quartile {percent(one['q3']):>9}"
                       f"  missed {one['missed']:3}  confidence {one['confidence']:.2f}")
    return text + f"  not periodic {one['traces'] - one['periodic']:3}" + (f"  both periods {one['both']}" if "both" in one else "")


def must(name):
    if "noise" in name:
        return MUST["noise"]
    return MUST.get(name) or (MUST["t_cpu"] if name.startswith("t_cpu") else "")


def table(rows):
    width = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, width)) + " |" for row in rows]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in width) + "|")
    return "\n".join(text) + "\n"


def figure(results, which):
    rows = [["setting", "method", "traces", "mean", "median", "third quartile", "missed", "confidence", "must be"]]
    for setting in results:
        if setting["table"] != which:
            continue
        for method, one in setting["methods"].items():
            goal = must(setting["name"]) if method.startswith("ftio -f") else ""
            rows.append([setting["name"], method, str(one["traces"]), percent(one["mean"]), percent(one["median"]),
                         percent(one["q3"]), str(one["missed"]), f"{one['confidence']:.2f}", goal])
    return table(rows)


def figure_9(results):
    rows = [["setting", "method", "σ_vol", "σ_time", "periodicity score"]]
    for setting in results:
        if setting["table"] != "8c":
            continue
        for method, one in setting["methods"].items():
            if one.get("sigma_vol") is not None:
                rows.append([setting["name"], method, f"{one['sigma_vol']:.3f}", f"{one['sigma_time']:.3f}",
                             percent(one["periodicity_score"])])
    return table(rows)


def not_periodic(results):
    rows = [["signal", "method", "traces", "called not periodic", "called"]]
    for setting in results:
        if setting["table"] != "none":
            continue
        for method, one in setting["methods"].items():
            kinds = ", ".join(f"{kind} {count}" for kind, count in one.get("signals", {}).items() if kind)
            rows.append([setting["name"], method, str(one["traces"]), str(one["traces"] - one["periodic"]), kinds])
    return table(rows)


def two_periods(results):
    rows = [["signal", "method", "traces", "both periods within 5 %", "called"]]
    for setting in results:
        if setting["table"] != "two":
            continue
        for method in ("ftio -f 1", "ftio"):
            one = setting["methods"][method]
            kinds = ", ".join(f"{kind} {count}" for kind, count in one["signals"].items())
            rows.append([setting["name"], method, str(one["traces"]), str(one["both"]), kinds])
    return table(rows)


def answers(results, method, tables=("8a", "8b", "8c", "any", "none")):
    return [answer for setting in results if setting["table"] in tables for answer in setting["methods"][method]["answers"]]


def reliability(results, method):
    """For each tenth of confidence: mean confidence, share right, count."""
    bins = {}
    for confidence, right in answers(results, method):
        key = min(9, int(10 * confidence))
        bins.setdefault(key, []).append((confidence, right))
    return [(sum(c for c, _ in b) / len(b), sum(r for _, r in b) / len(b), len(b)) for _, b in sorted(bins.items())]


def together(results, method):
    errors = [error for setting in results if setting["table"] in ("8a", "8b", "8c")
              for error in setting["methods"].get(method, {}).get("errors", [])]
    return sum(errors) / len(errors) if errors else None


def sure(results, method, tables):
    """Answers of confidence 0.9 and more: how many, how many right, and of how many answerable traces."""
    high = [right for confidence, right in answers(results, method, (*tables, "none")) if confidence >= 0.9]
    answerable = [answer for answer in answers(results, method, tables) if answer[0] >= 0.9]
    total = sum(setting["methods"][method]["traces"] for setting in results if setting["table"] in tables)
    return len(high), sum(high), len(answerable), total


def svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="12"><rect width="{width}" height="{height}" fill="white"/>' + "".join(parts) + "</svg>\n")


def text(x, y, content, anchor="start", colour="#222", size=12, turn=None):
    turned = f' transform="rotate({turn} {x} {y})"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"{turned}>{content}</text>'


def errors_picture(results):
    """Mean error of each setting and method, on a logarithmic axis."""
    from math import log10
    settings = [setting for setting in results if setting["table"] in ("8a", "8b", "8c")]
    left, top, row, width = 210, 46, 22, 560
    low, high = -5, 0
    place = lambda value: left + (log10(min(max(value, 10 ** low), 1)) - low) / (high - low) * width
    parts = [text(left, 18, "mean error of the period", size=14)]
    for i, (method, colour) in enumerate(COLOURS.items()):
        parts.append(f'<circle cx="{left + 180 + 98 * i}" cy="14" r="5" fill="{colour}"/>' + text(left + 189 + 98 * i, 18, method))
    bottom = top + row * len(settings)
    for power in range(low, high + 1):
        x = place(10 ** power)
        label = f"{100 * 10 ** power:g} %"
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>' + text(x, top - 6, label, "middle", "#666", 11))
    for i, setting in enumerate(settings):
        y = top + row * (i + 0.5)
        parts.append(text(left - 10, y + 4, setting["name"], "end"))
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="#f0f0f0"/>')
        for method, one in reversed(list(setting["methods"].items())):
            parts.append(f'<circle cx="{place(one["mean"]):.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[method]}" fill-opacity="0.85"/>')
    return svg(left + width + 60, bottom + 16, parts)


def reliability_picture(results):
    left, top, size = 60, 34, 320
    parts = [text(left, 18, "share of right answers (within 5 %) by confidence", size=14)]
    for tenth in range(0, 11, 2):
        at = tenth / 10 * size
        parts.append(f'<line x1="{left + at}" y1="{top}" x2="{left + at}" y2="{top + size}" stroke="#eee"/>')
        parts.append(f'<line x1="{left}" y1="{top + at}" x2="{left + size}" y2="{top + at}" stroke="#eee"/>')
        parts.append(text(left + at, top + size + 16, f"{tenth / 10:g}", "middle", "#666", 11))
        parts.append(text(left - 8, top + size - at + 4, f"{tenth / 10:g}", "end", "#666", 11))
    parts.append(f'<line x1="{left}" y1="{top + size}" x2="{left + size}" y2="{top}" stroke="#999" stroke-dasharray="4 4"/>')
    parts.append(text(left + size / 2, top + size + 34, "confidence", "middle"))
    for j, method in enumerate(("ftio -f 1", "ftio --compat")):
        points = reliability(results, method)
        colour = COLOURS[method]
        places = [(left + c * size, top + size - r * size) for c, r, _ in points]
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), (_, _, count) in zip(places, points):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + min(6, count ** 0.5 / 8):.1f}" fill="{colour}"/>')
        parts.append(f'<circle cx="{left + size + 26}" cy="{top + 20 + 22 * j}" r="5" fill="{colour}"/>' + text(left + size + 36, top + 24 + 22 * j, method))
    parts.append(text(left + size + 20, top + 70, "larger dots: more answers", colour="#666", size=11))
    return svg(left + size + 200, top + size + 50, parts)


def page(results, traces):
    method = "ftio -f 1"
    paper = ("8a", "8b", "8c")
    worst = max(setting["methods"][method]["r_io_worst"] for setting in results if setting["table"] in paper)
    kinds = [setting["methods"][method] for setting in results if setting["table"] == "none"]
    high, right, answerable, total = sure(results, method, paper)
    any_high, any_right, any_answerable, any_total = sure(results, method, ("any",))
    means = "; ".join(f"{name}: {percent(together(results, name))}" for name in COLOURS if together(results, name) is not None)
    missed = min(one["traces"] - one["periodic"] for one in kinds)
    parts = [f"""# How accurate the period is

Measured by `scripts/bench accuracy --write`, which wrote this page: {traces} generated traces of each setting, whose truth is known because they are made up
(`crates/trace-generator/`). The experiment is that of *Capturing Periodic I/O Using Frequency Techniques* (Tarraf et al., IPDPS 2024), III-A: J = 20
iterations of P = 32 ranks that compute for t_cpu and then write for about 10.4 s, in ten shapes of phases; before and after, the job idles for up to
30 s. The truth is the mean distance of the phase starts, (s_J − s_1)/(J − 1). The error is |T − T_true|/T_true for each trace; *missed* traces, in which no
period was found, count as 1. `ftio -f 1` and `--compat -f 1` sample at 1 Hz as the paper does; `ftio` chooses for itself. The Python FTIO (0.0.9, `-f 1`) takes
seconds for a trace and gets the first few.

| | | must be |
|---|---|---|
| mean error of all settings of figures 8a to 8c | {means} | ≤ 0.5 % |
| R_IO, the worst of all traces | {percent(worst)} from the truth | ≤ 10 % |
| signals without a period, the worst kind | {missed} of {kinds[0]["traces"]} called not periodic | ≥ 95 % |
| answers of confidence ≥ 0.9, with signals without a period | {right} of {high} within 5 % | ≥ 95 % |
| answerable traces with such an answer | {answerable} of {total} | ≥ 50 % |

![mean error by setting](accuracy-errors.svg)

"""]
    for which in paper:
        parts.append(f"## {TITLES[which]}\n\n{figure(results, which)}\n")
    parts.append(f"""## Figure 9: σ_vol and σ_time when computing times vary (medians)

{figure_9(results)}
## {TITLES["any"]}

Ranks 2 to 64, phases of 0.5 to 30 s and computing times of 0.2 to 20 times that, jitter, desynchronisation, other traffic, volumes that differ and a long first phase in
about half of them each. Here the period is often not to be known: few phases whose distances vary look like any other few bursts, and are called
not periodic.

{figure(results, "any")}
Answers of confidence ≥ 0.9: {any_right} of {any_high} within 5 %; {any_answerable} of {any_total} traces have one.

## Knowing when not to answer

{not_periodic(results)}
The distances of Poisson bursts and those of an application whose computing times vary wildly (σ/μ = 2) have much in common. What tells them apart is the number of
phases (one that holds over many scales), equal volumes, and the variation of distances: an application does not begin a phase before the last one is done, so
that its distances vary less (0.45 on average for 20 phases at σ/μ = 2) than those of random bursts (0.93). The limit is set where 3 % of 20 random bursts would pass
by their distances alone (0.64), and about 1 % of such applications would not. An application with much shorter phases and as much jitter *is* a Poisson process, for all one can see,
and is called not periodic.

## Two periods

{two_periods(results)}
Two periods at once are both in `periods`, and `period` is that of the larger volume; one that changes on the way has both in `periods`, with their
times, and no single `period`.

## Confidence

`confidence` is the probability that the period is within 5 % of the truth: a logistic function of how even distances and volumes are, how clearly this number
of phases beats any other, over how many scales it holds, and whether the spectrum agrees (`ftio-core/src/confidence.rs`). Its weights were fitted to
traces of seeds from 10000 on; the diagram is of the traces on this page, those without a period included.

![reliability](accuracy-reliability.svg)

""")
    rows = [["method", "mean confidence", "share right", "answers"]]
    for name in (method, "ftio --compat"):
        rows += [[name, f"{c:.2f}", f"{r:.2f}", str(n)] for c, r, n in reliability(results, name)]
    parts.append(table(rows))
    parts.append("""
## Limits

- The generator is ours: its shapes are made up, not recorded.
- A phase is what is separated by pauses, by scale or by volume. If ranks are so late that phases overlap their successors, or if only a few ranks write and are late by more
  than they write, there are no phases in the bandwidth to be counted.
- With fewer than eight phases, distances must be twice as even; with three, nearly equal.
""")
    return "".join(parts), {"accuracy-errors.svg": errors_picture(results), "accuracy-reliability.svg": reliability_picture(results)}

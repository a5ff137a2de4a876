"""docs/accuracy.md and its pictures, from the results of scripts/bench accuracy."""

MUST = {
    "t_cpu": "≤ 0.1 %",
    "noise": "≤ 0.3 %",
    "desynchronisation 5 s": "≤ 0.5 %",
    "desynchronisation 11 s": "≤ 0.5 %",
    "desynchronisation 22 s": "≤ 0.5 %",
    "desynchronisation 33 s": "≤ 2 %",
    "jitter 0": "≤ 0.1 %",
    "jitter 0.25": "≤ 0.5 %",
    "jitter 0.5": "≤ 1 %",
    "jitter 0.55": "≤ 1 %",
    "jitter 1": "≤ 2 %",
    "jitter 2": "≤ 2 %",
}
COLOURS = {
    "ftio -f 1": "#1668b8",
    "ftio": "#5aa469",
    "ftio --compat": "#b0762b",
    "ftio --paper": "#7a5aa8",
    "Python FTIO": "#a33a3a",
}
SURE = 0.9
PUBLISHED = {
    "own t_cpu": "< 1 %",
    "own desynchronisation": "≤ 11 %",
    "own jitter 0": "< 5.5 %",
    "own jitter 0.25": "< 5.5 %",
    "own jitter 0.55": "< 33 %",
    "own jitter 1": "< 33 %",
    "own jitter 2": "< 33 %",
}
PUBLISHED_SCORE = {"jitter 0": "98 %", "jitter 0.55": "67 %", "jitter 2": "57 %"}
TITLES = {
    "8a": "Figure 8a: computing times of different length, without and with other traffic",
    "8b": "Figure 8b: desynchronised ranks, t_cpu = 11 s",
    "8c": "Figure 8c: computing times that vary, σ/μ of t_cpu, μ = 11 s",
    "own": "The paper's own setting: phases as IOR writes them, no idle time at the edges",
    "any": "Applications of every kind: all parameters at random, 4 to 60 phases",
}


def percent(value):
    if value is None:
        return "–"
    return f"{100 * value:.3f} %" if value < 0.0995 else f"{100 * value:.1f} %"


def line(setting, method, one):
    text = f"{setting:32} {method:14} {one['traces']:4} traces"
    if "mean" in one:
        return text + (
            f"  mean {percent(one['mean']):>9}  median {percent(one['median']):>9}  third quartile {percent(one['q3']):>9}"
            f"  missed {one['missed']:3}  confidence {one['confidence']:.2f}"
        )
    return (
        text
        + f"  not periodic {one['traces'] - one['periodic']:3}"
        + (f"  both periods {one['both']}" if "both" in one else "")
    )


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
    rows = [
        ["setting", "method", "traces", "mean", "median", "third quartile", "missed", "confidence", "goal"]
    ]
    for setting in results:
        if setting["table"] != which:
            continue
        for method, one in setting["methods"].items():
            goal = must(setting["name"]) if method.startswith("ftio -f") else ""
            rows.append(
                [
                    setting["name"],
                    method,
                    str(one["traces"]),
                    percent(one["mean"]),
                    percent(one["median"]),
                    percent(one["q3"]),
                    str(one["missed"]),
                    f"{one['confidence']:.2f}",
                    goal,
                ]
            )
    return table(rows)


def published(name):
    return PUBLISHED.get(name) or next(
        (value for start, value in PUBLISHED.items() if name.startswith(start) and "jitter" not in start), ""
    )


def own_setting(results):
    rows = [["setting", "published", "ftio --paper", "ftio --compat", "ftio -f 1"]]
    for setting in results:
        if setting["table"] == "own":
            kind = "median" if "jitter" in setting["name"] else "mean"
            numbers = [
                percent(setting["methods"][method][kind])
                for method in ("ftio --paper", "ftio --compat", "ftio -f 1")
            ]
            rows.append([f"{setting['name'][4:]}, {kind}", published(setting["name"]), *numbers])
    return table(rows)


def figure_9(results):
    rows = [["setting", "method", "σ_vol", "σ_time", "periodicity score", "published", "confidence < 0.6"]]
    for setting in results:
        name = setting["name"].removeprefix("own ")
        if not name.startswith("jitter"):
            continue
        for method, one in setting["methods"].items():
            if one.get("sigma_vol") is not None:
                own = setting["table"] == "own"
                rows.append(
                    [
                        name + (", paper's own setting" if own else ""),
                        method,
                        f"{one['sigma_vol']:.3f}",
                        f"{one['sigma_time']:.3f}",
                        percent(one["periodicity_score"]),
                        PUBLISHED_SCORE.get(name, "") if own else "",
                        percent(one["unsure"] / one["traces"]),
                    ]
                )
    return table(rows)


def not_periodic(results):
    rows = [["signal", "method", "traces", "called not periodic", "called"]]
    for setting in results:
        if setting["table"] != "none":
            continue
        for method, one in setting["methods"].items():
            kinds = ", ".join(f"{kind} {count}" for kind, count in one.get("signals", {}).items() if kind)
            rows.append(
                [setting["name"], method, str(one["traces"]), str(one["traces"] - one["periodic"]), kinds]
            )
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
    return [
        answer
        for setting in results
        if setting["table"] in tables
        for answer in setting["methods"][method]["answers"]
    ]


def reliability(results, method):
    """For each tenth of confidence: mean confidence, share right, count."""
    bins = {}
    for confidence, right in answers(results, method):
        key = min(9, int(10 * confidence))
        bins.setdefault(key, []).append((confidence, right))
    return [
        (sum(c for c, _ in b) / len(b), sum(r for _, r in b) / len(b), len(b))
        for _, b in sorted(bins.items())
    ]


def together(results, method):
    errors = [
        error
        for setting in results
        if setting["table"] in ("8a", "8b", "8c")
        for error in setting["methods"].get(method, {}).get("errors", [])
    ]
    return sum(errors) / len(errors) if errors else None


def sure(results, method, tables):
    """Answers of confidence 0.9 and more: how many, how many right, and of how many answerable traces."""
    high = [right for confidence, right in answers(results, method, (*tables, "none")) if confidence >= 0.9]
    answerable = [answer for answer in answers(results, method, tables) if answer[0] >= 0.9]
    total = sum(setting["methods"][method]["traces"] for setting in results if setting["table"] in tables)
    return len(high), sum(high), len(answerable), total


def counted(judged):
    """Of the judged answers to one kind: traces, right, refused, wrong, sure, sure and wrong."""
    answered = [one for one in judged if one["period"] is not None or one["periods"]]
    sure_ones = [one for one in answered if one["confidence"] >= SURE]
    count = lambda verdict, those=judged: sum(one["verdict"] == verdict for one in those)
    return {
        "traces": len(judged),
        "right": count("right"),
        "refused": count("refused"),
        "wrong": count("wrong"),
        "sure": len(sure_ones),
        "sure_wrong": count("wrong", sure_ones),
        "either": sum(one["either"] for one in judged),
    }


def goal(judged):
    """The share of a kind that must be right: less where two rhythms at once are wanted."""
    return 0.85 if judged[0]["at_once"] else 0.95


def is_good(judged):
    return counted(judged)["right"] >= goal(judged) * len(judged) - 1e-9


def by_kind(results):
    out = {}
    for method, judged in results["methods"].items():
        for one in judged:
            out.setdefault(one["kind"], {}).setdefault(method, []).append(one)
    return out


def kinds_tables(results):
    """One table a family: right of how many, wrong and sure among them."""
    methods = list(results["methods"])
    kinds, parts, family = by_kind(results), [], None
    rows = []
    for kind in results["kinds"]:
        if kind["family"] != family:
            if rows:
                parts.append(table(rows))
            family = kind["family"]
            parts.append(
                f"\n### {family[0].upper()}{family[1:]}{'' if kind['fitted'] else ' (not fitted on)'}\n\n"
            )
            rows = [["kind", "what it is", *methods]]
        cells = []
        for method in methods:
            judged = kinds.get(kind["name"], {}).get(method)
            if not judged:
                cells.append("–")
                continue
            one = counted(judged)
            cells.append(
                f"{one['right']} of {one['traces']}"
                + (f", {one['sure_wrong']} wrong and sure" if one["sure_wrong"] else "")
            )
        rows.append([kind["name"], kind["what"], *cells])
    parts.append(table(rows))
    return "".join(parts)


def kinds_summary(results):
    rows = [["", "method", "kinds that reach the goal", "right", "sure answers", "of these right"]]
    fitted = {kind["name"]: kind["fitted"] for kind in results["kinds"]}
    for which, label in ((True, "fitted on"), (False, "not fitted on")):
        for method, judged in results["methods"].items():
            those = [one for one in judged if fitted[one["kind"]] == which]
            whole = counted(those)
            kinds = {}
            for one in those:
                kinds.setdefault(one["kind"], []).append(one)
            good = sum(is_good(of) for of in kinds.values())
            right = whole["sure"] - whole["sure_wrong"]
            rows.append(
                [
                    label,
                    method,
                    f"{good} of {len(kinds)}",
                    percent(whole["right"] / max(whole["traces"], 1)),
                    str(whole["sure"]),
                    percent(right / max(whole["sure"], 1)),
                ]
            )
    return table(rows)


def below_the_goal(results):
    """The kinds of which too few are right, in words."""
    kinds = by_kind(results)
    bad = [
        (name, counted(of["ftio"]))
        for name, of in kinds.items()
        if of.get("ftio") and not is_good(of["ftio"])
    ]
    if not bad:
        return "Every kind reaches its goal."
    return "Below their goals are " + ", ".join(
        f"`{name}` ({one['right']} of {one['traces']})" for name, one in bad
    ) + "."


def either_right(results):
    """The kinds in which two answers are right, with how many are right by the other one only."""
    found = [(name, counted(of["ftio"])) for name, of in by_kind(results).items() if of.get("ftio")]
    return ", ".join(
        f"`{name}` {one['right'] - one['either']} instead of {one['right']} of {one['traces']}"
        for name, one in found
        if one["either"]
    )


def python_better(results):
    """The kinds of which the Python FTIO has a larger share right, on the traces that both were given."""
    better = []
    for name, of in by_kind(results).items():
        theirs = of.get("Python FTIO")
        if not theirs:
            continue
        seeds = {one["seed"] for one in theirs}
        ours = [one for one in of["ftio"] if one["seed"] in seeds]
        right = lambda those: sum(one["verdict"] == "right" for one in those)
        if right(theirs) > right(ours):
            better.append(f"`{name}` ({right(theirs)} to {right(ours)})")
    return "in none of these kinds" if not better else "in " + ", ".join(better)


def kinds_reliability(results, method):
    bins = {}
    for one in results["methods"][method]:
        if one["period"] is not None:
            bins.setdefault(min(9, int(10 * one["confidence"])), []).append(
                (one["confidence"], one["verdict"] == "right")
            )
    return [
        (sum(c for c, _ in b) / len(b), sum(r for _, r in b) / len(b), len(b))
        for _, b in sorted(bins.items())
    ]


def left_out_table(results):
    """Each kind by the weights that were fitted without it."""
    rows = [["kind that was left out", "right", "sure answers", "of these wrong"]]
    for name, right, _, count, *words in results.get("left_out", []):
        sure, wrong = words[3], words[5]
        if int(right) < int(count) or int(wrong):
            rows.append([name, f"{right} of {count}", sure, wrong])
    others = len(results.get("left_out", [])) + 1 - len(rows)
    text = f"\nAll traces of {others} kinds are right if the weights are fitted without that kind. The others:\n\n"
    return text + table(rows) if results.get("left_out") else ""


def kinds_page(results):
    """docs/accuracy-kinds.md and its picture."""
    rows = [["method", "mean confidence", "share right", "answers"]]
    for method in results["methods"]:
        rows += [[method, f"{c:.2f}", f"{r:.2f}", str(n)] for c, r, n in kinds_reliability(results, method)]
    fits = [line for line in results.get("fit", []) if not line.startswith("new weights")]
    left_out = "".join(f"- {line.replace('today', 'the table')}\n" for line in fits)
    judged = f" Here is the result:\n\n{left_out}{left_out_table(results)}" if left_out else "\n"
    compat = max(counted(of["ftio --compat"])["traces"] for of in by_kind(results).values())
    changing = sum(one["period"] is None and bool(one["periods"]) for one in results["methods"]["ftio"])
    python = results["methods"].get("Python FTIO")
    few = (
        f" The Python FTIO takes seconds for a trace and gets {len(python) // max(1, len({one['kind'] for one in python}))} of each kind, `--compat` gets {compat}; on the former it has more right {python_better(results)}."
        if python
        else ""
    )
    text = f"""# How accurate the period is on every kind of signal

`scripts/bench accuracy --part kinds --write` measured this and wrote this page: {results["traces"]} traces of each kind of signal that we could think of. All are generated from
fixed seeds (`crates/testing/trace-generator/`), so the truth is known. The kinds *not fitted on* were looked at while the estimator was changed, so their results are
optimistic. The experiment of the paper has [a page of its own](accuracy.md).

An answer is right if it is within 3 % of the truth (7 % with few phases, 4 % for each of two rhythms). Where there is no period, the right answer is "no period". An answer is
*sure* if its confidence is 0.9 or more. Where a signal has a second rhythm beside the one asked for, such as a log file, the period of that one is right, too. The goal is 95 % of
each kind, and 85 % where two rhythms at once are wanted. {below_the_goal(results)}{few}

Whether equal phases have a period is a matter of taste where their distances vary by about half of their mean: a program whose computing times vary and tasks of random lengths
look the same. So two answers are right in some traces. Where all phases of a program belong to its rhythm, "no period" is right as well if the distances, as they came out, vary by more
than 40 %; where equal phases come at random, their mean distance is right as well if they vary by less than 60 % (with fewer than eight phases, by less than 15 %, as
chance has it). Without this rule the counts would be: {either_right(results)}.

{kinds_summary(results)}
![reliability over all kinds](accuracy-kinds.svg)

## Kind by kind
{kinds_tables(results)}
## Confidence on kinds that it was not fitted on

`confidence` is a probability. Every hypothesis about the period has a score, and *no period* is one of the hypotheses (`ftio-core/src/estimate/`). `scripts/fit --today` fits the weights
of the score to the kinds above that are not marked *not fitted on*, with seeds from 10000 on. `scripts/fit --today -- --leave-one-kind-out` leaves out each kind in turn and judges the fit
by that kind.{judged}
All answers of the whole estimator, by the confidence that was stated (but for {changing} that say that the period changes, which have no confidence of a single period):

{table(rows)}
## Limits

- The generator is ours: its signals are made up, not recorded.
- Real logs are few. The heatmap of e3sm in Darshan's collection (512 ranks, bins of 6.4 s, 5.6 bins a period) gets no period; the best guess is 36.0 s at 0.27. The spectrum has
  one line at 36.5 s (z = 6.9), as the published method says, but it is a swell of the bandwidth and not a row of phases, whose distances vary by 18 % and volumes by 63 %.
- Programs whose computing times vary by 40 to 200 % (`loose`, `paper_wild`) and equal phases at log-normal or gamma distances (`lognormal_equal`, `gamma_equal`, `u_equal_jobs`, `u_work_queue`)
  cannot be told apart by their distances. Let all distances of the former be known exactly. Against the log-normal distribution that fits them best, a distance speaks for the truth by 0.04 to 0.07 nats on
  average, against the best gamma distribution by 0.03 to 0.04. Twenty distances give odds of 2 to 4 to 1; to be right in 95 % of both kinds takes about 19 to 1. What decides is how much of the time the
  phases take, and what is uncertain has a low confidence.
- If ranks are late by more than a phase takes (`late_ranks`), parts of one phase are further apart than one phase is from the next. Then the phases are told by their equal volumes, where they have them.
- Two rhythms at once whose periods are nearly 1 : 2 or 1 : 3 (`paper_interleaved`) are often told as one.
- A period on a load that wanders by more than the phases are high is often refused: one line of the spectrum among the low frequencies of red noise is no evidence.
"""
    lines = {name: kinds_reliability(results, name) for name in results["methods"]}
    return text, {
        "accuracy-kinds.svg": reliability_picture("share of right answers by confidence, all kinds", lines)
    }


def svg(width, height, parts):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12"><rect width="{width}" height="{height}" fill="white"/>'
        + "".join(parts)
        + "</svg>\n"
    )


def text(x, y, content, anchor="start", colour="#222", size=12, turn=None):
    turned = f' transform="rotate({turn} {x} {y})"' if turn else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"{turned}>{content}</text>'


def errors_picture(results):
    """Mean error of each setting and method, on a logarithmic axis."""
    from math import log10

    settings = [setting for setting in results if setting["table"] in ("8a", "8b", "8c")]
    left, top, row, width = 210, 46, 22, 560
    low, high = -5, 0
    place = lambda value: left + (log10(min(max(value, 10**low), 1)) - low) / (high - low) * width
    parts = [text(left, 18, "mean error of the period", size=14)]
    for i, (method, colour) in enumerate(COLOURS.items()):
        parts.append(
            f'<circle cx="{left + 180 + 98 * i}" cy="14" r="5" fill="{colour}"/>'
            + text(left + 189 + 98 * i, 18, method)
        )
    bottom = top + row * len(settings)
    for power in range(low, high + 1):
        x = place(10**power)
        label = f"{100 * 10**power:g} %"
        parts.append(
            f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>'
            + text(x, top - 6, label, "middle", "#666", 11)
        )
    for i, setting in enumerate(settings):
        y = top + row * (i + 0.5)
        parts.append(text(left - 10, y + 4, setting["name"], "end"))
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="#f0f0f0"/>')
        for method, one in reversed(list(setting["methods"].items())):
            parts.append(
                f'<circle cx="{place(one["mean"]):.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[method]}" fill-opacity="0.85"/>'
            )
    return svg(left + width + 110, bottom + 16, parts)


def reliability_picture(title, lines):
    """`lines`: for each method (mean confidence, share right, count) of each tenth."""
    left, top, size = 60, 34, 320
    parts = [text(left, 18, title, size=14)]
    for tenth in range(0, 11, 2):
        at = tenth / 10 * size
        parts.append(f'<line x1="{left + at}" y1="{top}" x2="{left + at}" y2="{top + size}" stroke="#eee"/>')
        parts.append(f'<line x1="{left}" y1="{top + at}" x2="{left + size}" y2="{top + at}" stroke="#eee"/>')
        parts.append(text(left + at, top + size + 16, f"{tenth / 10:g}", "middle", "#666", 11))
        parts.append(text(left - 8, top + size - at + 4, f"{tenth / 10:g}", "end", "#666", 11))
    parts.append(
        f'<line x1="{left}" y1="{top + size}" x2="{left + size}" y2="{top}" stroke="#999" stroke-dasharray="4 4"/>'
    )
    parts.append(text(left + size / 2, top + size + 34, "confidence", "middle"))
    for j, (method, points) in enumerate(lines.items()):
        colour = COLOURS[method]
        places = [(left + c * size, top + size - r * size) for c, r, _ in points]
        parts.append(
            f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        for (x, y), (_, _, count) in zip(places, points):
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + min(6, count**0.5 / 8):.1f}" fill="{colour}"/>'
            )
        parts.append(
            f'<circle cx="{left + size + 26}" cy="{top + 20 + 22 * j}" r="5" fill="{colour}"/>'
            + text(left + size + 36, top + 24 + 22 * j, method)
        )
    parts.append(text(left + size + 20, top + 100, "larger dots: more answers", colour="#666", size=11))
    return svg(left + size + 200, top + size + 50, parts)


def paper_page(paper_results):
    """docs/accuracy.md and its pictures."""
    results, traces = paper_results["settings"], paper_results["traces"]
    method = "ftio -f 1"
    paper = ("8a", "8b", "8c")
    worst = max(setting["methods"][method]["r_io_worst"] for setting in results if setting["table"] in paper)
    kinds = [setting["methods"][method] for setting in results if setting["table"] == "none"]
    high, right, answerable, total = sure(results, method, paper)
    any_high, any_right, any_answerable, any_total = sure(results, method, ("any",))
    means = "; ".join(
        f"{name}: {percent(together(results, name))}"
        for name in COLOURS
        if together(results, name) is not None
    )
    missed = min(one["traces"] - one["periodic"] for one in kinds)
    python = ""
    if any("Python FTIO" in setting["methods"] for setting in results):
        python = "\n- The Python FTIO (0.0.9, `-f 1`) takes seconds per trace, so it gets only the first few."
    parts = [
        f"""# How accurate the period is in the experiment of the paper

`scripts/bench accuracy --part paper --write` measured this and wrote this page. [Every other kind of signal](accuracy-kinds.md) has a page of its own.

The experiment is that of *Capturing Periodic I/O Using Frequency Techniques* (Tarraf et al., IPDPS 2024), III-A, with {traces} generated traces of each setting
(`crates/testing/trace-generator/`), so the truth is known. A trace has J = 20 iterations: P = 32 ranks compute for t_cpu and then write for about 10.4 s, in ten shapes of phases. Before and
after, the job idles for up to 30 s. (The paper has one shape and no idle time; its own setting is further below.)

- The truth is the mean distance of the phase starts, (s_J − s_1)/(J − 1).
- The error of a trace is |T − T_true|/T_true. A *missed* trace, in which no period was found, counts as an error of 100 %.
- `ftio -f 1`, `--compat -f 1` and `--paper -f 1` sample at 1 Hz as the paper does; `ftio` chooses its sampling frequency.{python}

| | measured | goal |
|---|---|---|
| mean error of all settings of figures 8a to 8c | {means} | ≤ 0.5 % |
| error of R_IO, the worst of all traces | {percent(worst)} | ≤ 10 % |
| signals without a period that get no answer, the worst kind | {missed} of {kinds[0]["traces"]} | ≥ 95 % |
| answers of confidence ≥ 0.9 that are within 5 %, signals without a period included | {right} of {high} | ≥ 95 % |
| traces with a period that get such an answer | {answerable} of {total} | ≥ 50 % |

![mean error by setting](accuracy-errors.svg)

"""
    ]
    for which in paper:
        parts.append(f"## {TITLES[which]}\n\n{figure(results, which)}\n")
    parts.append(f"""## {TITLES["own"]}

Errors as published, and as measured here on traces of that kind.

{own_setting(results)}
## Figure 9: σ_vol and σ_time when computing times vary (medians)

Measured from the first phase to the last; periods are cut half-way between two phases (`ftio-core/src/detect/characterize.rs`).

{figure_9(results)}
## {TITLES["any"]}

2 to 64 ranks, phases of 0.5 to 30 s, computing times 0.2 to 20 times as long. About half of the traces each have jitter, desynchronised ranks, other traffic, volumes that
differ, or a long first phase. Often the period cannot be known here: a few phases whose distances vary look like any other few bursts, and are called not periodic.

{figure(results, "any")}
Answers of confidence ≥ 0.9: {any_right} of {any_high} within 5 %; {any_answerable} of {any_total} traces have one.

## Knowing when not to answer

{not_periodic(results)}
## Two periods

{two_periods(results)}
Of two periods at once, both are in `periods`, and `period` is the one with the larger volume. If the period changes during the run, `periods` has both with their times, and
`period` is null.

## Confidence on these traces

![reliability](accuracy-reliability.svg)

""")
    rows = [["method", "mean confidence", "share right", "answers"]]
    for name in (method, "ftio --compat"):
        rows += [[name, f"{c:.2f}", f"{r:.2f}", str(n)] for c, r, n in reliability(results, name)]
    parts.append(table(rows))
    parts.append("""
## Limits

- The generator is ours: its signals are made up, not recorded.
- Phases can only be counted if they can be told apart in the bandwidth: by pauses, by time scale or by volume. They cannot if ranks are so late that phases overlap, or if only a
  few ranks write and are late by more than they write.
- Two kinds of signals cannot be told apart: equal phases at random distances (log-normal or gamma, standard deviation half of the mean), and programs whose computing times vary as
  much. Twenty distances give odds of 2 to 4 to 1 at best ([the argument](accuracy-kinds.md#limits)), so the right answer is a low confidence. Some of the former get one, and some of the latter get no answer.
""")
    pictures = {
        "accuracy-errors.svg": errors_picture(results),
        "accuracy-reliability.svg": reliability_picture(
            "share of right answers (within 5 %) by confidence",
            {name: reliability(results, name) for name in ("ftio -f 1", "ftio --compat")},
        ),
    }
    return "".join(parts), pictures

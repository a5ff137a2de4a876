"""The results as tables, and where they stand in the documentation."""

import math

from matrix import MIXES

BEGIN, END = "<!-- scripts/bench iosets: begin -->", "<!-- scripts/bench iosets: end -->"


def number(value, digits):
    """A mean with its interval."""
    mean, half = value
    return f"{mean:.{digits}f}" if math.isnan(half) else f"{mean:.{digits}f} ± {half:.{digits}f}"


def change(value):
    mean, half = value
    text = f"{100 * (mean - 1):+.0f}".replace("-", "−")
    return f"{text} %" if math.isnan(half) else f"{text} ± {100 * half:.0f} %"


def gains(results):
    """Fair share, with turns, the change; a line each."""
    lines = [
        "| | mean stretch | I/O slowdown | utilisation | |",
        "|---|---|---|---|---|",
    ]
    for name, row in results["gains"].items():
        cells = []
        for key, digits in (("stretch", 3), ("slowdown", 2), ("utilisation", 3)):
            values = [number(row[f"{key}_{policy}"], digits) for policy in ("fair", "turns")]
            cells.append(f"{values[0]} → {values[1]}, **{change(row[f'{key}_change'])}**")
        stretch, slowdown, utilisation = MIXES[name][4]
        reached = row["stretch_change"][0] <= stretch and row["slowdown_change"][0] <= slowdown
        reached &= row["utilisation_change"][0] >= utilisation
        verdict = f"{'reached' if reached else 'missed'}; {row['repetitions']} runs"
        if row.get("disturbed"):
            verdict += f", {row['disturbed']} of them disturbed"
        lines.append(f"| {name} | {' | '.join(cells)} | {verdict} |")
    row = results.get("simulated")
    if row and "published experiment" in results["gains"]:
        cells = []
        for key, digits in (("stretch", 3), ("slowdown", 2), ("utilisation", 3)):
            fair, turns = row["fair"][key], row["turns"][key]
            cells.append(f"{fair:.{digits}f} → {turns:.{digits}f}, {change((turns / fair, math.nan))}")
        real = results["gains"]["published experiment"]
        differs = lambda key: abs(real[f"{key}_turns"][0] / row["turns"][key] - 1)
        apart = f"{100 * max(differs('stretch'), differs('utilisation')):.0f} % apart"
        lines.append(f"| the first in `ftio simulate turns` | {' | '.join(cells)} | {apart} |")
    return lines


def costs(results):
    lines = ["| | measured | goal |", "|---|---|---|"]
    if "alone" in results:
        lines.append(f"| a job that is alone | {100 * (results['alone']['ratio'] - 1):+.2f} % | ≤ 0.5 % |")
    if "question" in results:
        bare = results["question"].get("bare")
        if bare:
            name = "a message and an answer of two processes that do nothing else"
            lines.append(f"| {name} | median {bare['median_us']:.0f} µs, 99 % {bare['p99_us']:.0f} µs | – |")
        for where, name, goal in (("one_host", "one host", 50), ("tcp", "TCP between namespaces", 200)):
            times = results["question"][where]
            measured = f"median {times['median_us']:.0f} µs, 99 % {times['p99_us']:.0f} µs"
            lines.append(f"| question and answer, {name} | {measured} | ≤ {goal} µs |")
    if "nodes" in results:
        load = results["nodes"]["sockets"]
        times = f"median {load['median_us'] / 1e3:.2f} ms, 99 % {load['p99_us'] / 1e3:.2f} ms"
        measured = f"{load['cores']:.2f} cores; {times}"
        lines.append(f"| 1,000 jobs of {load['nodes']} nodes over sockets | {measured} | ≤ 1 core, ≤ 5 ms |")
        rules = results["nodes"]["rules"].split(": ", 1)[1]
        lines.append(f"| 1,000 jobs of 100 nodes, the rules alone | {rules} | ≤ 1 core, ≤ 5 ms |")
    if "kills" in results:
        kills = results["kills"]
        longest = f"longest {kills['longest']:.2f} s"
        measured = f"{kills['phases']} phases, {longest}; {kills['failed']} jobs failed"
        name = f"{kills['arbiter']} kills of the arbiter, {kills['job']} of jobs"
        lines.append(f"| {name} | {measured} | ≤ {kills['bound']:.1f} s, 0 |")
    for name, fault in results.get("faults", {}).items():
        after = f"the job that waited went on after {fault['went_on_after']:.2f} s"
        ending = "" if fault["right"] else ", and failed"
        lines.append(f"| {name} | {after}{ending} | about 1 s |")
    return lines


def all_tables(results):
    parts = [gains(results)] if results.get("gains") else []
    parts.append(costs(results))
    return "\n\n".join("\n".join(lines) for lines in parts)


def write(page, results):
    """Takes the place of what stands between two marks."""
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{all_tables(results)}\n\n{END}{after}")

"""The tables and the picture of docs/signature.md, from the results of scripts/bench signature."""
import math
import statistics

MARK = "<!-- Below: written by scripts/bench signature --write -->"
IOR = ("IOR_A", "IOR_B", "IOR_C")
COLOURS = {"median": "#0072b2", "published": "#d55e00"}


def table(rows):
    width = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, width)) + " |" for row in rows]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in width) + "|")
    return "\n".join(text) + "\n"


def of(rows, part, **wanted):
    return [row for row in rows if row["part"] == part and all(row.get(key) == value for key, value in wanted.items())]


def sets(rows):
    """For each disturbance and seed the bursts found of the 25 of IOR_A, IOR_B and IOR_C."""
    found = {}
    for row in rows:
        if row["application"] in IOR:
            key = row["disturbance"], row["seed"]
            found[key] = found.get(key, 0) + row["found"]
    return list(found.values())


def share(values, test):
    return sum(map(test, values)) / max(1, len(values))


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def goals(results, chosen, label):
    """The goals, and what rows of the default method reach."""
    bursts = sets(chosen)
    cross = [row["cross_correlation"] for row in chosen]
    volume = [abs(row["volume"] - 1) for row in chosen]
    return [
        (f"25 of 25 bursts, {label}", "≥ 90 % of seeds", f"{100 * share(bursts, lambda n: n == 25):.0f} %", share(bursts, lambda n: n == 25) >= 0.9),
        (f"fewest bursts of 25, {label}", "≥ 24", str(min(bursts)), min(bursts) >= 24),
        (f"cross-correlation, median, {label}", "≥ 0.97", f"{statistics.median(cross):.3f}", statistics.median(cross) >= 0.97),
        (f"cross-correlation, worst, {label}", "≥ 0.90", f"{min(cross):.3f}", min(cross) >= 0.9),
        (f"correlation, median, {label}", "≥ 0.93", f"{median(chosen, 'correlation'):.3f}", median(chosen, "correlation") >= 0.93),
        (f"volume within 10 %, {label}", "≥ 90 %", f"{100 * share(volume, lambda v: v <= 0.1):.0f} %", share(volume, lambda v: v <= 0.1) >= 0.9),
    ]


def page(results, seeds):
    rows = results["rows"]
    default = of(rows, "accuracy", value="default")
    judged = [row for row in default if row["judged"]]
    chosen = [row for row in default if not row["judged"]]
    lines = goals(results, chosen, "kinds of noise used for calibration") + goals(results, judged, "other kinds")
    dtw = of(rows, "accuracy", value="chained DTW")
    same = [row for row in default if row["seed"] < 5]
    ratio = statistics.median(row["cross_correlation"] for row in same) / statistics.median(row["cross_correlation"] for row in dtw)
    lines.append(("cross-correlation by that of DTW", "reported", f"× {ratio:.1f}", True))
    silent = [row["bursts"] > 0 for row in of(rows, "silent")]
    lines.append((f"bursts in {len(silent)} jobs without I/O", "≤ 5 %", f"{100 * share(silent, bool):.1f} %", share(silent, bool) <= 0.05))
    for most, value in results["spearman"].items():
        lines.append((f"Spearman, quality and cross-correlation, noise × 0.5 to × {most}", "≥ 0.8", f"{value:.3f}", value >= 0.8))
    for row in of(rows, "time", method="median"):
        lines.append(("10 samples × 2000 points", "≤ 30 ms", f"{row['milliseconds']:.0f} ms of CPU", row["milliseconds"] <= 30))
    if results["archive"]:
        one = results["archive"]
        seconds = one["cpu_seconds"] / 2
        lines.append((f"{one['jobs']} jobs, {one['applications']} applications", "≤ 3 min on 2 cores",
                      f"{seconds:.0f} s of CPU on each core, {one['seconds']:.0f} s in all", seconds <= 180))
        lines.append(("its memory", "≤ 300 MB", f"{one['memory_mb']:.0f} MB", one["memory_mb"] <= 300))
    text = f"## Goals and results\n\n{seeds} seeds, 10 runs each. Times are CPU time, because other work may have run on the machine. With\n"
    text += "noise up to × 3 nearly all signatures are good, and differ by less than the log can resolve; with more noise,\nsome are bad.\n\n"
    text += table([("", "goal", "result", "reached")] + [(a, b, c, "yes" if ok else "**no**") for a, b, c, ok in lines])
    text += "\n## By application and kind of noise\n\n" + table(by_kind(rows))
    text += "\n## By noise\n\n" + table(by_noise(rows))
    pictures = {}
    if of(rows, "level"):
        text += "\n## Sensitivity\n\nMedian cross-correlation with the truth, and bursts found; and the same for the method as published.\n\n"
        text += "![Sensitivity](signature-sensitivity.svg)\n\n" + table(sensitivity(rows))
        pictures["signature-sensitivity.svg"] = picture(rows)
    return text, pictures, all(ok for *_, ok in lines)


def by_kind(rows):
    out = [("noise", "application", "method", "cross-correlation", "worst", "correlation", "volume", "bursts", "foreign")]
    for kind in dict.fromkeys(row["disturbance"] for row in of(rows, "accuracy")):
        for application in (*IOR, "S3D"):
            for method in ("default", "as published", "without preprocessing", "chained DTW"):
                some = of(rows, "accuracy", disturbance=kind, application=application, value=method)
                if some:
                    found = sum(row["found"] for row in some) / sum(row["bursts"] for row in some)
                    out.append((kind, application, method, f"{median(some, 'cross_correlation'):.3f}",
                                f"{min(row['cross_correlation'] for row in some):.3f}", f"{median(some, 'correlation'):.3f}",
                                f"{median(some, 'volume'):.2f}", f"{100 * found:.1f} %", str(sum(row["foreign"] for row in some))))
    return out


def by_noise(rows):
    out = [("noise", "cross-correlation", "worst", "correlation", "volume within 10 %", "bursts", "foreign", "quality", "no signature")]
    for scale in (0.5, 1.0, 2.0, 3.0, 5.0, 8.0):
        some = of(rows, "noise", value=scale)
        if some:
            found = sum(row["found"] for row in some) / sum(row["bursts"] for row in some)
            within = share([abs(row["volume"] - 1) for row in some], lambda v: v <= 0.1)
            out.append((f"× {scale:g}", f"{median(some, 'cross_correlation'):.3f}", f"{min(row['cross_correlation'] for row in some):.3f}",
                        f"{median(some, 'correlation'):.3f}", f"{100 * within:.0f} %", f"{100 * found:.1f} %",
                        str(sum(row["foreign"] for row in some)), f"{statistics.median(row['quality']['mean'] for row in some):.3f}",
                        str(sum(row["cross_correlation"] == 0 for row in some))))
    return out


TITLES = {"level": "decomposition level", "gamma": "γ", "kappa": "κ", "samples": "number of samples", "noise": "noise ×"}


def points(rows, part, method):
    values = sorted({row["value"] for row in of(rows, part)})
    out = []
    for value in values:
        some = [row for row in of(rows, part, value=value) if row.get("method", "median") == method]
        if not some:
            continue
        found = sum(row["found"] for row in some) / sum(row["bursts"] for row in some)
        out.append((value, median(some, "cross_correlation"), found))
    return out


def sensitivity(rows):
    out = [("what", "value", "cross-correlation", "bursts", "published: cross-correlation", "bursts")]
    for part, title in TITLES.items():
        published = {value: rest for value, *rest in points(rows, part, "published")}
        for value, cross, found in points(rows, part, "median"):
            other = published.get(value)
            shown = (f"{other[0]:.3f}", f"{100 * other[1]:.0f} %") if other else ("", "")
            out.append((title, f"{value:g}", f"{cross:.3f}", f"{100 * found:.0f} %", *shown))
    return out


def picture(rows):
    width, height, left, gap = 190, 170, 46, 14
    parts = list(TITLES)
    total = left + len(parts) * (width + gap)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height + 78}" font-family="sans-serif" font-size="11">',
           f'<rect width="{total}" height="{height + 78}" fill="#ffffff"/>']
    for number, part in enumerate(parts):
        x0, y0 = left + number * (width + gap), 34
        curves = {method: points(rows, part, method) for method in COLOURS}
        xs = [point[0] for point in curves["median"]]
        scale = math.log if part in ("samples", "noise") else float
        low, high = scale(min(xs)), scale(max(xs))
        place = lambda x, y: (x0 + 10 + (scale(x) - low) / (high - low) * (width - 20), y0 + (1 - y) * height)
        out.append(f'<text x="{x0 + width / 2}" y="{y0 - 12}" text-anchor="middle" font-weight="bold">{TITLES[part]}</text>')
        for level in (0, 0.25, 0.5, 0.75, 1):
            y = place(xs[0], level)[1]
            out.append(f'<line x1="{x0}" x2="{x0 + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e2e4e8"/>')
            if number == 0:
                out.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{level:g}</text>')
        for x in xs:
            out.append(f'<text x="{place(x, 0)[0]:.1f}" y="{y0 + height + 16}" text-anchor="middle">{x:g}</text>')
        for method, curve in curves.items():
            path = " ".join("{:.1f},{:.1f}".format(*place(x, max(0, y))) for x, y, _ in curve)
            out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[method]}" stroke-width="2"/>')
    y = height + 66
    for number, (method, name) in enumerate((("median", "default"), ("published", "as published"))):
        x = left + 150 * number
        out.append(f'<line x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}" stroke="{COLOURS[method]}" stroke-width="2"/>')
        out.append(f'<text x="{x + 28}" y="{y}">{name}</text>')
    out.append(f'<text x="{left + 330}" y="{y}">median cross-correlation with the truth</text></svg>')
    return "\n".join(out) + "\n"

"""Makes renewal.jsonl: what the prototype of the renewal estimator says of its own signals.

python3 -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1 numba==0.68.1
PYTHONPATH=PROTOTYPE:GENERATORS venv/bin/python make_renewal.py OUT [SEED KIND...]

PROTOTYPE is the folder with estimate2.py, GENERATORS the one with gen.py. Each line of OUT is a trace with its
readings, their lists of phases, the most probable alternatives with their features in the order of
ftio-core/src/renewal/weights.rs, the answer, and the next start. Without a SEED the traces of the test are made.

The prototype keeps autocorrelation and power for periods within 0.3 % of one asked for before; here it asks
for each anew, so that the answer does not depend on the order.
"""

import json
import os
import sys

import numpy as np

import features

# What it looks up by the rounded logarithm of the period, it looks up by the period.
features.Spectrum.acf = lambda self, period: features._blurred_at(
    self.r, self.n, period / self.step, max(features.BLUR * period / self.step * 1.41421, 0.4)
)
comb = features.Spectrum.comb


def comb_anew(self, period):
    self.cmem.clear()
    return comb(self, period)


features.Spectrum.comb = comb_anew

from data import train, train_kinds  # noqa: E402
from estimate2 import Model, answer, posterior, rows_of  # noqa: E402
from features import NAMES  # noqa: E402
from forecast import next_start  # noqa: E402

ORDER = """one lm few ls ls2 ls3 llrt llrn ptime extra vshare vvery vfew equal cover cfront acf acfsub oct votes
share spec rate mean change chdiff change*llrn change*spec change*oct change*lm nat read rsmall rroot pfew pleft
wave wshare wrival wfew wsteady wnat wskew pair psize pover p2""".split()
SEED = 2001
KINDS = """coarse k_volumes k_huge k_few k_n_workers k_n_groups k3_dl k3_far k3_growth
k3_n_alias k3_n_batches k4_heatmap k4_throttle""".split()
ROWS = 12  # of each trace, unless all are asked for


def short(number):
    return float(f"{float(number):.9g}")


def told(kind, seed, most):
    model = Model(os.path.join(os.path.dirname(features.__file__), "model.json"))
    trace = train(kind, seed)
    _, readings, rows = rows_of(trace, model)
    probabilities, none = posterior(rows, model)
    found = answer(rows, probabilities, none, model)
    truth = trace["truth"]
    if trace["kind"] == "requests":
        columns = zip(trace["start"], trace["end"], trace["bytes"])
        line = {"kind": kind, "seed": seed, "requests": [[float(x) for x in row] for row in columns]}
    else:
        samples = [[float(x) for x in trace[name]] for name in "tv"]
        line = {"kind": kind, "seed": seed, "samples": samples, "counter": bool(trace.get("counter"))}
    line["truth"] = {
        "period": truth.get("period"),
        "periods": [float(x) for x in truth.get("periods") or []],
        "changing": [float(x) for x in truth.get("changing") or []],
        "also": truth.get("alt"),
    }
    line["readings"] = [
        {
            "name": reading.name,
            "lists": [
                [one.m, int(one.i[0]), int(one.i[-1]), short(one.oct), short(one.equal)]
                for one in reading.lists
            ],
        }
        for reading in readings
    ]
    places = [NAMES.index(name) for name in ORDER]
    line["rows"] = [
        {
            "form": rows[i].form,
            "readings": [one.r.name for one in rows[i].hs],
            "periods": [short(x) for x in rows[i].Ts],
            "features": [short(rows[i].f[place]) for place in places],
        }
        for i in np.argsort(-probabilities, kind="stable")[:most]
    ]
    line["answer"] = {
        "period": found["period"] and short(found["period"]),
        "periods": [short(x) for x in found["periods"]],
        "confidence": short(found["confidence"]),
    }
    foretold = next_start(trace, model)
    line["next"] = foretold and [short(x) for x in foretold]
    return json.dumps(line, separators=(",", ":"))


def main():
    out, *more = sys.argv[1:]
    seed, kinds, most = SEED, KINDS, ROWS
    if more:
        seed, most = int(more[0]), 10**6
        kinds = more[1:] or train_kinds()
    with open(out, "w", encoding="utf-8") as file:
        for kind in kinds:
            print(told(kind, seed, most), file=file, flush=True)


main()

"""Makes outliers.json and peaks.json: what scikit-learn and SciPy say.

python3 -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
venv/bin/python make.py
"""

import json

import numpy as np
from scipy.signal import find_peaks
from sklearn.cluster import DBSCAN
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

rng = np.random.default_rng(20240527)


def spectra():
    """Normalised contributions of k = 1, 2, ... of signals of different kinds."""
    n = 600
    t = np.arange(n)
    burst = lambda period, duty: ((t / period) % 1 < duty).astype(float)
    signals = {
        # A little noise, so that no two points are equally far from a third: which of them is a neighbour is
        # not defined.
        "bursts": burst(50, 0.2) + 0.01 * rng.random(n),
        "jittered": burst(47.3, 0.3) + 0.2 * rng.random(n),
        "two_waves": 3
        + np.cos(2 * np.pi * 13 * t / n)
        + 1.1 * np.cos(2 * np.pi * 31 * t / n)
        + 0.1 * rng.random(n),
        "noise": rng.random(n),
        "short": burst(8, 0.5)[:64] + 0.1 * rng.random(64),
    }
    for name, x in signals.items():
        p = 2 * np.abs(np.fft.rfft(x))[1:] ** 2 / len(x)
        yield name, p / p.sum()


def published_lof(d):
    model = LocalOutlierFactor(contamination=0.001, novelty=True).fit(d)
    return model.decision_function(d), model.predict(d)


out = []
for name, p in spectra():
    d = np.vstack((np.arange(1, len(p) + 1) / len(p), p)).T
    case = {"name": name, "p": p.tolist(), "dbscan": []}
    for tol in (0.8, 0.5):
        eps = np.sqrt(((p.max() - p.min()) * (1 - tol)) ** 2 + (d[1, 0] - d[0, 0]) ** 2)
        for min_samples in (2, 4):
            labels = DBSCAN(eps=eps, min_samples=min_samples).fit(d).labels_
            noise = [int(k) + 1 for k in np.where(labels == -1)[0]]
            case["dbscan"].append(
                {"tolerance": tol, "min_points": min_samples, "epsilon": eps, "noise": noise}
            )
    lof = LocalOutlierFactor().fit(d)
    estimate, predicted = published_lof(d)
    case["lof"] = {
        "factors": [round(x, 12) for x in -lof.negative_outlier_factor_],
        "estimate": [round(x, 12) for x in estimate],
        "outliers": [int(k) + 1 for k in np.where(predicted == -1)[0]],
    }
    # The mean over seeds is what a forest of any seed scatters around.
    scores = np.array([-IsolationForest(random_state=seed).fit(d).score_samples(d) for seed in range(20)])
    case["isolation_forest"] = {
        "mean": [round(x, 6) for x in scores.mean(axis=0)],
        "deviation": [round(x, 6) for x in scores.std(axis=0)],
    }
    out.append(case)
json.dump(out, open("outliers.json", "w"))

cases = []
for _ in range(40):
    x = np.round(rng.random(rng.integers(3, 80)) * rng.integers(3, 200)).tolist()
    height, distance, prominence = (
        float(rng.integers(0, 60)),
        int(rng.integers(1, 9)),
        float(rng.integers(1, 40)),
    )
    cases.append(
        {
            "x": x,
            "height": height,
            "distance": distance,
            "prominence": prominence,
            "plain": find_peaks(x)[0].tolist(),
            "by_height": find_peaks(x, height=height)[0].tolist(),
            "by_prominence": find_peaks(x, prominence=prominence)[0].tolist(),
        }
    )
    # Which of two equal peaks survives a distance is not defined: no ties there.
    y = (np.array(x) + 1e-3 * np.arange(len(x))).tolist()
    cases[-1].update(
        {
            "y": y,
            "by_distance": find_peaks(y, distance=distance)[0].tolist(),
            "by_all": find_peaks(y, height=height, distance=distance, prominence=prominence)[0].tolist(),
        }
    )
json.dump(cases, open("peaks.json", "w"))

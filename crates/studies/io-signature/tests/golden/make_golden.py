"""Makes wavelet.json and outliers.json with PyWavelets and scikit-learn; run it where these are installed."""
import json
import pathlib

import numpy as np
import pywt
import sklearn
from sklearn.neighbors import LocalOutlierFactor

HERE = pathlib.Path(__file__).parent
random = np.random.default_rng(14)


def smooth(signal, level):
    parts = pywt.wavedec(signal, "dmey", mode="symmetric", level=level)
    parts[1:] = [np.zeros_like(part) for part in parts[1:]]
    return pywt.waverec(parts, "dmey", mode="symmetric")[: len(signal)]


cases = []
for length in (65, 200, 333):
    signal = np.round(random.gamma(2, 0.05, length), 4)
    signal[length // 3: length // 3 + 20] += 2.5
    for level in (1, 2, 3):
        cases.append({"level": level, "signal": signal.tolist(), "smooth": smooth(signal, level).tolist()})
(HERE / "wavelet.json").write_text(json.dumps({"pywavelets": pywt.__version__, "cases": cases}) + "\n")

cases = []
for count, neighbours in ((6, 3), (10, 5), (30, 10)):
    points = np.round(random.normal(0, 1, (count, 2)), 4)
    points[0] += 6
    model = LocalOutlierFactor(n_neighbors=neighbours).fit(points)
    factors = (-model.negative_outlier_factor_).tolist()
    cases.append({"neighbours": neighbours, "points": points.tolist(), "factors": factors})
(HERE / "outliers.json").write_text(json.dumps({"scikit-learn": sklearn.__version__, "cases": cases}) + "\n")

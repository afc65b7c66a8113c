"""Writes fixture.json: what SciPy says of random pairs.

usage: pip install scipy; python make_fixture.py > fixture.json
"""
import json
import numpy as np
from scipy import special, stats

rng = np.random.default_rng(7)
pairs = []
for n in [2, 3, 5, 8, 11, 30, 200]:
    for shift in [0, 0.3]:
        a = np.round(rng.random(n), 3)
        b = np.round(np.clip(a + shift * rng.normal(size=n) + shift / 3, 0, 1), 3) if shift else np.round(rng.random(n), 3)
        t = stats.ttest_rel(a, b)
        case = {"a": a.tolist(), "b": b.tolist(), "t": t.statistic, "p": t.pvalue}
        if n <= 11:
            r = stats.permutation_test((a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", n_resamples=np.inf, vectorized=True)
            case["exact"] = r.pvalue
        if n >= 30:
            i = stats.bootstrap((a - b,), np.mean, confidence_level=0.95, n_resamples=50000, method="percentile", rng=1).confidence_interval
            case["low"], case["high"] = i.low, i.high
        pairs.append(case)
values = np.round(rng.normal(size=23), 3)
print(json.dumps({
    "pairs": pairs,
    "values": values.tolist(),
    "quantiles": {str(q): float(np.quantile(values, q)) for q in [0, 0.05, 0.5, 0.95, 0.99, 1]},
    "variance": float(np.var(values, ddof=1)),
    "betainc": [[x, a, b, float(special.betainc(a, b, x))] for x in [1e-6, 0.01, 0.3, 0.5, 0.77, 0.999] for a in [0.5, 1, 3.5, 60] for b in [0.5, 2, 150]],
}))

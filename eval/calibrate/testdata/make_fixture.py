"""Writes fixture.json: logistic fits that SciPy finds.

usage: pip install scipy; python make_fixture.py > fixture.json
"""
import json
import numpy as np
from scipy import optimize

rng = np.random.default_rng(11)


def logistic(rows, targets, ridge):
    """Weights of the raw features; ridge is on those of standardized ones."""
    mean, scale = rows.mean(0), rows.std(0)
    x = np.c_[np.ones(len(rows)), (rows - mean) / scale]

    def loss(w):
        z = x @ w
        return np.sum(np.logaddexp(0, z) - targets * z) + ridge / 2 * np.sum(w[1:] ** 2)

    def slope(w):
        g = x.T @ (1 / (1 + np.exp(-x @ w)) - targets)
        g[1:] += ridge * w[1:]
        return g

    w = optimize.minimize(loss, np.zeros(x.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 10000}).x
    weights = w[1:] / scale
    return {"bias": float(w[0] - weights @ mean), "weights": weights.tolist()}


cases = []
for n in [12, 60, 400]:
    score = np.round(np.sort(rng.normal(size=n)), 4)
    score = np.unique(score)
    right = rng.random(len(score)) < 1 / (1 + np.exp(-1.5 * score))
    rows = np.round(np.c_[score, rng.normal(size=len(score)) * 10 + 3], 4)
    cases.append({
        "right": right.tolist(), "rows": rows.tolist(),
        "logistic": logistic(rows, right.astype(float), 1.0),
    })
print(json.dumps(cases))

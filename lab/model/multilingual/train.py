"""Trains the table in the space of the frozen English table.

A batch is 512 pairs: the similarities between a text and the English of all pairs
shall be those that the English table gives, and a text shall lie where its English
lies. Every eighth batch is headings and the texts under them, in one language.
Rows move by Adam, only those of the batch.
usage: train.py START.npy STEPS SEED OUT.npy [dictionary] [key=value...]
"""
import os, sys, time
import numpy as np
import scipy.sparse as sp
import tables

RD = os.environ['RD']
WEIGHT = {'par': 1, 'name': 1, 'word': .5, 'text': .5, 'induced': .5, 'bag': 1}


def forward(counts, rows):
    x = counts @ rows
    n = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-6)
    return x / n, n


def backward(g, x, n):
    """The gradient before the vectors got length 1."""
    return (g - x * (g * x).sum(1, keepdims=True)) / n


def softmax(s):
    p = np.exp(s - s.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


class Adam:
    def __init__(self, rows):
        self.m, self.v = np.zeros_like(rows), np.zeros_like(rows)
        self.t = np.zeros(len(rows), np.int32)

    def step(self, rows, counts, g, rate):
        c = counts.tocsc()
        i = np.flatnonzero(np.diff(c.indptr))
        g = np.asarray(c[:, i].T @ g, np.float32)
        self.t[i] += 1
        t = self.t[i][:, None]
        m = self.m[i] = self.m[i] * .9 + .1 * g
        v = self.v[i] = self.v[i] * .99 + .01 * g * g
        rows[i] -= rate * (m / (1 - .9 ** t)) / (np.sqrt(v / (1 - .99 ** t)) + 1e-8)


def shares(language, kind, usable, weight, temper):
    """The chance of each pair: kinds by weight, languages by the tempered size of what they have."""
    w = usable.astype(float)
    for k, f in weight.items():
        w[kind == k] *= f
    for l in np.unique(language):
        s = language == l
        w[s] *= (w[s].sum() + 1e-9) ** -temper
    return np.cumsum(w / w.sum())


def train(rows, steps, seed, dictionary=False, rate=.06, temperature=.07, batch=512, every=8,
          temper=.35, **weight):
    rows, r, en = rows.copy(), np.random.default_rng(seed), tables.english().rows
    x, y, h, b = (sp.load_npz('%s/pairs/%s.npz' % (RD, n)) for n in 'xyhb')
    names = dict(np.load(RD + '/pairs/names.npz'))
    if dictionary:
        more = np.load(RD + '/pairs/dictionary.npz')
        load = lambda n: sp.load_npz('%s/pairs/dictionary_%s.npz' % (RD, n))
        x, y = sp.vstack([x, load('x')]).tocsr(), sp.vstack([y, load('y')]).tocsr()
        names.update({k: np.concatenate([names[k], more[k]]) for k in ('l', 'kind')})
    full = lambda a: np.diff(a.indptr) > 0
    Y = forward(y, en)[0].astype(np.float32)
    chance = shares(names['l'], names['kind'], full(x) & full(y), {**WEIGHT, **weight}, temper)
    ok = full(h) & full(b)
    groups = {l: np.flatnonzero((names['h'] == l) & ok) for l in np.unique(names['h'])}
    groups = [g for l, g in sorted(groups.items()) if len(g) > 1200]
    group = np.array([len(g) for g in groups]) ** .5
    adam, rate = Adam(rows), rate * float(np.sqrt((rows ** 2).mean()))
    start, right, cosine = time.time(), 0, 0
    for step in range(steps):
        now = rate * (1 - step / steps) * min(1, (step + 1) / 50)
        if step % every == every - 1:
            i = r.choice(groups[r.choice(len(groups), p=group / group.sum())], batch, replace=False)
            (H, nh), (B, nb) = forward(h[i], rows), forward(b[i], rows)
            s = H @ B.T / temperature
            g = (softmax(s) + softmax(s.T).T) / 2
            g[np.diag_indices(batch)] -= 1
            g /= batch * temperature
            g = np.concatenate([backward(g @ B, H, nh), backward(g.T @ H, B, nb)])
            adam.step(rows, sp.vstack([h[i], b[i]]), g, now)
            continue
        i = np.unique(np.searchsorted(chance, r.random(batch)).clip(0, len(chance) - 1))
        (X, n), T = forward(x[i], rows), Y[i]
        s, p = X @ T.T / temperature, softmax(T @ T.T / temperature)
        right, cosine = right + float((s.argmax(1) == np.arange(len(i))).mean()), cosine + float((X * T).sum(1).mean())
        g = (softmax(s) - p + (softmax(s.T) - p).T) / (2 * len(i) * temperature)
        adam.step(rows, x[i], backward(g @ T - T / len(i), X, n), now)
        if (step + 2) % 1000 == 0:
            print('step %d: own English first %.3f, cosine %.3f, %.0f s' % (
                step + 2, right / 875, cosine / 875, time.time() - start), flush=True)
            right = cosine = 0
    return rows


if __name__ == '__main__':
    start, steps, seed, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    options = {k: float(v) for k, v in (a.split('=') for a in sys.argv[5:] if '=' in a)}
    np.save(out, train(np.load(start), steps, seed, 'dictionary' in sys.argv, **options))

"""Trains the table of token vectors -> RD/table.npy [30522][256]float32.

A text's vector is the unit-length sum of the rows of its pieces, so the length of a row is the weight of its piece.
  1. Start: every piece alone through MiniLM, reduced to 256 axes by PCA, softly whitened, weighted by SIF
     (Arora, Liang, Ma: A Simple but Tough-to-Beat Baseline for Sentence Embeddings, 2017).
  2. Training on the teachers' pairs: the softmax of the student's similarities within a batch is drawn towards
     the mean of the teachers' (Kullback-Leibler), heads x bodies both ways and bodies x bodies, plus InfoNCE.
  3. Polish: InfoNCE on all pairs, then the mean of both tables.
NumPy only; about fifteen minutes on two cores.
"""
import glob, json, os, sys, time
import numpy as np
import scipy.sparse as sp
from tokenizers import Tokenizer
import teach

RD = os.environ["RD"]
DIMS = 256
TEMPERATURE = {"mini": 0.05, "bge": 0.02}


def tokenizer():
    t = Tokenizer.from_file(glob.glob(os.path.join(RD, "teachers/bge-small-en-v15/*tokenizer.json"))[0])
    t.no_padding()
    t.no_truncation()
    return t


def counts(texts):
    """[texts][vocabulary] piece counts, sparse."""
    t, pointers, indices = tokenizer(), [0], []
    for i in range(0, len(texts), 2000):
        for e in t.encode_batch(texts[i:i + 2000], add_special_tokens=False):
            indices.extend(e.ids)
            pointers.append(len(indices))
    m = sp.csr_matrix((np.ones(len(indices), np.float32), np.array(indices, np.int32), np.array(pointers)), shape=(len(texts), t.get_vocab_size()))
    m.sum_duplicates()
    return m


def cached_counts(name, texts):
    path = os.path.join(RD, name + ".npz")
    if not os.path.exists(path):
        sp.save_npz(path, counts(texts()))
    return sp.load_npz(path)


def start(frequency):
    encoder = teach.Encoder("mini", int8=False, threads=2)
    t = encoder.tokenizer
    cls, sep = t.token_to_id("[CLS]"), t.token_to_id("[SEP]")
    rows = []
    for i in range(0, t.get_vocab_size(), 128):
        hidden, _ = encoder.run([[cls, j, sep] for j in range(i, min(t.get_vocab_size(), i + 128))])
        rows.append(hidden[:, 0])
    x = np.concatenate(rows).astype(np.float32)
    x -= x.mean(0)
    values, vectors = np.linalg.eigh((x.T @ x).astype(np.float64))
    x = (x @ vectors[:, ::-1][:, :DIMS]).astype(np.float32)
    x /= np.sqrt(x.std(0))
    return x * (3e-4 / (3e-4 + frequency))[:, None].astype(np.float32)


def forward(b, table):
    x = b @ table
    n = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-6)
    return x / n, n


def backward(g, u, n):
    return (g - u * (g * u).sum(1, keepdims=True)) / n


def softmax(s):
    p = np.exp(s - s.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


class Adam:
    """Adam over the rows that a batch touches."""

    def __init__(self, table):
        self.m, self.v, self.t = np.zeros_like(table), np.zeros_like(table), 0

    def step(self, table, rows, g, rate):
        self.t += 1
        m = self.m[rows] * 0.9 + 0.1 * g
        v = self.v[rows] * 0.999 + 0.001 * g * g
        self.m[rows], self.v[rows] = m, v
        table[rows] -= rate * (m / (1 - 0.9 ** min(self.t, 1000))) / (np.sqrt(v / (1 - 0.999 ** min(self.t, 10000))) + 1e-8)


def train(table, heads, bodies, teachers, steps, rate, kl, nce, batch=512, temperature=0.05, seed=1):
    table = table.copy()
    rng, optimizer = np.random.default_rng(seed), Adam(table)
    rate *= float(np.sqrt((table ** 2).mean()))
    n = min([heads.shape[0]] + [len(t[0]) for t in teachers])
    usable = np.arange(n)[(np.asarray(heads.sum(1)).ravel()[:n] > 0) & (np.asarray(bodies.sum(1)).ravel()[:n] > 0)]
    order, pos, began, hit = rng.permutation(usable), 0, time.time(), 0.0
    for it in range(steps):
        if pos + batch > len(order):
            order, pos = rng.permutation(usable), 0
        ix = order[pos:pos + batch]
        pos += batch
        bq, bb = heads[ix], bodies[ix]
        q, nq = forward(bq, table)
        d, nd = forward(bb, table)
        gq, gd = np.zeros_like(q), np.zeros_like(d)
        s = q @ d.T / temperature
        hit += float((s.argmax(1) == np.arange(batch)).mean())
        if nce:
            g = (softmax(s) + softmax(s.T).T) / 2
            g[np.arange(batch), np.arange(batch)] -= 1
            g *= nce / batch / temperature
            gq += g @ d
            gd += g.T @ q
        if kl:
            s2 = d @ d.T / temperature
            np.fill_diagonal(s2, -1e4)
            p1 = p2 = p3 = 0
            for a, b, t in teachers:
                a, b = a[ix].astype(np.float32), b[ix].astype(np.float32)
                t1, t2 = a @ b.T / t, b @ b.T / t
                np.fill_diagonal(t2, -1e4)
                p1, p2, p3 = p1 + softmax(t1) / len(teachers), p2 + softmax(t1.T) / len(teachers), p3 + softmax(t2) / len(teachers)
            g = ((softmax(s) - p1) + (softmax(s.T) - p2).T) * (kl / 2 / batch / temperature)
            gq += g @ d
            gd += g.T @ q
            g = (softmax(s2) - p3) * (kl / 2 / batch / temperature)
            gd += (g + g.T) @ d
        both = sp.vstack([bq, bb]).tocsc()
        rows = np.flatnonzero(np.diff(both.indptr))
        g = both[:, rows].T @ np.concatenate([backward(gq, q, nq), backward(gd, d, nd)])
        optimizer.step(table, rows, g.astype(np.float32), rate * (1 - it / steps) * min(1, (it + 1) / 50))
        if (it + 1) % 200 == 0:
            print("   step %d, right body first %.3f, %.0f s" % (it + 1, hit / 200, time.time() - began), flush=True)
            hit = 0.0
    return table


def teacher_vectors(name):
    shards = sorted(glob.glob(os.path.join(RD, "emb", name + "_????.npy")))
    x = np.concatenate([np.load(f) for f in shards])
    return x[0::2], x[1::2], TEMPERATURE[name]


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 12000
    pairs = [json.loads(line) for line in open(os.path.join(RD, "pairs.jsonl"))]
    all_heads = cached_counts("pairs_q", lambda: [o["q"] for o in pairs])
    all_bodies = cached_counts("pairs_b", lambda: [o["b"] for o in pairs])
    frequency = np.asarray((all_heads.sum(0) + all_bodies.sum(0))).ravel() + 0.5
    path = os.path.join(RD, "start.npy")
    if not os.path.exists(path):
        np.save(path, start(frequency / frequency.sum()))
    table = np.load(path)
    sample = teach.sample()
    heads = cached_counts("sample_q", lambda: [o["q"] for o in sample])
    bodies = cached_counts("sample_b", lambda: [o["b"] for o in sample])
    teachers = [teacher_vectors(name) for name in ("mini", "bge")]
    table = train(table, heads, bodies, teachers, steps, rate=0.02, kl=1.0, nce=0.2)
    np.save(os.path.join(RD, "table-taught.npy"), table)
    polished = train(table, all_heads, all_bodies, [], min(600, steps), rate=0.01, kl=0.0, nce=1.0)
    np.save(os.path.join(RD, "table.npy"), ((table + polished) / 2).astype("<f4"))


if __name__ == "__main__":
    main()

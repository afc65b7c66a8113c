"""The table before training: FOLDER/start.npy.

Each piece alone goes through e5. The mean of the piece's main language is taken
away; a linear map, fitted on English words, leads to the space of sheaf-en-1; the
length is the piece's SIF weight: rare pieces count more.
"""
import os
import numpy as np
import e5, tables, vocab, words

RD = os.environ['RD']


def pieces():
    path = vocab.OUT + '/e5.npy'
    if not os.path.exists(path):
        e, ids = e5.Encoder(), np.load(vocab.OUT + '/ids.npy')
        out = [e.run([[e.bos, int(j), e.eos] for j in ids[i:i + 512]]) for i in range(0, len(ids), 512)]
        np.save(path, np.concatenate(out).astype(np.float32))
    return np.load(path)


if __name__ == '__main__':
    P, X, en = np.load(vocab.OUT + '/p.npz'), pieces(), tables.english()
    p = np.stack([P[l] for l in vocab.LANGUAGES])
    main = p.argmax(0)
    for i in range(len(vocab.LANGUAGES)):
        s = main == i
        if s.any():
            w = np.minimum(p[i, s], 1e-4) + 1e-9
            X[s] -= (X[s] * w[:, None]).sum(0) / w.sum()
    z = np.load('%s/words/en_%d.npz' % (RD, words.ENGLISH))
    W, A = list(z['w'])[:16000], z['e'][:16000].astype(np.float32)
    A -= A.mean(0)
    Y = en.embed(W)
    ridge = 1e-2 * (A ** 2).sum() / A.shape[1]
    R = np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ Y)
    print('fit on English words: mean cosine %.3f' % (tables.unit(A @ R) * Y).sum(1).mean())
    rows = tables.unit(X @ R) * (3e-4 / (3e-4 + p.max(0)))[:, None]
    length = lambda x: np.median(np.linalg.norm(x, axis=1))
    np.save(RD + '/start.npy', (rows * length(en.rows) / length(rows)).astype(np.float32))

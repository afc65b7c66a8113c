"""A dictionary from the teachers alone: FOLDER/induced/LANGUAGE.jsonl.

Each frequent word of a language gets its nearest English words: cosine of centred
vectors, corrected for words that are near to everything (CSLS). Both teachers vote
where the second knows the language. usage: words.py [LANGUAGE...]
"""
import json, os, re, sys, time
import numpy as np
import e5, use, vocab

RD = os.environ['RD']
ENGLISH, OTHER, DIMENSIONS = 40000, 15000, 256
# In this order, so that a run that stops early has the most useful languages.
LANGUAGES = ('el hi th ar tr ru zh vi es de ro ja ko uk fr it pt pl he fa nl cs sv id hu bg da fi nb ca sk hr sl '
             'lt lv bn ta ur fil ms').split()
WORD = re.compile(r"[^\W\d_](?:[^\d_]*[^\W\d_])?")
teachers = {}


def words(l, n):
    short = l in ('zh', 'ja')
    accents = re.compile('[\u0900-\u0e7f]')  # vowel signs of these scripts are no letters for re
    ok = lambda w: WORD.fullmatch(w) or accents.search(w) and not re.search(r'[\d_]', w)
    found = [w for w, _ in vocab.frequencies(l) if ok(w) and (len(w) > 1 or short)]
    if l == 'en':
        other = [dict(vocab.frequencies(x)) for x in ('de', 'es', 'fr', 'it', 'nl', 'pt')]
        mine = dict(vocab.frequencies('en'))
        found = [w for w in found if mine[w] > .01 * max(o.get(w, 0) for o in other)]
    return found[:n]


def vectors(l, n):
    path = '%s/words/%s_%d.npz' % (RD, l, n)
    if not os.path.exists(path):
        if not teachers:
            teachers.update(e=e5.Encoder(24), u=use.Encoder(24))
        w = words(l, n)
        u = teachers['u'].embed(w) if l in use.LANGUAGES else np.zeros((0, 512), np.float32)
        e = teachers['e'].embed(w, '')
        np.savez(path, w=np.array(w), e=e.astype(np.float16), u=u.astype(np.float16))
    z = np.load(path)
    return list(z['w']), centred(z['e']), centred(z['u']) if len(z['u']) else None


def centred(x):
    x = x.astype(np.float32)
    x -= x.mean(0)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def axes(x):
    """The main axes of x, to shorten vectors with little loss."""
    _, v = np.linalg.eigh(x.T @ x)
    return v[:, ::-1][:, :DIMENSIONS].astype(np.float32)


def best_of_blocks(S, n=10, block=50):
    """About the mean of the n largest of each row: those of different blocks."""
    S = S[:, :S.shape[1] // block * block].reshape(len(S), -1, block).max(2)
    return np.partition(S, -n, 1)[:, -n:].mean(1)


def translate(X, Y):
    """For each row of X the three best rows of Y and how good they are."""
    sample = X[np.random.default_rng(7).permutation(len(X))[:5000]]
    crowd = np.concatenate([best_of_blocks(Y[i:i + 500] @ sample.T, 10 * len(sample) // len(X) or 1, 5)
                            for i in range(0, len(Y), 500)])
    best, value = np.zeros((len(X), 3), int), np.zeros((len(X), 3), np.float32)
    for i in range(0, len(X), 500):
        S = X[i:i + 500] @ Y.T
        mine = best_of_blocks(S)[:, None]
        S *= 2
        S -= crowd
        for k in range(3):
            j = S.argmax(1)
            r = np.arange(len(S))
            best[i:i + 500, k], value[i:i + 500, k] = j, S[r, j] - mine[:, 0]
            S[r, j] = -9
    return best, value


if __name__ == '__main__':
    os.makedirs(RD + '/words', exist_ok=True)
    os.makedirs(RD + '/induced', exist_ok=True)
    english, E, U = vectors('en', ENGLISH)
    both = np.concatenate([E, U], 1) * np.float32(.5 ** .5)
    turn = {False: axes(E), True: axes(both)}
    target = {False: E @ turn[False], True: both @ turn[True]}
    for l in sys.argv[1:] or LANGUAGES:
        path = '%s/induced/%s.jsonl' % (RD, l)
        if os.path.exists(path):
            continue
        start = time.process_time()
        w, X, V = vectors(l, OTHER)
        two = V is not None
        X = np.concatenate([X, V], 1) * np.float32(.5 ** .5) if two else X
        best, value = translate(X @ turn[two], target[two])
        kept = 0
        with open(path + '.part', 'w', encoding='utf-8') as out:
            for q, b, v in zip(w, best, value):
                if v[0] > .05:
                    kept += 1
                    near = [english[j] for j, x in zip(b, v) if x > v[0] - .06]
                    out.write(json.dumps({'l': l, 'q': q, 'b': ' '.join(near), 'c': round(float(v[0]), 3)},
                                         ensure_ascii=False) + '\n')
        os.rename(path + '.part', path)
        some = [(str(w[i]), str(english[best[i, 0]]), round(float(value[i, 0]), 2)) for i in range(700, len(w), 3000)]
        print(l, kept, 'of', len(w), some, '%.0f s' % (time.process_time() - start), flush=True)

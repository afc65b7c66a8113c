"""Pairs from the induced dictionary: FOLDER/pairs/dictionary_{x,y}.npz, dictionary.npz.

Words with their English, and bags: words of a language drawn at random, with the sum
of their English words. Bags teach how much a word weighs beside others, which single
words cannot.
"""
import glob, json
import numpy as np
import scipy.sparse as sp
import tables, vocab
from pairs import OUT, RD

BAGS = 12000
SURE = .12  # how good a translation must be, as words.py measures it


def bags(dictionary, ml, en, r):
    """Counts of bags of 2 to 12 words, frequent words more often, and of their English."""
    xs, ys, names = [], [], []
    for l in sorted(dictionary):
        d = dictionary[l]
        x = ml.counts(ml.ids([q for q, _, _ in d]))
        y = en.counts(en.ids([b for _, b, _ in d]))
        p = np.array([(i + 50.) ** -.5 for _, _, i in d])
        sizes = r.integers(2, 13, BAGS)
        rows = np.repeat(np.arange(BAGS), sizes)
        draw = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, r.choice(len(d), len(rows), p=p / p.sum()))),
                             shape=(BAGS, len(d)))
        xs.append(draw @ x)
        ys.append(draw @ y)
        names += [l] * BAGS
    return sp.vstack(xs), sp.vstack(ys), names


if __name__ == '__main__':
    en, ml = tables.english(), tables.multilingual()
    pairs, dictionary = [], {}
    for path in sorted(glob.glob(RD + '/induced/*.jsonl')):
        for i, o in enumerate(map(json.loads, open(path, encoding='utf-8'))):
            if o['c'] > SURE:
                pairs.append((o['l'], o['q'], o['b']))
                dictionary.setdefault(o['l'], []).append((o['q'], o['b'].split(' ')[0], i))
    dictionary['en'] = [(w, w, i) for i, (w, _) in enumerate(vocab.frequencies('en')[:25000]) if w[0].isalpha()]
    x, y, names = bags(dictionary, ml, en, np.random.default_rng(5))
    x = sp.vstack([ml.counts(ml.ids([p[1] for p in pairs])), x]).tocsr()
    y = sp.vstack([en.counts(en.ids([p[2] for p in pairs])), y]).tocsr()
    sp.save_npz(OUT + '/dictionary_x.npz', x, compressed=False)
    sp.save_npz(OUT + '/dictionary_y.npz', y, compressed=False)
    np.savez(OUT + '/dictionary.npz', l=np.array([p[0] for p in pairs] + names),
             kind=np.array(['induced'] * len(pairs) + ['bag'] * len(names)))
    print(len(pairs), 'words', len(names), 'bags', {l: len(v) for l, v in dictionary.items()})

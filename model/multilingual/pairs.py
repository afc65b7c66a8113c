"""Counts of pieces of all pairs to train on: FOLDER/pairs/{x,y,h,b}.npz and names.npz.

x is a text in any language and y its English, in pieces of the English table; h is
a heading and b the text under it. To the pairs of texts.jsonl come English words and
texts as themselves, the induced dictionary, and bags: some words of the dictionary
drawn at random, with the sum of their English words. Bags teach how much a word
weighs beside others, which single words cannot.
"""
import collections, glob, json, os, random
import numpy as np
import scipy.sparse as sp
import tables, vocab

RD = os.environ['RD']
OUT = RD + '/pairs'
MOST = {'par': 22000, 'head': 9000, 'name': 8000, 'geonames': 6000}
BAGS = 12000


def sample():
    r, kept, count = random.Random(11), collections.defaultdict(list), collections.Counter()
    for line in open(RD + '/texts.jsonl', encoding='utf-8'):
        o = json.loads(line)
        if o['l'] not in vocab.LANGUAGES:
            continue
        k = o['s'] if o['s'] == 'geonames' else o['k']
        g = o['l'], k
        count[g] += 1
        if len(kept[g]) < MOST[k]:
            kept[g].append(o)
        elif k != 'geonames':  # cities come by population, and the largest are kept
            j = r.randrange(count[g])
            if j < MOST[k]:
                kept[g][j] = o
    return kept


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
    os.makedirs(OUT, exist_ok=True)
    en, ml, r = tables.english(), tables.multilingual(), random.Random(3)
    kept = sample()
    pairs = [(o['l'], k, o['q'][:400], o['b'][:400]) for (l, k), v in sorted(kept.items()) if k != 'head' for o in v]
    heads = [(o['l'], o['q'][:200], o['b'][:500]) for (l, k), v in sorted(kept.items()) if k == 'head' for o in v]
    for w, _ in vocab.frequencies('en')[:60000]:
        if w[0].isalpha():
            pairs.append(('en', 'word', w, w))
    whole = sorted({p[3] for p in pairs if p[1] == 'par'} | {t for l, q, b in heads if l == 'en' for t in (q, b)})
    r.shuffle(whole)
    for t in whole[:25000]:
        w = t.split()
        k = r.randrange(0, max(1, len(w) - 8))
        t = ' '.join(w[k:k + r.randrange(3, 30)])
        pairs.append(('en', 'text', t, t))
    dictionary = {}
    for path in sorted(glob.glob(RD + '/induced/*.jsonl')):
        for i, o in enumerate(map(json.loads, open(path, encoding='utf-8'))):
            if o['c'] > .12:
                pairs.append((o['l'], 'induced', o['q'], o['b']))
                dictionary.setdefault(o['l'], []).append((o['q'], o['b'].split(' ')[0], i))
    dictionary['en'] = [(w, w, i) for i, (w, _) in enumerate(vocab.frequencies('en')[:25000]) if w[0].isalpha()]
    x, y, names = bags(dictionary, ml, en, np.random.default_rng(5))
    x = sp.vstack([ml.counts(ml.ids([p[2] for p in pairs])), x]).tocsr()
    y = sp.vstack([en.counts(en.ids([p[3] for p in pairs])), y]).tocsr()
    sp.save_npz(OUT + '/x.npz', x, compressed=False)
    sp.save_npz(OUT + '/y.npz', y, compressed=False)
    for name, i in (('h', 1), ('b', 2)):
        sp.save_npz('%s/%s.npz' % (OUT, name), ml.counts(ml.ids([h[i] for h in heads])), compressed=False)
    kind = [p[1] for p in pairs] + ['bag'] * len(names)
    np.savez(OUT + '/names.npz', l=np.array([p[0] for p in pairs] + names), kind=np.array(kind),
             h=np.array([h[0] for h in heads]))
    print(collections.Counter(kind), len(heads), 'headings')

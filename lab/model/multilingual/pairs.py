"""Counts of pieces of the texts to train on: FOLDER/pairs/{x,y,h,b}.npz and names.npz.

x is a text in any language and y its English, in pieces of the English table; h is
a heading and b the text under it. English words and texts come as themselves too,
so that an English name in another text lies where it lies in English.
"""
import collections, json, os, random
import numpy as np
import scipy.sparse as sp
import tables, vocab

RD = os.environ['RD']
OUT = RD + '/pairs'
MOST = {'par': 12000, 'head': 6000, 'name': 6000}


def sample():
    r, kept, count = random.Random(11), collections.defaultdict(list), collections.Counter()
    for line in open(RD + '/texts.jsonl', encoding='utf-8'):
        o = json.loads(line)
        if o['l'] not in vocab.LANGUAGES:
            continue
        g = o['l'], o['k']
        count[g] += 1
        if len(kept[g]) < MOST[o['k']]:
            kept[g].append(o)
        else:
            j = r.randrange(count[g])
            if j < MOST[o['k']]:
                kept[g][j] = o
    return kept


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
    for name, table, texts in (('x', ml, [p[2] for p in pairs]), ('y', en, [p[3] for p in pairs]),
                               ('h', ml, [h[1] for h in heads]), ('b', ml, [h[2] for h in heads])):
        sp.save_npz('%s/%s.npz' % (OUT, name), table.counts(table.ids(texts)), compressed=False)
    kind = [p[1] for p in pairs]
    np.savez(OUT + '/names.npz', l=np.array([p[0] for p in pairs]), kind=np.array(kind),
             h=np.array([h[0] for h in heads]))
    print(collections.Counter(kind), len(heads), 'headings')

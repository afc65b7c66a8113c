"""Chooses the pieces of the table: FOLDER/vocab/{tokenizer.json,ids.npy,p.npz}.

The pieces are a subset of the teacher's. p[language][piece] is the probability of a
piece in a language, from word frequencies and from texts.jsonl. Single characters
that occur are always kept; the rest are those with the largest sum over languages
of weight * sqrt(p). usage: vocab.py PIECES
"""
import collections, json, os, random, re, sys
import numpy as np
import e5

RD = os.environ['RD']
OUT = RD + '/vocab'
LANGUAGES = ('en de fr es pt it nl pl cs sk ru uk bg sr hr sl ro hu fi et lt lv sv da nb el tr ar fa he ur hi bn ta '
             'th vi id ms fil sw ca zh zht ja ko').split()
WORDFREQ = {'hr': 'sh', 'zht': 'zh'}  # names of word lists that differ from the language's
# Languages that a cut vocabulary splits into many more pieces get more of them.
WEIGHT = {'en': 2, 'el': 2.4, 'th': 2.4, 'hi': 2.4, 'ru': 2.2, 'ar': 2, 'uk': 1.9, 'he': 1.9, 'ja': 1.6, 'tr': 1.6,
          'pl': 1.5, 'hu': 1.4, 'bg': 1.4, 'ko': 1.4, 'de': 1.3, 'zh': 2.2, 'fa': 1.2, 'vi': 1.2}


def texts(n, cache={}):
    """A sample of n texts a language, the same each time."""
    if n in cache:
        return cache[n]
    r, sample, count = random.Random(5), collections.defaultdict(list), collections.Counter()
    for line in open(RD + '/texts.jsonl', encoding='utf-8'):
        o = json.loads(line)
        if o['k'] == 'name':
            continue
        l, t = o['l'], o['q'] + ' ' + o['b'] if o['k'] == 'head' else o['q']
        count[l] += 1
        if len(sample[l]) < n:
            sample[l].append(t)
        else:
            j = r.randrange(count[l])
            if j < n:
                sample[l][j] = t
    cache[n] = sample
    return sample


def frequencies(l):
    """Words of a language with their frequency, most frequent first; empty where no list is known."""
    if l == 'th':
        path = RD + '/pythainlp/pythainlp/corpus/tnc_freq.txt'
        rows = [line.rstrip('\n').split('\t') for line in open(path, encoding='utf-8')]
        return sorted(((w, float(n)) for w, n in rows if w.strip()), key=lambda x: (-x[1], x[0]))
    import wordfreq
    name = WORDFREQ.get(l, l)
    if name not in wordfreq.available_languages('small') or l == 'sr':
        return []
    size = 'large' if name in wordfreq.available_languages('large') else 'small'
    found = wordfreq.get_frequency_dict(name, size).items()
    if l == 'el':  # the list folds the final sigma
        found = [(re.sub('σ$', 'ς', w), f) for w, f in found]
    return sorted(found, key=lambda x: (-x[1], x[0]))


def probabilities(tokenizer, pieces):
    sample, P = texts(6000), {}
    for l in LANGUAGES:
        ids = [i for e in tokenizer.encode_batch(sample[l], add_special_tokens=False) for i in e.ids]
        a, b = np.bincount(np.array(ids, int), minlength=pieces).astype(float), np.zeros(pieces)
        words = frequencies(l)[:60000] if l != 'zht' else []
        for e, (_, f) in zip(tokenizer.encode_batch([w for w, _ in words], add_special_tokens=False), words):
            for i in e.ids:
                b[i] += f
        a /= max(1, a.sum())
        P[l] = .35 * a + .65 * b / b.sum() if b.sum() else a
        print(l, len(sample[l]), 'texts', len(words), 'words', int((P[l] > 0).sum()), 'pieces', flush=True)
    return P


if __name__ == '__main__':
    size = int(sys.argv[1])
    os.makedirs(OUT, exist_ok=True)
    m = e5.read()
    pieces, scores = m['pieces'], m['scores']
    whole = e5.tokenizer(list(zip(pieces, map(float, scores))), m['unk'], True)
    P = probabilities(whole, len(pieces))
    value = sum(np.sqrt(P[l]) * WEIGHT.get(l, 1) for l in LANGUAGES)
    single = np.array([len(p) == 1 or len(p) == 2 and p[0] == '▁' for p in pieces])
    value[single & (value > 0)] += 1000
    value[:4] = 10000  # <s>, <pad>, </s>, <unk>
    keep = np.sort(np.lexsort((np.arange(len(value)), -value))[:size])
    cut = e5.tokenizer([(pieces[i], float(scores[i])) for i in keep], int(np.flatnonzero(keep == m['unk'])[0]), True)
    np.save(OUT + '/ids.npy', keep)
    cut.save(OUT + '/tokenizer.json')
    print('kept', len(keep), 'of', int((value > 0).sum()), 'single', int(single[keep].sum()))
    P = probabilities(cut, len(keep))
    np.savez(OUT + '/p.npz', **P)
    sample = {l: t[:300] for l, t in texts(6000).items()}
    for l in LANGUAGES:
        a, b = (sum(len(e.ids) for e in t.encode_batch(sample[l], add_special_tokens=False)) for t in (whole, cut))
        w = [x for x, _ in frequencies(l)[:8000]]
        c, d = (sum(len(e.ids) for e in t.encode_batch(w, add_special_tokens=False)) for t in (whole, cut))
        print(l, 'pieces of texts %+.1f %%, of words %+.1f %%' % (100 * (b / max(a, 1) - 1), 100 * (d / max(c, 1) - 1)))

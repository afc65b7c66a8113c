"""Judges a table. Nothing here is used for training.

usage: judge.py TABLE.npy [bits]

DATA    folder with collections in BEIR layout: anchors-react-ja, cmrc2018-zh
XQUAD   folder with the files xquad.LANGUAGE.json (CC BY-SA 4.0, by name from GitHub)
RULES   folder with bm25.py, a plain BM25
"""
import gzip, json, os, sys
import numpy as np
import scipy.sparse as sp
import route, tables

LANGUAGES = 'ar de el es hi ro ru th tr vi zh'.split()
GAIN = 1 / np.log2(np.arange(2, 12))


def xquad(l):
    """Identifiers and texts of paragraphs, questions, and the right paragraph of each."""
    d = json.load(open('%s/xquad.%s.json' % (os.environ['XQUAD'], l), encoding='utf-8'))['data']
    paragraphs = [p for a in d for p in a['paragraphs']]
    questions = [(q['question'], i) for i, p in enumerate(paragraphs) for q in p['qas']]
    return [p['context'] for p in paragraphs], [q for q, _ in questions], [{i: 1} for _, i in questions]


def collection(name):
    folder = os.environ['DATA'] + '/' + name

    def lines(f):
        open_ = open if os.path.exists(folder + '/' + f) else gzip.open
        return [json.loads(x) for x in open_(folder + '/' + f + ('.gz' if open_ is gzip.open else ''), 'rt')]
    docs, queries = lines('corpus.jsonl'), {q['_id']: q['text'] for q in lines('queries.jsonl')}
    place, right = {d['_id']: i for i, d in enumerate(docs)}, {}
    for line in list(open(folder + '/qrels/test.tsv'))[1:]:
        q, d, s = line.split('\t')
        if int(s) > 0:
            right.setdefault(q, {})[place[d]] = int(s)
    names = sorted(right)
    names = names[::-(-len(names) // 600)]
    return [d.get('title') or '' for d in docs], [d['text'] for d in docs], [queries[q] for q in names], [
        right[q] for q in names]


def bm25(docs, queries, k1=1.2, b=.75):
    sys.path.insert(0, os.environ['RULES'])
    from bm25 import toks
    place, rows, columns, values, length = {}, [], [], [], []
    for i, d in enumerate(docs):
        words = toks(d)
        length.append(len(words))
        for w in words:
            rows.append(i), columns.append(place.setdefault(w, len(place)))
    tf = sp.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(docs), len(place))).tocsr()
    tf.sum_duplicates()
    length = np.array(length, float)
    df = np.bincount(tf.indices, minlength=len(place))
    idf = np.log(1 + (len(docs) - df + .5) / (df + .5))
    of = np.repeat(np.arange(len(docs)), np.diff(tf.indptr))
    tf.data = idf[tf.indices] * tf.data / (tf.data + k1 * (1 - b + b * length[of] / length.mean()))
    pairs = [(i, place[t]) for i, q in enumerate(queries) for t in toks(q) if t in place]
    q = sp.csr_matrix((np.ones(len(pairs)), tuple(zip(*pairs)) if pairs else ([], [])),
                      shape=(len(queries), len(place)))
    return (q @ tf.T).toarray()


def z(S):
    return (S - S.mean(1, keepdims=True)) / np.maximum(S.std(1, keepdims=True), 1e-9)


def scores(S, right):
    """Mean nDCG@10 and recall@10."""
    n, r = [], []
    for row, rel in zip(S, right):
        top = np.lexsort((np.arange(len(row)), -row))[:10]
        g = np.array([rel.get(int(d), 0) for d in top], float)
        ideal = np.array(sorted(rel.values(), reverse=True)[:10], float)
        n.append((g * GAIN[:len(g)]).sum() / (ideal * GAIN[:len(ideal)]).sum())
        r.append((g > 0).sum() / min(10, len(rel)))
    return np.mean(n), np.mean(r)


def similarities(queries, passages, start):
    return np.maximum.reduceat(queries @ passages.T, start, axis=1)


def own(name, titles, texts, queries, right, table):
    words = bm25([(a + ' ' + b).strip() for a, b in zip(titles, texts)], queries)
    S = similarities(table.embed(queries), *table.passages(titles, texts))
    return [scores(x, right)[0] for x in (words, S, .6 * z(words) + .4 * z(S))]


if __name__ == '__main__':
    rows = np.load(sys.argv[1]).astype(np.float32)
    bits = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    rows = tables.quantised(rows, bits) if bits < 32 else rows
    en, ml = tables.english(), tables.multilingual(rows)
    print(sys.argv[1], bits, 'bits', len(rows), 'rows')
    texts, questions, right = xquad('en')
    blank = [''] * len(texts)
    english, asked = en.passages(blank, texts), en.embed(questions)
    total = []
    for l in LANGUAGES:
        other, q, r = xquad(l)
        there, by = ml.passages(blank, other), ml.embed(q)
        row = list(scores(similarities(by, *there), r)) + list(scores(similarities(by, *english), r)) + list(
            scores(similarities(asked, *there), r))
        total.append(row)
        print('%s own %.3f/%.3f  to English %.3f/%.3f  from English %.3f/%.3f' % (l, *row), flush=True)
    print('mean own %.3f/%.3f  to English %.3f/%.3f  from English %.3f/%.3f (nDCG@10/recall@10)' % tuple(
        np.mean(total, 0)))
    if 'fast' in sys.argv:
        sys.exit()
    total = []
    sets = [(n,) + collection(n) for n in ('anchors-react-ja', 'cmrc2018-zh')]
    for name, *x in sets + [('xquad ' + l, blank, *xquad(l)) for l in LANGUAGES]:
        total.append(own(name, *x, ml))
        print('%s: BM25 %.3f vectors %.3f both %.3f' % (name, *total[-1]), flush=True)
    print('mean of %d: BM25 %.3f vectors %.3f both %.3f' % (len(total), *np.mean(total, 0)))
    r = route.bytes_of_pieces()
    for l in ['en'] + LANGUAGES:
        texts, q, _ = xquad(l)
        good = [np.mean(route.is_english(ml, r, t) == (l == 'en')) for t in (q, texts)]
        print('%s: right table for %.2f %% of questions, %.2f %% of paragraphs' % (l, *(100 * np.array(good))))

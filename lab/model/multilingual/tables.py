"""Both tables as NumPy arrays, and the vectors of texts."""
import os, struct
import numpy as np
import scipy.sparse as sp

RD = os.environ['RD']
HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.join(HERE, '..', '..', '..')
ENGLISH = REPOSITORY + '/model/static/english/sheaf-en-1.bin'
PIECES = REPOSITORY + '/model/static/testdata/vocab.txt'


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


class Table:
    def __init__(self, rows, tokenizer):
        self.rows, self.tokenizer = rows, tokenizer

    def ids(self, texts):
        return [e.ids for i in range(0, len(texts), 2000)
                for e in self.tokenizer.encode_batch(texts[i:i + 2000], add_special_tokens=False)]

    def counts(self, ids):
        """A sparse matrix: how often each text has each piece."""
        ends = np.cumsum([0] + [len(x) for x in ids])
        columns = np.fromiter((j for x in ids for j in x), np.int32, ends[-1])
        return sp.csr_matrix((np.ones(ends[-1], np.float32), columns, ends),
                             shape=(len(ids), self.tokenizer.get_vocab_size()))

    def embed(self, texts):
        return unit(self.counts(self.ids(texts)) @ self.rows)

    def passages(self, titles, texts, size=64, stride=48):
        """Vectors of passages under their title, and where each document starts."""
        out, start = [], []
        for title, text in zip(self.ids(titles), self.ids(texts)):
            start.append(len(out))
            i = 0
            while True:
                out.append(title + text[i:i + size])
                if i + size >= len(text):
                    break
                i += stride
        return unit(self.counts(out) @ self.rows), np.array(start)


def english():
    """The table sheaf-en-1 as float32; model/static documents the file."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import WordPiece
    d = open(ENGLISH, 'rb').read()
    dims, pieces, slots, text = struct.unpack_from('<8I', d, 8)[1:5]
    o = 80
    scale = np.frombuffer(d, '<f4', pieces, o)
    o += 8 * pieces + 4 * slots + (text + 3 & ~3)
    rows = np.frombuffer(d, np.int8, pieces * dims, o).reshape(pieces, dims) * scale[:, None]
    vocabulary = {w: i for i, w in enumerate(open(PIECES, encoding='utf-8').read().split('\n')[:pieces])}
    t = Tokenizer(WordPiece(vocabulary, unk_token='[UNK]', max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return Table(rows.astype(np.float32), t)


def multilingual(rows=None):
    from tokenizers import Tokenizer
    return Table(rows, Tokenizer.from_file(RD + '/vocab/tokenizer.json'))


def quantised(rows, bits=4):
    """The rows as the packed file keeps them: integers with a scale a row."""
    most = 2 ** (bits - 1) - 1
    scale = np.abs(rows).max(1, keepdims=True) / most
    scale = scale.astype(np.float16).astype(np.float32)
    scale[scale == 0] = 1
    return (np.clip(np.round(rows / scale), -most, most) * scale).astype(np.float32)

"""Writes what the packer reads: FOLDER/out/{vocab.tsv,table.npy}.

usage: export.py TABLE.npy
vocab.tsv has a line a piece, in the order of the rows: piece, score, routing byte,
and 1 when the piece was in a text that the table was trained on.
"""
import json, os, sys
import numpy as np
import scipy.sparse as sp
import route, vocab

RD = os.environ['RD']
SEEN = 3  # texts of training that a piece must be in


def seen():
    x = sp.vstack([sp.load_npz('%s/pairs/%s.npz' % (RD, n)) for n in ('x', 'dictionary_x', 'h', 'b')])
    return np.bincount(x.tocsr().indices, minlength=x.shape[1]) >= SEEN


if __name__ == '__main__':
    out = RD + '/out'
    os.makedirs(out, exist_ok=True)
    pieces = json.load(open(vocab.OUT + '/tokenizer.json', encoding='utf-8'))['model']['vocab']
    if len(sys.argv) > 1:
        table = np.load(sys.argv[1]).astype(np.float32)
        assert len(table) == len(pieces)
        np.save(out + '/table.npy', table)
        known = seen()
    else:
        known = np.ones(len(pieces), bool)
    r = route.bytes_of_pieces()
    with open(out + '/vocab.tsv', 'w', encoding='utf-8') as f:
        for (piece, score), byte, bit in zip(pieces, r, known):
            assert not set(piece) & set('\t\n\r')
            f.write('%s\t%.9g\t%d\t%d\n' % (piece, score, byte, bit))
    print(len(pieces), 'pieces,', int(known.sum()), 'seen')

"""Writes segments.json: sentences in many languages with the numbers of their pieces, as the reference tokenizer says.

usage: pip install tokenizers; python make_segments.py VOCAB.TSV
The vocabulary is the file that model/multilingual writes and model/pack reads.
"""
import json, os, sys
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import Unigram

here = os.path.dirname(os.path.abspath(__file__))
pieces = []
for line in open(sys.argv[1], encoding="utf-8", newline="\n"):
    piece, score, _, _ = line.rstrip("\n").split("\t")
    pieces.append((piece, float(score)))
unknown = [p for p, _ in pieces].index("<unk>")
tok = Tokenizer(Unigram(pieces, unk_id=unknown))
tok.normalizer = normalizers.Sequence(
    [normalizers.NFKC(), normalizers.Lowercase(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()])
tok.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
texts = [line.rstrip("\n") for line in open(here + "/sentences.txt", encoding="utf-8")]
out = [{"Text": t, "Pieces": tok.encode(t, add_special_tokens=False).ids} for t in texts]
with open(here + "/segments.json", "w", encoding="utf-8") as f:
    f.write("[\n" + ",\n".join(json.dumps(o, ensure_ascii=False) for o in out) + "\n]\n")

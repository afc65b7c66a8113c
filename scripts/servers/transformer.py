"""A real transformer behind the endpoints that Sheaf speaks to, for tests.

    transformer.py MODEL_FOLDER PORT

serves all-MiniLM-L6-v2 (Apache-2.0) on loopback by numpy alone: POST
/v1/embeddings as OpenAI does, POST /v1/rerank as Cohere does and POST /rerank as
Text Embeddings Inference does. It is no cross-encoder: the score of a text is its
cosine with the query. GET /health answers when it is ready.
"""
import json, math, struct, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from tokenizers import Tokenizer

LAYERS, HEADS, LENGTH = 6, 12, 256


def tensors(path):
    """The tensors of a safetensors file, float32, by name."""
    with open(path, "rb") as f:
        raw = f.read()
    size = struct.unpack("<Q", raw[:8])[0]
    out = {}
    for name, about in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = about["data_offsets"]
            out[name] = np.frombuffer(raw, np.float32, (end - start) // 4, 8 + size + start).reshape(about["shape"])
    return out


def erf(x):
    """The error function to 1.5e-7: Abramowitz and Stegun 7.1.26."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    y = 1 - (((((1.061405429 * t - 1.453152027) * t) + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * np.exp(-x * x)
    return np.sign(x) * y


class Model:
    def __init__(self, folder):
        self.w = tensors(folder + "/model.safetensors")
        self.tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
        self.tokenizer.enable_truncation(LENGTH)
        self.tokenizer.enable_padding()

    def dense(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def embed(self, texts):
        """Unit vectors of texts, [n, 384]: the mean of the last layer (BERT, Devlin et al. 2019)."""
        encoded = self.tokenizer.encode_batch(texts)
        ids = np.array([e.ids for e in encoded])
        mask = np.array([e.attention_mask for e in encoded], np.float32)
        n, length = ids.shape
        x = self.w["embeddings.word_embeddings.weight"][ids] + self.w["embeddings.position_embeddings.weight"][:length]
        x = self.norm(x + self.w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        away = (1 - mask)[:, None, None, :] * -1e9

        def split(y):
            return y.reshape(n, length, HEADS, -1).transpose(0, 2, 1, 3)

        for layer in range(LAYERS):
            p = f"encoder.layer.{layer}."
            q, k, v = (split(self.dense(x, p + "attention.self." + part)) for part in ("query", "key", "value"))
            score = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1]) + away
            score = np.exp(score - score.max(-1, keepdims=True))
            score /= score.sum(-1, keepdims=True)
            y = (score @ v).transpose(0, 2, 1, 3).reshape(n, length, -1)
            x = self.norm(x + self.dense(y, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            y = self.dense(x, p + "intermediate.dense")
            y = y * 0.5 * (1 + erf(y / math.sqrt(2)))
            x = self.norm(x + self.dense(y, p + "output.dense"), p + "output.LayerNorm")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def embed_all(self, texts):
        """embed in the order of lengths, so that little is padding."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        out = np.zeros((len(texts), 384), np.float32)
        for i in range(0, len(order), 16):
            part = order[i:i + 16]
            out[part] = self.embed([texts[j] for j in part])
        return out


def answer(model, path, body):
    if path == "/v1/embeddings":
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        vectors = model.embed_all(texts)
        return {"object": "list", "model": "all-MiniLM-L6-v2",
                "data": [{"object": "embedding", "index": i, "embedding": [round(float(x), 7) for x in v]} for i, v in enumerate(vectors)]}
    texts = body["documents" if path == "/v1/rerank" else "texts"]
    vectors = model.embed_all([body["query"]] + texts)
    scores = [float(s) for s in vectors[1:] @ vectors[0]]
    order = sorted(range(len(texts)), key=lambda i: -scores[i])
    if path == "/v1/rerank":
        return {"results": [{"index": i, "relevance_score": scores[i]} for i in order]}
    return [{"index": i, "score": scores[i]} for i in order]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200 if self.path == "/health" else 404, {})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path not in ("/v1/embeddings", "/v1/rerank", "/rerank"):
            return self.reply(404, {"error": {"message": "no such address"}})
        try:
            value = answer(self.server.model, self.path, json.loads(raw))
        except (KeyError, ValueError, TypeError) as fault:
            return self.reply(400, {"error": {"message": repr(fault)}})
        self.reply(200, value)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    server.model = Model(sys.argv[1])
    server.serve_forever()

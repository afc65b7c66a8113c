"""What engines in Python share as peers of sheaf bench: eval/benchmark/peer.go
has the protocol."""

import json
import os
import sys
import threading
import time

TOP, POOL, PASSES, WARMUP = 10, 50, 3, 3


def lines(name):
    with open(name, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def rows(name, dims):
    """The rows of a file of float32 numbers, as a numpy array."""
    import numpy

    return numpy.fromfile(name, dtype="<f4").reshape(-1, dims)


def pages():
    with open("/proc/self/statm") as f:
        return [int(n) * os.sysconf("SC_PAGESIZE") for n in f.read().split()]


def resident():
    return pages()[1]


def anonymous():
    """What of the resident size is no page of a file."""
    size = pages()
    return size[1] - size[2]


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(folder) for n in names)


class Peak:
    """The most anonymous memory that is resident while something runs, less that before it."""

    def __enter__(self):
        self.before, self.most, self.stop = anonymous(), 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.stop.wait(0.02):
            self.most = max(self.most, anonymous() - self.before)

    def __exit__(self, *_):
        self.most = max(self.most, anonymous() - self.before)
        self.stop.set()
        self.thread.join()


def together(ask, queries, clients, seconds):
    """Asks with several clients at once; threads, so the engine must let go of
    the interpreter's lock to gain from them."""
    lock, took, at = threading.Lock(), [], iter(range(2 * len(queries)))
    began = time.perf_counter()

    def client():
        mine = []
        while time.perf_counter() - began < seconds:
            with lock:
                i = next(at, None)
            if i is None:
                break
            start = time.perf_counter()
            ask(queries[i % len(queries)])
            mine.append((time.perf_counter() - start) * 1e6)
        with lock:
            took.extend(mine)

    threads = [threading.Thread(target=client) for _ in range(max(clients, 1))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return len(took) / (time.perf_counter() - began), took


def main(engines):
    """Runs the engine for the task: engines[task](folder, meta) has version,
    build(docs, vectors), open() and ask(text, vector) -> ids."""
    folder, task, index = sys.argv[1:4]
    with open(os.path.join(folder, "meta.json")) as f:
        meta = json.load(f)
    if task not in engines:
        sys.exit(3)
    engine = engines[task](index, meta)
    docs = lines(os.path.join(folder, "corpus.jsonl"))
    vectors = rows(os.path.join(folder, "vectors.f32"), meta["dims"]) if task != "words" else None
    queries = lines(os.path.join(folder, "queries.jsonl"))
    query_vectors = rows(os.path.join(folder, "queryvectors.f32"), meta["dims"]) if task != "words" else [None] * len(queries)
    result = {"version": engine.version}
    with Peak() as peak:
        began = time.perf_counter()
        engine.build(docs, vectors)
        result["build_seconds"] = time.perf_counter() - began
    result["peak_bytes"], result["index_bytes"] = peak.most, folder_bytes(index)
    del docs, vectors
    began = time.perf_counter()
    engine.open()
    result["open_seconds"] = time.perf_counter() - began
    asked = [(q["id"], q["class"], q["text"], v) for q, v in zip(queries, query_vectors)]
    result["hits"], result["classes"] = {}, {}
    for name in sorted({q[1] for q in asked}):
        mine = [q for q in asked if q[1] == name]
        began = time.perf_counter()
        for q in mine:
            result["hits"][q[0]] = engine.ask(q[2], q[3])
            if time.perf_counter() - began > WARMUP * meta["seconds"]:
                break
        passes, best = [], 0.0
        for _ in range(PASSES):
            began, micros = time.perf_counter(), []
            for q in mine:
                start = time.perf_counter()
                engine.ask(q[2], q[3])
                micros.append((time.perf_counter() - start) * 1e6)
                if time.perf_counter() - began > meta["seconds"]:
                    break
            best = max(best, len(micros) / (time.perf_counter() - began))
            passes.append(micros)
        qps, took = together(lambda q: engine.ask(q[2], q[3]), mine, meta["clients"], meta["seconds"])
        result["classes"][name] = {"micros": passes, "qps": best, "clients_qps": qps, "clients_micros": took}
    result["search_bytes"] = resident()
    json.dump(result, sys.stdout)

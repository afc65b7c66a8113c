"""LanceDB as a peer of sheaf bench: its full text index (one column of title and
text), its IVF_PQ vector index refined from the stored vectors, and both fused."""

import importlib.metadata

import lancedb
import pyarrow

import protocol


class Engine:
    version = importlib.metadata.version("lancedb")
    words = vectors = False

    def __init__(self, folder, meta):
        self.folder, self.dims, self.count = folder, meta["dims"], meta["documents"]

    def build(self, docs, vectors):
        columns = {"id": [d["id"] for d in docs]}
        if self.words:
            columns["text"] = [d["title"] + "\n" + d["text"] for d in docs]
        if self.vectors:
            columns["vector"] = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), self.dims)
        table = lancedb.connect(self.folder).create_table("docs", pyarrow.table(columns))
        if self.words:
            table.create_fts_index("text", use_tantivy=False, with_position=False)
        if self.vectors and self.count >= 5000:
            table.create_index(metric="dot", vector_column_name="vector")

    def open(self):
        self.table = lancedb.connect(self.folder).open_table("docs")

    def by_words(self, text, limit):
        return [r["id"] for r in self.table.search(text, query_type="fts").select(["id"]).limit(limit).to_list()]

    def by_vector(self, vector, limit):
        q = self.table.search(vector, vector_column_name="vector").distance_type("dot").select(["id"]).limit(limit)
        return [r["id"] for r in q.nprobes(40).refine_factor(20).to_list()]


class Words(Engine):
    words = True

    def ask(self, text, _):
        return self.by_words(text, protocol.TOP)


class Vectors(Engine):
    vectors = True

    def ask(self, _, vector):
        return self.by_vector(vector, protocol.TOP)


class Hybrid(Engine):
    words = vectors = True

    def ask(self, text, vector):
        scores = {}
        for leg in (self.by_words(text, protocol.POOL), self.by_vector(vector, protocol.POOL)):
            for rank, name in enumerate(leg, 1):
                scores[name] = scores.get(name, 0) + 1 / (60 + rank)
        return sorted(scores, key=lambda name: (-scores[name], name))[: protocol.TOP]


if __name__ == "__main__":
    protocol.main({"words": Words, "vectors": Vectors, "hybrid": Hybrid})

"""Tantivy as a peer of sheaf bench: title and text as two fields, any of the words."""

import importlib.metadata

import tantivy

import protocol


class Words:
    version = importlib.metadata.version("tantivy")

    def __init__(self, folder, meta):
        self.folder = folder
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw")
        for name in ("title", "text"):
            schema.add_text_field(name, stored=False, tokenizer_name="en_stem")
        self.schema = schema.build()

    def build(self, docs, _):
        index = tantivy.Index(self.schema, path=self.folder)
        writer = index.writer(heap_size=256 << 20)
        for d in docs:
            writer.add_document(tantivy.Document(id=d["id"], title=d["title"], text=d["text"]))
        writer.commit()
        writer.wait_merging_threads()

    def open(self):
        self.index = tantivy.Index.open(self.folder)
        self.index.reload()
        self.searcher = self.index.searcher()

    def ask(self, text, _):
        query = self.index.parse_query(text.lower(), ["title", "text"])  # OR is an operator
        found = self.searcher.search(query, protocol.TOP, count=False)
        return [self.searcher.doc(address)["id"][0] for _, address in found.hits]


if __name__ == "__main__":
    protocol.main({"words": Words})

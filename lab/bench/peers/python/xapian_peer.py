"""Xapian as a peer of sheaf bench: one BM25 index over title and text, stemmed."""

import xapian

import protocol


class Words:
    version = xapian.version_string()

    def __init__(self, folder, meta):
        self.folder = folder

    def build(self, docs, _):
        db = xapian.WritableDatabase(self.folder + "/db", xapian.DB_CREATE_OR_OPEN)
        make = xapian.TermGenerator()
        make.set_stemmer(xapian.Stem("en"))
        make.set_stemming_strategy(xapian.TermGenerator.STEM_ALL)
        for d in docs:
            document = xapian.Document()
            make.set_document(document)
            make.index_text_without_positions(d["title"])
            make.index_text(d["text"])
            document.set_data(d["id"])
            db.add_document(document)
        db.commit()
        db.close()

    def open(self):
        self.db = xapian.Database(self.folder + "/db")
        self.stem = xapian.Stem("en")

    def ask(self, text, _):
        # A database object is not for several threads, so each query that runs
        # beside others has its own.
        db = xapian.Database(self.folder + "/db")
        terms = [self.stem(w.lower()) for w in text.split()]
        enquire = xapian.Enquire(db)
        enquire.set_query(xapian.Query(xapian.Query.OP_OR, terms))
        return [m.document.get_data().decode() for m in enquire.get_mset(0, protocol.TOP)]


if __name__ == "__main__":
    protocol.main({"words": Words})

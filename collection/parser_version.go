package collection

import (
	"errors"
	"fmt"
	"os"

	"sheaf/ingest"
	"sheaf/internal/wording"
)

// readOtherwise begins notices about documents that an older version of the program parsed: see ingest.ParserVersion.
const readOtherwise = "an older version of sheaf read the documents of this index"

// byAnotherVersion ends a warning about an answer with documents that an older version parsed.
func (x *Index) byAnotherVersion() string {
	if ingest.Outdated(x.View) == 0 || ingest.Newer(x.View) {
		return ""
	}
	return ", in which an older version of sheaf read the documents"
}

// NoteReading reports documents that an older version parsed, in a command that keeps running or
// does not update the index. reads means that the command updates the index.
func (x *Index) NoteReading(reads bool) {
	switch {
	case ingest.Outdated(x.View) == 0 || ingest.Newer(x.View) || x.remaking():
	case !Writable(x.Where.Dir):
		x.Notice("%s, and the index cannot be written: searches use what that version read", readOtherwise)
	case reads:
		x.Notice("%s: sheaf reads them again now; until then, searches use what that version read", readOtherwise)
	default:
		x.Notice("%s: searches use what that version read until sheaf index reads them again", readOtherwise)
	}
}

// OutdatedText says how many documents an older version parsed, and whether a newer version parsed others. It returns
// "" without either.
func (x *Index) OutdatedText() string {
	n := ingest.Outdated(x.View)
	switch {
	case ingest.Newer(x.View):
		return "a newer version of sheaf read the documents of this index: they stay as they are; that version reads again " +
			"what this version indexes; to read all documents with this version: sheaf index --rebuild"
	case n == 0:
		return ""
	}
	return fmt.Sprintf("an older version of sheaf read %s of %s: nothing is lost, and the next sheaf index or search "+
		"reads them again", wording.Count(n), wording.Plural(x.View.Docs(), "document", "documents"))
}

// Writable reports whether a folder accepts new files.
func Writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

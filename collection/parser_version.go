package collection

import (
	"errors"
	"fmt"
	"os"

	"sheaf/ingest"
	"sheaf/internal/wording"
)

// readOtherwise begins notices about documents that an older version parsed. See ingest.ParserVersion.
const readOtherwise = "an older version of sheaf read the documents of this index"

// byAnotherVersion returns an addition to a warning if another version parsed documents of the index, else "".
func (x *Index) byAnotherVersion() string {
	if ingest.Outdated(x.View) == 0 || ingest.Newer(x.View) {
		return ""
	}
	return ", in which an older version of sheaf read the documents"
}

// NoteReading prints a notice if an older version parsed documents of the index. parses says that this run parses these
// documents again.
func (x *Index) NoteReading(parses bool) {
	switch {
	case ingest.Outdated(x.View) == 0 || ingest.Newer(x.View) || x.remaking():
	case !Writable(x.Where.Dir):
		x.Notice("%s, and the index cannot be written: searches use what that version read", readOtherwise)
	case parses:
		x.Notice("%s: sheaf reads them again now; until then, searches use what that version read", readOtherwise)
	default:
		x.Notice("%s: searches use what that version read until sheaf index reads them again", readOtherwise)
	}
}

// OutdatedText says how many documents an older version of the program parsed, or that a newer version parsed some.
// Otherwise it returns "".
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

// Writable reports whether this process can create files in a folder.
func Writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

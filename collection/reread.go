package collection

import (
	"errors"
	"fmt"
	"os"

	"sheaf/ingest"
	"sheaf/internal/wording"
)

// readOtherwise is said of an index with documents that an older version of the program read
// in another way: see ingest.ParserVersion.
const readOtherwise = "an older version of sheaf read the documents of this index"

// byAnotherVersion ends what is said of an answer that such documents are in.
func (x *Index) byAnotherVersion() string {
	if ingest.Outdated(x.View) == 0 || ingest.Newer(x.View) {
		return ""
	}
	return ", and as an older version of sheaf read it"
}

// NoteReading says what becomes of such documents in a command that stays, or does not
// update the index; reads says that it does.
func (x *Index) NoteReading(reads bool) {
	switch {
	case ingest.Outdated(x.View) == 0 || ingest.Newer(x.View) || x.remaking():
	case !Writable(x.Where.Dir):
		x.Notice("%s, which cannot be written: they are found as that one read them", readOtherwise)
	case reads:
		x.Notice("%s: they are read again, and until then are found as that one read them", readOtherwise)
	default:
		x.Notice("%s, and they are found as that one read them until sheaf index reads them again", readOtherwise)
	}
}

// OutdatedText says of how many documents that is so, and whether a newer version of the
// program read the others; "" when neither is.
func (x *Index) OutdatedText() string {
	n := ingest.Outdated(x.View)
	switch {
	case ingest.Newer(x.View):
		return "a newer version of sheaf read the documents of this index: they stay as they are, and what this one reads " +
			"is read again by that one; to read everything as this one does: sheaf index --rebuild"
	case n == 0:
		return ""
	}
	return fmt.Sprintf("of %s %s as an older version of sheaf read them: nothing is lost, and the next sheaf index or "+
		"search reads them again",
		wording.Plural(x.View.Docs(), "document", "documents"), wording.Plural(n, "is", "are"))
}

// Writable reports whether a file can be made in a folder.
func Writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

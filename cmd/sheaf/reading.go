package main

import (
	"fmt"

	"sheaf/ingest"
	"sheaf/internal/wording"
)

// readOtherwise is said of an index with documents that an older version of the program read
// in another way: see ingest.ParserVersion.
const readOtherwise = "an older version of sheaf read the documents of this index"

// byAnotherVersion ends what is said of an answer that such documents are in.
func (s *session) byAnotherVersion() string {
	if ingest.Outdated(s.view) == 0 || ingest.Newer(s.view) {
		return ""
	}
	return ", and as an older version of sheaf read it"
}

// noteReading says what becomes of such documents in a command that stays, or does not
// bring the index up to date; reads says that it does.
func (s *session) noteReading(reads bool) {
	switch {
	case ingest.Outdated(s.view) == 0 || ingest.Newer(s.view) || s.remaking():
	case !writable(s.where.Dir):
		s.notice("%s, which cannot be written: they are found as that one read them", readOtherwise)
	case reads:
		s.notice("%s: they are read again, and until then are found as that one read them", readOtherwise)
	default:
		s.notice("%s, and they are found as that one read them until sheaf index reads them again", readOtherwise)
	}
}

// outdatedText says of how many documents that is so, and whether a newer version of the
// program read the others; "" when neither is.
func (s *session) outdatedText() string {
	n := ingest.Outdated(s.view)
	switch {
	case ingest.Newer(s.view):
		return "a newer version of sheaf read the documents of this index: they stay as they are, and what this one reads " +
			"is read again by that one; to read everything as this one does: sheaf index --rebuild"
	case n == 0:
		return ""
	}
	return fmt.Sprintf("of %s %s as an older version of sheaf read them: nothing is lost, and the next sheaf index or "+
		"search reads them again",
		wording.Plural(s.view.Docs(), "document", "documents"), wording.Plural(n, "is", "are"))
}

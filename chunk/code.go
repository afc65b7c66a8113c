package chunk

import (
	"strconv"
	"strings"

	"sheaf"
)

// Code is cut into pieces of at most codeLines lines, and at a blank line when
// there is one after codeLeast of them.
const (
	codeLines = 60
	codeLeast = 30
)

// code cuts source files by lines. The pieces partition the file; each is
// called by its lines, "lines 1-42".
type code struct{}

// Name implements [Chunker].
func (code) Name() string { return "code lines=" + strconv.Itoa(codeLines) }

// Chunk implements [Chunker].
func (code) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, false)
	if s.empty() {
		return s.doc
	}
	s.doc.Title = path[strings.LastIndexByte(path, '/')+1:] // with its extension
	number, first, from := 1, 1, 0
	for pos := 0; pos < len(s.src); number++ {
		l := lineAt(s.src, pos)
		pos = l.next
		lines := number - first + 1
		if lines < codeLines && pos < len(s.src) && (lines < codeLeast || !blank(s.src[l.start:l.end])) {
			continue
		}
		s.addPiece(sheaf.Span{Start: from, End: pos}, "lines "+strconv.Itoa(first)+"-"+strconv.Itoa(number))
		first, from = number+1, pos
	}
	s.finishPieces()
	return s.doc
}
